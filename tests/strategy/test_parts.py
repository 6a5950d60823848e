"""Strategies over records in parts: K times integers, whatever their kind, and the integers found again exactly."""

import numpy as np
import pytest

import rowspace as rs
from rowspace import operators as op
from rowspace import tables
from rowspace.exceptions import InvalidInput
from rowspace.operators import Extended
from rowspace.strategy import asked_of_parts
from tests.operators.catalogue import CASES

KINDS = {
    "matrix": op.Prefix(4),
    "cells beside": Extended(op.Prefix(4), (5,), (4,), 3),
    "marginals": tables.Marginals((2, 3), ((0,), (0, 1)), (1, 2)),
    "residuals": tables.Residuals((2, 3), ((), (0,), (0, 1)), (1.0, 2.0, 4.0)),
} | {
    case.name: case.operator
    for case in CASES
    if isinstance(case.operator, tables.QueryMix) and case.operator.integral
}


@pytest.mark.parametrize("parts", [7, 49, 1000])
@pytest.mark.parametrize("kind", KINDS)
def test_a_multiple_is_divided_exactly(kind, parts):
    A = KINDS[kind]
    multiple = parts * A
    found = asked_of_parts(multiple, parts)
    np.testing.assert_array_equal(found.to_dense(), A.to_dense())
    np.testing.assert_array_equal(multiple.to_dense(), parts * A.to_dense())
    for p in (1, 2):
        assert multiple.integer_norm(p) == parts**p * A.integer_norm(p)


@pytest.mark.parametrize("kind", KINDS)
def test_what_is_no_multiple_is_refused(kind):
    for strategy in (KINDS[kind], 10 * KINDS[kind]):
        with pytest.raises(InvalidInput, match="times an integer matrix"):
            asked_of_parts(strategy, 7)


def test_every_plan_with_a_measure_is_such_a_multiple():
    """Of every kind that plans have: under both noises, alone, by ranges, by many tables, with a place for NULL."""
    few = rs.Domain(
        g=rs.Categorical(["a", "b"]), x=rs.Numeric(0, 4, bins=4), measures=[rs.Measure("v", 0, 7, step=1)]
    )
    many = rs.Domain(
        {f"a{i}": rs.Categorical(range(9)) for i in range(9)}, measures=[rs.Measure("v", -3, 4, step=1)]
    )
    workloads = [
        rs.workload.mean(few, "v"),
        rs.workload.sum(few, "v", by="g") + rs.workload.total(few),
        rs.workload.sum(few, "v", x="ranges") + rs.workload.ranges(few, "x"),
        rs.workload.mean(many, "v", by=("a0", "a1")) + rs.workload.marginals(many, exactly=2),
        rs.workload.sql(
            few, "SELECT AVG(v) FROM t WHERE g = 'a' OR x < 2; SELECT COUNT(*) FROM t WHERE x < 3"
        ),
    ]
    kinds = set()
    for workload in workloads:
        for privacy in (rs.PureDP(1.0), rs.ZCDP(0.5), rs.ApproxDP(1.0, 1e-6)):
            plan = rs.plan(workload, privacy, effort="fast")
            kinds.add(type(plan.strategy).__name__)
            assert asked_of_parts(plan.strategy, plan.domain.parts).integral
    assert len(kinds) >= 3
