"""Plans as they are made: brute force over all neighbours finds no step that the noise does not cover."""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations

import numpy as np
import pytest

import rowspace as rs
from rowspace.privacy import ZCDP, ApproxDP, Neighbours, Privacy, PrivacyUnit, PureDP, gaussian_delta
from rowspace.strategy import dropped_bits

DOMAIN = rs.Domain(
    age=rs.Numeric(0, 5, bins=5), sex=rs.Categorical(["F", "M"]), region=rs.Categorical(["a", "b", "c"])
)
WORKLOADS = {
    "ranges": rs.workload.ranges(DOMAIN, "age"),
    "prefixes and a marginal": rs.workload.prefixes(DOMAIN, "age") + rs.workload.marginal(DOMAIN, "sex"),
    "marginals": rs.workload.marginals(DOMAIN, up_to=2),
    "predicates": rs.workload.predicates(DOMAIN, ["age < 2 and sex = 'F'", "age >= 3 or region = 'b'"]),
    "total": rs.workload.total(DOMAIN),
}
STEPS = [
    (Neighbours.ADD_REMOVE, None),
    (Neighbours.REPLACE_ONE, None),
    (Neighbours.ADD_REMOVE, PrivacyUnit("who", 3)),
    (Neighbours.REPLACE_ONE, PrivacyUnit("who", 2)),
]


def largest_step(plan: rs.Plan) -> int:
    """The most that one neighbour's step moves the answers, in the norm of the noise, in Python integers."""
    A, privacy, bits = plan.strategy, plan.privacy, dropped_bits(plan.strategy)
    columns = []
    for unit in np.eye(A.shape[1], dtype=np.int64):
        high, low = A.divided(unit, bits)
        columns.append([int(q) * 2**bits + int(r) for q, r in zip(high, low, strict=True)])
    changes = list(columns)
    if privacy.neighbours is Neighbours.REPLACE_ONE:
        changes += [[a - b for a, b in zip(*pair, strict=True)] for pair in combinations(columns, 2)]
    rows = 1 if privacy.unit is None else privacy.unit.rows
    return max(sum(abs(rows * a) ** privacy.norm for a in change) for change in changes)


@pytest.mark.parametrize(("neighbours", "unit"), STEPS, ids=str)
@pytest.mark.parametrize("queries", WORKLOADS)
def test_noise_covers_every_step(queries: str, neighbours: Neighbours, unit: PrivacyUnit | None) -> None:
    promises: list[Privacy] = [
        PureDP(0.7, neighbours, unit),
        ZCDP(0.3, neighbours, unit),
        ApproxDP(0.9, 1e-6, neighbours, unit),
    ]
    pure, concentrated, approximate = (rs.plan(WORKLOADS[queries], p, effort="fast") for p in promises)
    assert largest_step(pure) / Fraction(pure.noise.to_dict()["scale"]) <= Fraction("0.7")
    assert largest_step(concentrated) / (
        2 * Fraction(concentrated.noise.to_dict()["sigma_squared"])
    ) <= Fraction("0.3")
    sigma = approximate.noise.to_dict()["sigma"] / largest_step(approximate) ** 0.5
    assert gaussian_delta(sigma * (1 + 1e-14), 0.9) <= 1e-6
