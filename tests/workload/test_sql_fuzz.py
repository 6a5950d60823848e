"""Any text is a workload or one clear error."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

import rowspace as rs
from rowspace.exceptions import RowspaceError
from rowspace.workload import sql

DOMAIN = rs.Domain(
    age=rs.Numeric(0, 12, bins=6),
    sex=rs.Categorical(["F", "M"]),
    employed=rs.Categorical([True, False], other="?"),
)
SOUP = """
SELECT COUNT ( * ) SUM CASE WHEN THEN ELSE END FROM t WHERE GROUP BY CUBE ROLLUP GROUPING SETS AND OR NOT IN BETWEEN
IS NULL TRUE FALSE = <> < <= > >= , ; . age sex employed zone 'F' 'M' 1 0 4 12 -3 2.5 AS n FILTER HAVING LIMIT JOIN ON
UNION DISTINCT OVER WITH [ ] { } :: -> ? :x @v $1 " ` -- /* */ || + - / % ^ & CAST EXISTS LATERAL VALUES INTERVAL
"""
WORDS = SOUP.split()
QUERIES = (
    "SELECT sex , COUNT ( * ) AS n FROM t WHERE age < 4 AND sex = 'F' GROUP BY sex",
    "SELECT CASE WHEN age < 4 THEN 1 ELSE 0 END , SUM ( CASE WHEN employed THEN 1 ELSE 0 END ) FROM t GROUP BY 1",
    "SELECT COUNT ( * ) FILTER ( WHERE age BETWEEN 4 AND 7 ) FROM t GROUP BY CUBE ( sex , age )",
)


def is_workload_or_error(text: str) -> None:
    try:
        found = sql(DOMAIN, text)
    except RowspaceError:
        return
    assert isinstance(found, rs.Workload)


@settings(max_examples=150, deadline=None)
@given(st.lists(st.sampled_from(WORDS), max_size=25))
def test_any_words(words: list[str]) -> None:
    is_workload_or_error("SELECT COUNT(*) FROM t " + " ".join(words))
    is_workload_or_error("SELECT " + " ".join(words))


@settings(max_examples=300, deadline=None)
@given(st.sampled_from(QUERIES), st.data())
def test_mutated_queries(query: str, data: st.DataObject) -> None:
    words = query.split(" ")
    for _ in range(data.draw(st.integers(1, 3))):
        at = data.draw(st.integers(0, len(words) - 1))
        change = data.draw(st.sampled_from(["replace", "insert", "delete", "swap"]))
        if change == "replace":
            words[at] = data.draw(st.sampled_from(WORDS))
        elif change == "insert":
            words.insert(at, data.draw(st.sampled_from(WORDS)))
        elif change == "delete" and len(words) > 1:
            del words[at]
        else:
            words[at], words[0] = words[0], words[at]
    is_workload_or_error(" ".join(words))


@settings(max_examples=100, deadline=None)
@given(st.text(max_size=60))
def test_any_text(text: str) -> None:
    is_workload_or_error(text)
    is_workload_or_error(f"SELECT COUNT(*) FROM t WHERE sex = '{text}'")
