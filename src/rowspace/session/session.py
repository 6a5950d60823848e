"""Session: questions one after another, each answered from all that was bought before.

Guarantees
- All that a session knows is in the ledger: a new process goes on where the last one stopped, and several at once see
  each other's purchases (tests/session/test_processes.py).
- Nothing is paid twice: before a purchase is charged the ledger is looked at again, and if anything came between, the
  question is asked anew of what is known then (tests/session/test_processes.py::test_a_race_buys_once).
- What is bought, and for how much, depends on public things and on answers that were paid for, never on counts. Sums
  of ε and ρ, and the filters of (ε, δ), hold for amounts that are chosen so (rowspace.ledger.composition).
- A price reads no data (tests/session/test_session.py::test_a_price_reads_no_data).
- An answer costs no more than was agreed to, and no more than its spender may spend
  (tests/session/test_spenders.py).
- The same key gives the same answer, and pays once (tests/session/test_session.py::test_a_key_is_answered_once,
  tests/session/test_tables.py::test_a_key_buys_tables_once).
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Sequence
from math import inf
from typing import TYPE_CHECKING

import numpy as np

from rowspace.domain import Domain
from rowspace.exceptions import BudgetExceeded, InvalidInput, KeyReused, Superseded
from rowspace.ledger import Budget, Charge, Ledger, Request, Spender, float_above
from rowspace.planning import Plan, recalibrated, with_budget
from rowspace.releases import Combined, Release, TableEstimate, as_queries
from rowspace.strategy import Select
from rowspace.workload import Workload, marginal

from .buying import MET, Goal, Shop
from .knowledge import Knowledge
from .purse import Purse
from .questions import Question, digest, expected_of, goal_of, ranks_of, spending
from .tables import buy_tables, checked_tables
from .terms import Terms
from .values import Answered, Price, told, told_again, told_for

if TYPE_CHECKING:
    import pandas as pd

    from rowspace.sources import Source

_ATTEMPTS = 100


class Session:
    """A stream of questions about one table, on one budget.

    domain: the attributes that questions may be about.
    source: the data, as for `rs.release`; it is counted once, when something is bought first.
    ledger: where the budget is and all evidence is kept, as a path, a database URL or a `Ledger`.
    dataset: which of its budgets, when it has several.
    expecting: a workload of questions that may come: what is bought also serves them. Unless given, the counts and
    ranges of every attribute by itself.
    objective: "max" where they are expected at one accuracy; "total" where each at the one that `rs.plan` gives it.
    table: of a database. version: a name for the table as it is now; evidence about another version is not used, except
    of those in `same_as`, which the caller knows to be the same table. Unnamed, it is told by where the data is.
    second_budget: charge it though the same source was charged to another one before.
    effort: how long the strategy for what is expected is searched for.

    >>> import tempfile, rowspace as rs
    >>> folder = tempfile.TemporaryDirectory()
    >>> budget = rs.Ledger(folder.name + "/budget.db").create("people", rs.ZCDP(0.5))
    >>> domain = rs.Domain(age=rs.Numeric(0, 4, bins=4, integer=True), sex=rs.Categorical(["F", "M"]))
    >>> session = rs.Session(domain, [[10, 20, 0]] * 5, ledger=folder.name + "/budget.db")
    >>> session.price("age < 2", within=20).free
    False
    >>> first = session.ask("age < 2", within=20)
    >>> first.cost > 0, session.ask("age < 2", within=20).cost
    (True, 0.0)
    >>> folder.cleanup()
    """

    def __init__(
        self,
        domain: Domain,
        source: Source,
        *,
        ledger: Ledger | str | os.PathLike[str],
        dataset: str | None = None,
        expecting: Workload | None = None,
        objective: str = "max",
        table: str | None = None,
        version: str | None = None,
        same_as: Sequence[str | None] = (),
        second_budget: bool = False,
        effort: str = "normal",
    ) -> None:
        if not isinstance(domain, Domain):
            raise InvalidInput(f"expected a domain, got {type(domain).__name__}")
        ledger = ledger if isinstance(ledger, Ledger) else Ledger(ledger)
        self._purse = Purse.of(ledger, dataset, source, table, version, same_as, second_budget)
        kind, select = self._purse.kind, Select(effort=effort, objective=objective)
        if kind.unit is not None and kind.unit.periods is not None:
            raise InvalidInput(
                "expected a budget whose privacy unit says how many rows are counted in all: questions of a session "
                "are not counted by period; create the budget without periods="
            )
        self._shop = Shop(kind, expected_of(expecting, domain.without_places()), select)
        self._known = Knowledge(domain.with_places(), kind.unit)
        # Threads that buy take turns: of purchases side by side all but one would be superseded, and planned anew.
        self._turn = threading.Lock()

    @property
    def domain(self) -> Domain:
        """The attributes that questions may be about, with places for missing values."""
        return self._known.domain

    @property
    def budget(self) -> Budget:
        """The budget that pays, as it is now."""
        return self._look()[1]

    @property
    def ledger(self) -> Ledger:
        """Where the budget is and all evidence is kept."""
        return self._purse.ledger

    @property
    def last(self) -> int:
        """The last charge that is known of now, by its number: between two that are equal, answers are the same."""
        return self._look()[0].last

    @property
    def purchases(self) -> int:
        """How many purchases answers are made from now."""
        return self._look()[0].number

    def prepare(self) -> None:
        """Plan for what is expected now rather than with the first question that is not free; costs nothing.

        >>> from rowspace.sample import small_session
        >>> with small_session() as session:
        ...     session.prepare()
        """
        self._shop.expected(self._look()[0])

    def reached(self, question: Question, *, level: float = 0.95) -> float:
        """The widest half-width of the intervals that are known for free; infinite where nothing is known.

        question: as for `ask`. level: the confidence level of the intervals.

        >>> from rowspace.sample import small_session
        >>> with small_session() as session:
        ...     session.reached("age >= 2")
        inf
        """
        queries = goal_of(self._known, question, inf, level).queries
        return float(np.max(self._look()[0].error_bars(queries, level)[1]))

    def price(
        self,
        question: Question,
        *,
        within: float | Sequence[float],
        level: float = 0.95,
        spender: Spender | None = None,
    ) -> Price:
        """What an answer of this accuracy would cost now; reads no data and costs nothing.

        question: a condition, SQL, a workload, or several texts; several are priced together.
        within: the half-width that no interval may exceed, in counts or the unit of a sum: one for all, or one
        for each.
        level: the confidence level of the intervals.
        spender: in whose name it would be charged, where names have less to spend than the budget.

        >>> from rowspace.sample import small_session
        >>> with small_session() as session:
        ...     session.price("age >= 2", within=0.4, level=0.999999).affordable
        True
        """
        goal = goal_of(self._known, question, within, level)
        known, left = self._look()
        half_widths = known.error_bars(goal.queries, goal.level)[1]
        reached = float(np.max(half_widths))
        if goal.missed(half_widths) <= MET:
            return Price(0.0, left.unit, left, reached, True)
        terms = Terms(self._shop, self._purse, spender)
        amount = terms.amount(terms.offer(goal, known, left))
        affordable = amount <= terms.room(left)
        best = None if affordable else terms.best(goal, known, left)
        return Price(float_above(amount), left.unit, left, reached, affordable, best)

    def ask(
        self,
        question: Question,
        *,
        within: float | Sequence[float] | None = None,
        level: float = 0.95,
        key: str | None = None,
        most: float | None = None,
        spender: Spender | None = None,
    ) -> Answered:
        """The answer, for free where what is known suffices, else for the least that buys the accuracy.

        question: a condition, SQL, a workload, or several texts; several are bought together.
        within: the half-width that no interval may exceed, in counts or the unit of a sum: one for all, or one
        for each. None: whatever is known already.
        level: the confidence level of the intervals.
        key: a name for this request: the same key again gives the same answer and pays nothing.
        most: what it may cost at most, in the budget's unit, such as the price that was agreed to; 0 buys nothing.
        spender: in whose name it is charged, where names have less to spend than the budget.

        `BudgetExceeded`, with the best that can be had, when the budget has no room; then nothing is charged.

        >>> from rowspace.sample import small_session
        >>> with small_session() as session:
        ...     round(session.ask("age >= 2 and sex = 'F'", within=0.4, level=0.999999).answer)
        120
        """
        goal = goal_of(self._known, question, inf if within is None else within, level)
        about = "" if key is None else digest(goal, self._purse.versions)
        for _ in range(_ATTEMPTS):
            known, left = self._look()
            if key is not None and (kept := self._purse.ledger.request(key, left.dataset)) is not None:
                return told_again(self._purse, self._known, kept, about, goal, left)
            columns = known.columns(goal.queries, goal.level)
            request = None if key is None else Request(key, about, known.last)
            if within is None or goal.missed(columns[2]) <= MET:
                if request is not None and self._purse.ledger.keep_request(request, left.dataset) != request:
                    continue
                return told(goal, known, columns, left)
            if most == 0:
                raise BudgetExceeded(
                    "what is known is not as precise, and nothing may be paid; nothing was released"
                )
            if (charge := self._bought(goal, known, request, most, spender)) is None:
                continue
            _, left = self._look()
            now = self._purse.upto(charge.id, self._known)
            return told_for(self._purse.amount(charge.cost), goal, columns[1], now, charge, left)
        raise Superseded("others keep charging the same budget; try again. Nothing was released")

    def table(self, *attributes: str, within: float, level: float = 0.95, key: str | None = None) -> Answered:
        """The counts of all combinations of some attributes, each to an accuracy; see `ask`.

        attributes: their names. within, level, key: as for `ask`.

        >>> from rowspace.sample import small_session
        >>> with small_session() as session:
        ...     session.table("sex", within=0.4, level=0.999999).table["answer"].round().tolist()
        [160.0, 200.0]
        """
        return self.ask(
            marginal(self.domain.without_places(), *attributes), within=within, level=level, key=key
        )

    def quantiles(
        self,
        attribute: str,
        q: Sequence[float] = (0.5,),
        *,
        within: float | None,
        level: float = 0.95,
        key: str | None = None,
    ) -> pd.DataFrame:
        """Quantiles of a numeric attribute, from counts below every edge that are known to an accuracy.

        attribute: a numeric one. q: which quantiles. within: the half-width of the intervals of the counts, so that a
        quantile's rank is known within it; None: whatever is known already. level, key: as for `ask`.

        >>> from rowspace.sample import small_session
        >>> with small_session() as session:
        ...     session.quantiles("age", [0.5], within=0.4, level=0.999999)["low"].tolist()
        [2.0]
        """
        ranks = ranks_of(self.domain.without_places(), attribute, q)
        self.ask(ranks, within=within, level=level, key=key)
        return self._purse.release(self._look()[0], key).quantiles(attribute, q, level=level)

    def warm(self, amount: float, *, key: str | None = None) -> Budget:
        """Buy evidence for what is expected, ahead of the questions.

        amount: the ε (or ρ) to spend. key: a name for this request: the same key again pays nothing. Returns the budget
        after it.

        >>> from rowspace.sample import small_session
        >>> with small_session() as session:
        ...     print(session.warm(1000.0))
        999000 of 1000000 rho left
        """

        def planned(known: Knowledge) -> Plan:
            plan = self._shop.expected(known)
            return recalibrated(plan, with_budget(plan.privacy, amount))

        self._buy(planned, key, spending(self._shop.expecting, amount, self._purse.versions, "warm"))
        return self.budget

    def estimate_tables(
        self,
        workload: Workload,
        *,
        spend: float,
        integral: bool = False,
        key: str | None = None,
        spender: Spender | None = None,
    ) -> TableEstimate:
        """Tables that people read, bought in two steps: margins first, the rest where their models are worst.

        What the second step measures follows from the first one's noisy answers; both are charged, and the estimate
        (see `Release.estimate_tables`) is made of all that is known. Under Laplace noise, where pieces cost more than
        the whole, there is one step.

        workload: the tables. spend: the ε or ρ for them in all. integral: whether counts are whole.
        key: a name for this request: the same key again gives the same tables, and pays what is not paid yet.
        spender: in whose name it is charged, where names have less to spend than the budget.

        >>> import rowspace as rs
        >>> from rowspace.sample import small_session
        >>> with small_session() as session:
        ...     tables = session.estimate_tables(rs.workload.marginals(session.domain, up_to=2), spend=1000.0)
        ...     session.purchases, tables.ask("age >= 2")["answer"].round().tolist()
        (2, [260.0])
        """
        queries = checked_tables(as_queries(self.domain, workload, [self._known.unit]), spend)
        about = spending(queries, spend, self._purse.versions, "tables")
        charge = buy_tables(
            queries,
            spend,
            self._purse,
            room=lambda: self._purse.room(self.budget, spender),
            charged=lambda own: self._charged(own, about),
            buy=lambda planned, own: self._buy(planned, own, about, spender),
            key=key,
        )
        return self._purse.release(self._purse.upto(charge.id, self._known)).estimate_tables(
            integral=integral
        )

    def _buy(
        self,
        planned: Callable[[Knowledge], Plan],
        key: str | None,
        about: str,
        spender: Spender | None = None,
    ) -> Charge:
        """Buy what is planned for what is known, and plan anew where others buy meanwhile; once for a key."""
        for _ in range(_ATTEMPTS):
            known, _ = self._look()
            if (charge := self._charged(key, about)) is not None:
                return charge
            request = None if key is None else Request(key, about, known.last)
            try:
                return self._purse.buy(planned(known), known, request, spender)
            except Superseded:
                continue
        raise Superseded("others keep charging the same budget; try again. Nothing was released")

    def _charged(self, key: str | None, about: str) -> Charge | None:
        """The charge that was made under a key, if it was."""
        kept = None if key is None else self._purse.ledger.request(key, self._purse.dataset)
        if kept is not None and kept.about != about:
            raise KeyReused(f"the key {kept.key!r} was used for another request; give each its own")
        return None if kept is None else self._purse.charge(kept.charge)

    def release(self) -> Release | Combined:
        """All that is known, as one release: for reports, exports and further questions for free.

        >>> from rowspace.sample import small_session
        >>> with small_session() as session:
        ...     budget = session.warm(1000.0)
        ...     round(session.release().ratio("sex = 'F'", "sex = 'M'").value, 2)
        0.8
        """
        return self._purse.release(self._look()[0])

    def __repr__(self) -> str:
        return f"<Session on {self._purse.dataset!r}: {self._known.number} purchases known>"

    def _look(self) -> tuple[Knowledge, Budget]:
        """What is known now, with what others have bought meanwhile, and the budget."""
        self._known, left = self._purse.look(self._known)
        return self._known, left

    def _bought(
        self,
        goal: Goal,
        known: Knowledge,
        request: Request | None,
        most: float | None,
        spender: Spender | None,
    ) -> Charge | None:
        """The charge for what meets a goal; None where another came between, after which it may be known."""
        with self._turn:
            now, left = self._look()
            if now.last != known.last:
                return None
            offered = Terms(self._shop, self._purse, spender).agreed(goal, known, left, most)
            try:
                return self._purse.buy(offered, known, request, spender)
            except Superseded:
                return None
