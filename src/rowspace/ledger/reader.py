"""What a ledger tells: budgets, charges, requests and the bytes of releases, with nothing changed by looking."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from fractions import Fraction
from pathlib import Path
from typing import Any

import sqlalchemy as sa

from rowspace.exceptions import LedgerError, Pruned

from . import schema
from .database import Database
from .pruning import PRUNED
from .records import Budget, Charge, Request, Spender, content_digest
from .tables import Tables

_NUMBERS = 2**31
"""Charges are numbered below this, on every engine."""

_AT_ONCE, _BYTES_AT_ONCE = 64, 2**24
"""Releases that are read in one statement, if they are no more bytes; else each by itself."""


class LedgerReader:
    """A ledger as those see it who only look."""

    def __init__(self, location: str | os.PathLike[str], *, patience: float = 30.0) -> None:
        self._database = Database(location, patience)
        self._tables = Tables(self._database)
        self._seen: tuple[Any, Any] = (None, None)  # the last look, for as long as the file is as it was then

    def __repr__(self) -> str:
        return f"Ledger({self.name!r})"

    @property
    def name(self) -> str:
        """The file's name; never an address."""
        return self._database.name

    @property
    def file(self) -> Path | None:
        """The SQLite file; None on a server."""
        return self._database.file

    def budgets(self) -> list[Budget]:
        """Every dataset's budget, by name.

        >>> from rowspace.sample import small_ledger
        >>> with small_ledger() as ledger:
        ...     ledger.budgets()
        [<Budget of 'people': 600 of 600 epsilon left>]
        """
        with self._tables.reading() as connection:
            table = schema.budgets
            names = connection.execute(sa.select(table.c.dataset).order_by(table.c.dataset)).scalars().all()
            return [self._tables.budget(connection, name) for name in names]

    def budget(self, dataset: str | None = None) -> Budget:
        """The budget of a dataset; its name may be left out when the ledger has only one.

        dataset: which budget.

        >>> from rowspace.sample import small_ledger
        >>> with small_ledger() as ledger:
        ...     ledger.budget().charges
        0
        """
        with self._tables.reading() as connection:
            return self._tables.budget(connection, self._tables.only(connection, dataset))

    def look(
        self, dataset: str | None = None, *, after: int = 0
    ) -> tuple[Budget, list[tuple[int, str | None, str | None, str]]]:
        """The budget, and the charges after one, as they are at the same moment; see `budget` and `evidence`.

        dataset: which budget, when the ledger has several.
        after: a charge's number. With each charge comes the digest of its release.

        >>> from rowspace.sample import small_ledger
        >>> with small_ledger() as ledger:
        ...     ledger.look() == (ledger.budget(), [])
        True
        """
        if (mark := self._database.mark()) is not None and self._seen[0] == (mark, dataset, after):
            budget, charges = self._seen[1]
            return budget, list(charges)
        with self._tables.reading() as connection:
            budget = self._tables.budget(connection, self._tables.only(connection, dataset))
            table = schema.charges
            columns = (table.c.id, table.c.version, table.c.source, table.c.digest)
            query = sa.select(*columns).where(table.c.dataset == budget.dataset, table.c.id > after)
            found = connection.execute(query.order_by(table.c.id)).all()
            mark = self._database.mark()  # here, where nobody writes
        charges = [(int(row.id), row.version, row.source, str(row.digest)) for row in found]
        self._seen = (mark, dataset, after), (budget, charges)
        return budget, list(charges)

    def evidence(
        self, dataset: str | None = None, *, after: int = 0
    ) -> list[tuple[int, str | None, str | None]]:
        """The charges after one, oldest first: their numbers, the version of the table, and digests of its source.

        dataset: which budget, when the ledger has several.
        after: a charge's number. `resume` gives its release.

        >>> from rowspace.sample import small_ledger, small_release
        >>> release = small_release()
        >>> with small_ledger() as ledger:
        ...     charge = ledger.charge(release.plan, release.to_bytes(), version="2024")
        ...     ledger.evidence()
        [(1, '2024', None)]
        """
        return [
            (number, version, source) for number, version, source, _ in self.look(dataset, after=after)[1]
        ]

    def history(self, dataset: str | None = None) -> list[Charge]:
        """Every charge of a dataset, oldest first.

        dataset: which budget, when the ledger has several.

        >>> from rowspace.sample import small_ledger, small_release
        >>> release = small_release()
        >>> with small_ledger() as ledger:
        ...     charge = ledger.charge(release.plan, release.to_bytes())
        ...     [charge.id for charge in ledger.history("people")]
        [1]
        """
        columns = schema.charges.c
        query = sa.select(*(column for column in columns if column is not columns.content))
        return [self._tables.charge(dict(row)) for row in self._charges(query, dataset)]

    def resume(self, charge: int) -> bytes:
        """The release file of a charge, byte for byte as it was paid for: no second charge, no new noise.

        charge: its number in the history.

        >>> from rowspace.sample import small_ledger, small_release
        >>> release = small_release()
        >>> with small_ledger() as ledger:
        ...     charge = ledger.charge(release.plan, release.to_bytes())
        ...     ledger.resume(charge.id) == release.to_bytes()
        True
        """
        ((_, content),) = self.contents([charge])
        if content is None:
            with self._tables.reading() as connection:
                digest = connection.execute(sa.select(schema.charges.c.digest).where(_are([charge]))).scalar()
            raise Pruned(
                f"the release of charge {charge} was pruned from {self.name}: it is paid for, and its file is the "
                f"one whose SHA-256 is {digest}. Nothing was charged"
            )
        return content

    def contents(self, charges: Sequence[int]) -> Iterator[tuple[int, bytes | None]]:
        """The release files of many charges, in their order, read some at a time; None for those that were pruned.

        charges: their numbers in the history.

        >>> from rowspace.sample import small_ledger, small_release
        >>> release = small_release()
        >>> with small_ledger() as ledger:
        ...     charge = ledger.charge(release.plan, release.to_bytes())
        ...     list(ledger.contents([charge.id])) == [(charge.id, release.to_bytes())]
        True
        """
        for start in range(0, len(charges), _AT_ONCE):
            some = [int(number) for number in charges[start : start + _AT_ONCE]]
            together = [some] if self._size(some) <= _BYTES_AT_ONCE else [[number] for number in some]
            for own in together:
                yield from self._contents(own)

    def _size(self, charges: Sequence[int]) -> int:
        """The bytes of some releases."""
        table = schema.charges
        size = sa.func.sum(sa.func.length(table.c.content))
        with self._tables.reading() as connection:
            return int(connection.execute(sa.select(size).where(_are(charges))).scalar() or 0)

    def _contents(self, charges: Sequence[int]) -> list[tuple[int, bytes | None]]:
        """The same in one statement."""
        table = schema.charges
        query = sa.select(table.c.id, table.c.content, table.c.digest).where(_are(charges))
        with self._tables.reading() as connection:
            rows = {int(row.id): row for row in connection.execute(query)}
        found: list[tuple[int, bytes | None]] = []
        for number in charges:
            if (row := rows.get(number)) is None:
                raise LedgerError(
                    f"{self.name} has no charge {number}; `rowspace budget history` lists those it has"
                )
            is_whole = content_digest(row.content) == row.digest
            if not is_whole and row.content != PRUNED:
                raise self._tables.damaged()
            found.append((number, bytes(row.content) if is_whole else None))
        return found

    def request(self, key: str, dataset: str | None = None) -> Request | None:
        """What was kept of a request, or None if it is new.

        key: what the caller names it.
        dataset: which budget, when the ledger has several.

        >>> from rowspace.sample import small_ledger
        >>> with small_ledger() as ledger:
        ...     ledger.request("monday") is None
        True
        """
        with self._tables.reading() as connection:
            return self._tables.request(connection, self._tables.only(connection, dataset), key)

    def left_for(self, spender: Spender, dataset: str | None = None) -> Fraction:
        """What may still be spent in somebody's name, in the budget's unit.

        spender: the name, and what it may spend. dataset: which budget, when the ledger has several.

        >>> from fractions import Fraction
        >>> from rowspace.sample import small_ledger
        >>> with small_ledger() as ledger:
        ...     print(ledger.left_for(Spender("ann", Fraction(1, 2))), ledger.left_for(Spender("bob")))
        1/2 600
        """
        with self._tables.reading() as connection:
            budget = self._tables.budget(connection, self._tables.only(connection, dataset))
            return spender.left(budget, self._spent(connection, budget, spender))

    def _charges(self, query: sa.Select[Any], dataset: str | None) -> Sequence[sa.RowMapping]:
        """What a query tells of a dataset's charges, oldest first."""
        with self._tables.reading() as connection:
            dataset = self._tables.only(connection, dataset)
            self._tables.filter(connection, dataset)  # an unknown name is an error, not an empty history
            columns = schema.charges.c
            query = query.where(columns.dataset == dataset).order_by(columns.id)
            return connection.execute(query).mappings().all()

    def _spent(self, connection: sa.Connection, budget: Budget, spender: Spender | None) -> Fraction:
        """What was spent in somebody's name."""
        if spender is None:
            return Fraction(0)
        return budget.amount(self._tables.spent_by(connection, budget.dataset, spender.who))


def _are(charges: Sequence[int]) -> sa.ColumnElement[bool]:
    """Whether a charge is one of these."""
    return schema.charges.c.id.in_([number for number in charges if 0 < number < _NUMBERS])
