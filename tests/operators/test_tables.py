"""Strategies of tables without their cells: estimates, errors and answers against dense algebra on small ones."""

from itertools import combinations, product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rowspace import operators as op
from rowspace import tables
from rowspace.exceptions import InvalidInput, UnsupportedWorkload
from rowspace.strategy import Strategy
from rowspace.tables import (
    CellSplit,
    ContrastSplit,
    MatrixSplit,
    Piece,
    ProductWorkload,
    answer_products,
    gather,
)
from rowspace.tables import layout as table_layout

SEEDS = st.integers(0, 2**32 - 1)


def subsets(d):
    return [own for k in range(d + 1) for own in combinations(range(d), k)]


def contrasts(n, rng):
    """Contrasts of one attribute: cells alike, or a random matrix that misses one direction."""
    if n == 1:
        return op.Identity(1)
    return op.CellContrasts(n) if rng.random() < 0.4 else op.Dense(rng.normal(size=(n - 1, n)) + 0.2)


def base(n, rng):
    """A matrix of full column rank for one attribute."""
    if n == 1 or rng.random() < 0.4:
        return op.Identity(n)
    return (op.Prefix(n), op.Hierarchy(n), op.Dense(rng.normal(size=(n + 1, n))))[int(rng.integers(3))]


def joint_matrix(sizes, rng):
    """Integers over the joint cells, whose rows are independent beyond smaller tables."""
    most = int(np.prod([n - 1 for n in sizes]))
    while True:
        J = rng.integers(-3, 4, (int(rng.integers(1, most + 1)), *sizes)).astype(float)
        centred = J
        for axis in range(1, J.ndim):
            centred = centred - centred.mean(axis=axis, keepdims=True)
        if np.linalg.matrix_rank(centred.reshape(len(J), -1), tol=1e-3) == len(J):
            return op.Dense(J.reshape(len(J), -1))


@st.composite
def strategies(draw):
    """A strategy of every kind: attributes of one cell, zero weights, tables of one shape that are not neighbours."""
    rng = np.random.default_rng(draw(SEEDS))
    sizes = tuple(int(n) for n in rng.choice([1, 2, 2, 3, 4], size=int(rng.integers(1, 4))))
    sets = [own for own in subsets(len(sizes)) if rng.random() < 0.6] or [()]
    rng.shuffle(sets)
    weights = [float(w) for w in rng.choice([0.0, 0.3, 1.0, 2.0], size=len(sets))]
    weights[0] = weights[0] or 1.0
    kinds = ["marginals", "residuals", "product residuals", "joint residuals", "product marginals"]
    kind = draw(st.sampled_from(kinds))
    if "residuals" in kind:
        kept = [k for k, own in enumerate(sets) if all(sizes[i] > 1 for i in own)]
        if not any(weights[k] for k in kept):
            sets, weights, kept = [()], [1.0], [0]
        sets, weights = [sets[k] for k in kept], [weights[k] for k in kept]
    fields = sizes, tuple(tuple(int(i) for i in own) for own in sets), tuple(weights)
    shared = {n: contrasts(n, rng) for n in set(sizes)}
    if kind == "product residuals":
        # Some attributes of equal size share their contrasts, some do not.
        return tables.Residuals(
            *fields, tuple(shared[n] if rng.random() < 0.5 else contrasts(n, rng) for n in sizes)
        )
    if kind == "joint residuals":
        own = (tuple(contrasts(n, rng) for n in sizes),) if rng.random() < 0.5 else ((),)
        joint = tuple(joint_matrix([sizes[i] for i in S], rng) if rng.random() < 0.7 else None for S in sets)
        return tables.Residuals(*fields, *own, joint)
    if kind == "product marginals":
        return tables.Marginals(*fields, tuple(base(n, rng) for n in sizes))
    return (tables.Marginals if kind == "marginals" else tables.Residuals)(*fields)


def one_marginal(sizes, own):
    return op.Kronecker(*(op.Identity(n) if i in own else op.Total(n) for i, n in enumerate(sizes)))


def supported(A, W):
    """(Whether W is in the row space of A, W A⁺), densely."""
    dense, rows = A.to_dense(), W.to_dense()
    C = rows @ np.linalg.pinv(dense, rcond=1e-10)
    return np.abs(C @ dense - rows).max() < 1e-7, C


@given(strategies(), SEEDS)
@settings(max_examples=200, deadline=None)
def test_tables_are_the_least_squares_estimate(A, seed):
    """Every supported marginal of W A⁺ y; the others are refused."""
    y = np.random.default_rng(seed).normal(size=A.shape[0])
    estimate = A.component_tables(y)
    for own in subsets(len(A.sizes)):
        there, C = supported(A, one_marginal(A.sizes, own))
        if there:
            np.testing.assert_allclose(estimate.table(own).ravel(), C @ y, atol=1e-7)
        else:
            with pytest.raises(UnsupportedWorkload):
                estimate.table(own)


