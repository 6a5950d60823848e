"""plan(given=…) in tables, whatever the number of cells: certified, as combine answers it, from data to intervals."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pandas as pd
import pytest

import rowspace as rs
from rowspace.exceptions import TooLarge

RNG = np.random.default_rng(7)
MANY = rs.Domain({f"a{i}": rs.Categorical(range(3), outside="drop") for i in range(30)})
PEOPLE = pd.DataFrame({name: RNG.integers(0, 3, 3000) for name in MANY.names})
PAIRS = rs.workload.marginals(MANY, up_to=2)
SOME = rs.workload.marginal(MANY, "a0", "a1") + rs.workload.marginal(MANY, "a2", "a3")

LENGTHS = rs.Domain(
    {f"b{i}": rs.Numeric(0, 10, bins=10, integer=True, outside="drop") for i in range(4)}
)  # 10,000 cells
BELOW = np.array([[x + y <= c for x in range(10) for y in range(10)] for c in range(19)], dtype=float)
LONG = pd.DataFrame({name: RNG.integers(0, 10, 3000) for name in LENGTHS.names})


def tied(names):
    pairs = [rs.workload.matrix(BELOW, LENGTHS, *pair) for pair in combinations(names, 2)]
    found = pairs[0]
    for part in [*pairs[1:], *(rs.workload.ranges(LENGTHS, name) for name in LENGTHS.names)]:
        found += part
    return found


@pytest.mark.parametrize("kind", [rs.ZCDP(0.02), rs.PureDP(0.3)], ids=str)
def test_many_attributes_are_certified_and_combined(kind):
    """Laplace evidence too: it counts by its variance."""
    asked = SOME if kind.norm == 1 else PAIRS
    whole = asked + rs.workload.total(MANY) + rs.workload.marginals(MANY, up_to=1)
    earlier = rs.release(rs.plan(whole, kind), PEOPLE)
    plan = rs.plan(PAIRS, rs.ZCDP(0.05), given=[earlier])
    assert plan.certificate == "optimal"
    both = rs.combine([earlier, rs.release(plan, PEOPLE)])
    table = both.ask(PAIRS)
    np.testing.assert_allclose(table["std_error"] ** 2, plan.query_errors(), rtol=1e-9)
    assert plan.total_error == pytest.approx((table["std_error"] ** 2).sum(), rel=1e-9)
    standard, half = plan.error_bars(0.9, SOME)
    found = both.ask(SOME, level=0.9)
    np.testing.assert_allclose(found["std_error"], standard, rtol=1e-9)
    np.testing.assert_allclose((found["high"] - found["low"]) / 2, half, rtol=1e-6)
    # Better than planning blindly, and than its own plan alone.
    assert plan.total_error < rs.plan(PAIRS, rs.ZCDP(0.05)).total_error


def test_intervals_of_many_attributes_cover():
    nine = MANY.subset(MANY.names[:9])
    first = rs.plan(rs.workload.marginals(nine, up_to=2), rs.ZCDP(0.02))
    earlier = rs.release(first, PEOPLE)
    plan = rs.plan(SOME, rs.ZCDP(0.02), given=[earlier])
    truth = np.concatenate(
        [PEOPLE.groupby(["a0", "a1"]).size().to_numpy(), PEOPLE.groupby(["a2", "a3"]).size().to_numpy()]
    )
    squares, covered = [], []
    for _ in range(30):
        both = rs.combine([rs.release(first, PEOPLE), rs.release(plan, PEOPLE)])
        table = both.ask(SOME)
        squares.append((((table["answer"] - truth) / table["std_error"]) ** 2).mean())
        covered.append(((table["low"] <= truth) & (truth <= table["high"])).mean())
    assert np.mean(covered) >= 0.93
    # Squares of standard normals; those of one table hang together.
    assert abs(np.mean(squares) - 1) <= 4 * np.sqrt(2 / 120)


def test_at_tiny_noise_the_tables_are_pandas():
    strong = rs.ZCDP(1e6)
    first = rs.release(rs.plan(PAIRS, strong), PEOPLE)
    second = rs.release(rs.plan(SOME, strong, given=[first]), PEOPLE)
    answers = rs.combine([first, second]).ask(rs.workload.marginal(MANY, "a0", "a1"))["answer"]
    np.testing.assert_allclose(answers, PEOPLE.groupby(["a0", "a1"]).size().to_numpy(), atol=0.1)


@pytest.mark.long
def test_queries_that_tie_attributes_fill_up_the_rows_of_the_evidence():
    first = rs.plan(tied(LENGTHS.names), rs.ZCDP(0.05))
    assert first.strategy.has_joint
    earlier = rs.release(first, LONG)
    asked = tied(LENGTHS.names[:3])
    plan = rs.plan(asked, rs.ZCDP(0.05), given=[earlier])
    assert plan.total_error < rs.plan(asked, rs.ZCDP(0.05)).total_error
    squares = []
    truth = np.concatenate(
        [[(LONG[a] + LONG[b] <= c).sum() for c in range(19)] for a, b in combinations(LENGTHS.names[:3], 2)]
    )
    for _ in range(8):
        both = rs.combine([rs.release(first, LONG), rs.release(plan, LONG)])
        table = both.ask(asked)
        np.testing.assert_allclose(table["std_error"] ** 2, plan.query_errors(), rtol=1e-6)
        own = table.iloc[: len(truth)]
        squares.append((((own["answer"] - truth) / own["std_error"]) ** 2).mean())
    assert abs(np.mean(squares) - 1) <= 4 * np.sqrt(2 / 24)


def test_evidence_that_does_not_fit_tables_is_refused_clearly():
    wide = rs.Domain({f"b{i}": rs.Numeric(0, 20, bins=20, outside="drop") for i in range(4)})
    ranges = rs.workload.product(wide, b0="ranges", b1="prefixes", b2="ranges", b3="prefixes")
    earlier = rs.release(rs.plan(ranges, rs.PureDP(1.0), effort="fast"), np.zeros(wide.shape, dtype=int))
    with pytest.raises(TooLarge, match="no strategy can be judged beside this evidence over 160,000 cells"):
        rs.plan(rs.workload.marginals(wide, up_to=2), rs.ZCDP(0.1), given=[earlier])
