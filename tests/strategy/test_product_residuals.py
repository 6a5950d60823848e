"""Residuals of products: the figures, the bound, attributes of equal size that are asked different things."""

import numpy as np
import pytest
from hypothesis import given, settings

from rowspace import error, tables
from rowspace import operators as op
from rowspace.privacy import ZCDP, PureDP
from rowspace.strategy import GaussianOptimal, Marginals, Residual, Strategy, dropped_bits, to_integers
from rowspace.strategy.product_bounds import products_bound

from .product_workloads import as_operator, products_up_to, random_products

UNIT = ZCDP(0.5)


def marginals(d):
    return products_up_to([op.Identity(10)] * d, 3)


@pytest.mark.parametrize(("d", "figure"), [(10, 10_888_529.55), (30, 1.01421e10)])
def test_marginals_reach_the_optimum(d, figure):
    """All marginals of up to three of d attributes: the exact optimum, to six digits."""
    result = Residual().optimize(marginals(d), UNIT)
    assert result.total_error == pytest.approx(figure, rel=1e-5 if d > 10 else 1e-8)
    assert result.ratio == pytest.approx(1, abs=1e-6)


@pytest.mark.parametrize(("d", "figure"), [(5, 17.2622), (10, 105.031), (30, 2540.44)])
def test_worst_cell_is_certified(d, figure):
    result = Residual(objective="max").optimize(marginals(d), UNIT)
    assert result.max_error == pytest.approx(figure, rel=1e-4)
    assert result.max_lower_bound <= result.max_error <= result.max_lower_bound * (1 + 1e-4)
    one_of_each = products_up_to([op.Identity(10)] * 3, 3)
    W = type(one_of_each)((10,) * d, one_of_each.pieces, one_of_each.parts, one_of_each.powers)
    worst = error.noise_level(result.strategy, UNIT) * Strategy.of(result.strategy).variances(W).max()
    assert worst == pytest.approx(result.max_error, rel=1e-6)


@pytest.mark.parametrize(
    ("kind", "d", "figure"),
    [(op.Prefix, 10, 19.08), (op.Prefix, 30, 85.2), (op.Ranges, 10, 24.16), (op.Ranges, 30, 117.0)],
    ids=["prefixes, 10", "prefixes, 30", "ranges, 10", "ranges, 30"],
)
def test_products_of_prefixes_and_ranges(kind, d, figure):
    """RMSE at unit privacy cost, in reals and in the integers that are asked."""
    W = products_up_to([kind(10)] * d, 3)
    result = Residual().optimize(W, UNIT)
    assert (result.total_error / W.queries) ** 0.5 <= figure
    assert result.ratio >= 1
    B, noise = to_integers(result.strategy, UNIT)
    assert (noise.variance * B.trace_of_products(W) / W.queries) ** 0.5 <= figure


@given(random_products())
@settings(max_examples=40, deadline=None)
def test_no_strategy_goes_below_the_bound(W):
    """The dense Gaussian optimum of small unions of products is never below it, whoever the neighbours are."""
    for privacy in (UNIT, ZCDP(0.5, "replace-one")):
        best = GaussianOptimal(gap=1e-4).optimize(as_operator(W), privacy).total_error
        assert products_bound(W, privacy) <= best * (1 + 1e-6)
    assert products_bound(W, PureDP(2**0.5)) == products_bound(W, UNIT)


@pytest.mark.parametrize("sizes", [(3, 4), (2, 3, 4), (1, 5, 2)], ids=str)
def test_for_marginals_the_bound_is_the_optimum(sizes):
    W = products_up_to([op.Identity(n) for n in sizes], 2)
    best = GaussianOptimal(gap=1e-7).optimize(as_operator(W), UNIT).total_error
    assert products_bound(W, UNIT) == pytest.approx(best, rel=1e-5)


@pytest.mark.parametrize(
    "kinds",
    [(op.Prefix(4), op.Identity(4), op.Ranges(4)), (op.Prefix(6),) * 3, (op.Ranges(6),) * 3],
    ids=["mixed", "prefixes", "ranges"],
)
def test_near_the_dense_optimum(kinds):
    """Far nearer than the bound can tell: within half a percent of the optimum over all strategies."""
    W = products_up_to(kinds, 2)
    best = GaussianOptimal(gap=1e-4).optimize(as_operator(W), UNIT).total_error
    assert Residual().optimize(W, UNIT).total_error <= 1.005 * best


