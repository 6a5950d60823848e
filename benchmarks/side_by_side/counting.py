"""Counting: thousands of tables from one set of records."""

from __future__ import annotations

import warnings
from itertools import combinations

import duckdb
import numpy as np
import pyarrow as pa

from rowspace.domain import Categorical, Domain
from rowspace.sources import count_marginals

from ..harness import Case, Contender, Work
from ..records import OURS

RECORDS, VALUES = 100_000, 10


def columns(attributes: int) -> dict[str, np.ndarray]:
    random = np.random.default_rng(3)
    return {f"a{i}": random.integers(0, VALUES, RECORDS) for i in range(attributes)}


def ours(attributes: int) -> Work:
    records = pa.table(columns(attributes))
    domain = Domain({name: Categorical(range(VALUES), outside="drop") for name in records.column_names})
    pairs = list(combinations(range(attributes), 2))
    return lambda: count_marginals(records, domain, pairs)


def mbi(attributes: int) -> Work:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # that jax counts in 32 bits
        from mbi import Dataset
        from mbi import Domain as TheirDomain

    codes = columns(attributes)
    records = Dataset(codes, TheirDomain(list(codes), [VALUES] * attributes))
    pairs = list(combinations(codes, 2))
    return lambda: [records.project(pair).datavector() for pair in pairs]


def group_bys(attributes: int) -> Work:
    connection = duckdb.connect()
    connection.register("records", pa.table(columns(attributes)))
    pairs = list(combinations([f"a{i}" for i in range(attributes)], 2))

    def run() -> None:
        for one, other in pairs:
            connection.execute(f"SELECT {one}, {other}, count(*) FROM records GROUP BY ALL").fetchall()

    return run


def one_bincount_a_table(attributes: int) -> Work:
    codes = [column.astype(np.int64) for column in columns(attributes).values()]

    def run() -> None:
        for one, other in combinations(codes, 2):
            np.bincount(VALUES * one + other, minlength=VALUES**2)

    return run


BINCOUNT = Contender("one np.bincount a table, codes known", one_bincount_a_table)

CASES = (
    Case(
        "counting",
        "all tables of two attributes of ten values, 100,000 records in memory",
        "attributes",
        (10, 20, 40, 80),
        5,
        BINCOUNT,
        (
            Contender(OURS, ours),
            Contender("mbi", mbi, needs="mbi"),
            Contender("DuckDB, one GROUP BY a table", group_bys, largest=40),
        ),
        remark="mbi and the floor are given codes 0 to 9; rowspace takes values and checks them against the domain.",
    ),
)
