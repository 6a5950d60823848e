"""CSV files, plain and gzipped, counted by the engine in every way there is."""

from __future__ import annotations

import gzip
from typing import Any
from unittest.mock import patch

import numpy as np

from rowspace.domain import Categorical, Domain, Numeric
from rowspace.privacy import PrivacyUnit
from rowspace.sources import count_cells, count_marginals, opening

from .attack import Parser
from .mutation import NUMBERS, STRINGS, pick, spoil_bytes
from .scratch import put

SEEDS = (
    b"age,sex\n12,F\n99,M\n,\n130,F\n",
    b'\xef\xbb\xbfsex;age;note\r\nF;1;"a;b"\r\nM;2.5;"say ""x"""\r\n',
    b"age\tsex\n1\tF\n2\tM\n",
    b'"age","sex"\n"1","F"\n"2","M\nM"\n',
    b"id|age|sex|age2\n1|2|F|3\n",
)
WORDS = tuple(b'age,sex\n \r\n " "" , ; \t | 1e999 nan -inf NULL \x00'.split(b" "))
DOMAIN = Domain(age=Numeric(0, 100, bins=10), sex=Categorical(["F", "M"]))
INPUTS_PER_ENGINE = 200
"""After so many inputs the engine is ended and another one started: it keeps a view for each file it has seen."""


def csv_files() -> Parser:
    """CSV files; the engine, which takes longer to start than they to be read, serves many of them."""
    engine = LentEngine()

    def draw(rng: np.random.Generator) -> tuple[str, str, bytes]:
        way = pick(rng, ("cells", "cells", "marginals", "units"))
        if rng.random() < 0.2:
            cells = [str(pick(rng, (*NUMBERS, *STRINGS[:9], "F", "M", 12, 99))) for _ in range(12)]
            rows = [",".join(cells[start : start + 2]) for start in range(0, 12, 2)]
            return way, "rows.csv", ("age,sex\n" + "\n".join(rows)).encode("utf-8", "surrogatepass")
        if rng.random() < 0.1:
            packed = tuple(gzip.compress(seed, mtime=0) for seed in SEEDS)
            return way, "rows.csv.gz", spoil_bytes(rng, pick(rng, packed), packed)
        return way, "rows.csv", spoil_bytes(rng, pick(rng, SEEDS), (*SEEDS, *WORDS))

    def read(given: tuple[str, str, bytes]) -> None:
        way, name, data = given
        path = put(data, name)
        with patch.object(opening, "embedded_duckdb", engine.lend):
            _count(way, path)

    return Parser("CSV files", draw, read)


def _count(way: str, path: Any) -> None:
    """Count the file as a release would, and check what every table of counts has."""
    if way == "marginals":
        tables = count_marginals(path, DOMAIN, [(0,), (1,), (0, 1)])
        both = tables.table((0, 1))
        assert np.array_equal(both.sum(axis=1), tables.table((0,)))
        assert np.array_equal(both.sum(axis=0), tables.table((1,)))
        return
    unit = PrivacyUnit("sex", 1) if way == "units" else None
    counts = count_cells(path, DOMAIN, unit=unit)
    assert counts.shape == DOMAIN.shape
    assert counts.min() >= 0
    assert unit is None or counts.sum(axis=0).max() <= 1


class LentEngine:
    """Engines as `embedded_duckdb` makes them, each lent out many times."""

    def __init__(self) -> None:
        self.start = opening.embedded_duckdb
        self.engine: Any = None
        self.loans = 0

    def lend(self) -> Any:
        """An engine whose borrower cannot end it."""
        if self.loans % INPUTS_PER_ENGINE == 0:
            if self.engine is not None:
                self.engine.disconnect()
            self.engine = self.start()
        self.loans += 1
        return _Loan(self.engine)


class _Loan:
    """An engine in every respect, except that it does not end."""

    def __init__(self, engine: Any) -> None:
        self.engine = engine

    def disconnect(self) -> None:
        """The lender does that."""

    def __getattr__(self, name: str) -> Any:
        return getattr(self.engine, name)
