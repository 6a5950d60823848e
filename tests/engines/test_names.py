"""Odd and hostile names on every engine: counted rightly or refused, and never taken for SQL."""

from __future__ import annotations

import numpy as np
import pytest

from rowspace.domain import Domain, Numeric
from rowspace.exceptions import SourceError
from rowspace.sources import count_cells
from tests.engines.engines import Engine
from tests.hostile.test_names import COLUMNS, TABLES, domain_of, expected, rows_of


def possible(names: tuple[str, ...], engine: Engine) -> list[str]:
    """The names that the engine itself has room for."""
    return [name for name in names if len(name.encode()) <= engine.longest_name]


def test_columns_of_any_name(engine: Engine) -> None:
    names = possible(COLUMNS, engine)
    for start in range(0, len(names), 6):
        group = tuple(names[start : start + 6])
        rows = rows_of(group)
        types = {name: "integer" if isinstance(rows[name][0], int) else "text" for name in group}
        engine.fill(f"columns {start}", types, list(zip(*rows.values(), strict=True)))
        counts = count_cells(engine.source, domain_of(group), table=f"columns {start}")
        assert np.array_equal(counts, expected(group))


def test_tables_of_any_name(engine: Engine) -> None:
    """All tables in one database, each with its own count; and all are there afterwards."""
    # Spark takes a second for each, and quotes all alike: every fourth will do there.
    tables = possible(("tables", "databases", *TABLES), engine)[:: 4 if engine.name == "spark" else 1]
    domain = Domain(x=Numeric(0, 1, bins=1))
    for number, table in enumerate(tables):
        engine.fill(table, {"x": "integer"}, [(0,)] * (number + 1))
    found = [int(count_cells(engine.source, domain, table=table)[0]) for table in tables]
    assert found == [number + 1 for number in range(len(tables))]
    assert int(count_cells(engine.source, domain, table=tables[0])[0]) == 1


@pytest.mark.parametrize("absent", ['people"; DROP TABLE "select', "no.such", "", "x\x00", "`a`.`b`"])
def test_tables_that_are_not_there(engine: Engine, absent: str) -> None:
    with pytest.raises(SourceError):
        count_cells(engine.source, Domain(x=Numeric(0, 1, bins=1)), table=absent)
