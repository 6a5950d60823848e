"""Where records are left out, every door says which; where none are, none does."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

import rowspace as rs
from rowspace.interop import to_arrow
from rowspace.planning import population
from rowspace.privacy import PrivacyUnit
from rowspace.releases.derived import Estimate

PEOPLE = pd.DataFrame({"age": [0, 1, 1, 9, None], "size": [1, 5, 1, 20, 5], "id": [1, 2, 2, 3, 3]})
PEOPLE = pd.concat([PEOPLE.assign(id=PEOPLE["id"] + 5 * copy) for copy in range(500)])
CAPPED = "At most 2 rows of each id are counted, and no row without one."
DROPPED = (
    "Records whose age is outside [0, 4), or whose size is outside [0, 9), or where one of these is missing, are not "
    "counted."
)


def made(*, everybody: bool) -> rs.Release:
    domain = rs.Domain(
        age=rs.Numeric(0, 4, bins=4, outside="clip" if everybody else "drop"),
        size=rs.Numeric(0, 9, bins=3, outside="clip" if everybody else "drop"),
    )
    unit = None if everybody else PrivacyUnit("id", rows=2)
    plan = rs.plan(rs.workload.marginals(domain, up_to=2), rs.ZCDP(0.5, unit=unit))
    return rs.release(plan, PEOPLE)


@pytest.fixture(scope="module")
def some() -> rs.Release:
    return made(everybody=False)


@pytest.fixture(scope="module")
def everybody() -> rs.Release:
    return made(everybody=True)


DOORS: dict[str, Any] = {
    "statement": lambda r: r.statement,
    "text": str,
    "notebook": lambda r: r._repr_html_(),
    "plan": lambda r: str(r.plan),
    "plan in a notebook": lambda r: r.plan._repr_html_(),
    "plan for machines": lambda r: json.dumps(r.plan.to_dict()),
    "answers": lambda r: str(r.answers().attrs),
    "ask": lambda r: str(r.ask("age < 2").attrs),
    "stream": lambda r: str(next(r.stream()).attrs),
    "difference": lambda r: str(r.difference("age < 2", "age >= 2")),
    "share": lambda r: str(r.share("size < 3")),
    "an estimate in a notebook": lambda r: r.difference("age < 2", "age >= 2")._repr_html_(),
    "a table in a notebook": lambda r: r.table("age", "size")._repr_html_(),
    "median": lambda r: str(r.median("age")),
    "synthetic records": lambda r: r.synthetic(5, rng=1).attrs.get("population", ""),
    "quantiles": lambda r: str(r.quantiles("age").attrs),
    "cdf": lambda r: str(r.cdf("age").attrs),
    "table": lambda r: str(r.table("age", "size")),
    "top": lambda r: str(r.top(2, "age").attrs),
    "combined": lambda r: r.combine(rs.release(r.plan, PEOPLE)).statement,
    "combined answers": lambda r: str(r.combine(rs.release(r.plan, PEOPLE)).answers().attrs),
    "consistent": lambda r: r.consistent().statement,
    "consistent answers": lambda r: str(r.consistent().answers().attrs),
    "synthetic": lambda r: str(r.synthetic(2).attrs),
    "arrow": lambda r: str(to_arrow(r).schema.metadata[b"rowspace"].decode()),
}


@pytest.mark.parametrize("door", DOORS)
def test_every_door_says_which_records_are_left_out(
    door: str, some: rs.Release, everybody: rs.Release
) -> None:
    said = DOORS[door](some)
    assert CAPPED in said
    assert DROPPED in said
    assert "counted" not in DOORS[door](everybody).replace("not counted as", "")


def test_unbiased_is_never_said_without_it(some: rs.Release, everybody: rs.Release) -> None:
    assert "unbiased for the records that are counted" in some.statement
    assert "Answers are unbiased: " in everybody.statement


def test_errors_are_in_counts(some: rs.Release) -> None:
    """A scale in units of the integers that were asked tells people nothing."""
    for text in (some.statement, some.combine(rs.release(some.plan, PEOPLE)).statement):
        assert "integers" not in text
        assert "scale" not in text
        assert "in counts" in text


def test_releases_for_different_units_say_both() -> None:
    domain = rs.Domain(age=rs.Numeric(0, 4, bins=4, outside="clip"))
    queries = rs.workload.marginal(domain, "age")
    both = rs.releases.combine(
        rs.release(rs.plan(queries, rs.ZCDP(0.5, unit=PrivacyUnit("id", rows=rows))), PEOPLE)
        for rows in (1, 2)
    )
    assert both.plan.population == f"At most 1 row of each id is counted, and no row without one. {CAPPED}"


def test_an_estimate_says_it_for_machines(some: rs.Release) -> None:
    found = some.difference("age < 2", "age >= 2")
    assert isinstance(found, Estimate)
    assert found.to_dict()["population"] == some.plan.population


def test_many_attributes_are_counted_not_listed() -> None:
    domain = rs.Domain({f"a{number}": listed() for number in range(20)})
    words = population(domain)
    assert (
        "a10 or a11 is not listed (likewise 8 more attributes), or where one of these is missing, are"
        in words
    )


def test_categories_that_are_dropped() -> None:
    domain = rs.Domain(sex=listed(), place=rs.Categorical(["a", "b"], other="else"))
    assert population(domain) == "Records whose sex is not listed or missing are not counted."


def listed() -> rs.Categorical:
    """An attribute that drops what it does not list, whatever the default is."""
    attribute = rs.Categorical(["x", "y"])
    object.__setattr__(attribute, "outside", "drop")
    return attribute


def test_it_survives_a_file(some: rs.Release, tmp_path: Path) -> None:
    some.save(tmp_path / "a.release")
    assert rs.Release.load(tmp_path / "a.release").plan.population == some.plan.population
