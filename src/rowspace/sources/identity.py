"""Which source it is, by its address: to notice that it is charged to two budgets."""

from __future__ import annotations

import hashlib
import os
from pathlib import Path
from urllib.parse import urlsplit

from rowspace.formats import CSV
from rowspace.sources.databases import is_url

__all__ = ["source_digest"]

_FILES = ("duckdb", "sqlite")


def source_digest(source: object, table: str | None) -> str | None:
    """SHA-256 of the place of a file, or of a database and its table; None for what has no place.

    It is the same for every way to write a path, through links too, and for every user and password of a server. Copies
    of a file are other sources: whose records they hold only their owner knows.

    >>> source_digest("people.csv", None) == source_digest("./people.csv", None), source_digest([1, 2], None)
    (True, None)
    >>> source_digest(CSV("people.csv", strip=True), None) == source_digest("people.csv", None)
    True
    """
    if isinstance(source, CSV):
        source = os.fspath(source.path)
    if not isinstance(source, str | Path):
        return None
    place = str(source)
    if isinstance(source, str) and is_url(source):
        scheme, _, location = source.partition("://")
        if scheme.lower() not in _FILES:
            parts = urlsplit(source)
            server = f"{parts.netloc.rpartition('@')[2].lower()}{parts.path}?{_host(parts.query)}"
            return _digest(scheme.lower().replace("postgresql", "postgres"), server, table)
        place = location.partition("?")[0]
    return _digest("file", str(Path(place).resolve()), table)


def _host(query: str) -> str:
    """What of a query says where the server is."""
    return "&".join(
        sorted(part for part in query.split("&") if part.startswith(("host=", "port=", "dbname=")))
    )


def _digest(*parts: str | None) -> str:
    return hashlib.sha256(
        "\0".join(part or "" for part in parts).encode("utf-8", "surrogateescape")
    ).hexdigest()
