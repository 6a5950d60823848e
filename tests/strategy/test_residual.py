"""Residuals under Gaussian noise: the optimum itself, in reals and in the integers that are asked."""

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rowspace import error
from rowspace import operators as op
from rowspace.exceptions import InvalidInput, InvalidWorkload
from rowspace.privacy import ZCDP, ApproxDP, PureDP
from rowspace.strategy import GaussianOptimal, Residual

from .marginal_workloads import all_marginals, random_workloads

UNIT = ZCDP(0.5)


@given(random_workloads(), st.sampled_from([UNIT, ApproxDP(1.0, 1e-6)]))
@settings(max_examples=30, deadline=None)
def test_optimal_by_brute_force(W, privacy):
    """The dense error equals the dense singular value bound."""
    result = Residual().optimize(W, privacy)
    A = result.strategy.to_dense()
    dense = np.sum(A**2, axis=0).max() * np.sum((W.to_dense() @ np.linalg.pinv(A, rcond=1e-12)) ** 2)
    bound = np.linalg.svd(W.to_dense(), compute_uv=False).sum() ** 2 / W.shape[1]
    assert result.total_error == pytest.approx(privacy.unit_variance * dense, rel=1e-9)
    assert result.total_error == pytest.approx(privacy.unit_variance * bound, rel=1e-6)
    assert result.ratio == pytest.approx(1, rel=1e-9)


def test_agrees_with_the_dense_optimizer():
    W = all_marginals((3, 4, 2), range(3))
    assert Residual().optimize(W, UNIT).total_error == pytest.approx(
        GaussianOptimal(gap=1e-6).optimize(W, UNIT).total_error, rel=1e-5
    )


@pytest.mark.parametrize(("d", "figure"), [(10, 10_888_529.55), (20, None)])
def test_cells_beyond_any_vector(d, figure):
    """Up to 3-way marginals of (10,)*d: the closed form by the number of attributes in a set."""
    result = Residual().optimize(all_marginals((10,) * d, range(4)), UNIT)
    assert result.ratio == pytest.approx(1, rel=1e-12)
    if figure is not None:
        assert result.total_error == pytest.approx(figure, abs=0.01)


def test_integers_lose_nothing():
    W = all_marginals((10,) * 5, range(4))
    result = Residual().optimize(W, UNIT)
    B, _ = result.strategy.integer_form(20)
    assert B.integer_norm(2) * B.profile_trace(W) <= result.total_error * (1 + 1e-4)


def test_variances_add_up_and_are_equal_within_a_marginal():
    W = all_marginals((3, 4, 5), range(3))
    result = Residual().optimize(W, UNIT)
    errors = error.query_errors(result.strategy, W, UNIT)
    assert errors.sum() == pytest.approx(result.total_error)
    P = result.strategy.pinv().to_dense()
    dense = error.noise_level(result.strategy, UNIT) * np.sum((W.to_dense() @ P) ** 2, axis=1)
    np.testing.assert_allclose(errors, dense)


def test_replace_one_is_judged_by_its_own_bound():
    privacy = ZCDP(0.5, "replace-one")
    W = all_marginals((3, 2, 2), range(3))
    result = Residual().optimize(W, privacy)
    assert result.lower_bound <= result.total_error
    assert result.total_error == pytest.approx(error.total_error(result.strategy, W, privacy))


def test_what_it_cannot_do_is_refused():
    pairs = op.Stack(*(op.Kronecker(a, b) for a, b in combinations([op.Identity(3), op.Total(3)], 2)))
    with pytest.raises(InvalidInput, match="Marginals"):
        Residual().optimize(pairs, PureDP(1.0))
    with pytest.raises(InvalidWorkload, match="union of products"):
        Residual().optimize(op.Prefix(3), UNIT)
    with pytest.raises(InvalidWorkload, match="non-zero"):
        Residual().optimize(0 * pairs.parts[0], UNIT)
