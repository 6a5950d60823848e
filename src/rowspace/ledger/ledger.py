"""Ledger: one budget per dataset, charged before anything noisy leaves the process.

Guarantees
- The sum of all charges never exceeds the budget, whoever else charges at the same time
  (tests/ledger/test_race.py::test_exactly_as_many_win_as_fit).
- A charge is on disk, together with the bytes of its release, before `charge` returns; whatever kills the process
  earlier leaves no charge and no release (tests/ledger/test_kill.py::test_killed_at_any_instant).
- A release can be had again from its charge: the same bytes, no second charge, no new noise
  (tests/ledger/test_ledger.py::test_resume_gives_the_same_bytes).
- A ledger that is locked, read-only, on a full disk or damaged takes no charge and says why
  (tests/ledger/test_failures.py).
"""

from __future__ import annotations

import getpass
import json
import os
from collections.abc import Iterable
from datetime import UTC, datetime
from fractions import Fraction
from pathlib import Path
from typing import Any

import sqlalchemy as sa

from rowspace.exceptions import BudgetExceeded, InvalidInput, InvalidPrivacy, LedgerError
from rowspace.planning import Plan
from rowspace.privacy import Privacy, privacy_from_dict

from . import schema
from .composition import Entry, fits, limit_of, spent
from .costs import Cost, cost_of
from .database import Database
from .fingerprints import content_digest, plan_hash
from .names import check_name, looks, printable
from .records import Budget, Charge

_NUMBERS = 2**31
"""Charges are numbered below this, on every engine."""

LARGEST_RELEASE = 950_000_000
"""Most bytes of a release: the engines keep a billion in a row, or a little more."""


