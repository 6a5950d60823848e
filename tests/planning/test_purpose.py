"""Plans for tables that are estimated afterwards."""

from __future__ import annotations

import numpy as np
import pytest

import rowspace as rs
from rowspace.exceptions import InvalidInput, InvalidWorkload
from rowspace.study import Study

DOMAIN = rs.Domain(
    a=rs.Categorical(range(20), outside="drop"),
    b=rs.Categorical(range(10), outside="drop"),
    c=rs.Categorical(range(3), outside="drop"),
)
PAIRS = rs.workload.marginals(DOMAIN, exactly=2)


def test_certificate_is_for_what_was_planned():
    plan = rs.plan(PAIRS, rs.ZCDP(0.5), purpose="tables")
    assert plan.ratio < 1.01
    assert {part.group for part in plan.workload.parts} == {
        *("total", "a", "b", "c", "a × b", "a × c", "b × c")
    }
    by_hand = float(
        sum(
            part.weight**2
            * plan.error_bars(queries=rs.Workload(plan.workload.domain, [part]))[0][0] ** 2
            * part.size
            for part in plan.workload.parts
        )
    )
    assert plan.total_error == pytest.approx(by_hand)


def test_much_noise_measures_margins_better():
    """The share of the budget that tables of one attribute have grows as it shrinks; nothing else changes it."""

    def ratio(rho):
        plan = rs.plan(PAIRS, rs.ZCDP(rho), purpose="tables")
        single, pair = (
            plan.error_bars(queries=rs.workload.marginal(DOMAIN, *own))[0][0] for own in ("a", "ab")
        )
        return single / pair

    assert ratio(1e-5) < 0.8 * ratio(1e-1)
    assert ratio(0.02) == pytest.approx(ratio(0.1), rel=0.05)


def test_answers_are_planned_as_before():
    one, two = rs.plan(PAIRS, rs.ZCDP(0.5)), rs.plan(PAIRS, rs.ZCDP(0.5), purpose="answers")
    np.testing.assert_array_equal(one.query_errors(), two.query_errors())


def test_laplace_noise_and_other_queries():
    domain = rs.Domain(age=rs.Numeric(0, 16, bins=16), sex=rs.Categorical(["F", "M"]))
    queries = rs.workload.ranges(domain, "age") + rs.workload.marginal(domain, "age", "sex")
    plan = rs.plan(queries, rs.PureDP(0.5), purpose="tables", effort="fast")
    ranges = next(part for part in plan.workload.parts if part.group == "ranges of age")
    assert ranges.weight == 1
    assert rs.release(plan, np.full((16, 2), 50)).estimate_tables().answers()["answer"].min() >= 0


def test_bad_input():
    with pytest.raises(InvalidInput, match="answers, tables"):
        rs.plan(PAIRS, rs.ZCDP(0.5), purpose="maps")
    with pytest.raises(InvalidWorkload, match="workloads of tables"):
        rs.plan(rs.workload.predicates(DOMAIN, ["a = 1"]), rs.ZCDP(0.5), purpose="tables")


def test_study_files_say_it():
    text = """
    [study]
    name = "Tables"
    purpose = "tables"
    [privacy]
    rho = 0.1
    [domain.sex]
    type = "categorical"
    categories = ["F", "M"]
    [[workload]]
    marginal = ["sex"]
    """
    assert Study.parse(text).purpose == "tables"
    assert Study.parse(text.replace('purpose = "tables"', "")).purpose == "answers"