@given(strategies(), SEEDS)
@settings(max_examples=60, deadline=None)
def test_tables_agree_with_one_another(A, seed):
    """Noisy tables, summed up, are the smaller noisy tables."""
    estimate = A.component_tables(np.random.default_rng(seed).normal(size=A.shape[0]))
    for own in subsets(len(A.sizes)):
        if supported(A, one_marginal(A.sizes, own))[0]:
            for axis in range(len(own)):
                less = own[:axis] + own[axis + 1 :]
                np.testing.assert_allclose(
                    estimate.table(own).sum(axis=axis), estimate.table(less), atol=1e-8
                )


@given(strategies(), SEEDS)
@settings(max_examples=100, deadline=None)
def test_cells_are_a_least_squares_estimate(A, seed):
    """What the strategy sees of them is what it sees of A⁺y, and their tables are the tables."""
    y = np.random.default_rng(seed).normal(size=A.shape[0])
    estimate = A.component_tables(y)
    dense = A.to_dense()
    cells = estimate.cells()
    np.testing.assert_allclose(dense @ cells, dense @ np.linalg.pinv(dense, rcond=1e-10) @ y, atol=1e-7)
    for own in subsets(len(A.sizes)):
        if supported(A, one_marginal(A.sizes, own))[0]:
            np.testing.assert_allclose(
                one_marginal(A.sizes, own) @ cells, estimate.table(own).ravel(), atol=1e-8
            )


@given(strategies())
@settings(max_examples=60, deadline=None)
def test_small_blocks_change_nothing(A):
    y = np.random.default_rng(0).normal(size=A.shape[0])
    whole = A.component_tables(y)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(table_layout, "BLOCK", 2)
        patch.setattr("rowspace.tables.estimates.BLOCK", 2)
        parts = A.component_tables(y)
        for own in subsets(len(A.sizes)):
            if supported(A, one_marginal(A.sizes, own))[0]:
                np.testing.assert_allclose(parts.table(own), whole.table(own), atol=1e-9)


def random_operator(n, rng):
    choices = [op.Identity(n), op.Prefix(n), op.Ranges(n), op.Dense(rng.normal(size=(2, n))), op.Total(n)]
    return choices[int(rng.integers(len(choices)))]


@st.composite
def workloads(draw, sizes):
    """Products of pieces over one or several attributes, which may interleave, in any order."""
    rng = np.random.default_rng(draw(SEEDS))
    parts = []
    for _ in range(int(rng.integers(1, 4))):
        left = [int(i) for i in rng.permutation(len(sizes))[: int(rng.integers(0, len(sizes) + 1))]]
        pieces = []
        while left:
            width = int(rng.integers(1, min(2, len(left)) + 1))
            axes, left = tuple(sorted(left[:width])), left[width:]
            joint = int(np.prod([sizes[i] for i in axes]))
            pieces.append(Piece(axes, random_operator(joint, rng)))
        parts.append((float(rng.choice([0.5, 1.0, 3.0])), tuple(pieces)))
    return gather(sizes, parts)


def dense_parts(W: ProductWorkload):
    """Every part as a matrix over the cells, query by query."""
    found = []
    for part in W.parts:
        pieces = [W.pieces[k] for k in part]
        rows = []
        for queries in product(*(range(piece.operator.shape[0]) for piece in pieces)):
            table = np.ones(W.sizes)
            for piece, query in zip(pieces, queries, strict=True):
                shape = [n if i in piece.axes else 1 for i, n in enumerate(W.sizes)]
                table = table * piece.operator.to_dense()[query].reshape(shape)
            rows.append(table.ravel())
        found.append(np.array(rows))
    return found


def test_queries_are_numbered_alike_in_any_order_of_their_pieces():
    """Variances came in another order than answers where a part named a later attribute first."""
    J = op.Dense(np.array([[2, -1, -1, -2, 1, 1], [0, 1, -1, 0, -1, 1]]))
    A = tables.Residuals((2, 3), ((), (0,), (1,), (0, 1)), (1, 1, 1, 1), joint=(None, None, None, J))
    pieces = (Piece((1,), op.Dense([[1, 1, 1], [1, 0, 0]])), Piece((0,), op.Dense([[1, 0], [1, 1]])))
    for own in (pieces, pieces[::-1]):
        W = gather((2, 3), [(1.0, own)])
        rows = W.operator().to_dense()
        np.testing.assert_array_equal(rows, dense_parts(W)[0])
        expected = np.sum((rows @ np.linalg.pinv(A.to_dense())) ** 2, axis=1)
        np.testing.assert_allclose(Strategy.of(A).variances(W), expected)


