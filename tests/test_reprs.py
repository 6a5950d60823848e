"""Every public value prints on one line."""

from __future__ import annotations

import inspect

import pyarrow as pa
import pytest

import rowspace as rs
from rowspace.notebook import LONGEST
from rowspace.planning import whatif
from rowspace.strategy import PIdentity
from tests.operators.catalogue import CASES
from tests.study.examples import SMALL

DOMAIN = rs.Domain(
    age=rs.Numeric(0, 20, bins=20),
    sex=rs.Categorical(["F", "M"]),
    region=rs.Categorical([f"a region with the number {number}" for number in range(40)]),
)
UNIT = rs.PrivacyUnit("a_long_name_of_a_person", rows=3)
QUERIES = rs.workload.ranges(DOMAIN, "age") + rs.workload.marginal(DOMAIN, "sex")


def values(folder: str) -> list[object]:
    """One of every public class, and what their methods return."""
    planned = rs.plan(QUERIES, rs.ApproxDP(1.0, 1e-6, unit=UNIT), effort="fast")
    released = rs.release(rs.plan(QUERIES, rs.PureDP(1.0), effort="fast"), [3] * 40)
    met = rs.plan_for(QUERIES, "±50", effort="fast")
    ledger = rs.Ledger(folder + "/budget.db")
    budget = ledger.create("people", rs.PureDP(3.0))
    rs.release(released.plan, [3] * 40, ledger=ledger)
    counts = released.consistent()
    found: list[object] = [
        DOMAIN,
        *(attribute for _, attribute in DOMAIN.attributes),
        QUERIES,
        planned,
        released,
    ]
    found += [released.combine(rs.release(released.plan, [3] * 40)), met, *met.met, rs.Target(50)]
    found += [released.share("age < 5"), released.table("age"), counts, counts.effect, ledger, budget]
    found += [rs.check(DOMAIN, pa.table({"age": [1], "sex": ["F"]}))]
    found += [
        rs.CSV("people.csv", names=[f"column {n}" for n in range(40)], nulls=["NA"]),
        rs.Dates("2024-01-01", "2025-01-01", every="month"),
        rs.HourOfDay("departure"),
        rs.Measure("income", 0, 200_000),
        rs.DayOfWeek("departure"),
        *ledger.history(),
        rs.Study.parse(SMALL),
        UNIT,
        planned.privacy,
        rs.PureDP(1.0),
        rs.ZCDP(0.1, unit=UNIT),
    ]
    found += [
        rs.Neighbours.REPLACE_ONE,
        *whatif(planned, [0.5]),
        *planned.group_errors(),
        *planned.candidates,
        planned.noise,
    ]
    visits = pa.table({"town": ["A"] * 99, "age": [3.0] * 99})
    found += [
        rs.discover(visits, "town", privacy=rs.ApproxDP(1.0, 1e-6, unit=None)),
        rs.bounds(visits, "age", 1.0),
    ]
    session = rs.Session(DOMAIN.subset(["age"]), [3] * 21, ledger=ledger)
    found += [session, session.price("age < 3", within=90), session.ask("age < 3", within=90)]
    return [*found, planned.strategy, PIdentity(p=2).optimize(rs.operators.Ranges(8), rs.PureDP(1.0))]


def test_values_print_on_one_line(tmp_path):
    printed = values(str(tmp_path))
    for value in printed:
        assert "\n" not in repr(value)
        assert len(repr(value)) <= LONGEST + 20, repr(value)
    kinds = {type(value).__name__ for value in printed}
    for name in rs.__all__:
        if inspect.isclass(getattr(rs, name)) and not issubclass(getattr(rs, name), Exception):
            assert name in kinds, f"{name} has no value in this test"


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_operators_print_on_one_line(case):
    assert "\n" not in repr(case.operator)
    assert len(repr(case.operator)) <= LONGEST


def test_guarantees_are_written_as_they_are_made():
    assert repr(rs.PureDP(1)) == "PureDP(epsilon=1.0)"
    assert repr(rs.ZCDP(0.1, neighbours="replace-one")) == "ZCDP(rho=0.1, neighbours='replace-one')"
