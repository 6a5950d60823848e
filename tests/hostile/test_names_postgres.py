"""The same odd names on PostgreSQL: needs its server programs and the driver, and starts a server of its own."""

from __future__ import annotations

import getpass
import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from rowspace.domain import Domain, Numeric
from rowspace.exceptions import SourceError
from rowspace.sources import count_cells

from .test_names import COLUMNS, TABLES, domain_of, expected, rows_of

psycopg = pytest.importorskip(
    "psycopg", reason="the PostgreSQL driver is an extra: pip install rowspace[postgres]"
)

# PostgreSQL cuts names after 63 bytes, and has none with a NUL.
LONGEST = 63


@pytest.fixture(scope="module")
def server() -> Iterator[str]:
    """A server on a socket in a folder of its own; never as root, which PostgreSQL refuses."""
    if shutil.which("initdb") is None or shutil.which("pg_ctl") is None:
        pytest.skip("no PostgreSQL server programs on the path")
    user = "postgres" if os.geteuid() == 0 else None
    folder = Path(tempfile.mkdtemp(prefix="pg-"))
    if user is not None:
        shutil.chown(folder, user)
    data, options = folder / "data", f"-c listen_addresses='' -k {folder} -F"

    def run(*command: str) -> None:
        subprocess.run(command, check=True, user=user, stdout=subprocess.DEVNULL, cwd=folder, timeout=60)

    run("initdb", "-D", str(data), "-A", "trust", "-E", "UTF8", "--no-locale")
    run("pg_ctl", "-D", str(data), "-o", options, "-l", str(folder / "log"), "-w", "start")
    try:
        yield f"postgres://{user or getpass.getuser()}@/postgres?host={folder}"
    finally:
        run("pg_ctl", "-D", str(data), "-m", "immediate", "stop")
        shutil.rmtree(folder, ignore_errors=True)


def fill(server: str, table: str, rows: dict[str, list[Any]]) -> None:
    def quote(name: str) -> str:
        return '"' + name.replace('"', '""').replace("%", "%%") + '"'

    with psycopg.connect(server) as connection:
        kinds = {name: "integer" if isinstance(values[0], int) else "text" for name, values in rows.items()}
        columns = ", ".join(f"{quote(name)} {kind}" for name, kind in kinds.items())
        connection.execute(f"CREATE TABLE {quote(table)} ({columns})", ())
        marks = ", ".join(["%s"] * len(rows))
        with connection.cursor() as cursor:
            cursor.executemany(
                f"INSERT INTO {quote(table)} VALUES ({marks})", list(zip(*rows.values(), strict=True))
            )


def test_columns_of_any_name(server: str) -> None:
    names = tuple(name for name in COLUMNS if len(name.encode()) <= LONGEST)
    for start in range(0, len(names), 6):
        group = names[start : start + 6]
        fill(server, f"columns {start}", rows_of(group))
        counts = count_cells(server, domain_of(group), table=f"columns {start}")
        assert np.array_equal(counts, expected(group))


def test_tables_of_any_name(server: str) -> None:
    tables = [name for name in TABLES if len(name.encode()) <= LONGEST]
    domain = Domain(x=Numeric(0, 1, bins=1))
    for number, table in enumerate(tables):
        fill(server, table, {"x": [0] * (number + 1)})
    found = [int(count_cells(server, domain, table=table)[0]) for table in tables]
    assert found == [number + 1 for number in range(len(tables))]
    for absent in ('people"; DROP TABLE "select', "no.such", "", "x\x00"):
        with pytest.raises(SourceError):
            count_cells(server, domain, table=absent)
