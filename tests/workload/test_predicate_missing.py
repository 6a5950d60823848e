"""Missing values in predicates: where a condition is true, DuckDB's own WHERE keeps the record, NULLs and all."""

from __future__ import annotations

import duckdb
import pytest

import rowspace as rs
from rowspace.domain import Categorical, Domain, Numeric
from rowspace.exceptions import PredicateError
from rowspace.workload import predicates
from rowspace.workload.predicate import parse
from rowspace.workload.predicate.meaning import holds
from rowspace.workload.predicate.syntax import Is, Missing, Not, Source, Test

KNOWN = Domain(a=Numeric(0, 3, bins=3, integer=True), b=Categorical([1, 2]), flag=Categorical([True, False]))


TEXTS = [
    "a < 2",
    "not a < 2",
    "a < 2 or b = 1",
    "not (a < 2 or b = 1)",
    "a < 2 and not b = 1",
    "not (a < 2 and b = 1)",
    "a != 1",
    "not a in (0, 1)",
    "not a between 1 and 2",
    "a is null",
    "a is not null and b = 2",
    "not a is null",
    "a is null or b is null",
    "a <= b",
    "not a <= b",
    "a + b = 3",
    "not (a = b or flag)",
    "(a < 2) is true",
    "(a < 2) is not true",
    "(a < 2 or b = 1) is false",
    "(a < 2 and b = 1) is not false",
    "flag is not true",
    "not flag",
    "(a < 2) is not true or a is null",
]


@pytest.mark.parametrize("text", TEXTS)
def test_conditions_hold_where_the_engine_keeps_the_record(text):
    placed = KNOWN.with_places()
    found = holds(parse(text), placed, Source(text))
    query = f"""
        SELECT COALESCE({text}, FALSE) FROM
        (SELECT UNNEST([0, 1, 2, NULL]) AS a, UNNEST([0, 1, 2, 3]) AS i),
        (SELECT UNNEST([1, 2, NULL]) AS b, UNNEST([0, 1, 2]) AS j),
        (SELECT UNNEST([TRUE, FALSE, NULL]) AS flag, UNNEST([0, 1, 2]) AS k) ORDER BY i, j, k
    """
    expected = [held for (held,) in duckdb.connect().execute(query).fetchall()]
    assert found.ravel().tolist() == expected


@pytest.mark.parametrize("text", TEXTS)
def test_what_is_printed_is_read_back(text):
    condition = parse(text)
    assert parse(str(condition)) == condition


def test_the_words_of_missing_values():
    assert parse("age IS MISSING") == Missing("age")
    assert parse("age is not null") == Missing("age", negated=True)
    assert str(parse("`native-country` is not null")) == "`native-country` is not missing"
    assert parse("flag is true") == Is(Test("flag", "=", (True,)), value=True)
    assert parse("not age is missing") == Not(Missing("age"))


def test_missing_values_in_a_bucket_are_asked_for_by_its_name():
    domain = Domain(sex=Categorical(["F", "M"], other="unknown"))
    with pytest.raises(PredicateError, match=r"share the bucket 'unknown'.*compare with it instead"):
        predicates(domain, ["sex is missing"])


def test_a_category_called_missing_is_told_from_what_is_missing():
    """The same words as in the table of its cells."""
    domain = rs.Domain(v=rs.Categorical(["missing", "b"]))
    made = rs.release(rs.plan(rs.workload.marginal(domain, "v"), rs.PureDP(1.0)), [3, 4, 5])
    asked = made.ask(["v = 'missing'", "v is missing", "v = 'missing' or v is missing"])
    assert asked["v"].tolist() == ["missing", "(missing)", "missing or (missing)"]
    assert made.ask(rs.workload.marginal(domain, "v", missing=True))["v"].tolist() == [
        "missing",
        "b",
        "(missing)",
    ]