@given(st.data())
@settings(max_examples=150, deadline=None)
def test_errors_of_products_against_dense_algebra(data):
    """Traces, totals of parts, variances and answers, for pieces over one or several attributes in any order."""
    A = data.draw(strategies())
    W = data.draw(workloads(A.sizes))
    parts = dense_parts(W)
    rows = np.concatenate(parts)
    dense = A.to_dense()
    inverse = np.linalg.pinv(dense, rcond=1e-10)
    if np.abs(rows @ inverse @ dense - rows).max() > 1e-7 * max(1.0, np.abs(rows).max()):
        return  # refused, or answered where only a sum of its components is seen: see the next test
    try:
        trace = A.trace_of_products(W)
    except UnsupportedWorkload:
        return
    C = [part @ inverse for part in parts]
    weighted = sum(power * np.sum(c**2) for power, c in zip(W.powers, C, strict=True))
    assert trace == pytest.approx(weighted, rel=1e-7, abs=1e-9)
    np.testing.assert_allclose(A.totals_of_parts(W), [np.sum(c**2) for c in C], rtol=1e-7, atol=1e-9)
    assert Strategy.of(A).trace(W) == trace
    try:
        found = Strategy.of(A).moments(W)
    except UnsupportedWorkload:
        return
    every = np.concatenate(C)
    np.testing.assert_allclose(found.second, np.sum(every**2, axis=1), rtol=1e-7, atol=1e-9)
    # Shapes may be bounds, but never from below.
    assert (found.fourth >= np.sum(every**4, axis=1) * (1 - 1e-7) - 1e-12).all()
    assert (found.largest >= np.abs(every).max(axis=1) * (1 - 1e-7) - 1e-9).all()
    y = np.random.default_rng(1).normal(size=A.shape[0])
    np.testing.assert_allclose(answer_products(A.component_tables(y), W), every @ y, atol=1e-6)


@given(strategies(), st.data())
@settings(max_examples=60, deadline=None)
def test_whatever_is_answered_is_unbiased(A, data):
    """From exact answers come exact answers, or a refusal: never a number that is off."""
    W = data.draw(workloads(A.sizes))
    x = np.random.default_rng(2).integers(0, 9, A.shape[1])
    try:
        answers = answer_products(A.component_tables(A @ x.astype(float)), W)
        A.trace_of_products(W)
    except UnsupportedWorkload:
        return
    np.testing.assert_allclose(answers, np.concatenate(dense_parts(W)) @ x, atol=1e-6)


def test_parts_of_one_shape_in_another_order_are_not_confused():
    """A joint piece of two attributes, and the same two attributes the other way round."""
    cells = [Piece((0,), op.Identity(3)), Piece((1,), op.Identity(3)), Piece((0, 1), op.Identity(9))]
    W = gather((3, 3), [(1.0, (cells[1], cells[0])), (1.0, (cells[2],)), (1.0, (cells[0], cells[1]))])
    table = np.arange(9.0)
    A = tables.Marginals((3, 3), ((0, 1),), (1,))
    answers = answer_products(A.component_tables(table), W)
    np.testing.assert_allclose(answers, [*table.reshape(3, 3).T.ravel(), *table, *table], atol=1e-9)


def test_attributes_of_one_cell_alone():
    ones = [Piece((i,), op.Identity(1)) for i in range(2)]
    W = gather((1, 1), [(2.0, tuple(ones)), (1.0, ())])
    A = tables.Marginals((1, 1), ((0, 1), (1,)), (1, 2))
    assert A.trace_of_products(W) == pytest.approx(5 * 1 / 5)
    np.testing.assert_allclose(answer_products(A.component_tables(np.array([3.0, 6.0])), W), [3.0, 3.0])


@pytest.mark.parametrize(
    "split",
    [
        CellSplit(4),
        ContrastSplit(op.Dense(np.random.default_rng(3).normal(size=(3, 4)))),
        MatrixSplit(op.Hierarchy(4)),
    ],
    ids=lambda split: type(split).__name__,
)
def test_splits(split):
    """Σu = 1, K·1 = 0, and every verb is that of the dense matrices."""
    assert split.u.sum() == pytest.approx(1)
    np.testing.assert_allclose(split.K @ np.ones(4), 0, atol=1e-9)
    for W in (op.Identity(4), op.Ranges(4), op.Total(4)):
        dense = W.to_dense()
        assert split.level(W) == pytest.approx(np.sum((dense @ split.u) ** 2))
        assert split.trace(W) == pytest.approx(np.trace(dense @ split.K @ dense.T), abs=1e-9)
        np.testing.assert_allclose(split.quadratic(W), np.diag(dense @ split.K @ dense.T), atol=1e-9)


