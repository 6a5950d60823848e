"""What became of a charge whose commit failed: looked up, and said.

A connection that is cut after COMMIT, or a disk that fails once the journal is gone, leaves a charge that was made and
looks as if it had not been. Nobody may be told "nothing was charged" then: whoever tries again would pay twice.

Guarantees
- What is said is so: the charge is there, or it is not and never will be, or it is not known
  (tests/ledger/test_doubt.py::test_what_is_said_is_so, ::test_every_failing_flush;
  tests/engines/test_ledger.py::test_the_connection_is_cut_at_the_commit).
"""

from __future__ import annotations

import shlex
import time
from typing import Any

import sqlalchemy as sa

from rowspace.exceptions import LedgerError

from . import schema
from .database import Database
from .records import Request
from .tables import Tables

_PAUSES = (0.0, 0.2, 0.5, 1.0, 2.0, 4.0)
"""Seconds before each look: a server that was killed takes a few to come back."""


class Doubt:
    """A charge on its way into a ledger, as far as it is known here.

    row: its number and the digest of its release. request: what it was kept with, if anything.
    """

    def __init__(
        self, database: Database, tables: Tables, row: dict[str, Any], request: Request | None
    ) -> None:
        self._database, self._tables, self._row, self._request = database, tables, row, request

    def __call__(self, reason: str) -> LedgerError:
        """The error to raise, given why the commit failed."""
        failed = f"{self._database.name} failed while it was charged ({reason})"
        ledger = "LEDGER" if self._database.file is None else shlex.quote(str(self._database.file))
        made = self._is_made()
        if made is False:
            return LedgerError(
                f"{failed}. Nothing was charged and nothing released; try again", transient=True
            )
        again = self._request is not None
        retry = f"; ask again with the request id {self._request.key!r}, or" if self._request else ":"
        if made:
            number = self._row["id"]
            return LedgerError(
                f"{failed}, after charge {number} was made: it is charged, and its release is kept; have it at no "
                f"cost{retry} rowspace budget resume {ledger} {number} -o FILE",
                transient=again,
            )
        free = ", which never pays twice" if again else " before anything is released again"
        return LedgerError(
            f"{failed}, and cannot be read now, so it is not known whether the charge was made{retry} look{free}: "
            f"rowspace budget history {ledger}",
            transient=again,
        )

    def _is_made(self) -> bool | None:
        """Whether the charge is there; None while the ledger cannot be read."""
        end = time.monotonic() + self._database.patience
        for pause in _PAUSES:
            if pause and time.monotonic() + pause > end:
                return None
            time.sleep(pause)
            try:
                return self._looked_up()
            except LedgerError as error:
                if not error.transient:
                    return None
        return None

    def _looked_up(self) -> bool:
        table, row = schema.charges, self._row
        with self._database.reading() as connection:
            # A server may still be about to commit: until then it holds the lock on the budget. A SQLite file was
            # closed by us, and what its journal undoes is undone by whoever reads it next.
            self._tables.filter(connection, row["dataset"], lock=True)
            query = sa.select(table.c.digest).where(
                table.c.id == row["id"], table.c.dataset == row["dataset"]
            )
            made = bool(connection.execute(query).scalar_one_or_none() == row["digest"])
        self._database.flush()
        return made
