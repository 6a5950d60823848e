"""The desk: questions that come in by HTTP, handed to one `Session`, which prices, charges and answers.

Nothing here computes an answer or keeps a budget. What is free is answered side by side; who pays waits for their turn,
so that a long purchase never holds up what is free. An answer for free is remembered until the next charge.
"""

from __future__ import annotations

import ctypes
import secrets
import sys
from collections import OrderedDict
from collections.abc import Callable
from functools import lru_cache, partial
from typing import Any, TypeVar

import anyio
from anyio import CapacityLimiter

from rowspace.exceptions import BudgetExceeded, TooLarge
from rowspace.ledger import Budget, Ledger, at_most
from rowspace.session import Answered, Session
from rowspace.study import Study
from rowspace.workload import Workload, asked, marginal, naming, words_of

from .logs import LOG
from .metrics import ANSWERS
from .models import (
    AnswerOut,
    Asked,
    AttributeOut,
    BudgetOut,
    Buying,
    ChargeOut,
    GroupOut,
    KnownOut,
    Own,
    Priced,
    PriceOut,
)
from .settings import Settings
from .tokens import Holder

MOST_ANSWERS = 20_000
"""Answers to one request; larger tables are asked for in parts."""

_REMEMBERED, _SHORT = 1024, 100
"""Free answers that are remembered, and of how many rows at most."""

_GROUPS, _GROUP_SIZE, _LABELS = 100, 10_000, 200
_FIGURES = ("answer", "std_error", "low", "high")
_PATIENCE = 10.0

T = TypeVar("T")

_TRIM = getattr(ctypes.CDLL(None), "malloc_trim", None) if sys.platform == "linux" else None


