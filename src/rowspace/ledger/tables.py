"""What stands in the tables of a ledger, read with suspicion: whatever is not as it was written is "damaged"."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from datetime import datetime
from fractions import Fraction
from typing import Any

import sqlalchemy as sa

from rowspace.exceptions import InvalidInput, InvalidPrivacy, LedgerError, Superseded
from rowspace.privacy import Privacy, privacy_from_dict

from . import schema, upgrade
from .composition import Filter, total
from .costs import Cost
from .database import Database
from .names import check_key, check_name, printable
from .records import Budget, Charge, Request

_OLDER = (1, 2)
"""Versions that are brought up to date by whoever opens them."""


class Tables:
    """The tables of one database."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._is_current = False

    @contextmanager
    def reading(self) -> Iterator[sa.Connection]:
        """A transaction that only looks, at a ledger of this version; an older one is brought up to date first."""
        if not self._is_current:
            with self._database.reading() as connection:
                is_older = self._version(connection) in _OLDER
            if is_older:
                with self._database.writing(create=True) as connection:
                    self._upgrade(connection)
            self._is_current = True
        with self._database.reading() as connection:
            self._check_version(connection)
            yield connection

    def prepare(self, connection: sa.Connection) -> None:
        """Lay out the tables, unless they are there."""
        if sa.inspect(connection).has_table(schema.version.name):
            self._upgrade(connection)
            self._check_version(connection)
            return
        if self._database.is_foreign(connection):
            raise LedgerError(
                f"{self._database.name} is another database; choose another file for the ledger"
            )
        schema.metadata.create_all(connection)
        connection.execute(schema.version.insert().values(version=schema.SCHEMA_VERSION))

    def _upgrade(self, connection: sa.Connection) -> None:
        """Bring an older ledger up to date, alone; once that is done by anybody, do nothing."""
        found = self._version(connection)
        if found not in _OLDER:
            return
        budgets = connection.execute(sa.select(schema.budgets.c.dataset, schema.budgets.c.guarantee)).all()
        if found == 1:
            upgrade.add_columns(connection)
            for dataset, text in budgets:
                charges = self._entries(connection, dataset)
                filter_, costs = upgrade.chosen_filter(self._privacy(text), charges)
                upgrade.rewrite(connection, dataset, filter_, charges, costs)
        upgrade.add_sums(connection)
        for dataset, _ in budgets:
            charges = self._entries(connection, dataset)
            spent = total((cost, times) for _, cost, times in charges)
            self.keep_spent(connection, dataset, spent, sum(times for _, _, times in charges))

    def _version(self, connection: sa.Connection) -> int | None:
        """Which version of rowspace's tables there are; None if none or several."""
        if not sa.inspect(connection).has_table(schema.version.name):
            raise LedgerError(
                f"{self._database.name} is no ledger; create a budget first: rowspace budget create"
            )
        found = connection.execute(sa.select(schema.version.c.version)).scalars().all()
        return int(found[0]) if len(found) == 1 else None

    def _check_version(self, connection: sa.Connection) -> None:
        """Refuse what is no ledger, or one that a newer rowspace wrote."""
        found = self._version(connection)
        if found != schema.SCHEMA_VERSION:
            raise LedgerError(
                f"{self._database.name} was written by another version of rowspace: expected ledger version "
                f"{schema.SCHEMA_VERSION}, got {found or 'none'}; use a newer rowspace"
            )

    def only(self, connection: sa.Connection, dataset: str | None) -> str:
        """The dataset meant."""
        names = connection.execute(sa.select(schema.budgets.c.dataset).limit(20)).scalars().all()
        if dataset is None and len(names) == 1:
            return str(names[0])
        if dataset is None:
            listed = ", ".join(sorted(map(repr, names))) or "none"
            raise LedgerError(
                f"expected a dataset, the budget that is meant; {self._database.name} has {listed}"
            )
        check_name(dataset)
        return dataset

    def filter(self, connection: sa.Connection, dataset: str, *, lock: bool = False) -> Filter:
        """A dataset's budget and how it adds up; with `lock`, nobody else charges it until this transaction ends."""
        table = schema.budgets
        query = sa.select(table.c.guarantee, table.c.composition).where(table.c.dataset == dataset)
        # SQLite has its lock already and knows no FOR UPDATE: the statement leaves it out there.
        found = connection.execute(query.with_for_update() if lock else query).one_or_none()
        if found is None:
            raise LedgerError(
                f"{self._database.name} has no budget for {dataset!r}; see `rowspace budget show`, or create it: "
                "rowspace budget create"
            )
        try:
            return Filter.of(self._privacy(found.guarantee), str(found.composition))
        except InvalidInput:
            raise self.damaged() from None

    def budget(self, connection: sa.Connection, dataset: str) -> Budget:
        """A dataset's budget with what is spent of it; all its charges must be there."""
        charges = schema.charges
        there = sa.select(sa.func.count()).select_from(charges).where(charges.c.dataset == dataset)
        # In the statement that reads the sums: between two of them others may charge.
        return self._budget(connection, dataset, there.scalar_subquery())

    def sums(self, connection: sa.Connection, dataset: str) -> Budget:
        """A dataset's budget by its running sums alone: one row, however many charges there are."""
        return self._budget(connection, dataset, schema.budgets.c.charges)

    def _budget(self, connection: sa.Connection, dataset: str, there: sa.ColumnElement[int]) -> Budget:
        """The budget, if as many charges are there as its sums are of."""
        filter_ = self.filter(connection, dataset)
        table = schema.budgets
        columns = (table.c.epsilon, table.c.delta, table.c.rho, table.c.charges, there.label("there"))
        row = connection.execute(sa.select(*columns).where(table.c.dataset == dataset)).one()
        if row.there != row.charges:
            raise self.damaged()
        return Budget(dataset, filter_, int(row.charges), self._cost(row[:3]))

    def keep_spent(self, connection: sa.Connection, dataset: str, spent: Cost, charges: int) -> None:
        """Write what a budget's charges add up to."""
        sums: dict[str, Any] = {name: str(amount) for name, amount in vars(spent).items()}
        table = schema.budgets
        connection.execute(
            table.update().where(table.c.dataset == dataset).values(sums | {"charges": charges})
        )

    def _entries(self, connection: sa.Connection, dataset: str) -> list[tuple[Privacy, Cost, int]]:
        """The charges of a dataset, equal ones together: what was promised, what it cost, how many times."""
        table = schema.charges
        kinds = (table.c.privacy, table.c.epsilon, table.c.delta, table.c.rho)
        query = sa.select(*kinds, sa.func.count()).where(table.c.dataset == dataset).group_by(*kinds)
        return [
            (self._privacy(privacy), self._cost(amounts), int(times))
            for privacy, *amounts, times in connection.execute(query)
        ]

    def require_one_budget(
        self, connection: sa.Connection, dataset: str, source: str | None, second_budget: bool
    ) -> None:
        """Raise if the source was charged to another budget, by any of its names, unless that is meant."""
        if source is None or second_budget:
            return
        table = schema.charges
        names = sa.literal(" ") + table.c.source + sa.literal(" ")
        known = [names.contains(f" {name} ", autoescape=True) for name in source.split()]
        # In this order: most charges are of the same budget, and their names need not be looked at.
        query = sa.select(table.c.dataset).where(table.c.dataset != dataset, sa.or_(sa.false(), *known))
        other = connection.execute(query.limit(1)).scalar_one_or_none()
        if other is not None:
            raise LedgerError(
                f"this source was charged to the budget of {other!r} before, and a second budget for the same people "
                f"lets both be spent on them; charge {other!r}, or say that it is meant: --second-budget, "
                "second_budget=True. Nothing was released"
            )

    def spent_by(self, connection: sa.Connection, dataset: str, who: str) -> Cost:
        """What the charges in one name add up to."""
        table = schema.charges
        kinds = (table.c.epsilon, table.c.delta, table.c.rho)
        query = sa.select(*kinds, sa.func.count()).where(table.c.dataset == dataset, table.c.who == who)
        found = connection.execute(query.group_by(*kinds))
        return total((self._cost(amounts), int(times)) for *amounts, times in found)

    def last(self, connection: sa.Connection, dataset: str) -> int:
        """The number of a dataset's last charge; 0 if it has none."""
        table = schema.charges
        query = sa.select(sa.func.max(table.c.id)).where(table.c.dataset == dataset)
        return int(connection.execute(query).scalar_one() or 0)

    def request(self, connection: sa.Connection, dataset: str, key: str) -> Request | None:
        """A request that was kept."""
        table = schema.requests
        query = sa.select(table.c.about, table.c.charge, table.c.paid).where(
            table.c.dataset == dataset, table.c.key == check_key(key)
        )
        row = connection.execute(query).one_or_none()
        return None if row is None else Request(key, str(row.about), int(row.charge), bool(row.paid))

    def is_paid(self, connection: sa.Connection, dataset: str, key: str, plan: str) -> bool:
        """Whether a request was kept with a charge of its own for this plan."""
        request, table = self.request(connection, dataset, key), schema.charges
        if request is None or not request.paid:
            return False
        query = sa.select(table.c.plan).where(table.c.id == request.charge, table.c.dataset == dataset)
        return bool(connection.execute(query).scalar_one_or_none() == plan)

    def keep_request(self, connection: sa.Connection, dataset: str, request: Request) -> None:
        """Keep a request; `Superseded` if its key is taken."""
        if self.request(connection, dataset, request.key) is not None:
            raise Superseded("this request was answered meanwhile; look again. Nothing was released")
        connection.execute(schema.requests.insert().values(dataset=dataset, **vars(request)))

    def charge(self, row: dict[str, Any]) -> Charge:
        """A charge as its row has it."""
        cost = self._cost([row["epsilon"], row["delta"], row["rho"]])
        try:
            time = datetime.fromisoformat(row["time"])
        except (TypeError, ValueError):
            raise self.damaged() from None
        privacy = self._privacy(row["privacy"])
        who = printable(row["who"])
        return Charge(row["id"], row["dataset"], row["plan"], privacy, cost, time, who, row["digest"])

    def _cost(self, amounts: Iterable[str]) -> Cost:
        try:
            cost = Cost(*map(Fraction, amounts))
        except (TypeError, ValueError, ZeroDivisionError):
            raise self.damaged() from None
        if min(vars(cost).values()) < 0:
            raise self.damaged()
        return cost

    def _privacy(self, text: str) -> Privacy:
        try:
            return privacy_from_dict(json.loads(text))
        except (TypeError, ValueError, InvalidPrivacy):
            raise self.damaged() from None

    def damaged(self) -> LedgerError:
        """What cannot be read as anything that was written."""
        return LedgerError(
            f"{self._database.name} is damaged; restore it from a backup. Nothing was released"
        )
