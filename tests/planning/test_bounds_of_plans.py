"""No small integer strategy goes below a plan's bounds, whatever the plan was told: brute force over three cells."""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations, pairwise, product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import rowspace as rs
from rowspace.privacy import Privacy

CELLS = 3
DOMAIN = rs.Domain(a=rs.Numeric(0, CELLS, bins=CELLS, integer=True, outside="drop"))
_rng = np.random.default_rng(0)
STRATEGIES = np.concatenate(
    [
        np.array(list(product(range(-1, 2), repeat=9)), dtype=float).reshape(-1, 3, 3)[::3],
        _rng.integers(-30, 31, (1500, 3, 3)).astype(float),
    ]
)
KINDS = (rs.PureDP, rs.ZCDP, lambda budget: rs.ApproxDP(budget, 1e-6))


@st.composite
def studies(draw):
    """(a workload of integer queries and weighted cells, a guarantee)."""
    rows = draw(st.lists(st.tuples(*[st.integers(-1, 2)] * CELLS).filter(any), min_size=1, max_size=4))
    w = rs.workload.matrix(np.array(rows, dtype=float), DOMAIN)
    weight = draw(st.sampled_from([0.0, 0.1, 1.0, 7.0]))
    w = w + weight * rs.workload.identity(DOMAIN) if weight else w
    return w, draw(st.sampled_from(KINDS))(draw(st.sampled_from([0.01, 0.3, 1.0, 4.0, 20.0])))


def least(w, privacy: Privacy, steps=None, evidence=0.0, opened=None):
    """(total, worst) squared errors of the best of many strategies with the noise drawn for them.

    steps: what neighbours are apart, where that is more than one record; opened: a basis of what facts leave open.
    """
    N = np.eye(CELLS) if opened is None else opened
    moved = STRATEGIES if steps is None else STRATEGIES @ np.array(steps, dtype=float).T
    norms = (np.abs(moved) ** privacy.norm).sum(axis=1).max(axis=1).astype(int)
    noise = privacy.noise if steps is None else privacy.noise_of_step
    levels = {norm: noise(norm).variance for norm in set(norms.tolist()) if norm}
    A = (STRATEGIES @ N)[norms > 0]
    variance = np.array([levels[norm] for norm in norms.tolist() if norm])
    X = (
        np.swapaxes(A, 1, 2) @ A / np.maximum(variance, 1e-250)[:, None, None]
        + N.T @ (evidence * np.eye(CELLS)) @ N
    )
    scale = np.trace(X, axis1=1, axis2=2)[:, None, None]
    regular = np.linalg.det(X / scale) > 1e-9
    C = N @ np.linalg.inv((X / scale)[regular]) @ N.T / scale[regular]
    weighted, plain = w.weighted_operator().to_dense(), w.operator().to_dense()
    total = np.einsum("qi,kij,qj->k", weighted, C, weighted)
    worst = np.einsum("qi,kij,qj->kq", plain, C, plain).max(axis=1)
    return total.min() * (1 + 1e-7), worst.min() * (1 + 1e-7)


@given(studies())
@settings(max_examples=8, deadline=None)
def test_of_the_worst_answer(study):
    plan = rs.plan(*study, effort="fast", objective="max")
    total, worst = least(*study)
    assert plan.lower_bound <= total
    assert plan.max_lower_bound <= min(worst, plan.max_error * (1 + 1e-7))


@given(studies(), st.integers(2, 4))
@settings(max_examples=8, deadline=None)
def test_for_people_with_several_rows(study, rows):
    w, privacy = study
    privacy = replace(privacy, unit=rs.PrivacyUnit("who", rows=rows))
    assert rs.plan(w, privacy, effort="fast").lower_bound <= least(w, privacy)[0]


@given(studies(), st.integers(2, 3), st.integers(1, 2), st.sampled_from(["total", "max"]))
@settings(max_examples=8, deadline=None)
def test_over_periods_for_people_who_come_back(study, most, apart, objective):
    w, privacy = study
    privacy = replace(privacy, unit=rs.PrivacyUnit("who", rows=1, periods=most, apart=apart))
    sets = [own for k in range(1, most + 1) for own in combinations(range(CELLS), k)]
    sets = [own for own in sets if all(b - a >= apart for a, b in pairwise(own))]
    steps = [[float(t in own) for t in range(CELLS)] for own in sets]
    plan = rs.plan(w, privacy, effort="fast", over="a", objective=objective)
    total, worst = least(w, privacy, steps)
    assert plan.lower_bound <= total
    assert plan.max_lower_bound <= worst


@given(studies(), st.sampled_from([0.1, 1.0]))
@settings(max_examples=8, deadline=None)
def test_beside_earlier_releases(study, rho):
    earlier = rs.plan(rs.workload.identity(DOMAIN), rs.ZCDP(rho), strategy=np.eye(CELLS))
    release = rs.release(earlier, np.full(CELLS, 50))
    plan = rs.plan(*study, effort="fast", given=[release])
    assert plan.lower_bound <= least(*study, evidence=1 / earlier.noise.variance)[0]


@pytest.mark.parametrize("known", [{"total": 100.0}, {"a < 1": 7.0}], ids=str)
@given(studies())
@settings(max_examples=8, deadline=None)
def test_beside_public_facts(known, study):
    fact = np.ones(CELLS) if "total" in known else np.eye(CELLS)[0]
    opened = np.linalg.svd(fact[None, :])[2][1:].T
    try:
        plan = rs.plan(*study, effort="fast", known=known)
    except rs.RowspaceError:
        return  # the facts leave nothing open
    assert plan.lower_bound <= least(*study, opened=opened)[0]


@given(st.sampled_from(KINDS), st.sampled_from([0.01, 1.0, 20.0]), st.sampled_from([0.1, 1.0, 7.0]))
@settings(max_examples=5, deadline=None)
def test_with_sums_of_measures(kind, budget, weight):
    domain = rs.Domain(
        a=rs.Numeric(0, 2, bins=2, integer=True, outside="drop"), measures=[rs.Measure("m", 0, 4, step=1)]
    )
    privacy = kind(budget)
    w = rs.workload.sum(domain, "m", by=("a",)) + weight * rs.workload.marginal(domain, "a")
    plan = rs.plan(w, privacy, effort="fast")
    W, parts = plan.counted.weighted_operator().to_dense(), plan.domain.parts
    n = W.shape[1]
    A = parts * np.concatenate([np.eye(n, dtype=int)[None], _rng.integers(-2, 3, (500, n, n))])
    A = A[np.abs(np.linalg.det(A)) > 0.5]
    norms = (np.abs(A) ** privacy.norm).sum(axis=1).max(axis=1)
    levels = {norm: privacy.noise(int(norm)).variance for norm in set(norms.tolist())}
    variance = np.array([levels[norm] for norm in norms.tolist()])
    traces = np.einsum("qi,kij,qj->k", W, np.linalg.inv(np.swapaxes(A, 1, 2) @ A), W)
    assert plan.lower_bound <= min((variance * traces).min(), plan.total_error) * (1 + 1e-7)