class Desk:
    """One study, one session, and four queues: for what is free, for prices, for purchases, for reading SQL."""

    def __init__(self, study: Study, session: Session) -> None:
        self.study, self.session, self._table = study, session, session.budget.dataset
        self.is_ready = self.has_failed = False
        self._free, self._pricing, self._buying = CapacityLimiter(4), CapacityLimiter(2), CapacityLimiter(1)
        self._reading = CapacityLimiter(2)
        self._given: OrderedDict[tuple[Any, ...], AnswerOut] = OrderedDict()
        self._read = lru_cache(_REMEMBERED)(self._read_now)

    @classmethod
    def open(cls, settings: Settings) -> Desk:
        """The desk of a study, its data and its ledger."""
        study = Study.load(settings.study)
        study.require_public()
        session = Session(
            study.domain,
            study.source(settings.data),
            ledger=Ledger(settings.ledger, patience=_PATIENCE),
            dataset=settings.dataset,
            expecting=study.workload,
            table=settings.table or study.table_at(settings.data),
            version=settings.version,
        )
        return cls(study, session)

    @property
    def table(self) -> str:
        """What the table is called where it is shown: as its budget is."""
        return self._table

    def prepare(self) -> None:
        """Plan for what is expected; until then nothing is answered."""
        try:
            self.session.prepare()
            self.is_ready = True
        except Exception:  # whatever it is, the process goes on to say so
            self.has_failed = True
            LOG.exception("planning failed; nothing will be answered")

    async def price(self, given: Priced, holder: Holder) -> PriceOut:
        """What an answer would cost its holder now."""
        return await self._in(self._pricing, _giving_back(partial(self._price, given, holder)))

    async def ask(self, given: Buying, holder: Holder, key: str | None) -> AnswerOut:
        """The answer: what is free at once, all else in turn. A purchase has a key, given or not."""
        kept = None if key is None else f"{holder.name}:{key}"
        try:
            found = await self._in(self._free, partial(self._known, given, kept))
        except BudgetExceeded:
            if given.within is None or given.most == 0:
                raise
            key = key or secrets.token_urlsafe(16)
            buy = partial(self._ask, given, f"{holder.name}:{key}", given.most, holder)
            found = await self._in(self._buying, _giving_back(buy))
        ANSWERS.labels("yes" if found.cost else "no").inc()
        return found.model_copy(update={"key": key})

    async def known(self, level: float = 0.95) -> KnownOut:
        """What is free for everyone."""
        return await self._in(self._pricing, partial(self._what_is_known, level))

    async def budget(self, holder: Holder | None, others: list[Holder] | None = None) -> BudgetOut:
        """What is left, for all and for some by name."""
        return await self._in(self._free, partial(self._budget, holder, others))

    async def left(self) -> Budget:
        """The budget itself."""
        return await self._in(self._free, lambda: self.session.budget)

    async def history(self, holder: Holder, limit: int) -> list[ChargeOut]:
        """The last purchases, newest first: all of them for a steward, else those of the holder."""
        return await self._in(self._free, partial(self._history, holder, limit))

    async def reading(self, work: Callable[[], T]) -> T:
        """Read a question, in a thread: a long one holds up nobody."""
        return await self._in(self._reading, work)

    async def _in(self, lane: CapacityLimiter, work: Callable[[], T]) -> T:
        return await anyio.to_thread.run_sync(work, limiter=lane)

    # From here on: in a thread.

    def _price(self, given: Priced, holder: Holder) -> PriceOut:
        queries, _ = self._queries(given)
        spender = holder.spender
        found = self.session.price(queries, within=given.within, level=given.level, spender=spender)
        left = at_most(self.session.ledger.left_for(spender, found.remaining.dataset))
        values = {name: getattr(found, name) for name in ("free", "unit", "affordable", "reached", "best")}
        return PriceOut(price=found.amount, left=left, **values)

    def _known(self, given: Buying, key: str | None) -> AnswerOut:
        """An answer for free, from memory where nothing was charged since; `BudgetExceeded` where it is not free."""
        if key is not None:
            return self._ask(given, key, 0.0)
        about = (self.session.last, given.model_dump_json(exclude={"most"}))
        there = self._given.get(about)
        if there is None:
            there = self._ask(given, None, 0.0)
            if len(there.answers) <= _SHORT:
                self._given[about] = there
                while len(self._given) > _REMEMBERED:
                    self._given.popitem(last=False)
        return there

    def _ask(
        self, given: Buying, key: str | None, most: float | None, holder: Holder | None = None
    ) -> AnswerOut:
        queries, words = self._queries(given)
        spender = None if holder is None else holder.spender
        found = self.session.ask(
            queries, within=given.within, level=given.level, key=key, most=most, spender=spender
        )
        return _written(found, words)

    def _queries(self, given: Asked) -> tuple[Workload, list[str]]:
        """What is asked, and words for every answer."""
        queries, words = self._read(given.texts, tuple(given.table or ()))
        if queries.size > MOST_ANSWERS:
            raise TooLarge(f"{queries.size:,} answers exceed {MOST_ANSWERS:,} at a time; ask for a part")
        return queries, words()

    def _read_now(
        self, texts: tuple[str, ...], table: tuple[str, ...]
    ) -> tuple[Workload, Callable[[], list[str]]]:
        domain = self.study.domain
        if table:
            counted = marginal(domain, *table)
            return counted, counted.labels
        parts = []
        for text in texts:
            with naming(text, len(texts) > 1):
                parts.append(asked(domain, text))
        return sum(parts[1:], parts[0]), partial(words_of, texts, parts)

    def _budget(self, holder: Holder | None, others: list[Holder] | None) -> BudgetOut:
        budget = self.session.budget
        ledger = self.session.ledger

        def own(one: Holder) -> Own:
            return Own(name=one.name, cap=one.cap, left=at_most(ledger.left_for(one.spender, budget.dataset)))

        you = own(holder) if holder is not None and holder.role == "analyst" else None
        analysts = None if others is None else [own(one) for one in others if one.role == "analyst"]
        return BudgetOut(**budget.to_dict(), you=you, analysts=analysts)

    def _history(self, holder: Holder, limit: int) -> list[ChargeOut]:
        charges = self.session.ledger.history(self.session.budget.dataset)
        if holder.role != "steward":
            charges = [one for one in charges if one.who == holder.spender.who]
        return [ChargeOut.model_validate(one.to_dict()) for one in charges[: -limit - 1 : -1]]

    def _what_is_known(self, level: float) -> KnownOut:
        session, study = self.session, self.study
        found: dict[str, list[Any]] = {}
        for part in study.workload.parts[:_GROUPS]:
            found.setdefault(part.group, []).append(part)
        return KnownOut(
            study=study.name,
            purchases=session.purchases,
            last_charge=session.last,
            level=level,
            groups=[
                GroupOut(
                    group=name, size=sum(part.size for part in parts), reached=self._reached(parts, level)
                )
                for name, parts in found.items()
            ],
            attributes=[
                *(_attribute(name, study.domain.dimension(name)) for name in study.domain.dimensions),
                *(
                    AttributeOut(name=one.name, kind="Measure", labels=[one.bounds])
                    for one in study.domain.measures
                ),
            ],
        )

    def _reached(self, parts: list[Any], level: float) -> float | None:
        if sum(part.size for part in parts) > _GROUP_SIZE:
            return None
        return self.session.reached(Workload(self.study.domain, parts), level=level)


def _giving_back(work: Callable[[], T]) -> Callable[[], T]:
    """The same, after which the memory of its matrices goes back to the system: each thread would keep its own."""

    def done() -> T:
        try:
            return work()
        finally:
            if _TRIM is not None:
                _TRIM(0)

    return done


def _attribute(name: str, one: Any) -> AttributeOut:
    return AttributeOut(name=name, kind=type(one).__name__, size=one.size, labels=one.labels(0, _LABELS))


def _written(found: Answered, words: list[str]) -> AnswerOut:
    """An answer as it is sent."""
    figures = [found.rows.figures[name].tolist() for name in _FIGURES]
    rows = [
        dict(zip(("query", *_FIGURES), (text, *numbers), strict=True))
        for text, *numbers in zip(words, *figures, strict=True)
    ]
    notes = found.rows.notes
    return AnswerOut.model_validate(
        {
            "answers": rows,
            "cost": found.cost,
            "unit": found.unit,
            "charge": found.charge,
            "known_before": found.known_before,
            "level": notes["level"],
            "statement": notes["statement"],
            "intervals": notes["intervals"],
        }
    )
