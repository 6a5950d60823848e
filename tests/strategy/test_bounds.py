from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rowspace import ZCDP, PureDP
from rowspace import operators as op
from rowspace.exceptions import InvalidInput, TooLarge
from rowspace.strategy import (
    GaussianOptimal,
    dual_bound,
    replace_one_bound,
    root_diagonal_bound,
    singular_value_bound,
    unit_lower_bound,
)

from .matrices import brute_force_error, workloads

UNIT = ZCDP(0.5)


@given(workloads())
@settings(max_examples=60, deadline=None)
def test_dual_bound_only_rises(W: np.ndarray) -> None:
    bounds = [singular_value_bound(op.Dense(W)), *(dual_bound(op.Dense(W), k) for k in (1, 2, 3, 6))]
    for less, more in pairwise(bounds):
        assert less <= more * (1 + 1e-6)


@given(workloads(), st.integers(0, 100))
@settings(max_examples=60, deadline=None)
def test_bounds_hold_for_random_strategies(W: np.ndarray, seed: int) -> None:
    n = W.shape[1]
    A = np.concatenate((np.eye(n), np.random.default_rng(seed).normal(size=(3, n))))
    for norm, privacy in ((2, UNIT), (1, PureDP(1.0))):
        error = brute_force_error(A, W, norm) * (1 + 1e-9)
        assert max(dual_bound(op.Dense(W)), unit_lower_bound(op.Dense(W), privacy)) <= error


@given(workloads(), workloads())
@settings(max_examples=30, deadline=None)
def test_products_multiply(V: np.ndarray, W: np.ndarray) -> None:
    """The product of two duals is the dual of the product, and the bound is that of the matrix written out."""
    product = op.Kronecker(op.Dense(V), op.Dense(W))
    written_out = op.Dense(np.kron(V, W))
    assert dual_bound(product, 3) == pytest.approx(dual_bound(written_out, 3), rel=1e-5)
    assert dual_bound(2.0 * product, 3) == pytest.approx(4 * dual_bound(product, 3))


@given(workloads())
@settings(max_examples=30, deadline=None)
def test_a_union_is_at_least_the_sum_of_its_parts(W: np.ndarray) -> None:
    union = op.Stack(op.Dense(W), op.Prefix(W.shape[1]))
    optimum = GaussianOptimal().optimize(union, UNIT).total_error
    assert dual_bound(op.Dense(W)) + dual_bound(op.Prefix(W.shape[1])) <= optimum * (1 + 1e-9)


def test_large_unions_and_products() -> None:
    big = op.Kronecker(op.Prefix(100), op.Ranges(100))
    union = op.Stack(big, op.Kronecker(op.Total(100), op.Identity(100)))
    assert dual_bound(union) == pytest.approx(dual_bound(big) + 100.0, rel=1e-9)
    with pytest.raises(TooLarge, match="singular_value_bound"):
        dual_bound(op.Prefix(5000))


@pytest.mark.parametrize("kind", [op.Ranges, op.Prefix])
@pytest.mark.parametrize("n", [1, 2, 7, 40])
def test_root_diagonal_in_closed_form(kind: type, n: int) -> None:
    W = kind(n)
    eigenvalues, Q = np.linalg.eigh(W.gram().to_dense())
    diagonal = Q**2 @ np.sqrt(eigenvalues)
    assert root_diagonal_bound(W) == pytest.approx(np.sum(diagonal**2), rel=1e-10)
    assert root_diagonal_bound(W) == pytest.approx(dual_bound(W, 1), rel=1e-9)


@pytest.mark.parametrize("W", [op.Ranges(2**17), op.Prefix(2**17)])
def test_many_cells(W: op.Operator) -> None:
    bound = unit_lower_bound(W, UNIT)
    assert singular_value_bound(W) < bound < 1.1 * singular_value_bound(W)


def test_the_quick_bound_is_the_good_one_where_that_is_cheap() -> None:
    assert unit_lower_bound(op.Prefix(256), UNIT) > 1631.40 / 1.001
    assert unit_lower_bound(op.Kronecker(op.Prefix(64), op.Prefix(64)), UNIT) > 282.2**2 / 1.003
    assert unit_lower_bound(3.0 * op.Ranges(1024), UNIT) > 9 * 6.48433e6 / 1.0003
    assert unit_lower_bound(op.Prefix(64), UNIT) == unit_lower_bound(op.Prefix(64), PureDP(1.0))


def test_unions_past_the_quick_limit_add_up_closed_forms() -> None:
    union = op.Stack(op.Prefix(2**15), op.Ranges(2**15))
    parts = root_diagonal_bound(op.Prefix(2**15)) + root_diagonal_bound(op.Ranges(2**15))
    assert unit_lower_bound(union, UNIT) == parts


def test_huge_squares_do_not_overflow() -> None:
    assert unit_lower_bound(op.AllPredicates(511), UNIT) == pytest.approx(
        singular_value_bound(op.AllPredicates(511)), rel=1e-9
    )


def test_degenerate() -> None:
    assert dual_bound(op.Dense(np.zeros((2, 3)))) == 0.0
    with pytest.raises(InvalidInput):
        dual_bound(op.Prefix(3), 0)


def test_replace_one_has_its_own_bound() -> None:
    """The better of that by pairs of records and that of removing one: a record may be replaced by none."""
    replacing = ZCDP(0.5, "replace-one")
    assert unit_lower_bound(op.Identity(6), replacing) == replace_one_bound(op.Identity(6)) > 6
    assert unit_lower_bound(op.Total(6), replacing) == unit_lower_bound(op.Total(6), UNIT) > 0


@given(workloads(), st.integers(0, 100))
@settings(max_examples=60, deadline=None)
def test_replace_one_bound_holds_for_random_strategies(W: np.ndarray, seed: int) -> None:
    n = W.shape[1]
    rng = np.random.default_rng(seed)
    A = np.concatenate((np.eye(n), rng.normal(size=(3, n)), rng.choice([0.0, 1e4]) * np.ones((1, n))))
    squared = max(np.sum((a - b) ** 2) for a in A.T for b in A.T)
    assert replace_one_bound(op.Dense(W)) <= squared * np.sum((W @ np.linalg.pinv(A)) ** 2) * (1 + 1e-6)


def test_replace_one_bound_is_reached() -> None:
    """Cells: contrasts of them, and the number of records, which costs nothing."""
    n = 5
    A = np.concatenate((n * np.eye(n) - 1, 1e6 * np.ones((1, n))))
    squared = max(np.sum((a - b) ** 2) for a in A.T for b in A.T)
    assert squared * np.sum(np.linalg.pinv(A) ** 2) == pytest.approx(
        replace_one_bound(op.Identity(n)), rel=1e-6
    )


def test_unions_of_products_past_the_quick_limit() -> None:
    """By weights that multiply, for both notions of neighbours: several times the sum of the parts."""
    n = 20
    one_each = [op.Kronecker(*(op.Prefix(n) if i == j else op.Total(n) for j in range(3))) for i in range(3)]
    W = op.Stack(*one_each)
    parts = sum(dual_bound(part) for part in one_each)
    assert unit_lower_bound(W, UNIT) > 1.8 * parts
    assert unit_lower_bound(W, ZCDP(0.5, "replace-one")) > 1.8 * parts
