"""Statements of analysts: what is read equals DuckDB's own answer, what is refused says why and what to write."""

from __future__ import annotations

import re
from functools import cache

import duckdb
import numpy as np
import pandas as pd
import pytest

import rowspace as rs
from rowspace.exceptions import PredicateError
from rowspace.workload import Workload, sql

from .analysts import ABOUT_NULL, ACCEPTED, DOMAIN, REFUSED, table

# In their rows NULL is both a subtotal and a missing value.
SUBTOTALS = re.compile("CUBE|ROLLUP")


@cache
def records(nulls: bool) -> pd.DataFrame:
    return table(nulls=nulls)


@cache
def engine(nulls: bool) -> duckdb.DuckDBPyConnection:
    connection = duckdb.connect()
    connection.register("given", records(nulls))
    kinds = dict.fromkeys(["age", "children", "rooms"], "BIGINT") | {
        "income": "DOUBLE",
        "employed": "BOOLEAN",
    }
    kinds |= dict.fromkeys(["visit", "paid", "booked"], "DATE")
    kinds |= dict.fromkeys(["arrival", "departure"], "TIMESTAMP")
    cast = ", ".join(f"CAST({name} AS {kind}) AS {name}" for name, kind in kinds.items())
    connection.execute(f"CREATE TABLE people AS SELECT * REPLACE ({cast}) FROM given")
    return connection


def answers(statement: str, nulls: bool) -> list[int]:
    """What a release of the statement alone says, with hardly any noise."""
    frame = engine(nulls).sql("SELECT * FROM people").to_arrow_table()
    plan = rs.plan(sql(DOMAIN, statement), rs.ZCDP(1e8), effort="fast")
    return np.rint(rs.release(plan, frame).answers()["answer"]).astype(int).tolist()


def engine_answers(statement: str, nulls: bool) -> list[int]:
    """DuckDB's counts; of groups by columns, those of NULL are left out, as tables leave them out."""
    statement = statement.replace("`", '"')
    rows = engine(nulls).execute(statement).fetchall()
    counts = max(1, statement.count("FILTER"))  # they are the last items
    if not any(word in statement for word in ("CUBE", "ROLLUP")):
        first = int(statement.startswith("SELECT CASE"))  # where NULL is what no branch takes
        rows = [row for row in rows if None not in row[first:-counts]]
    return [int(count) for row in rows for count in row[-counts:]]


def check(statement: str, nulls: bool) -> None:
    mine = answers(statement, nulls)
    theirs = engine_answers(statement, nulls)
    if "GROUP BY" in statement:  # groups without records are not in the engine's answer
        mine, theirs = [n for n in mine if n], [n for n in theirs if n]
    assert sorted(mine) == sorted(theirs)


def test_there_are_enough_statements():
    assert len(set(ACCEPTED)) + len(ABOUT_NULL) + len(REFUSED) >= 85


@pytest.mark.parametrize("statement", ACCEPTED)
def test_what_is_read_equals_the_engines_own_answer(statement):
    check(statement, nulls=False)


@pytest.mark.parametrize("statement", [s for s in [*ACCEPTED, *ABOUT_NULL] if not SUBTOTALS.search(s)])
def test_what_is_read_equals_the_engines_own_answer_with_nulls(statement):
    check(statement, nulls=True)


@pytest.mark.parametrize("statement", ACCEPTED)
def test_what_is_read_is_saved_and_read_back(statement):
    workload = sql(DOMAIN, statement)
    again = Workload.from_dict(*workload.to_dict())
    assert again.labels() == workload.labels()
    assert again.table() == workload.table()


@pytest.mark.parametrize(("statement", "message"), REFUSED)
def test_what_is_refused_says_why_and_what_to_write(statement, message):
    with pytest.raises(PredicateError, match=f"(?s)line 1, column .*{message}"):
        sql(DOMAIN, statement)
