"""What every operator owes: its action, adjoint, Gram matrix, pseudo-inverse and rows are those of its matrix."""

import numpy as np
import pytest

from rowspace import operators as op
from rowspace.exceptions import InvalidInput

from .catalogue import CASES, every_case


def close(got, expected, tolerance=1e-10):
    """Equal up to rounding, relative to the largest number around."""
    expected = np.asarray(expected)
    assert np.shape(got) == expected.shape
    np.testing.assert_allclose(
        got, expected, rtol=0, atol=tolerance * max(1.0, np.abs(expected).max(initial=0))
    )


def integers(shape, seed=7):
    return np.random.default_rng(seed).integers(-1000, 1000, shape)


def reals(shape, seed=8):
    return np.random.default_rng(seed).normal(size=shape)


@every_case
def test_dense(case):
    dense = case.operator.to_dense()
    assert dense.dtype == np.float64
    close(dense, case.dense)


@every_case
def test_action_on_vectors_and_matrices(case):
    n = case.dense.shape[1]
    for shape in ((n,), (n, 1), (n, 3), (n, 0)):
        x = reals(shape)
        close(case.operator @ x, case.dense @ x)
        close(case.operator @ np.asfortranarray(x), case.dense @ x)


@every_case
def test_transpose_acts_as_the_transposed_matrix(case):
    m = case.dense.shape[0]
    for shape in ((m,), (m, 3)):
        y = reals(shape)
        close(case.operator.T @ y, case.dense.T @ y)
    assert case.operator.T.shape == case.dense.T.shape
    close(case.operator.T.to_dense(), case.dense.T)
    close(case.operator.T.T @ reals(case.dense.shape[1]), case.dense @ reals(case.dense.shape[1]))


@every_case
def test_adjoint_identity(case):
    """⟨Ax, y⟩ = ⟨x, Aᵗy⟩."""
    m, n = case.dense.shape
    x, y = reals(n, 1), reals(m, 2)
    close(np.dot(case.operator @ x, y), np.dot(x, case.operator.T @ y))


@every_case
def test_action_leaves_the_operand_alone_and_returns_a_fresh_array(case):
    for operator in (case.operator, case.operator.T, case.operator.pinv(), case.operator.gram()):
        for shape in ((operator.shape[1],), (operator.shape[1], 2)):
            x = reals(shape)
            x.setflags(write=False)
            answer = operator @ x
            assert not np.shares_memory(answer, x)
            assert answer.base is None or not np.shares_memory(answer.base, x)


@every_case
def test_integers_in_integers_out_exactly(case):
    if not case.operator.integral:
        pytest.skip("has other entries")
    truth = np.rint(case.dense).astype(np.int64)
    assert np.array_equal(truth, case.dense)
    m, n = truth.shape
    for operator, matrix, length in ((case.operator, truth, n), (case.operator.T, truth.T, m)):
        assert operator.integral
        for x in (2**40 * integers(length), integers((length, 2)), integers(length).astype(np.int32)):
            answer = operator @ x
            assert answer.dtype == np.int64
            assert np.array_equal(answer, matrix @ x.astype(np.int64))
        flags = integers(length) > 0
        assert np.array_equal(operator @ flags, matrix @ flags.astype(np.int64))


@every_case
def test_integral_flag_is_true_only_of_integers(case):
    if case.operator.integral:
        assert np.array_equal(case.dense, np.rint(case.dense))
    else:
        assert (case.operator @ integers(case.dense.shape[1])).dtype == np.float64


@every_case
def test_gram(case):
    gram = case.operator.gram()
    expected = case.dense.T @ case.dense
    close(gram.to_dense(), expected)
    x = reals((expected.shape[0], 2))
    close(gram @ x, expected @ x)
    close(gram.T @ x, expected @ x)


@every_case
def test_four_moore_penrose_identities(case):
    A, P = case.dense, case.operator.pinv().to_dense()
    scale = max(1.0, np.abs(P).max())
    close(A @ P @ A, A, 1e-9)
    close((P @ A @ P) / scale, P / scale, 1e-9)
    close(A @ P, (A @ P).T, 1e-9)
    close(P @ A, (P @ A).T, 1e-9)


@every_case
def test_pseudo_inverse_action_and_adjoint(case):
    P = np.linalg.pinv(case.dense, rcond=1e-12)
    m, n = case.dense.shape
    pinv = case.operator.pinv()
    assert pinv.shape == (n, m)
    for shape in ((m,), (m, 2)):
        y = reals(shape)
        close(pinv @ y, P @ y, 1e-9)
    x = reals((n, 2))
    close(pinv.T @ x, P.T @ x, 1e-9)
    close(case.operator.T.pinv() @ x, P.T @ x, 1e-9)


@every_case
def test_pseudo_inverse_of_exact_integer_answers(case):
    """Least squares takes int64 answers as they come from a measurement."""
    x = integers(case.dense.shape[1])
    y = case.operator @ x
    close(case.operator.pinv() @ y, np.linalg.pinv(case.dense, rcond=1e-12) @ (case.dense @ x), 1e-9)


@every_case
def test_rank_flag(case):
    flag = case.operator.full_column_rank
    assert flag is None or flag == (np.linalg.matrix_rank(case.dense) == case.dense.shape[1])


def test_rank_flag_is_known_where_strategies_need_it():
    unknown = {type(case.operator).__name__ for case in CASES if case.operator.full_column_rank is None}
    assert unknown.isdisjoint(
        {"Identity", "Prefix", "Ranges", "Hierarchy", "Tree", "Haar", "Total", "Diagonal"}
    )


@every_case
def test_nonnegative_flag(case):
    assert not case.operator.nonnegative or (case.dense >= 0).all()


@every_case
def test_rows(case):
    m, n = case.dense.shape
    for start, stop in {(0, m), (m // 2, m), (0, 1), (m - 1, m), (m, m), (m // 3, (2 * m + 2) // 3)}:
        rows = case.operator.rows_dense(start, stop)
        assert rows.shape == (stop - start, n)
        close(rows, case.dense[start:stop])


@every_case
def test_rows_out_of_range(case):
    m = case.dense.shape[0]
    for start, stop in ((-1, 1), (0, m + 1), (1, 0)):
        with pytest.raises(InvalidInput, match="rows"):
            case.operator.rows_dense(start, stop)


@every_case
def test_row_blocks_cover_the_matrix(case):
    for entries in (1, 7, 2**22):
        blocks = list(case.operator.row_blocks(entries))
        close(np.concatenate([rows for _, rows in blocks]), case.dense)
        assert [start for start, _ in blocks] == [0, *np.cumsum([len(rows) for _, rows in blocks])[:-1]]


@pytest.mark.parametrize(
    "tall",
    [
        op.Sparse(np.tile(np.eye(4), (20_000, 1))),
        op.AllPredicates(14),
        op.Kronecker(op.Ranges(40), op.Ranges(10)),
        op.Weighted(np.ones(70_000), op.Total(70_000).T),
        op.Permuted(op.Ranges(300), np.arange(300)[::-1]),
    ],
    ids=lambda operator: type(operator).__name__,
)
def test_row_blocks_of_a_tall_operator_take_no_square_of_its_rows(tall):
    counted = sum(len(rows) for _, rows in tall.row_blocks())
    assert counted == tall.shape[0]


@every_case
def test_negation_and_multiples(case):
    x = reals(case.dense.shape[1])
    close(-case.operator @ x, -case.dense @ x)
    close((-0.5 * case.operator) @ x, -0.5 * case.dense @ x)
    close((np.float64(3) * case.operator) @ x, 3 * case.dense @ x)
    assert 1 * case.operator == case.operator
