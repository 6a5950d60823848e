"""No simple strategy that one would write by hand has less error than a plan, nor less than a plan's bound."""

from __future__ import annotations

from typing import Literal

import numpy as np
import pytest

import rowspace as rs
from rowspace import operators as op
from rowspace.exceptions import RowspaceError
from rowspace.planning.balancing import judged
from rowspace.planning.choosing import certified_further, plan_for_weights
from rowspace.planning.whatif import recalibrated, with_budget
from rowspace.strategy import best_lower_bound

BUDGETS = (0.01, 0.3, 1.0, 3.0, 8.0, 20.0)
OUTSIDE = ("drop", "missing", "clip")


def study(rng: np.random.Generator) -> tuple[rs.Workload, rs.privacy.Privacy]:
    """Up to three parts of any family over up to three small attributes, under any guarantee."""
    sizes = rng.choice([1, 2, 3, 4, 5, 8], int(rng.integers(1, 4)))
    names = [f"a{i}" for i in range(len(sizes))]
    domain = rs.Domain(
        {
            name: rs.Numeric(0, int(n), bins=int(n), integer=True, outside=str(rng.choice(OUTSIDE)))
            for name, n in zip(names, sizes, strict=True)
        }
    )
    parts = []
    for _ in range(int(rng.integers(1, 4))):
        own = rng.choice(names, int(rng.integers(1, len(names) + 1)), replace=False).tolist()
        cells = int(np.prod([domain.shape[names.index(name)] for name in own]))
        texts = [
            (" and ", " or ")[rng.integers(2)].join(
                f"{name} <= {rng.integers(0, domain.shape[names.index(name)])}" for name in own
            )
            for _ in range(int(rng.integers(1, 5)))
        ]
        made = [
            lambda: rs.workload.total(domain),
            lambda own=own: rs.workload.ranges(domain, own[0]),
            lambda own=own: rs.workload.product(domain, dict.fromkeys(own, "prefixes")),
            lambda own=own: rs.workload.marginal(domain, *own),
            lambda own=own, cells=cells: rs.workload.matrix(
                np.round(rng.normal(size=(3, cells)), int(rng.integers(0, 3))) + np.eye(3, cells),
                domain,
                *own,
            ),
            lambda texts=texts: rs.workload.predicates(domain, texts),
        ][int(rng.integers(6))]()
        parts.append(float(rng.choice([0.1, 1.0, 30.0])) * made)
    budget, neighbours = float(rng.choice(BUDGETS)), str(rng.choice(["add-remove", "replace-one"]))
    kinds = [
        rs.PureDP(budget, neighbours),
        rs.ZCDP(budget**2 / 2, neighbours),
        rs.ApproxDP(budget, 1e-6, neighbours),
    ]
    return sum(parts[1:], parts[0]), kinds[int(rng.integers(3))]


def by_hand(W: np.ndarray) -> dict[str, np.ndarray]:
    """Strategies that take no optimizer."""
    n = W.shape[1]
    _, groups = np.unique(W, axis=1, return_inverse=True)
    found = {
        "cells": np.eye(n),
        "queries": W,
        "distinct queries": np.unique(W != 0, axis=0).astype(float),
        "cells and total": np.concatenate((np.eye(n), np.ones((1, n)))),
        "kinds of cells": np.eye(groups.max() + 1)[:, groups.ravel()],
        "cells and half of their total": np.concatenate((np.eye(n), np.full((1, n), 0.5))),
    }
    return found | ({"tree": op.Hierarchy(n, branching=2).to_dense()} if n > 1 else {})


def check(seed: int, objective: Literal["total", "max"]) -> None:
    w, privacy = study(np.random.default_rng(seed))
    plan = rs.plan(w, privacy, effort="fast", objective=objective)

    def figures(one: rs.Plan) -> tuple[float, float]:
        both = (one.total_error, one.lower_bound), (one.max_error, one.max_lower_bound)
        return both[objective == "max"]

    error, bound = figures(plan)
    assert bound <= error * (1 + 1e-7)
    for name, A in by_hand(plan.workload.weighted_operator().to_dense()).items():
        try:
            other, other_bound = figures(rs.plan(plan.workload, privacy, strategy=A, objective=objective))
        except RowspaceError:
            continue  # it does not answer all
        assert error <= other * 1.006, (seed, name)
        assert max(bound, other_bound) <= other * (1 + 1e-7), (seed, name)
        assert other_bound <= error * (1 + 1e-7), (seed, name)


