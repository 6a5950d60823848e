"""Predicates about dates and about several attributes: their cells and words, and refusals that say what to write."""

from __future__ import annotations

import datetime as dt

import numpy as np
import pytest

from rowspace.domain import Categorical, Dates, Domain, Numeric
from rowspace.exceptions import PredicateError, TooLarge
from rowspace.workload import Workload, marginal, predicates, prefixes, ranges, sql
from rowspace.workload.texts import asked

DAYS = [dt.date(2024, 1, 1) + dt.timedelta(days=n) for n in range(366)]
DOMAIN = Domain(
    {
        "day": Dates("2024-01-01", "2025-01-01", every="day"),
        "paid": Dates("2024-01-01", "2024-02-01", every="day"),
        "month": Dates("2024-01-01", "2025-01-01", every="month"),
        "at": Dates("2024-01-01", "2024-01-03", every="hour"),
        "native-country": Categorical(["US", "UK"]),
        "a": Numeric(0, 5, bins=5, integer=True),
        "b": Categorical([0, 2, 4]),
        "wide": Numeric(0, 10, bins=5, integer=True),
        "many": Numeric(0, 2**19, bins=2**19, integer=True),
    }
)


def cells(text: str, *names: str) -> np.ndarray:
    workload = predicates(DOMAIN, [text]).reduced()
    assert workload.domain.names == names
    return workload.operator().to_dense()[0].reshape(workload.domain.shape)


@pytest.mark.parametrize(
    ("text", "holds"),
    [
        ("day >= '2024-03-01'", lambda d: d >= dt.date(2024, 3, 1)),
        ("day between '2024-03-01' and '2024-03-31'", lambda d: d.month == 3),
        ("day <= '2024-03'", lambda d: d.month <= 3),
        ("day > '2024-03'", lambda d: d.month > 3),
        ("day = '2024-Q2'", lambda d: d.month in (4, 5, 6)),
        (
            "day in ('2024-W10', '2024-12-25')",
            lambda d: d.isocalendar().week == 10 or d == dt.date(2024, 12, 25),
        ),
        ("day != '2024-02-29'", lambda d: d != dt.date(2024, 2, 29)),
        ("'2024-02-01' <= day < '2024-02-15'", lambda d: d.month == 2 and d.day < 15),
        ("day < '2024-02-01 00:00'", lambda d: d.month == 1),
        ("day <= '2024-02-01T12:00'", lambda d: d <= dt.date(2024, 2, 1)),
        ("day > '2024-02-01T12:00'", lambda d: d > dt.date(2024, 2, 1)),
        ("month(day) = 3 or dow(day) = 0", lambda d: d.month == 3 or d.isoweekday() == 7),
        ("quarter(day) in (1, 9)", lambda d: d.month <= 3),
        ("doy(day) > 366 or week(day) between 2 and 3", lambda d: d.isocalendar().week in (2, 3)),
        ("year(day) = 2024 and day(day) != 1", lambda d: d.day != 1),
    ],
)
def test_dates_hold_where_they_say(text, holds):
    assert cells(text, "day").tolist() == [float(holds(day)) for day in DAYS]


def test_hours_are_compared_at_their_edges():
    assert cells("at >= '2024-01-01 22:00' and at < '2024-01-02 02:00'", "at").sum() == 4
    assert cells("hour(at) between 7 and 8", "at").sum() == 4
    assert cells("at >= '2024-01-02'", "at").sum() == 24
    assert cells("at = '2024-01'", "at").sum() == 48


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("day = '2024-02-30'", "'2024-02-30' does not exist"),
        ("day = '30.2.2024'", "expected a date such as '2024-03-01'"),
        ("day = 3", "holds dates; compare it with one such as '2024-03-01'"),
        ("month >= '2024-03-15'", "nearest edges are 2024-03-01 and 2024-04-01"),
        ("month = '2024-03-01'", "does not fall on a bin edge.*nearest edges are 2024-03-01 and 2024-04-01"),
        ("month between '2024-03-01' and '2024-01-31'", "lower end first, got '2024-03-01' and '2024-01-31'"),
        ("at <= '2024-01-01 07:00'", "holds times.*compare with < or >=, at 2024-01-01 07:00"),
        ("at = '2024-01-01 07:00'", "single instant; compare with >= and <"),
        ("dow(month) = 1", "too long to decide.*declare finer cells"),
        ("month(day) = 'May'", "is a whole number"),
        ("month(a) = 3", "only attributes that hold dates have parts"),
        ("weekday(day) = 3", "unknown function 'weekday'; did you mean"),
        ("native-country = 'US'", 'write `native-country` or "native-country"'),
        ("a <= wide", "cells of wide do not decide.*declare bins of width 1"),
        ("day <= month", "cells of month do not decide.*declare every"),
        ("a <= day", "compares days with numbers"),
        ("day + paid <= 3", "not added"),
        ("a <= c", "unknown attribute 'c'.*for a text write 'c'"),
        ("`native-country` < a", "compares numbers with text"),
    ],
)
def test_refusals_say_what_to_write(text, message):
    with pytest.raises(PredicateError, match=f"(?s){message}"):
        predicates(DOMAIN, [text])


