"""Plans are chosen by what is drawn, and no integer strategy goes below their bound, whatever the budget."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import rowspace as rs
from rowspace import error, strategy
from rowspace import operators as op
from rowspace.privacy import integer_norm
from rowspace.strategy import calibrated_noise, to_integers, unit_lower_bound

BUDGETS = st.one_of(st.floats(0.01, 20), st.sampled_from([0.01, 1.0, 5.0, 20.0]))
KINDS = st.sampled_from([rs.PureDP, rs.ZCDP, lambda budget, near: rs.ApproxDP(budget, 1e-6, near)])
NEIGHBOURS = st.sampled_from(["add-remove", "replace-one"])


def ranges(cells: int) -> rs.Workload:
    return rs.workload.ranges(rs.Domain(age=rs.Numeric(0, cells, bins=cells, outside="drop")), "age")


def drawn_errors(stack: np.ndarray, V: np.ndarray, privacy: rs.PureDP) -> np.ndarray:
    """Errors of many integer strategies (…, rows, cells) that have full rank, with the noise drawn for them."""
    grams = np.swapaxes(stack, -1, -2) @ stack
    stack = stack[np.linalg.det(grams) > 0.5]
    grams = np.swapaxes(stack, -1, -2) @ stack
    traces = np.trace(np.linalg.solve(grams, np.broadcast_to(V, grams.shape)), axis1=-2, axis2=-1)
    n = stack.shape[-1]
    steps = [stack[..., j] for j in range(n)]
    if privacy.neighbours.value == "replace-one":
        steps += [stack[..., j] - stack[..., k] for j in range(n) for k in range(j)]
    norms = np.max([(np.abs(step) ** privacy.norm).sum(axis=-1) for step in steps], axis=0)
    variances = {int(norm): privacy.noise(int(norm)).variance for norm in np.unique(norms)}
    return traces * np.vectorize(variances.__getitem__)(norms.astype(int))


SMALL = {
    (2, 2): np.array(list(product(range(-4, 5), repeat=4)), dtype=float).reshape(-1, 2, 2),
    (3, 2): np.array(list(product(range(-2, 3), repeat=6)), dtype=float).reshape(-1, 3, 2),
    (3, 3): np.array(list(product(range(-1, 2), repeat=9)), dtype=float).reshape(-1, 3, 3),
}


@pytest.mark.parametrize("shape", SMALL, ids=str)
@given(st.data())
@settings(max_examples=12, deadline=None)
def test_no_integer_strategy_beats_the_bound(shape, data):
    """Against all small integer strategies."""
    n = shape[1]
    privacy = data.draw(KINDS)(data.draw(BUDGETS), data.draw(NEIGHBOURS))
    W = np.array(
        data.draw(st.lists(st.lists(st.integers(-2, 2), min_size=n, max_size=n), min_size=1, max_size=4))
    )
    W = op.Dense(np.vstack([W, np.ones((1, n))]))
    bound = privacy.least_variance * unit_lower_bound(W, privacy)
    assert bound <= drawn_errors(SMALL[shape], W.gram().to_dense(), privacy).min() * (1 + 1e-9)


@given(st.data())
@settings(max_examples=60, deadline=None)
def test_nor_does_one_whose_rows_have_scales_of_their_own(data):
    n, rows = data.draw(st.integers(1, 4)), data.draw(st.integers(1, 7))
    rng = np.random.default_rng(data.draw(st.integers(0, 2**32 - 1)))
    budget, gaussian = data.draw(BUDGETS), data.draw(st.booleans())
    A = np.vstack([np.eye(n), rng.integers(-2, 3, (rows, n))])
    shares = rng.dirichlet(np.full(len(A), 0.5)) + 1e-3
    shares *= budget / (shares @ np.abs(A) ** (2 if gaussian else 1)).max()
    exact = [(rs.ZCDP if gaussian else rs.PureDP)(share).noise(1).variance for share in shares]
    information = (A.T / np.array(exact)) @ A
    W = op.Dense(rng.integers(-2, 3, (5, n)) + np.eye(5, n))
    privacy = rs.ZCDP(budget) if gaussian else rs.PureDP(budget)
    total = np.trace(np.linalg.solve(information, W.gram().to_dense()))
    assert privacy.least_variance * unit_lower_bound(W, privacy) <= total * (1 + 1e-6)


WORKLOADS = {
    "ranges": ranges(7),
    "prefixes": rs.workload.prefixes(ranges(6).domain, "age"),
    "cells and total": rs.workload.identity(ranges(5).domain) + rs.workload.total(ranges(5).domain),
    "tables": rs.workload.marginals(
        rs.Domain(a=rs.Categorical(list("xyz")), b=rs.Categorical(list("uv")), c=rs.Categorical(list("pqr"))),
        up_to=2,
    ),
    "predicates": rs.workload.predicates(ranges(9).domain, ["age < 4", "age < 2 or age >= 6", "age >= 4"]),
}


@given(st.sampled_from(sorted(WORKLOADS)), KINDS, BUDGETS, NEIGHBOURS)
@settings(max_examples=20, deadline=None)
def test_bounds_hold_for_every_search(name, kind, budget, neighbours):
    """Whatever any search finds, at any budget: rounded, with its own noise, it is not below the bound."""
    w, privacy = WORKLOADS[name], kind(budget, neighbours)
    plan = rs.plan(w, privacy)
    W = plan.counted.weighted_operator()
    searches = [
        strategy.IdentityStrategy(),
        strategy.WorkloadItself(),
        strategy.Hierarchical(),
        strategy.SingularValue(),
        strategy.GaussianOptimal() if privacy.norm == 2 else strategy.PIdentity(max_steps=50),
        strategy.Product(),
    ]
    assert plan.lower_bound <= plan.total_error * (1 + 1e-6)
    for search in searches:
        try:
            found = search.optimize(W, privacy).strategy
            other = rs.plan(w, privacy, strategy=to_integers(found, privacy)[0])
        except rs.RowspaceError:
            continue  # it does not apply
        assert max(plan.lower_bound, other.lower_bound) <= other.total_error * (1 + 1e-6), search
    # Never worse than asking every cell, of what is drawn.
    cells = plan.counted.domain.with_places(frozenset(plan.places) - plan.counted.unseen)
    identity = op.Identity(cells.size)
    plain = (
        calibrated_noise(identity, privacy).variance * w.over(cells).weighted_operator().squared_frobenius()
    )
    assert plan.total_error <= plain * (1 + 1e-9)


@pytest.mark.parametrize(
    ("cells", "privacy", "most"),
    [
        (64, rs.PureDP(3.0), 5_046.6),
        (64, rs.PureDP(5.0), 625.1),
        (64, rs.PureDP(8.0), 30.8),
        (20, rs.PureDP(1.0), 2_835.7),
        (20, rs.ZCDP(5.0), 20.5),
        (20, rs.ZCDP(10.0), 0.14),
    ],
    ids=str,
)
def test_plain_counts_are_taken_where_they_are_best(cells, privacy, most):
    plan = rs.plan(ranges(cells), privacy)
    assert plan.total_error <= most
    assert plan.lower_bound <= plan.total_error
    assert plan.candidates[0].total_error == pytest.approx(plan.total_error)
    errors = [candidate.total_error for candidate in plan.candidates]
    assert errors == pytest.approx(sorted(errors), rel=1e-9)  # equal ones are in an order of their own


def test_one_table_at_a_large_budget_is_asked_as_it_is():
    """Residuals are optimal among real matrices; drawn, plain counts have a seventh of their noise."""
    domain = rs.Domain(a=rs.Categorical(range(9), outside="drop"), b=rs.Categorical(range(7), outside="drop"))
    plan = rs.plan(rs.workload.marginal(domain, "a", "b"), rs.ZCDP(5.0))
    assert plan.total_error == pytest.approx(63 * rs.ZCDP(5.0).noise(1).variance)
    assert plan.ratio == pytest.approx(1)


@pytest.mark.parametrize("privacy", [rs.PureDP(2.5), rs.ZCDP(4.0), rs.ApproxDP(42.0, 1e-6)], ids=str)
def test_the_predicted_error_is_the_spread_of_releases(privacy):
    """Sample variance over many releases; five standard errors of it: false alarms below 1e-5."""
    plan = rs.plan(ranges(8), privacy)
    counts, W = np.arange(8), plan.workload.operator()
    draws = [rs.release(plan, counts).estimate - counts for _ in range(300)]
    squares = np.array([np.square(W @ np.asarray(draw, dtype=float)).sum() for draw in draws])
    spread = squares.std(ddof=1) / np.sqrt(len(squares))
    assert abs(squares.mean() - plan.total_error) < 5 * spread


def test_products_spend_their_bits_where_they_gain():
    """A union of census tables: equal bits for four factors cost a tenth of the error, divided ones 1.2 %."""
    domain = rs.Domain(
        hispanic=rs.Categorical(list("ny"), outside="drop"),
        sex=rs.Categorical(list("fm"), outside="drop"),
        race=rs.Categorical(range(64), outside="drop"),
        age=rs.Numeric(0, 115, bins=115, outside="drop"),
    )
    w = rs.workload.total(domain)
    for some in (
        {},
        {"hispanic": "identity"},
        {"sex": "identity"},
        {"hispanic": "identity", "sex": "identity"},
    ):
        for rest in ({"race": "identity"}, {"age": "ranges"}, {"race": "identity", "age": "prefixes"}):
            w += rs.workload.product(domain, {**some, **rest})
    privacy = rs.ZCDP(0.5)
    W = w.weighted_operator()
    real = strategy.Product().optimize(W, privacy)
    plain = error.total_error(to_integers(real.strategy, privacy)[0], W, privacy)
    (asked,) = strategy.as_asked([real], W, w.products(), privacy)
    assert plain > 1.05 * real.total_error
    assert real.total_error < asked.total_error < 1.015 * real.total_error
    assert asked.noise == privacy.noise(integer_norm(asked.integers, privacy))
    assert asked.total_error == pytest.approx(error.total_error(asked.integers, W, privacy), rel=1e-9)
    plan = rs.plan(w, privacy)
    assert plan.total_error == pytest.approx(plan.candidates[0].total_error, rel=1e-9)
    assert plan.total_error == min(c.total_error for c in plan.candidates)
