"""Old releases leave the ledger, their charges stay: numbers, amounts, digests and running sums are what they were.

Kept whatever their age: the newest release of every plan, since instalments go on from it; and what a session answers
from, the releases of the table that the newest charge is about (by its version, else by where it is), unless the caller
gives that up.
"""

from __future__ import annotations

from datetime import datetime
from typing import Any

import sqlalchemy as sa

from . import schema

PRUNED = b""
"""What stands in place of a release; the digest beside it is another's."""


def prunable(
    connection: sa.Connection, dataset: str, before: datetime, *, evidence: bool
) -> list[tuple[int, int]]:
    """The charges whose releases may go, with their bytes, oldest first."""
    table = schema.charges
    columns = (table.c.id, table.c.plan, table.c.version, table.c.source, table.c.time)
    query = sa.select(*columns, sa.func.length(table.c.content).label("size"))
    rows = connection.execute(query.where(table.c.dataset == dataset).order_by(table.c.id)).all()
    newest = {row.plan: row.id for row in rows}
    return [
        (int(row.id), int(row.size))
        for row in rows
        if row.size
        and row.id != newest[row.plan]
        and datetime.fromisoformat(row.time) < before
        and (evidence or not _is_same_table(row, rows[-1]))
    ]


def drop(connection: sa.Connection, charges: list[int]) -> None:
    """Forget the bytes of these."""
    table = schema.charges
    for charge in charges:
        connection.execute(table.update().where(table.c.id == charge).values(content=PRUNED))


def _is_same_table(one: Any, other: Any) -> bool:
    """Whether a session about the one would take the other for evidence."""
    if one.version is not None or other.version is not None:
        return bool(one.version == other.version)
    names, others = set((one.source or "").split()), set((other.source or "").split())
    return bool(names & others) or one.source is other.source is None
