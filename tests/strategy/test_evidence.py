"""The best strategy beside evidence: its error by brute force, and a bound that nothing beats."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import rowspace as rs
from rowspace import operators as op
from rowspace.error import noise_level
from rowspace.exceptions import InvalidInput
from rowspace.strategy import AgainstEvidence, GaussianOptimal
from rowspace.strategy.evidence_dual import Dual
from rowspace.strategy.evidence_search import Search

PRIVACIES = [rs.ZCDP(0.25), rs.PureDP(1.0), rs.ApproxDP(1.0, 1e-6)]
LOWER_HALF = op.Dense(np.hstack([op.Ranges(32).to_dense(), np.zeros((32 * 33 // 2, 32))]))

# FRONTIER: both budgets 0.25ρ, 64 cells; and most steps, each of a few decompositions or matrix products.
CASES = [
    (op.Prefix(64), op.WidthRanges(64, 8), 198.5, 30),
    (op.Identity(64), op.Prefix(64), 311.0, 3),
    (op.Ranges(64), op.Identity(64), 72.43, 3),
    (op.Prefix(64), LOWER_HALF, 2190.0, 60),
]


def evidence_of(W, privacy):
    A = GaussianOptimal().optimize(W, privacy).strategy
    return (1 / np.sqrt(noise_level(A, privacy))) * A


def error_by_brute_force(A, evidence, W, privacy):
    P, V = evidence.gram().to_dense(), W.gram().to_dense()
    X = A.gram().to_dense() / noise_level(A, privacy)
    return float(np.trace(V @ np.linalg.inv(P + X)))


@pytest.mark.parametrize(("first", "second", "figure", "steps"), CASES)
def test_published_figures_are_reached_and_certified(first, second, figure, steps):
    privacy = rs.ZCDP(0.25)
    result = AgainstEvidence(evidence_of(first, privacy)).optimize(second, privacy)
    assert result.total_error <= figure * 1.0003
    assert 1 <= result.ratio <= 1.001
    assert result.steps <= steps


def test_queries_and_evidence_of_any_rank_are_certified_nearly_always():
    """Also where part of the cells is not asked about, and where evidence is far more precise than what is bought."""
    ratios, n = [], 16
    for seed in range(20):
        rng = np.random.default_rng(seed)
        W = rng.normal(size=(rng.integers(1, 2 * n), n))
        if seed % 3 == 0:
            W[:, rng.random(n) < 0.5] = 0
        evidence = rng.normal(size=(rng.integers(1, n + 3), n)) * 10 ** rng.uniform(-3, 1)
        privacy = rs.ZCDP(10 ** rng.uniform(-3, -1))
        ratios.append(AgainstEvidence(op.Dense(evidence)).optimize(op.Dense(W), privacy).ratio)
    assert sorted(ratios)[-2] <= 1.002
    assert max(ratios) <= 1.2


def test_a_step_of_the_dual_keeps_what_makes_it_a_bound():
    """G ⪯ Λ with G ⪰ 0, and strategies that the budget buys, at every step; the bound and the error close in."""
    V, P, c = op.Prefix(24).gram().to_dense(), 0.5 * np.eye(24), 0.5
    dual, bounds, errors = Dual.of(V, P, c, c, c * np.eye(24)), [], []
    for _ in range(12):
        G = (dual.root[:, None] * dual.Q * dual.e) @ (dual.Q.T * dual.root)
        slack = np.linalg.eigvalsh(np.diag(dual.root**2) - G)
        assert slack[0] >= -1e-9 * slack[-1]
        assert np.linalg.eigvalsh(G)[0] >= -1e-12
        bound, X, onward = dual.step()
        dual = onward()
        np.testing.assert_allclose(np.diagonal(X), c, rtol=1e-9)
        assert np.linalg.eigvalsh(X)[0] >= 0
        bounds.append(bound)
        errors.append(np.trace(V @ np.linalg.inv(P + X)))
    assert max(bounds) <= min(errors) <= max(bounds) * 1.001


@pytest.mark.parametrize("queries", [op.Identity(32), op.Ranges(32), op.WidthRanges(32, 5)])
def test_mirrored_queries_and_evidence_are_planned_in_halves(queries):
    """The same bounds and strategies as over all cells, from two matrices of half the size, and so for L-BFGS."""
    privacy = rs.ZCDP(0.25)
    P = evidence_of(op.Ranges(32), privacy).gram().to_dense()
    P, c = 0.5 * (P + P[::-1, ::-1]), 1 / privacy.unit_variance
    whole = Search(queries.gram().to_dense(), P, c, c, 2)
    halves = whole.folded()
    assert halves.V.shape == (2, 16, 16)
    A, bound, _ = whole.certified(whole.relaxed(), 1e-3, 100)
    B, same, _ = halves.certified(whole.relaxed(), 1e-3, 100)
    assert same == pytest.approx(bound, rel=1e-6)
    assert whole.error(B) == pytest.approx(whole.error(A), rel=1e-6)
    start = np.random.default_rng(0).normal(size=halves.V.shape)
    descended, _ = halves.descend(start, 300)
    assert bound <= halves.error(descended) <= 1.001 * whole.error(A)
    np.testing.assert_allclose(np.square(descended).sum(axis=1).mean(axis=0), c)


def test_evidence_that_rounding_keeps_from_being_mirrored_is_bounded_as_it_is():
    privacy, rng = rs.ZCDP(0.25), np.random.default_rng(0)
    A = evidence_of(op.Ranges(32), privacy).gram().to_dense()
    evidence = op.Dense(np.linalg.cholesky(A).T * (1 + 1e-5 * rng.normal(size=(32, 32))))
    result = AgainstEvidence(evidence).optimize(op.Identity(32), privacy)
    again = error_by_brute_force(result.strategy, evidence, op.Identity(32), privacy)
    assert result.total_error == pytest.approx(again)
    assert 1 <= result.ratio <= 1.001


@pytest.mark.parametrize("privacy", PRIVACIES, ids=str)
def test_error_by_brute_force(privacy):
    evidence = evidence_of(op.Prefix(12), privacy)
    result = AgainstEvidence(evidence).optimize(op.WidthRanges(12, 3), privacy)
    expected = error_by_brute_force(result.strategy, evidence, op.WidthRanges(12, 3), privacy)
    assert result.total_error == pytest.approx(expected, rel=1e-8)


@given(
    seed=st.integers(0, 2**32 - 1),
    n=st.integers(1, 7),
    budget=st.floats(1e-3, 20.0),
    laplace=st.booleans(),
    rank=st.integers(0, 7),
)
@settings(max_examples=60, deadline=None)
def test_no_strategy_beats_the_bound(seed, n, budget, laplace, rank):
    """Whatever the evidence, of any rank and size: random strategies, the cells, the queries, and what was found."""
    rng = np.random.default_rng(seed)
    privacy = rs.PureDP(budget) if laplace else rs.ZCDP(budget)
    W = op.Dense(rng.integers(-2, 3, (n + 2, n)) + np.eye(n + 2, n) * 3)
    evidence = op.Dense(rng.normal(size=(max(1, rank), n)) * 10 ** rng.uniform(-3, 2))
    result = AgainstEvidence(evidence, max_steps=40).optimize(W, privacy)
    tried = [result.strategy, op.Identity(n), W, *(op.Dense(rng.normal(size=(n, n))) for _ in range(5))]
    least = min(error_by_brute_force(A, evidence, W, privacy) for A in tried)
    assert result.lower_bound <= least * (1 + 1e-9)
    # Plain counts with the noise that is drawn, which may be less than the continuous law's.
    X = np.eye(n) / max(privacy.noise(1).variance, 1e-300)
    drawn = np.trace(W.gram().to_dense() @ np.linalg.inv(evidence.gram().to_dense() + X))
    assert result.lower_bound <= drawn * (1 + 1e-9)


def test_replace_one_neighbours_have_no_certificate():
    privacy = rs.ZCDP(0.25, neighbours="replace-one")
    result = AgainstEvidence(op.Identity(8)).optimize(op.Prefix(8), privacy)
    assert result.lower_bound == 0
    assert result.total_error < GaussianOptimal().optimize(op.Prefix(8), privacy).total_error


def test_evidence_over_other_cells_is_refused():
    with pytest.raises(InvalidInput, match="expected evidence over 8 cells, got 4"):
        AgainstEvidence(op.Identity(4)).optimize(op.Prefix(8), rs.ZCDP(0.5))
    with pytest.raises(InvalidInput, match="gap above zero"):
        AgainstEvidence(op.Identity(4), gap=0)