class Ledger:
    """A ledger in a SQLite file (a path or ``sqlite:///path``) or on PostgreSQL (``postgresql://…``).

    location: a path or an address.

    patience: seconds to wait for others who are charging. Cost of a charge: a few milliseconds and two flushes to disk.

    >>> import tempfile, rowspace as rs
    >>> folder = tempfile.TemporaryDirectory()
    >>> ledger = Ledger(folder.name + "/budget.db")
    >>> print(ledger.create("people", rs.PureDP(1.0)))
    1 of 1 epsilon left
    >>> plan = rs.plan(rs.workload.identity(rs.Domain(age=rs.Numeric(0, 4, bins=4))), rs.PureDP(0.3))
    >>> release = rs.release(plan, [10, 20, 30, 40], ledger=ledger)
    >>> print(ledger.budget("people"))
    0.7 of 1 epsilon left
    >>> folder.cleanup()
    """

    def __init__(self, location: str | os.PathLike[str], *, patience: float = 30.0) -> None:
        self._database = Database(location, patience)

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

    def create(self, dataset: str, guarantee: Privacy) -> Budget:
        """Set the budget of a dataset, once and for all: a promise that could be raised later would be none.

        dataset: what the budget is for.
        guarantee: the most that all releases together may cost.

        >>> import tempfile, rowspace as rs
        >>> from rowspace.sample import small_release
        >>> folder = tempfile.TemporaryDirectory()
        >>> ledger = Ledger(folder.name + "/budget.db")
        >>> budget = ledger.create("people", rs.PureDP(600))
        >>> print(budget)
        600 of 600 epsilon left
        >>> folder.cleanup()
        """
        check_name(dataset)
        if not isinstance(guarantee, Privacy):
            raise InvalidInput(
                f"expected a budget in PureDP, ZCDP or ApproxDP, got {type(guarantee).__name__}"
            )
        limit_of(guarantee)
        with self._database.writing(create=True) as connection:
            self._prepare(connection)
            for known in connection.execute(sa.select(schema.budgets.c.dataset)).scalars():
                if looks(known) == looks(dataset):
                    raise LedgerError(
                        f"{self.name} has a budget for {known!r} already, which stays as it is; give another dataset a "
                        "name that looks different"
                    )
            row = {"dataset": dataset, "guarantee": _json(guarantee), "created": _now(), "who": _who()}
            connection.execute(schema.budgets.insert().values(row))
        return Budget(dataset, guarantee, 0, Fraction(0))

    def budgets(self) -> list[Budget]:
        """Every dataset's budget, by name.

        >>> import tempfile, rowspace as rs
        >>> from rowspace.sample import small_release
        >>> folder = tempfile.TemporaryDirectory()
        >>> ledger = Ledger(folder.name + "/budget.db")
        >>> budget = ledger.create("people", rs.PureDP(600))
        >>> ledger.budgets()
        [<Budget of 'people': 600 of 600 epsilon left>]
        >>> folder.cleanup()
        """
        with self._database.reading() as connection:
            self._check_version(connection)
            table = schema.budgets
            names = connection.execute(sa.select(table.c.dataset).order_by(table.c.dataset)).scalars().all()
            return [self._budget(connection, name) for name in names]

    def budget(self, dataset: str | None = None) -> Budget:
        """The budget of a dataset; its name may be left out when the ledger has only one.

        dataset: which budget.

        >>> import tempfile, rowspace as rs
        >>> from rowspace.sample import small_release
        >>> folder = tempfile.TemporaryDirectory()
        >>> ledger = Ledger(folder.name + "/budget.db")
        >>> budget = ledger.create("people", rs.PureDP(600))
        >>> ledger.budget().charges
        0
        >>> folder.cleanup()
        """
        with self._database.reading() as connection:
            self._check_version(connection)
            return self._budget(connection, self._only(connection, dataset))

    def check(self, plan: Plan | Privacy, dataset: str | None = None) -> None:
        """Refuse now what `charge` would refuse at this moment, so that no data need be read for it.

        dataset: which budget, when the ledger has several.

        plan: what is to be released; its promise alone refuses what no plan under it could be charged for.

        >>> import tempfile, rowspace as rs
        >>> from rowspace.sample import small_release
        >>> folder = tempfile.TemporaryDirectory()
        >>> ledger = Ledger(folder.name + "/budget.db")
        >>> budget = ledger.create("people", rs.PureDP(600))
        >>> ledger.check(small_release().plan)
        >>> ledger.check(rs.PureDP(700))
        Traceback (most recent call last):
        ...
        rowspace.exceptions.BudgetExceeded: the budget of 'people' has 600 of 600 epsilon left, and this release ...
        >>> folder.cleanup()
        """
        with self._database.reading() as connection:
            self._check_version(connection)
            dataset = self._only(connection, dataset)
            guarantee = self._guarantee(connection, dataset)
            entries = self._entries(connection, dataset)
        privacy = plan if isinstance(plan, Privacy) else plan.privacy
        _require_room(dataset, guarantee, entries, Entry(privacy, cost_of(plan, guarantee), 1))

    def charge(self, plan: Plan, content: bytes, dataset: str | None = None) -> Charge:
        """Charge for a release and keep its bytes, in one transaction, or raise; nobody may see `content` before.

        plan: what was released.
        content: the bytes of the release.
        dataset: which budget, when the ledger has several.

        `BudgetExceeded` when it does not fit, `LedgerError` for everything else that is wrong.

        >>> import tempfile, rowspace as rs
        >>> from rowspace.sample import small_release
        >>> folder = tempfile.TemporaryDirectory()
        >>> ledger = Ledger(folder.name + "/budget.db")
        >>> budget = ledger.create("people", rs.PureDP(600))
        >>> release = small_release()
        >>> charge = ledger.charge(release.plan, release.to_bytes())
        >>> print(charge.cost, "·", ledger.budget())
        ε 200 · 400 of 600 epsilon left
        >>> folder.cleanup()
        """
        if len(content) > LARGEST_RELEASE:
            raise LedgerError(
                f"expected a release of at most {LARGEST_RELEASE:,} bytes, as a ledger can keep with its charge, got "
                f"{len(content):,}; release a smaller part. Nothing was released"
            )
        with self._database.reading() as connection:
            self._check_version(connection)
            dataset = self._only(connection, dataset)
            guarantee = self._guarantee(connection, dataset)
        # Before the lock is taken: norms and digests of large plans may take a while.
        entry = Entry(plan.privacy, cost_of(plan, guarantee), 1)
        row: dict[str, Any] = {
            "dataset": dataset,
            "plan": plan_hash(plan),
            "privacy": _json(plan.privacy),
            **{name: str(amount) for name, amount in vars(entry.cost).items()},
            "time": _now(),
            "who": _who(),
            "digest": content_digest(content),
        }
        with self._database.writing() as connection:
            if self._guarantee(connection, dataset, lock=True) != guarantee:
                raise LedgerError(f"{self.name} was replaced meanwhile; try again. Nothing was released")
            _require_room(dataset, guarantee, self._entries(connection, dataset), entry)
            statement = (
                schema.charges.insert().values(row | {"content": content}).returning(schema.charges.c.id)
            )
            number = int(connection.execute(statement).scalar_one())
        return self._charge(row | {"id": number})

    def history(self, dataset: str | None = None) -> list[Charge]:
        """Every charge of a dataset, oldest first.

        dataset: which budget, when the ledger has several.

        >>> import tempfile, rowspace as rs
        >>> from rowspace.sample import small_release
        >>> folder = tempfile.TemporaryDirectory()
        >>> ledger = Ledger(folder.name + "/budget.db")
        >>> budget = ledger.create("people", rs.PureDP(600))
        >>> release = small_release()
        >>> charge = ledger.charge(release.plan, release.to_bytes())
        >>> [charge.id for charge in ledger.history("people")]
        [1]
        >>> folder.cleanup()
        """
        with self._database.reading() as connection:
            self._check_version(connection)
            dataset = self._only(connection, dataset)
            self._guarantee(connection, dataset)  # an unknown name is an error, not an empty history
            table = schema.charges
            columns = [column for column in table.c if column is not table.c.content]
            query = sa.select(*columns).where(table.c.dataset == dataset)
            rows = connection.execute(query.order_by(table.c.id)).mappings().all()
        return [self._charge(dict(row)) for row in rows]

    def resume(self, charge: int) -> bytes:
        """The release file of a charge, byte for byte as it was paid for: no second charge, no new noise.

        charge: its number in the history.

        >>> import tempfile, rowspace as rs
        >>> from rowspace.sample import small_release
        >>> folder = tempfile.TemporaryDirectory()
        >>> ledger = Ledger(folder.name + "/budget.db")
        >>> budget = ledger.create("people", rs.PureDP(600))
        >>> release = small_release()
        >>> charge = ledger.charge(release.plan, release.to_bytes())
        >>> ledger.resume(charge.id) == release.to_bytes()
        True
        >>> folder.cleanup()
        """
        with self._database.reading() as connection:
            self._check_version(connection)
            table = schema.charges
            query = sa.select(table.c.content, table.c.digest).where(table.c.id == int(charge))
            row = connection.execute(query).first() if 0 < charge < _NUMBERS else None
        if row is None:
            raise LedgerError(
                f"{self.name} has no charge {charge}; `rowspace budget history` lists those it has"
            )
        if content_digest(row.content) != row.digest:
            raise self._damaged()
        return bytes(row.content)

    def _prepare(self, connection: sa.Connection) -> None:
        """Lay out the tables, unless they are there."""
        if sa.inspect(connection).has_table(schema.version.name):
            self._check_version(connection)
            return
        if self._database.is_foreign(connection):
            raise LedgerError(f"{self.name} is another database; choose another file for the ledger")
        schema.metadata.create_all(connection)
        connection.execute(schema.version.insert().values(version=schema.SCHEMA_VERSION))

    def _check_version(self, connection: sa.Connection) -> None:
        """Refuse what is no ledger, or one that another rowspace wrote."""
        if not sa.inspect(connection).has_table(schema.version.name):
            raise LedgerError(f"{self.name} is no ledger; create a budget first: rowspace budget create")
        found = connection.execute(sa.select(schema.version.c.version)).scalars().all()
        if list(found) != [schema.SCHEMA_VERSION]:
            got = ", ".join(map(str, found[:3])) or "none"
            raise LedgerError(
                f"{self.name} was written by another version of rowspace: expected ledger version "
                f"{schema.SCHEMA_VERSION}, got {got}; use the rowspace that wrote it"
            )

    def _only(self, connection: sa.Connection, dataset: str | None) -> str:
        """The dataset meant."""
        names = connection.execute(sa.select(schema.budgets.c.dataset).limit(20)).scalars().all()
        if dataset is None and len(names) == 1:
            return str(names[0])
        if dataset is None:
            listed = ", ".join(sorted(map(repr, names))) or "none"
            raise LedgerError(f"expected a dataset, the budget that is meant; {self.name} has {listed}")
        check_name(dataset)
        return dataset

    def _guarantee(self, connection: sa.Connection, dataset: str, *, lock: bool = False) -> Privacy:
        """What a dataset's budget promises; with `lock`, nobody else charges it until this transaction ends."""
        query = sa.select(schema.budgets.c.guarantee).where(schema.budgets.c.dataset == dataset)
        # SQLite has its lock already and knows no FOR UPDATE: the statement leaves it out there.
        found = connection.execute(query.with_for_update() if lock else query).scalar_one_or_none()
        if found is None:
            raise LedgerError(
                f"{self.name} has no budget for {dataset!r}; see `rowspace budget show`, or create it: "
                "rowspace budget create"
            )
        return self._privacy(found)

    def _budget(self, connection: sa.Connection, dataset: str) -> Budget:
        guarantee = self._guarantee(connection, dataset)
        entries = self._entries(connection, dataset)
        return Budget(dataset, guarantee, sum(entry.times for entry in entries), spent(guarantee, entries))

    def _entries(self, connection: sa.Connection, dataset: str) -> list[Entry]:
        """The charges of a dataset, equal ones together."""
        table = schema.charges
        kinds = (table.c.privacy, table.c.epsilon, table.c.delta, table.c.rho)
        query = sa.select(*kinds, sa.func.count()).where(table.c.dataset == dataset).group_by(*kinds)
        return [
            Entry(self._privacy(privacy), self._cost(amounts), int(times))
            for privacy, *amounts, times in connection.execute(query)
        ]

    def _charge(self, row: dict[str, Any]) -> Charge:
        cost = self._cost([row["epsilon"], row["delta"], row["rho"]])
        try:
            time = datetime.fromisoformat(row["time"])
        except (TypeError, ValueError):
            raise self._damaged() from None
        privacy = self._privacy(row["privacy"])
        who = printable(row["who"])
        return Charge(row["id"], row["dataset"], row["plan"], privacy, cost, time, who, row["digest"])

    def _cost(self, amounts: Iterable[str]) -> Cost:
        try:
            cost = Cost(*map(Fraction, amounts))
        except (TypeError, ValueError, ZeroDivisionError):
            raise self._damaged() from None
        if min(vars(cost).values()) < 0:
            raise self._damaged()
        return cost

    def _privacy(self, text: str) -> Privacy:
        try:
            return privacy_from_dict(json.loads(text))
        except (TypeError, ValueError, InvalidPrivacy):
            raise self._damaged() from None

    def _damaged(self) -> LedgerError:
        return LedgerError(f"{self.name} is damaged; restore it from a backup. Nothing was released")


def _require_room(dataset: str, guarantee: Privacy, entries: list[Entry], new: Entry) -> None:
    """Raise `BudgetExceeded`, with what remains, unless the new charge fits."""
    if fits(guarantee, [*entries, new]):
        return
    budget = Budget(dataset, guarantee, sum(entry.times for entry in entries), spent(guarantee, entries))
    raise BudgetExceeded(
        f"the budget of {dataset!r} has {budget}, and this release would cost {new.cost}; nothing was released"
    )


def _json(privacy: Privacy) -> str:
    return json.dumps(privacy.to_dict(), sort_keys=True, allow_nan=False)


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")


def _who() -> str:
    """The user the process runs as, by name where it has one."""
    try:
        return printable(getpass.getuser())
    except (KeyError, OSError):
        return f"user {os.getuid()}"
