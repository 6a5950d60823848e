"""psql itself, and asyncpg, at the door for SQL clients: a real process, real clients."""

from __future__ import annotations

import asyncio
import os
import shutil
import subprocess
from collections.abc import Iterator

import pytest
from benchmarks.serve import Service

from tests.engines.availability import unavailable
from tests.serve.conftest import Place, laid_out


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Place:
    return laid_out(tmp_path_factory.mktemp("psql"))


@pytest.fixture(scope="module")
def service(place: Place) -> Iterator[Service]:
    with Service(place.folder, "--workers", "2", "--psql-port", "0") as found:
        yield found


def psql(service: Service, token: str, *commands: str) -> subprocess.CompletedProcess[str]:
    program = shutil.which("psql")
    if program is None:
        unavailable("postgres", "psql is missing")
    words = [
        program,
        "-X",
        "-h",
        "127.0.0.1",
        "-p",
        str(service.psql_port),
        "-U",
        "ann",
        "-d",
        "small",
        "-At",
    ]
    words += [word for command in commands for word in ("-c", command)]
    environment = os.environ | {"PGPASSWORD": token}
    return subprocess.run(words, capture_output=True, text=True, timeout=60, env=environment, check=False)


def test_psql_counts_and_describes(place: Place, service: Service) -> None:
    count = "SELECT sex, count(*) FROM small GROUP BY sex /* within 0.4 level 0.999999 */"
    ended = psql(service, place.ann, count, "SELECT 1", r"\dt", r"\d small", r"\l", r"\dn")
    assert ended.returncode == 0, ended.stderr
    lines = ended.stdout.splitlines()
    assert [(line[0], round(float(line[2:]))) for line in lines[:2]] == [("F", 100), ("M", 120)]
    assert lines[2] == "1"
    assert "public|small|table|rowspace" in lines
    assert "age|bigint|||" in lines
    assert "sex|text|||" in lines
    assert "paid" in ended.stderr


def test_psql_is_told_what_to_do(place: Place, service: Service) -> None:
    ended = psql(service, place.ann, "SELECT count(*) FROM small WHERE age < 2 AND sex = 'X'")
    assert ended.returncode == 1
    assert "ERROR:" in ended.stderr
    assert psql(service, "wrong", "SELECT 1").returncode == 2


def test_asyncpg_in_binary(place: Place, service: Service) -> None:
    asyncpg = pytest.importorskip("asyncpg")

    async def ask() -> None:
        where = {"host": "127.0.0.1", "port": service.psql_port, "user": "x", "password": place.ann}
        connection = await asyncpg.connect(**where, database="small")
        sql = "SELECT age, count(*) FROM small WHERE age >= $1 AND sex = $2 GROUP BY age"
        rows = await connection.fetch(f"{sql} /* within 0.4 level 0.999999 */", 2, "F")
        assert [(row[0], round(row[1])) for row in rows] == [(2, 30), (3, 40)]
        async with connection.transaction():
            some = [
                row[0]
                async for row in connection.cursor(
                    "SELECT age, count(*) FROM small WHERE age >= 2 AND sex = 'F' GROUP BY age", prefetch=1
                )
            ]
        assert some == [2, 3]
        with pytest.raises(asyncpg.PostgresSyntaxError, match="never shown"):
            await connection.fetch("SELECT * FROM small")
        await connection.reset()
        await connection.close()

    asyncio.run(ask())
