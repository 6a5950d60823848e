"""Marginal tables are those of plain Python on every engine: streamed from one, grouped in the others."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest

from rowspace.sources import count_marginals, tallies
from tests.engines.engines import Engine
from tests.engines.test_counts import COLUMNS, DOMAINS, ROWS
from tests.sources import oracle

PRODUCT = DOMAINS["product"]
TABLE = "people for tables"


@pytest.fixture(scope="module")
def filled(engine: Engine) -> Engine:
    types = {name: kind for name, (kind, _) in COLUMNS.items()}
    engine.fill(TABLE, types, list(zip(*ROWS.values(), strict=True)))
    return engine


@pytest.mark.parametrize("largest", [0, 2, len(PRODUCT)])
def test_marginals_on_every_engine(filled: Engine, largest: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tallies, "_TABLES", 4)  # several queries
    monkeypatch.setattr("rowspace.sources.marginal_tables.CELLS_PER_PASS", 0)  # of the tables themselves
    sets = [chosen for k in range(largest + 1) for chosen in combinations(range(len(PRODUCT)), k)]
    tables = count_marginals(filled.source, PRODUCT, sets, table=TABLE)
    truth = oracle.counts(ROWS, PRODUCT)
    for attributes in sets:
        gone = tuple(axis for axis in range(truth.ndim) if axis not in attributes)
        np.testing.assert_array_equal(tables.table(attributes), truth.sum(axis=gone))