@pytest.mark.parametrize(
    "S",
    [
        op.Dense([[1, -1, 0], [2, -2, 0]]),
        op.Dense([[1, 1, 1], [1, 1, 2]]),
        op.Dense([[0, 0, 0], [0, 0, 0]]),
    ],
    ids=["dependent rows", "unseen direction sums to zero", "nothing"],
)
def test_contrasts_that_are_none_are_refused(S):
    A = tables.Residuals((3,), ((), (0,)), (1, 1), (S,))
    with pytest.raises(InvalidInput, match="independent contrasts"):
        A.component_tables(np.zeros(3))


def test_tables_that_cannot_tell_cells_apart_are_refused():
    A = tables.Marginals((3,), ((0,),), (1,), (op.Dense([[1, 1, 0], [0, 0, 1], [1, 1, 1]]),))
    with pytest.raises(InvalidInput, match="full column rank"):
        A.component_tables(np.zeros(3))


@pytest.mark.parametrize(
    "S",
    [
        op.Dense(np.ones((3, 3))),
        op.Dense(np.ones((1, 3))),
        op.Identity(3),
        tables.Residuals((3,), ((0,),), (2,)),
        tables.Residuals((3,), ((), (0,)), (1, 1)),
        op.Sparse([[1, -1, 0], [0, 1, -1]]),
        op.Difference(3),
        "S",
    ],
    ids=str,
)
def test_only_contrasts_of_a_known_form(S):
    """Whether the attribute is measured or not: files may hold anything."""
    for sets in (((),), ((), (0,))):
        with pytest.raises(InvalidInput, match="expected"):
            tables.Residuals((3, 2), sets, (1,) * len(sets), (S, op.CellContrasts(2)))
    with pytest.raises(InvalidInput, match="each of the 2"):
        tables.Residuals((3, 2), ((),), (1,), (op.CellContrasts(3),))
    with pytest.raises(InvalidInput, match="two or more cells"):
        tables.Residuals((1, 2), ((0,),), (1,), (op.Identity(1), op.CellContrasts(2)))


def test_equal_contrasts_are_one():
    S = [[1, -1, 0], [1, 1, -1]]
    A = tables.Residuals((3, 3), ((0,), (1,)), (1, 1), (op.Dense(S), op.Dense(S)))
    assert A.contrasts[0] is A.contrasts[1]
    assert len(A.layout.stacks) == 1


@given(strategies(), st.integers(4, 20), SEEDS)
@settings(max_examples=120, deadline=None)
def test_integers_are_asked_exactly(A, bits, seed):
    """The largest column norm and A·x, in Python integers from tables of one record each."""
    B, _ = A.integer_form(bits)
    assert B.integral
    rng = np.random.default_rng(seed)
    n = B.shape[1]
    dropped = int(rng.integers(0, 20))

    def asked(x):
        high, low = B.divided(x, dropped)
        assert low.min(initial=0) >= 0
        assert low.max(initial=0) < 2**dropped
        return [int(q) * 2**dropped + int(r) for q, r in zip(high, low, strict=True)]

    columns = [asked(unit) for unit in np.eye(n, dtype=np.int64)]
    for p in (1, 2):
        assert B.integer_norm(p) == max(sum(abs(a) ** p for a in column) for column in columns)
    assert B.largest_entry() >= max(abs(a) for column in columns for a in column)
    x = rng.integers(0, 2**20, n)
    expected = [sum(int(v) * c[i] for v, c in zip(x, columns, strict=True)) for i in range(B.shape[0])]
    assert asked(x) == expected


def test_tables_of_other_sizes_are_not_asked():
    """Their sensitivity would be another one: 40 here, and not the 24 of the sizes stated."""
    A = tables.Residuals((2, 4), ((0, 1),), (1,))
    with pytest.raises(InvalidInput, match="sizes"):
        list(A.divided_blocks(lambda own: np.ones((4, 2), dtype=np.int64), 0))


def test_only_matrices_in_products_of_many_are_rounded_to_few_bits():
    rng = np.random.default_rng(0)
    S, apart = op.Dense(rng.normal(size=(2, 3))), op.Dense(rng.normal(size=(40, 41)))
    A = tables.Residuals((3,) * 10 + (41,), (tuple(range(10)), (10,)), (1, 1), (S,) * 10 + (apart,))
    rounded, _ = A.integer_form(20)
    assert rounded.contrasts[0].largest_entry() <= 8
    assert rounded.contrasts[10].largest_entry() > 2**18


def test_products_of_many_matrices_leave_room_for_a_billion_records():
    rng = np.random.default_rng(0)
    for order in (1, 3, 6, 10):
        S = op.Dense(rng.normal(size=(2, 3)))
        sets = (tuple(range(order)), ())
        A = tables.Residuals((3,) * order, sets, (1.0, 0.3), (S,) * order)
        assert A.integer_form(20)[0].largest_inner_entry() <= 2**32
