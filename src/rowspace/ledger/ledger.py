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
- A plan over periods is charged once, with its first instalment; another is taken only after the one before it
  (tests/ledger/test_instalments.py::test_a_horizon_is_charged_once).
- After a failed commit the charge is looked up, and the error says whether it was made (`rowspace.ledger.doubt`).
- A request is charged once, however often it is tried, and gives the same bytes every time
  (tests/ledger/test_requests.py::test_a_retry_never_pays_twice, ::test_killed_at_any_instant).
- The charges in a spender's name never exceed what is allowed them, whoever else charges at the same time
  (tests/ledger/test_spenders.py::test_a_race_stays_within_what_is_allowed).
- Pruning drops bytes of releases and nothing else, and none that a session or the next instalment needs
  (tests/ledger/test_pruning.py).
- A ledger that is locked, read-only, on a full disk or damaged takes no charge and says why
  (tests/ledger/test_failures.py).
"""

from __future__ import annotations

import getpass
import json
import logging
import os
from dataclasses import replace
from datetime import UTC, datetime
from fractions import Fraction
from typing import Any

import sqlalchemy as sa

from rowspace.exceptions import BudgetExceeded, InvalidInput, LedgerError, Superseded
from rowspace.planning import DiscoveryPlan, Plan, checked_discovery, checked_plan, require_known_privacy
from rowspace.privacy import Privacy

from . import schema
from .composition import Filter, total
from .costs import Cost, at_most
from .doubt import Doubt
from .names import check_name, look_alike, printable
from .pruning import drop, prunable
from .reader import LedgerReader
from .records import Budget, Charge, Request, Spender, content_digest, plan_hash

_LOGGER = logging.getLogger(__name__)

LARGEST_RELEASE = 950_000_000
"""Most bytes of a release: the engines keep a billion in a row, or a little more."""


class Ledger(LedgerReader):
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

    def create(self, dataset: str, guarantee: Privacy, *, composition: str | None = None) -> Budget:
        """Set the budget of a dataset, once and for all: a promise that could be raised later would be none.

        dataset: what the budget is for.
        guarantee: the most that all releases together may cost.
        composition: how charges add up in a budget of (ε, δ), fixed with it: "gaussian" (unless another is given; pays
        for (ε, δ) and ε plans), "concentrated" (pays for ρ plans, too) or "basic" (sums of ε and δ).

        >>> from rowspace import ZCDP
        >>> from rowspace.sample import small_ledger
        >>> with small_ledger() as ledger:
        ...     print(ledger.create("visitors", ZCDP(0.5)))
        0.5 of 0.5 rho left
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

    def check(
        self,
        plan: Plan | DiscoveryPlan | Privacy,
        dataset: str | None = None,
        *,
        source: str | None = None,
        second_budget: bool = False,
        spender: Spender | None = None,
    ) -> None:
        """Refuse now what `charge` would refuse at this moment, so that no data need be read for it.

        dataset: which budget, when the ledger has several.

        plan: what is to be released; its promise alone refuses what no plan under it could be charged for.
        source, second_budget, spender: as for `charge`.

        >>> from rowspace import PureDP
        >>> from rowspace.sample import small_ledger, small_release
        >>> with small_ledger() as ledger:
        ...     ledger.check(small_release().plan)
        ...     ledger.check(PureDP(700))
        Traceback (most recent call last):
        ...
        rowspace.exceptions.BudgetExceeded: the budget of 'people' has 600 of 600 epsilon left, and this release ...
        """
        if not isinstance(plan, Privacy):
            plan = _checked(plan)
        with self._tables.reading() as connection:
            budget = self._tables.budget(connection, self._tables.only(connection, dataset))
            self._tables.require_one_budget(connection, budget.dataset, source, second_budget)
            spent = self._spent(connection, budget, spender)
        _require_room(budget, budget.filter.cost_of(plan), spender, spent)

    def charge(
        self,
        plan: Plan | DiscoveryPlan,
        content: bytes,
        dataset: str | None = None,
        *,
        source: str | None = None,
        second_budget: bool = False,
        request: Request | None = None,
        version: str | None = None,
        after: int | None = None,
        continues: str | None = None,
        spender: Spender | None = None,
    ) -> Charge:
        """Charge for a release and keep its bytes, in one transaction, or raise; nobody may see `content` before.

        plan: what was released.
        content: the bytes of the release.
        dataset: which budget, when the ledger has several.
        source: digests of where the data is, if it has a place. second_budget: let a source be charged here that was
        charged to another budget of this ledger before.
        request: what is kept with the charge, so that a retry finds it. version: of the table the release is about.
        after: the last charge that the plan was made in view of.
        continues: the key of the request before, of the same plan, whose charge has paid for this release as well.
        spender: in whose name it is, and how much that name may spend; else in that of the process's user.

        `BudgetExceeded` when it does not fit, `Superseded` when another charge came between, `LedgerError` for
        everything else that is wrong.

        >>> from rowspace.sample import small_ledger, small_release
        >>> release = small_release()
        >>> with small_ledger() as ledger:
        ...     print(ledger.charge(release.plan, release.to_bytes()).cost, "·", ledger.budget())
        ε 200 · 400 of 600 epsilon left
        """
        plan = _checked(plan)
        if len(content) > LARGEST_RELEASE:
            raise LedgerError(
                f"expected a release of at most {LARGEST_RELEASE:,} bytes, as a ledger can keep with its charge, got "
                f"{len(content):,}; release a smaller part. Nothing was released"
            )
        with self._tables.reading() as connection:
            dataset = self._tables.only(connection, dataset)
            # Every charge is counted here, and not while others wait for the lock.
            filter_ = self._tables.budget(connection, dataset).filter
        # Before the lock is taken: norms and digests of large plans may take a while.
        cost = filter_.cost_of(plan) if continues is None else Cost()
        row: dict[str, Any] = {
            "dataset": dataset,
            "plan": plan_hash(plan),
            "privacy": _json(plan.privacy),
            **{name: str(amount) for name, amount in vars(cost).items()},
            "time": _now(),
            "who": _who() if spender is None else spender.who,
            "digest": content_digest(content),
        }
        with self._database.writing(doubt=Doubt(self._database, self._tables, row, request)) as connection:
            if source is not None:
                self._database.take_turns(
                    connection, source
                )  # always before a budget's lock: no two wait for each other
            if self._tables.filter(connection, dataset, lock=True) != filter_:
                raise LedgerError(f"{self.name} was replaced meanwhile; try again. Nothing was released")
            self._tables.require_one_budget(connection, dataset, source, second_budget)
            budget = self._tables.sums(connection, dataset)
            if after is not None and self._tables.last(connection, dataset) != after:
                raise Superseded("another charge came between; look again. Nothing was released")
            if continues is not None and not self._tables.is_paid(
                connection, dataset, continues, row["plan"]
            ):
                raise LedgerError(
                    f"{self.name} has no charge for the instalment before this one, of the same plan; nothing was "
                    "released"
                )
            _require_room(budget, cost, spender, self._spent(connection, budget, spender))
            values = row | {"content": content, "source": source, "version": version}
            statement = schema.charges.insert().values(values).returning(schema.charges.c.id)
            row["id"] = number = int(connection.execute(statement).scalar_one())
            spent = total([(budget.used, 1), (cost, 1)])
            self._tables.keep_spent(connection, dataset, spent, budget.charges + 1)
            if request is not None:
                self._tables.keep_request(connection, dataset, replace(request, charge=number, paid=True))
        charge = self._tables.charge(row)
        _LOGGER.info("charge", extra={"rowspace": charge.to_dict() | {"request": request and request.key}})
        return charge

    def keep_request(self, request: Request, dataset: str | None = None) -> Request:
        """Keep a request that was answered for free, or return the one that is kept under its key.

        request: its key, what it was about, and the last charge that its answer was made from.
        dataset: which budget, when the ledger has several.

        >>> from rowspace.sample import small_ledger
        >>> with small_ledger() as ledger:
        ...     ledger.keep_request(Request("monday", "a question")) == ledger.request("monday")
        True
        """
        with self._database.writing() as connection:
            dataset = self._tables.only(connection, dataset)
            self._tables.filter(connection, dataset, lock=True)
            known = self._tables.request(connection, dataset, request.key)
            if known is None:
                self._tables.keep_request(connection, dataset, request)
            return known or request

    def prune(
        self, before: datetime, dataset: str | None = None, *, evidence: bool = False, only_look: bool = False
    ) -> list[tuple[int, int]]:
        """Drop the bytes of old releases; their charges and digests stay. The numbers of these charges, with bytes.

        before: releases that were charged earlier, a moment with its time zone.
        dataset: which budget, when the ledger has several.
        evidence: also what sessions about the newest table answer from. only_look: drop nothing.

        The newest release of every plan is kept whatever its age. What was dropped cannot be resumed or asked for again
        by its request id.

        >>> from datetime import datetime, UTC
        >>> from rowspace.sample import small_ledger, small_release
        >>> release = small_release()
        >>> with small_ledger() as ledger:
        ...     charge = ledger.charge(release.plan, release.to_bytes())
        ...     ledger.prune(datetime(2000, 1, 1, tzinfo=UTC))
        []
        """
        if before.tzinfo is None:
            raise InvalidInput("expected a moment with a time zone, such as datetime(2024, 1, 1, tzinfo=UTC)")
        with self._tables.reading() as connection:
            dataset = self._tables.only(connection, dataset)
            self._tables.filter(connection, dataset)
            found = prunable(connection, dataset, before, evidence=evidence)
        if only_look or not found:
            return found
        with self._database.writing() as connection:
            self._tables.filter(connection, dataset, lock=True)
            found = prunable(connection, dataset, before, evidence=evidence)
            drop(connection, [number for number, _ in found])
        self._database.compact()
        return found


def _checked(plan: Plan | DiscoveryPlan) -> Plan | DiscoveryPlan:
    """A copy of what is to be paid for that nobody else has."""
    return checked_discovery(plan) if isinstance(plan, DiscoveryPlan) else checked_plan(plan)


def _require_room(budget: Budget, cost: Cost, spender: Spender | None, spent: Fraction) -> None:
    """Raise `BudgetExceeded`, with what remains, unless the new charge fits, also what its spender may spend."""
    if not budget.filter.fits(total([(budget.used, 1), (cost, 1)])):
        raise BudgetExceeded(
            f"the budget of {budget.dataset!r} has {budget}, and this release would cost {cost}; nothing was released"
        )
    if spender is not None and spender.most is not None and spent + budget.amount(cost) > spender.most:
        raise BudgetExceeded(
            f"{spender.name!r} has {at_most(spender.left(budget, spent))} of {at_most(spender.most)} {budget.unit} "
            f"left to spend, and this release would cost {cost}; nothing was released"
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
