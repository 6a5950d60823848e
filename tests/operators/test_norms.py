"""Column norms, the exact integers that calibrate noise, bounds on entries, and rounding to integers."""

import numpy as np
import pytest

from rowspace import operators as op
from rowspace.exceptions import IntegerOverflow, InvalidInput

from . import naive
from .catalogue import every_case
from .test_laws import close


@every_case
def test_column_norms(case):
    for p in (1, 2):
        expected = np.array(naive.column_sums(case.dense, p)) ** (1 / p)
        close(case.operator.column_norms(p), expected)
        assert case.operator.max_column_norm(p) == pytest.approx(expected.max(), rel=1e-12)
        assert isinstance(case.operator.max_column_norm(p), float)


@every_case
def test_integer_norm(case):
    for p in (1, 2):
        if case.operator.integral:
            norm = case.operator.integer_norm(p)
            assert type(norm) is int
            assert norm == max(naive.column_sums(np.rint(case.dense).astype(int), p))
        else:
            with pytest.raises(InvalidInput, match="integer_form"):
                case.operator.integer_norm(p)


# Odd numbers near 2³⁰: their squares need 61 bits, so a float anywhere on the way shows.
BIG = np.array([[2**30 - 1, 3], [2**30 - 3, -(2**30) + 5], [7, 2**30 - 9]])
LARGE = {
    "Dense": (op.Dense(BIG), BIG),
    "Sparse": (op.Sparse(BIG), BIG),
    "Diagonal": (op.Diagonal([2**30 - 1, -(2**31) + 1]), np.diag([2**30 - 1, -(2**31) + 1])),
    "Transpose": (op.Dense(BIG).T, BIG.T),
    "Hierarchy": (
        op.Hierarchy(3, 2, (2**30 - 1, 2**30 - 3, 5)),
        naive.hierarchy(3, 2, (2**30 - 1, 2**30 - 3, 5)).astype(int),
    ),
    "Haar": (op.Haar(2, (2**30 - 1, 2**30 - 3)), naive.haar(2, (2**30 - 1, 2**30 - 3)).astype(int)),
    "Scaled": ((2**29 - 1) * op.Dense(BIG), (2**29 - 1) * BIG),
    "Weighted": (op.Weighted([2**29 - 1, 1, -3], op.Dense(BIG)), BIG * [[2**29 - 1], [1], [-3]]),
    "Stack": (
        op.Stack((2**30 - 1) * op.Identity(2), op.Dense(BIG)),
        np.vstack(((2**30 - 1) * np.eye(2, dtype=int), BIG)),
    ),
    "Permuted": (op.Permuted(op.Dense(BIG), [1, 0]), BIG[:, ::-1]),
    "Merged": (op.Merged(op.Dense(BIG), [1, 0, 1]), BIG[:, [1, 0, 1]]),
    "Composed": (op.Composed(op.Dense([[1, -1, 0]]), op.Dense(BIG)), np.array([[1, -1, 0]]) @ BIG),
    "Sum": (op.Sum((op.Dense(BIG), op.Dense(BIG))), 2 * BIG),
    "Kronecker": (
        op.Kronecker(op.Dense(BIG), op.Dense(BIG)),
        np.kron(BIG.astype(object), BIG.astype(object)),
    ),
    "Stack of Kronecker": (
        op.Stack(op.Kronecker(op.Dense(BIG), op.Diagonal([2**30 - 1])), op.Identity(2)),
        np.vstack((BIG.astype(object) * (2**30 - 1), np.eye(2, dtype=int))),
    ),
}


@pytest.mark.parametrize("kind", LARGE)
def test_integer_norm_past_what_floats_hold(kind):
    operator, matrix = LARGE[kind]
    assert operator.integral
    for p in (1, 2):
        assert operator.integer_norm(p) == max(naive.column_sums(matrix, p))


def test_integer_norm_of_a_composition_whose_floats_cancel():
    """2⁶⁰ + 1 − 2⁶⁰ is 1 in integers and 0 in floating point."""
    big = op.Diagonal([2**30, 1, 2**30])
    A = op.Composed(op.Composed(op.Dense([[1, 1, -1]]), big), op.Composed(big, op.Dense([[1], [1], [1]])))
    assert A.integer_norm(1) == 1


