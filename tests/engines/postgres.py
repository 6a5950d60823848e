"""A PostgreSQL server of our own: in a folder that is removed, on a socket that nobody else finds."""

from __future__ import annotations

import getpass
import os
import pwd
import secrets
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

from tests.engines.availability import unavailable

#: PostgreSQL refuses to run as root; the first of these that exists runs it then.
_SERVANTS = ("postgres", "nobody")


@dataclass(frozen=True)
class PostgresServer:
    """A running server with one superuser, who needs a password."""

    user: str
    password: str
    socket: Path

    def url(
        self,
        *,
        user: str | None = None,
        password: str | None = None,
        with_password: bool = True,
        database: str = "postgres",
    ) -> str:
        """The address of a database, for the superuser or somebody else."""
        secret = f":{password or self.password}" if with_password else ""
        return f"postgresql://{user or self.user}{secret}@/{database}?{urlencode({'host': self.socket})}"

    def connect(self, database: str = "postgres") -> Any:
        """A connection of the superuser, each statement its own transaction."""
        import psycopg

        return psycopg.connect(self.url(database=database), autocommit=True)

    def run(self, *statements: str, database: str = "postgres") -> None:
        """Run statements, as they are."""
        with self.connect(database) as connection:
            for statement in statements:
                connection.execute(statement)

    def fill(self, table: str, columns: dict[str, str], rows: list[tuple[Any, ...]]) -> None:
        """A new table: its columns with their types, and its rows."""
        from psycopg import sql

        names = [sql.SQL("{} {}").format(sql.Identifier(n), sql.SQL(t)) for n, t in columns.items()]
        with self.connect() as connection, connection.cursor() as cursor:
            cursor.execute(
                sql.SQL("CREATE TABLE {} ({})").format(sql.Identifier(table), sql.SQL(", ").join(names))
            )
            with cursor.copy(sql.SQL("COPY {} FROM STDIN").format(sql.Identifier(table))) as copy:
                for row in rows:
                    copy.write_row(row)


def find_programs() -> Path | None:
    """The folder of `initdb` and `pg_ctl`, as the path, pg_config or Debian's layout has it."""
    found = shutil.which("initdb")
    folders = [Path(found).parent] if found else []
    if shutil.which("pg_config"):
        said = subprocess.run(["pg_config", "--bindir"], capture_output=True, text=True, check=True)
        folders.append(Path(said.stdout.strip()))
    folders += sorted(Path("/usr/lib/postgresql").glob("*/bin"), reverse=True)
    return next((f for f in folders if (f / "initdb").exists() and (f / "pg_ctl").exists()), None)


@contextmanager
def postgres_server() -> Iterator[PostgresServer]:
    """Start a server and stop it. Skips where there are no programs or no driver."""
    programs = find_programs()
    if programs is None:
        unavailable(
            "postgres", "no server programs: install postgresql, or put initdb and pg_ctl on the PATH"
        )
    try:
        import psycopg  # noqa: F401
    except ImportError:
        unavailable("postgres", "no driver: pip install 'rowspace[postgres]'")
    # Not below pytest's folders: those are closed to the user that runs the server, and too long for a socket.
    folder = Path(tempfile.mkdtemp(prefix="pg-"))
    servant = _servant()
    if servant is not None:
        shutil.chown(folder, servant)
    server = PostgresServer(servant or getpass.getuser(), secrets.token_hex(12), folder)
    data, secret = folder / "data", folder / "password"
    secret.write_text(server.password, encoding="ascii")

    def run(program: str, *arguments: str) -> None:
        command = [str(programs / program), "-D", str(data), *arguments]
        subprocess.run(command, check=True, user=servant, stdout=subprocess.DEVNULL, cwd=folder, timeout=120)

    run("initdb", "-A", "scram-sha-256", f"--pwfile={secret}", "-E", "UTF8", "--no-locale", "--no-sync")
    # Nothing here has to outlive the machine, so nothing waits for the disk (-F).
    options = f"-c listen_addresses='' -c max_connections=60 -k {folder} -F"
    run("pg_ctl", "-o", options, "-l", str(folder / "log"), "-w", "start")
    try:
        yield server
    finally:
        run("pg_ctl", "-m", "immediate", "stop")
        shutil.rmtree(folder, ignore_errors=True)


def _servant() -> str | None:
    """Who runs the server when root does not."""
    if os.geteuid() != 0:
        return None
    known = {entry.pw_name for entry in pwd.getpwall()}
    found = next((name for name in _SERVANTS if name in known), None)
    if found is None:
        unavailable("postgres", "PostgreSQL does not run as root, and there is no other user to run it")
    return found
