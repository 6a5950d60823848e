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

from tests.engines.availability import kill_all, unavailable

#: PostgreSQL refuses to run as root; the first of these that exists runs it then.
_SERVANTS = ("postgres", "nobody")


@dataclass(frozen=True)
class PostgresServer:
    """A running server with one superuser, who needs a password."""

    user: str
    password: str
    socket: Path
    programs: Path
    servant: str | None
    options: str

    @property
    def data(self) -> Path:
        """Where its files are."""
        return self.socket / "data"

    @property
    def pid(self) -> int:
        """Of the process that starts all others."""
        return int((self.data / "postmaster.pid").read_text().split("\n")[0])

    def call(self, program: str, *arguments: str) -> None:
        """Run one of PostgreSQL's programs on its files."""
        command = [str(self.programs / program), "-D", str(self.data), *arguments]
        quiet = {"stdout": subprocess.DEVNULL, "cwd": self.socket, "timeout": 120}
        subprocess.run(command, check=True, user=self.servant, **quiet)  # type: ignore[call-overload]

    def start(self) -> None:
        """Start it, and wait until it answers."""
        self.call("pg_ctl", "-o", self.options, "-l", str(self.socket / "log"), "-w", "start")

    def kill(self) -> None:
        """End all its processes at once, as a machine that loses its power does."""
        kill_all(self.pid)
        # Where nobody buries the dead their numbers stay taken, and the next server would think that this one lives.
        for file in (self.data / "postmaster.pid", self.socket / ".s.PGSQL.5432.lock"):
            file.unlink(missing_ok=True)

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
def postgres_server(*, durable: bool = False) -> Iterator[PostgresServer]:
    """Start a server and stop it. Skips where there are no programs or no driver.

    durable: it waits for the disk, as servers do.
    """
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
    # Nobody but us finds it. Where nothing has to outlive the machine, nothing waits for the disk (-F).
    options = f"-c listen_addresses='' -c max_connections=60 -k {folder} {'' if durable else '-F'}"
    user = servant or getpass.getuser()
    server = PostgresServer(user, secrets.token_hex(12), folder, programs, servant, options)
    secret = folder / "password"
    secret.write_text(server.password, encoding="ascii")
    server.call(
        "initdb", "-A", "scram-sha-256", f"--pwfile={secret}", "-E", "UTF8", "--no-locale", "--no-sync"
    )
    server.start()
    try:
        yield server
    finally:
        server.call("pg_ctl", "-m", "immediate", "stop")
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