def test_integer_norm_of_large_rounded_trees_needs_no_matrix():
    for A in (op.Hierarchy(2**20, 2, np.linspace(0.1, 1, 21)), op.Haar(2**20, np.linspace(0.1, 1, 21))):
        integers, _ = A.integer_form(30)
        assert integers.integer_norm(2) == sum(int(weight) ** 2 for weight in integers.weights)


def test_integer_norm_says_when_entries_leave_64_bits():
    A = op.Weighted([2**52 - 1], 2**20 * op.Identity(1))
    with pytest.raises(IntegerOverflow, match="fewer bits"):
        A.integer_norm(2)


@every_case
def test_largest_entry_is_a_bound(case):
    assert case.operator.largest_entry() >= np.abs(case.dense).max() * (1 - 1e-12)


@every_case
def test_squared_frobenius_and_nuclear_norm(case):
    close(case.operator.squared_frobenius(), sum(naive.column_sums(case.dense, 2)))
    close(case.operator.nuclear_norm(), np.linalg.svd(case.dense, compute_uv=False).sum(), 1e-6)


@every_case
def test_integer_form(case):
    largest = np.abs(case.dense).max()
    for bits in (12, 30):
        integers, scale = case.operator.integer_form(bits)
        assert integers.integral
        assert integers.shape == case.dense.shape
        assert scale > 0
        # Up to three roundings of relative size 2^−bits each in a nest (entry, part's scale, factor).
        close(integers.to_dense() / scale, case.dense, 3 * 2.0**-bits * max(1.0, largest))
        assert isinstance(integers.integer_norm(2), int)


@every_case
def test_integer_form_of_integers_is_itself(case):
    if case.operator.integral:
        assert case.operator.integer_form(20) == (case.operator, 1.0)


@pytest.mark.parametrize(
    "parts",
    [
        (op.Haar(2, (0.5, 0.5)), op.Identity(2)),
        (1e-3 * op.Identity(2), 1e3 * op.Total(2)),
        (-0.5 * op.Identity(2), op.Hierarchy(2, 2, (0.3, 0.1)), op.Dense([[0.7, -0.1]]).T.T),
        (0 * op.Dense([[0.3, 0.1]]), 0.25 * op.Kronecker(op.Diagonal([0.3]), op.Dense([[0.1, 0.7]]))),
    ],
)
def test_parts_of_a_union_are_rounded_to_one_scale(parts):
    """What a part weighs against the others is the strategy: one scale must fit all, whatever form each takes."""
    union = op.Stack(*parts)
    truth = np.vstack([part.to_dense() for part in parts])
    integers, scale = union.integer_form(30)
    assert integers.integral
    np.testing.assert_allclose(integers.to_dense() / scale, truth, atol=2.0**-14 * np.abs(truth).max())
    assert np.abs(integers.to_dense()).max() <= 2**30


def test_rounding_never_drops_a_question():
    faint = 1e-9
    for A in (
        op.Hierarchy(2, 2, (1, faint)),
        op.Haar(2, (1, faint)),
        op.Diagonal([1, -faint]),
        op.Weighted([1, faint], op.Prefix(2)),
        op.Stack(op.Total(2), faint * op.Identity(2)),
    ):
        integers, _ = A.integer_form(20)
        assert np.linalg.matrix_rank(integers.to_dense()) == 2, A


def test_weighted_rows_of_a_large_tree_round_without_a_matrix():
    tree = op.Hierarchy(2**12)
    integers, scale = op.Weighted(np.linspace(0.5, 1, tree.shape[0]), tree).integer_form(20)
    assert integers.integral
    assert np.abs(integers.weights / scale - np.linspace(0.5, 1, tree.shape[0])).max() <= 2.0**-20


@pytest.mark.parametrize("p", [0, 3, 1.5, "1", None, True, np.inf, [1, 2]])
def test_only_two_norms(p):
    for verb in (op.Prefix(3).column_norms, op.Prefix(3).max_column_norm, op.Prefix(3).integer_norm):
        with pytest.raises(InvalidInput, match="1 or 2"):
            verb(p)


@pytest.mark.parametrize("bits", [0, -1, 53, 2.5, True, "20", None])
def test_only_sensible_bits(bits):
    with pytest.raises(InvalidInput, match="bits"):
        op.Dense([[0.5]]).integer_form(bits)
