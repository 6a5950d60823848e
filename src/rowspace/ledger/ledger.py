"""Ledger: one budget per dataset, charged before anything noisy leaves the process.

Guarantees
- The sum of all charges never exceeds the budget, whoever else charges at the same time
  (tests/ledger/test_race.py::test_exactly_as_many_win_as_fit).
- A charge is on disk, together with the bytes of its release, before `charge` returns; whatever kills the process
  earlier leaves no charge and no release (tests/ledger/test_kill.py::test_killed_at_any_instant).
- A release can be had again from its charge: the same bytes, no second charge, no new noise
  (tests/ledger/test_ledger.py::test_resume_gives_the_same_bytes).
- How charges add up is fixed with the budget, and what is charged is the larger of stated and achieved
  (`rowspace.ledger.composition`, `rowspace.ledger.costs`).
- One source is not charged to two budgets unless that is said
  (tests/ledger/test_sources.py::test_a_second_budget_for_the_same_source_needs_a_word).
- A ledger that is locked, read-only, on a full disk or damaged takes no charge and says why
  (tests/ledger/test_failures.py).
"""

from __future__ import annotations

import getpass
import json
import os
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import sqlalchemy as sa

from rowspace.exceptions import BudgetExceeded, LedgerError
from rowspace.planning import Plan
from rowspace.planning.known import checked_plan, require_known_privacy
from rowspace.privacy import Privacy

from . import schema
from .composition import Filter, total
from .costs import Cost
from .database import Database
from .fingerprints import content_digest, plan_hash
from .names import check_name, look_alike, printable
from .records import Budget, Charge
from .tables import Tables

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

    keeps_sources = True
    """`charge` takes which source a release is about."""

    def __init__(self, location: str | os.PathLike[str], *, patience: float = 30.0) -> None:
        self._database = Database(location, patience)
        self._tables = Tables(self._database)

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

    def create(self, dataset: str, guarantee: Privacy, *, composition: str | None = None) -> Budget:
        """Set the budget of a dataset, once and for all: a promise that could be raised later would be none.

        dataset: what the budget is for.
        guarantee: the most that all releases together may cost.
        composition: how charges add up in a budget of (ε, δ), fixed with it: "gaussian" (unless another is given; pays
        for (ε, δ) and ε plans), "concentrated" (pays for ρ plans, too) or "basic" (sums of ε and δ).

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
        require_known_privacy(guarantee)
        filter_ = Filter.of(guarantee, composition)
        with self._database.writing(create=True) as connection:
            self._tables.prepare(connection)
            for known in connection.execute(sa.select(schema.budgets.c.dataset)).scalars():
                if look_alike(known, dataset):
                    raise LedgerError(
                        f"{self.name} has a budget for {known!r} already, which stays as it is; give another dataset a "
                        "name that looks different"
                    )
            row = {"dataset": dataset, "guarantee": _json(guarantee), "created": _now(), "who": _who()}
            row["composition"] = filter_.composition
            connection.execute(schema.budgets.insert().values(row))
        return Budget(dataset, filter_, 0, Cost())

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
        with self._tables.reading() as connection:
            table = schema.budgets
            names = connection.execute(sa.select(table.c.dataset).order_by(table.c.dataset)).scalars().all()
            return [self._tables.budget(connection, name) for name in names]

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
        with self._tables.reading() as connection:
            return self._tables.budget(connection, self._tables.only(connection, dataset))

    def check(
        self,
        plan: Plan | Privacy,
        dataset: str | None = None,
        *,
        source: str | None = None,
        second_budget: bool = False,
    ) -> None:
        """Refuse now what `charge` would refuse at this moment, so that no data need be read for it.

        dataset: which budget, when the ledger has several.

        plan: what is to be released; its promise alone refuses what no plan under it could be charged for.
        source, second_budget: as for `charge`.

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
        if isinstance(plan, Plan):
            plan = checked_plan(plan)
        with self._tables.reading() as connection:
            budget = self._tables.budget(connection, self._tables.only(connection, dataset))
            self._tables.require_one_budget(connection, budget.dataset, source, second_budget)
        _require_room(budget, budget.filter.cost_of(plan))

    def charge(
        self,
        plan: Plan,
        content: bytes,
        dataset: str | None = None,
        *,
        source: str | None = None,
        second_budget: bool = False,
    ) -> Charge:
        """Charge for a release and keep its bytes, in one transaction, or raise; nobody may see `content` before.

        plan: what was released.
        content: the bytes of the release.
        dataset: which budget, when the ledger has several.
        source: digests of where the data is, if it has a place. second_budget: let a source be charged here that was
        charged to another budget of this ledger before.

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
        plan = checked_plan(plan)
        if len(content) > LARGEST_RELEASE:
            raise LedgerError(
                f"expected a release of at most {LARGEST_RELEASE:,} bytes, as a ledger can keep with its charge, got "
                f"{len(content):,}; release a smaller part. Nothing was released"
            )
        with self._tables.reading() as connection:
            dataset = self._tables.only(connection, dataset)
            filter_ = self._tables.filter(connection, dataset)
        # Before the lock is taken: norms and digests of large plans may take a while.
        cost = filter_.cost_of(plan)
        row: dict[str, Any] = {
            "dataset": dataset,
            "plan": plan_hash(plan),
            "privacy": _json(plan.privacy),
            **{name: str(amount) for name, amount in vars(cost).items()},
            "time": _now(),
            "who": _who(),
            "digest": content_digest(content),
        }
        with self._database.writing() as connection:
            if source is not None:
                self._database.take_turns(
                    connection, source
                )  # always before a budget's lock: no two wait for each other
            if self._tables.filter(connection, dataset, lock=True) != filter_:
                raise LedgerError(f"{self.name} was replaced meanwhile; try again. Nothing was released")
            self._tables.require_one_budget(connection, dataset, source, second_budget)
            _require_room(self._tables.budget(connection, dataset), cost)
            values = row | {"content": content, "source": source}
            statement = schema.charges.insert().values(values).returning(schema.charges.c.id)
            number = int(connection.execute(statement).scalar_one())
        return self._tables.charge(row | {"id": number})

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
        with self._tables.reading() as connection:
            dataset = self._tables.only(connection, dataset)
            self._tables.filter(connection, dataset)  # an unknown name is an error, not an empty history
            table = schema.charges
            columns = [column for column in table.c if column is not table.c.content]
            query = sa.select(*columns).where(table.c.dataset == dataset)
            rows = connection.execute(query.order_by(table.c.id)).mappings().all()
        return [self._tables.charge(dict(row)) for row in rows]

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
        with self._tables.reading() as connection:
            table = schema.charges
            query = sa.select(table.c.content, table.c.digest).where(table.c.id == int(charge))
            row = connection.execute(query).first() if 0 < charge < _NUMBERS else None
        if row is None:
            raise LedgerError(
                f"{self.name} has no charge {charge}; `rowspace budget history` lists those it has"
            )
        if content_digest(row.content) != row.digest:
            raise self._tables.damaged()
        return bytes(row.content)


def _require_room(budget: Budget, cost: Cost) -> None:
    """Raise `BudgetExceeded`, with what remains, unless the new charge fits."""
    if not budget.filter.fits(total([(budget.used, 1), (cost, 1)])):
        raise BudgetExceeded(
            f"the budget of {budget.dataset!r} has {budget}, and this release would cost {cost}; nothing was released"
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
