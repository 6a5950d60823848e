"""Which source it is, by its address: to notice that it is charged to two budgets.

A source has several names: a path and a place on the disk, a table with or without its schema. Each way to write one is
brought to one form, as far as that can be known without asking a server; what cannot be is a name of its own. Two
sources are the same if they share a name.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, unquote, urlsplit

import ibis.expr.operations as ops
import ibis.expr.types as ir

from rowspace.formats import CSV, REMOTE_SCHEMES, is_remote
from rowspace.sources.databases import is_url
from rowspace.sources.files import paths_in, root_of
from rowspace.sources.remote import root_address
from rowspace.sources.silence import attempt

_FILES = ("duckdb", "sqlite")
_POSTGRES = "postgres"
_PORTS = {_POSTGRES: "5432", "mysql": "3306"}
_SCHEMAS = {_POSTGRES: "public"}
_HERE = ("", "127.0.0.1", "::1")
_FEW = 50
"""Files of a folder up to which each of them is a name of the source, too."""


def source_digest(source: object, table: str | None) -> str | None:
    """SHA-256 of every name of a file, or of a database and its table, in one text; None for what has no place.

    Sources that share one of them are the same: however a path is written, through links of both kinds too; with or
    without a default schema or port; for every user and password of a server. Copies of a file are other sources: whose
    records they hold only their owner knows.

    >>> source_digest("people.csv", None) == source_digest("./people.csv", None), source_digest([1, 2], None)
    (True, None)
    >>> source_digest(CSV("people.csv", strip=True), None) == source_digest("people.csv", None)
    True
    """
    if isinstance(source, CSV):
        source = os.fspath(source.path)
    if is_remote(source):
        names = set(_names_of_address(str(source)))
    elif isinstance(source, ir.Table):
        names = set(_names_of_query(source))
    elif isinstance(source, str) and is_url(source):
        scheme, _, location = source.partition("://")
        scheme = scheme.lower().replace("postgresql", _POSTGRES)
        is_file = scheme in _FILES
        names = set(
            _names_of_file(location.partition("?")[0], table) if is_file else _names_at(source, scheme, table)
        )
    elif isinstance(source, str | Path):
        names = {*_names_of_file(source, table), *_names_of_parts(source)}
    else:
        return None
    return " ".join(sorted(names)) or None


def _names_of_file(place: str | Path, table: str | None) -> Iterator[str]:
    """By its path and, against hard links, by its place on the disk; a database file with one of its tables."""
    path = (root_of(Path(place)) or Path(place)).resolve()
    yield _digest("file", str(path), table)  # as written: as version 0.1 knows it
    plain = None if table is None else _plain_table(table, "main", path.stem.casefold(), fold=True)
    yield _digest("file", str(path), plain)
    try:
        found = path.stat()
    except (OSError, ValueError):
        return
    yield _digest("inode", f"{found.st_dev}:{found.st_ino}", plain)


def _names_of_parts(place: str | Path) -> Iterator[str]:
    """Of a folder or a pattern also its files, if they are few: a release of one of them is about the same people."""
    if root_of(Path(place)) is None:
        return
    found = paths_in(Path(place))
    for path in found if len(found) <= _FEW else ():
        yield from _names_of_file(path, None)


def _names_of_address(address: str) -> Iterator[str]:
    """Files elsewhere, by their folder or name; what signs an address makes no difference."""
    address = root_address(address) or address
    scheme, _, rest = address.partition("://")
    yield _digest(REMOTE_SCHEMES[scheme.lower()], rest.partition("?")[0], None)


def _names_at(url: str, scheme: str, table: str | None) -> Iterator[str]:
    """A table of a server; who asks, how long it waits and the like make no difference."""
    parts = urlsplit(url)
    given = {name: values[-1] for name, values in parse_qs(parts.query).items()}
    asked = sorted(part for part in parts.query.split("&") if part.startswith(("host=", "port=", "dbname=")))
    written = f"{parts.netloc.rpartition('@')[2].lower()}{parts.path}?{'&'.join(asked)}"
    yield _digest(scheme, written, table)  # as version 0.1 knows it
    address = parts.netloc.rpartition("@")[2]
    # The port is after the last colon that is not inside the brackets of an IPv6 address.
    host, colon, port = address.rpartition(":") if not address.endswith("]") else (address, "", "")
    host, port = (host, port) if colon else (address, "")
    database, _, schema = unquote(parts.path).strip("/").partition("/")
    if schema and table is not None and "." not in table:
        table = f"{schema}.{table}"
    yield _digest(
        *_server(scheme, unquote(host).strip("[]"), port, database, given), _plain(scheme, database, table)
    )


def _server(
    scheme: str, host: str, port: str, database: str, given: dict[str, str] | None = None
) -> tuple[str, str]:
    """A database of a server, in one form."""
    given = given or {}
    host = (given.get("host") or host or os.environ.get("PGHOST", "") * (scheme == _POSTGRES)).lower()
    port = given.get("port") or port
    database = given.get("dbname") or database
    if host in _HERE or host.startswith("/"):  # a socket is on this machine, too
        host = "localhost"
    port = "" if port == _PORTS.get(scheme) else port
    return scheme, f"{host}{':' if port else ''}{port}/{database}?"


def _plain(scheme: str, database: str, table: str | None) -> str | None:
    """A table of a server without the default schema; case is its own there."""
    schema = _SCHEMAS.get(scheme)
    return table if table is None or schema is None else _plain_table(table, schema, database, fold=False)


def _plain_table(table: str, schema: str, catalog: str, *, fold: bool) -> str:
    """A table's name without what is so by default."""
    name = table.casefold() if fold else table
    name = name.removeprefix(f"{catalog}.{schema}.") if catalog else name
    return name.removeprefix(f"{schema}.")


def _names_of_query(query: Any) -> Iterator[str]:
    """All tables of database files and of PostgreSQL that an Ibis table is made from."""
    for node in query.op().find(ops.DatabaseTable):
        place = attempt(partial(_place, node), "the Ibis table's connection is lost")
        if place is None:
            continue
        table = ".".join(part for part in (node.namespace.database, node.name) if part)
        if isinstance(place, str):
            yield from _names_of_file(place, table)
        else:
            yield _digest(*place, _plain(place[0], "", table))


def _place(node: Any) -> str | tuple[str, str] | None:
    """The file of a table's connection, or its server; the connection is asked, not the data."""
    backend = node.source
    if backend.name == "duckdb":
        catalog = node.namespace.catalog or backend.current_catalog
        found = (
            backend.con.cursor()
            .execute("SELECT path FROM duckdb_databases() WHERE database_name = ?", [catalog])
            .fetchall()
        )
        return found[0][0] if found else None
    if backend.name == "sqlite":
        attached = {row[1]: row[2] for row in backend.con.execute("PRAGMA database_list").fetchall()}
        return attached.get(node.namespace.database or "main") or None
    if backend.name == _POSTGRES:
        info = backend.con.info
        return _server(_POSTGRES, info.host or "", str(info.port), info.dbname)
    return None


def _digest(*parts: str | None) -> str:
    return hashlib.sha256(
        "\0".join(part or "" for part in parts).encode("utf-8", "surrogateescape")
    ).hexdigest()