OBJECTIVES = pytest.mark.parametrize("objective", ["total", "max"])


@OBJECTIVES
@pytest.mark.parametrize("seed", range(12))
def test_by_what_is_written_by_hand(seed: int, objective: Literal["total", "max"]) -> None:
    check(seed, objective)


@pytest.mark.long
@OBJECTIVES
@pytest.mark.parametrize("seed", range(100, 300))
def test_by_what_is_written_by_hand_again(seed: int, objective: Literal["total", "max"]) -> None:
    check(seed, objective)


@pytest.mark.parametrize(
    ("budget", "goal"),
    [(rs.PureDP(0.1, "replace-one"), 0.96), (rs.ZCDP(0.1, "replace-one"), 0.93)],
    ids=["Laplace", "Gaussian"],
)
def test_the_total_costs_nothing_where_records_are_replaced(budget: rs.privacy.Privacy, goal: float) -> None:
    """Cells of a table, and how many records there are: beside cells alone."""
    domain = rs.Domain(a=rs.Numeric(0, 5, bins=5, integer=True, outside="drop"))
    w = rs.workload.identity(domain) + rs.workload.total(domain)
    assert rs.plan(w, budget).total_error < goal * rs.plan(w, budget, strategy=np.eye(5)).total_error


def test_attributes_of_one_cell_beside_predicates() -> None:
    """A product that ends in a factor of one cell, beside a matrix over all cells."""
    domain = rs.Domain(
        a=rs.Numeric(0, 4, bins=4, integer=True),
        b=rs.Numeric(0, 2, bins=2, integer=True, outside="drop"),
        c=rs.Numeric(0, 1, bins=1, integer=True, outside="drop"),
    )
    w = rs.workload.marginal(domain, "a", "b", "c") + rs.workload.predicates(
        domain, ["a <= 1 or b = 0 and c = 0"]
    )
    assert rs.plan(w, rs.ZCDP(0.1), objective="max").ratio >= 1


def test_a_plan_for_targets_has_the_bound_of_any_plan() -> None:
    """Inner rounds do without the bound that decomposes matrices; the plan that is returned does not."""
    domain = rs.Domain({name: rs.Numeric(0, n, bins=n, outside="drop") for name, n in (("a", 40), ("b", 14))})
    rng = np.random.default_rng(2)
    parts = [
        rs.workload.matrix(rng.integers(0, 2, (5, n)), domain, name) for name, n in (("a", 40), ("b", 14))
    ]
    w = parts[0] + parts[1] + rs.workload.matrix(rng.integers(0, 2, (20, 560)), domain, "a", "b")
    privacy = rs.PureDP(1.0)
    quick = plan_for_weights(w, privacy, "fast")
    full = certified_further(quick)
    whole = best_lower_bound(full.counted.weighted_operator(), privacy) * privacy.least_variance
    assert full.lower_bound >= whole * (1 - 1e-9)
    assert full.lower_bound >= quick.lower_bound


@pytest.mark.parametrize(
    ("case", "kind", "half_width"),
    [
        ("table", rs.ZCDP(1.0), 1.0),
        ("table", rs.ZCDP(1.0), 3.0),
        ("table", rs.ZCDP(1.0), 0.3),
        ("ranges", rs.ZCDP(1.0), 1.0),
        ("one of two", rs.ZCDP(1.0), 0.3),
    ],
)
def test_no_narrow_target_costs_more_than_with_plain_counts(
    case: str, kind: rs.privacy.Privacy, half_width: float
) -> None:
    """Their noise has steps of one: an interval of ±1 covers what lies within 1.5, and one of ±0 is reached."""
    domain = rs.Domain(
        {name: rs.Numeric(0, n, bins=n, integer=True, outside="drop") for name, n in (("a", 6), ("b", 4))}
    )
    w = {
        "table": rs.workload.marginal(domain, "a", "b"),
        "ranges": rs.workload.ranges(domain, "a"),
        "one of two": rs.workload.marginal(domain, "a") + rs.workload.marginal(domain, "b"),
    }[case]
    group = w.parts[0].group
    found = rs.plan_for(w, [f"{group}: ±{half_width:g}"], kind, effort="fast")
    assert found.met[0].half_width <= half_width
    plain = rs.plan(w, kind, strategy=np.eye(w.reduced().domain.size))
    less = recalibrated(plain, with_budget(kind, found.epsilon / 1.01))
    assert judged(less, {group: [found.met[0].target]})[0].ratio > 1