@pytest.mark.parametrize(
    ("text", "written", "holds"),
    [
        ("a <= b", "a <= b", lambda a, b: a <= b),
        ("a + b <= 5", "a + b <= 5", lambda a, b: a + b <= 5),
        ("a - b > 1", "a > b + 1", lambda a, b: a - b > 1),
        ("5 - a <= b", "a + b >= 5", lambda a, b: 5 - a <= b),
        ("1 <= a - b < 3", "b <= a - 1 and a < b + 3", lambda a, b: 1 <= a - b < 3),
        ("a = b -1", "a = b - 1", lambda a, b: a == b - 1),
        ("not a != b", "not a != b", lambda a, b: a == b),
    ],
)
def test_attributes_are_compared_with_each_other(text, written, holds):
    expected = [[float(holds(a, b)) for b in (0, 2, 4)] for a in range(5)]
    assert cells(text, "a", "b").tolist() == expected
    workload = predicates(DOMAIN, [text])
    assert workload.labels() == [written]
    assert Workload.from_dict(*workload.to_dict()).labels() == [written]


def test_days_are_compared_with_days():
    found = cells("paid - day > 10", "day", "paid")
    assert found.tolist() == [[float(p - d > 10) for p in range(31)] for d in range(366)]


def test_texts_can_be_equal():
    domain = Domain(home=Categorical(["A", "B"]), work=Categorical(["B", "C", "A"]))
    found = predicates(domain, ["home = work"]).operator().to_dense()[0]
    assert found.reshape(2, 3).tolist() == [[0, 0, 1], [1, 0, 0]]


def test_too_many_joint_cells_are_refused():
    with pytest.raises(TooLarge, match=r"joint cells, the limit is 1,048,576"):
        predicates(DOMAIN, ["a <= many"])


def test_names_stand_in_double_quotes_and_backticks():
    for text in ('"native-country" = "US"', "`native-country` = 'US'", "\"native-country\" = 'US'"):
        assert predicates(DOMAIN, [text]).labels() == ["`native-country` = 'US'"]


def test_integers_are_not_assumed():
    domain = Domain(age=Numeric(0, 100, bins=5), unit=Numeric(0, 3, bins=3))
    with pytest.raises(PredicateError, match="write age < 60, or declare integer = true"):
        predicates(domain, ["age <= 59"])
    with pytest.raises(PredicateError, match="write age >= 60, or declare integer = true"):
        predicates(domain, ["age > 59"])
    with pytest.raises(PredicateError, match="write age >= 20 and age < 40, or declare integer = true"):
        predicates(domain, ["age between 20 and 39"])
    with pytest.raises(PredicateError, match="write unit >= 1 and unit < 2, or declare integer = true"):
        predicates(domain, ["unit = 1"])
    assert predicates(domain, ["age < 60"]).table()["age"] == ["[0, 60)"]


def test_between_names_bins_of_one_whole_number_each():
    """The label says what is counted, so that it is true of 64.5 too."""
    domain = Domain(age=Numeric(0, 100, bins=100), half=Numeric(0, 3, bins=6))
    counted = ["age >= 18 and age < 65"]
    assert predicates(domain, ["age between 18 and 64"]).labels() == counted
    assert sql(domain, "SELECT COUNT(*) FROM t WHERE age BETWEEN 18 AND 64").labels() == counted
    assert predicates(domain, ["not age between 18 and 64"]).labels() == [f"not ({counted[0]})"]
    assert predicates(domain, ["age between -5 and 200"]).labels() == ["age between -5 and 200"]
    for text in ("age between 18 and 64.5", "half between 1 and 2", "half between 0 and 0.5"):
        with pytest.raises(PredicateError):
            predicates(domain, [text])


def test_families_name_periods():
    assert marginal(DOMAIN, "month").labels(0, 2) == ["month = 2024-01", "month = 2024-02"]
    assert ranges(DOMAIN, "month").label(1) == "month in [2024-01-01, 2024-03-01)"
    assert prefixes(DOMAIN, "month").label(11) == "month in [2024-01-01, 2025-01-01)"
    for workload in (
        marginal(DOMAIN, "month", "a"),
        ranges(DOMAIN, "month"),
        predicates(DOMAIN, ["hour(at) = 3"]),
    ):
        assert Workload.from_dict(*workload.to_dict()).labels(0, 1) == workload.labels(0, 1)


def test_texts_with_comments_and_with_clauses_are_sql():
    texts = [
        "-- name: young\nSELECT COUNT(*) FROM t WHERE a < 2",
        "WITH x AS (SELECT * FROM t) SELECT COUNT(*) FROM x",
    ]
    assert asked(DOMAIN, [*texts, "a < 2"]).size == 3
    assert asked(Domain(selected=Categorical([True, False])), ["selected"]).labels() == ["selected = true"]


@pytest.mark.parametrize("every", ["day", "month"])
@pytest.mark.parametrize("text", ["day < 2024-03-01", "day = 2024-03", "day + 3 > 5"])
def test_a_date_without_quotes_is_explained(every, text):
    domain = Domain(day=Dates("2024-01-01", "2024-07-01", every=every))
    with pytest.raises(PredicateError, match="expected a date in quotes beside 'day'"):
        predicates(domain, [text])