@given(random_products())
@settings(max_examples=30, deadline=None)
def test_stated_errors_are_dense_errors(W):
    matrix = as_operator(W)
    result = Residual().optimize(W, UNIT)
    A = result.strategy.to_dense()
    C = matrix.to_dense() @ np.linalg.pinv(A, rcond=1e-10)
    np.testing.assert_allclose(C @ A, matrix.to_dense(), atol=1e-6)
    assert result.total_error == pytest.approx(np.sum(A**2, axis=0).max() * np.sum(C**2), rel=1e-6)
    assert result.lower_bound <= result.total_error * (1 + 1e-9)


def brute_force_norm(B, p):
    """The largest column sum, in Python integers from tables of one record each."""
    bits = dropped_bits(B)
    largest = 0
    for unit in np.eye(B.shape[1], dtype=np.int64):
        high, low = B.divided(unit, bits)
        column = [int(q) * 2**bits + int(r) for q, r in zip(high, low, strict=True)]
        largest = max(largest, sum(abs(a) ** p for a in column))
    return largest


@pytest.mark.parametrize("privacy", [UNIT, PureDP(1.0)], ids=["Gaussian", "Laplace"])
def test_equal_sizes_with_different_queries(privacy):
    """Contrasts are kept by attribute, not by size: the stated privacy cost is that of every single column."""
    W = products_up_to([op.Prefix(4), op.Identity(4), op.Ranges(4)], 2)
    optimizer = Residual() if privacy.norm == 2 else Marginals(restarts=1)
    A = optimizer.optimize(W, privacy).strategy
    if privacy.norm == 2:
        assert isinstance(A, tables.Residuals)
        assert len({id(S) for S in A.contrasts}) == 3
    B, noise = to_integers(A, privacy)
    assert B.integer_norm(privacy.norm) == brute_force_norm(B, privacy.norm)
    assert noise == privacy.noise(brute_force_norm(B, privacy.norm))


def test_attributes_asked_alike_share_their_contrasts():
    A = Residual().propose(products_up_to([op.Prefix(6)] * 4, 2), UNIT)
    assert len({id(S) for S in A.contrasts}) == 1


def test_unimportant_parts_are_answered_too():
    W = products_up_to([op.Identity(3)] * 3, 2)
    faint = type(W)(W.sizes, W.pieces, W.parts, np.where(np.arange(len(W.parts)) > 4, 1e-50, 1.0))
    A = Residual().propose(faint, UNIT)
    assert np.isfinite(A.trace_of_products(W))


def test_the_worst_cell_is_better_when_it_is_asked_for():
    W = products_up_to([op.Identity(n) for n in (2, 5, 10, 10)], 2)
    worst, total = (
        error.noise_level(A, UNIT) * Strategy.of(A).variances(W).max()
        for A in (Residual(objective="max").propose(W, UNIT), Residual().propose(W, UNIT))
    )
    assert worst < total * 0.99


@pytest.mark.parametrize("neighbours", ["add-remove", "replace-one"])
@pytest.mark.parametrize("kind", [op.Identity, op.Prefix], ids=["cells", "prefixes"])
def test_the_worst_cell_under_both_neighbours(kind, neighbours):
    """The stated largest variance is that of the strategy, and no strategy has a worst query below the bound."""
    privacy = ZCDP(0.5, neighbours)
    W = products_up_to([kind(3), kind(4)], 2)
    result = Residual(objective="max").optimize(W, privacy)
    variances = [Strategy.of(result.strategy).variances(W.only([k])) for k in range(len(W.parts))]
    level = error.noise_level(result.strategy, privacy)
    assert result.max_error == pytest.approx(level * max(own.mean() for own in variances), rel=1e-9)
    matrix = as_operator(W)
    for other in (GaussianOptimal(objective="max"), GaussianOptimal()):
        A = other.optimize(matrix, privacy).strategy
        assert result.max_lower_bound <= error.max_error(A, matrix, privacy) * (1 + 1e-9)
