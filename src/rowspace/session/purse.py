"""The ledger as a session sees it: what is known by it, what it can still pay for, and purchases."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from rowspace.exceptions import BudgetExceeded, FileError, InvalidInput, LedgerError, UnsupportedWorkload
from rowspace.files import archive_kind
from rowspace.ledger import Budget, Charge, Cost, Filter, Ledger, Request, Spender
from rowspace.measure import measure
from rowspace.mechanism import about_source, checked, counts_for
from rowspace.operators import Operator
from rowspace.planning import Plan, budget_name, with_budget
from rowspace.privacy import ZCDP, ApproxDP, Privacy, PureDP
from rowspace.releases import DISCOVERY_KIND, Combined, Release
from rowspace.strategy import Strategy

from .knowledge import Knowledge

if TYPE_CHECKING:
    from rowspace.sources import Source

NOMINAL = {"rho": 1e-6, "epsilon": 1e-3}
"""The budget that strategies are made for: small, so that pieces of them can be bought and noise is as continuous."""

REMEMBERED = 32
"""States of knowledge that are kept, so that an answer of a while ago is found again without reading all charges."""


@dataclass
class Purse:
    """One budget of a ledger, for one table.

    version, versions: the table's name, and those of tables that are known to be the same.
    """

    ledger: Ledger
    dataset: str
    filter: Filter
    source: Source
    table: str | None
    version: str | None
    versions: tuple[str | None, ...]
    second_budget: bool
    _states: list[Knowledge] = field(default_factory=list)
    _counts: dict[Any, Any] = field(default_factory=dict)

    @classmethod
    def of(
        cls,
        ledger: Ledger,
        dataset: str | None,
        source: Source,
        table: str | None,
        version: str | None,
        same_as: Sequence[str | None],
        second_budget: bool,
    ) -> Purse:
        """The purse, once its names are checked."""
        budget = ledger.budget(dataset)
        if isinstance(same_as, str):
            raise InvalidInput("expected same_as= to be a list of versions")
        versions = tuple(map(_checked_version, (version, *same_as)))
        return cls(ledger, budget.dataset, budget.filter, source, table, version, versions, second_budget)

    @property
    def kind(self) -> Privacy:
        """The guarantee that purchases are made under: what the budget adds up best, at a nominal amount."""
        promise = self.filter.guarantee
        match promise, self.filter.composition:
            case (PureDP(), _) | (_, "basic"):
                return PureDP(NOMINAL["epsilon"], promise.neighbours, promise.unit)
            case (ZCDP(), _) | (_, "concentrated"):
                return ZCDP(NOMINAL["rho"], promise.neighbours, promise.unit)
        assert isinstance(promise, ApproxDP)
        return ApproxDP(NOMINAL["epsilon"], promise.delta, promise.neighbours, promise.unit)

    def look(self, known: Knowledge) -> tuple[Knowledge, Budget]:
        """What is known now, with what others have bought meanwhile, and the budget as it is."""
        budget, new = self.ledger.look(self.dataset, after=max(0, known.last - 1))
        if known.last:
            # The last charge that was seen comes first, if this is the ledger that it was seen in.
            same, *new = new or [(0, None, None, "")]
            if (same[0], same[-1]) != (known.last, known.mark):
                raise LedgerError(
                    f"{self.ledger.name} was replaced meanwhile: charges that this session knows are not in it; open a "
                    "new session. Nothing was released"
                )
        if new:
            known = known.after(self._releases(new))
            # A copy, without what was computed from it: some matrices over all cells for each of them.
            self._states = [*self._states[1 - REMEMBERED :], replace(known)]
        return known, budget

    def upto(self, charge: int, known: Knowledge) -> Knowledge:
        """What was known after one charge."""
        if known.last == charge:
            return known
        nothing = Knowledge(known.domain, known.unit)
        start = max((own for own in [nothing, *self._states] if own.last <= charge), key=lambda own: own.last)
        _, new = self.ledger.look(self.dataset, after=start.last)
        return start.after(self._releases([one for one in new if one[0] <= charge]))

    def release(self, known: Knowledge, key: str | None = None) -> Release | Combined:
        """All that is known, as one release. key: of a request, for what was known when it was answered."""
        if key is not None and (kept := self.ledger.request(key, self.dataset)) is not None:
            known = self.upto(kept.charge, known)
        charges = [one for one in self.ledger.look(self.dataset, after=0)[1] if one[0] <= known.last]
        strategies: dict[Operator, Operator] = {}
        found = []
        for _, release, _ in self._releases(charges):
            if release is not None and known.takes(release.plan):
                # Equal strategies as one object: held and inverted once.
                same = strategies.setdefault(release.plan.strategy, release.plan.strategy)
                found.append(Release(replace(release.plan, strategy=same), release.noisy_answers))
        if not found:
            raise UnsupportedWorkload("nothing is known yet; ask something, or warm the session up")
        return found[0] if len(found) == 1 else Combined(tuple(found))

    def _releases(
        self, charges: Sequence[tuple[int, str | None, str | None, str]]
    ) -> Iterator[tuple[int, Release | None, str]]:
        """The numbers of charges with their releases and digests; no release of another table, no values found."""
        own = [number for number, version, source, _ in charges if self._is_same_table(version, source)]
        # Of what was pruned the bytes are gone: whoever did that gave them up as evidence.
        contents = self.ledger.contents(own)
        known = set(own)
        for number, _, _, mark in charges:
            content = next(contents, (number, None))[1] if number in known else None
            yield number, None if content is None else _release(content), mark

    def _is_same_table(self, version: str | None, source: str | None) -> bool:
        """Whether a charge was for this table: by the versions that were named, else by where the data is."""
        if version is not None or self.version is not None:
            return version in self.versions
        own = about_source(self.source, self.table, False)["source"]
        return set((source or "").split()) & set((own or "").split()) != set() or source is own is None

    def charge(self, number: int) -> Charge:
        """One of the charges of the budget."""
        return next(one for one in self.ledger.history(self.dataset) if one.id == number)

    def amount(self, cost: Cost) -> Fraction:
        """What of a cost the budget is counted in."""
        return cost.epsilon if self.filter.unit == "epsilon" else cost.rho

    def room(self, left: Budget, spender: Spender | None) -> Fraction:
        """What may be spent, in the budget's unit."""
        return left.remaining if spender is None else self.ledger.left_for(spender, self.dataset)

    def is_affordable(self, plan: Plan, spender: Spender | None) -> bool:
        """Whether there is room for it now."""
        try:
            self.ledger.check(plan, self.dataset, spender=spender)
        except BudgetExceeded:
            return False
        return True

    def whole(self, room: Fraction) -> Privacy | None:
        """The guarantee that costs all of an amount, or a little less; None where nothing does."""
        # In ρ a promise of (ε, δ) costs something else than its ε.
        low, high = 0.0, float(getattr(self.filter.guarantee, budget_name(self.kind), room))
        for _ in range(40):
            middle = (low + high) / 2
            cost = self.filter.cost_of(with_budget(self.kind, middle)) if middle > 0 else Cost()
            fits = self.amount(cost) <= room
            low, high = (middle, high) if fits else (low, middle)
        return with_budget(self.kind, low) if low > 0 else None

    def buy(
        self, plan: Plan, known: Knowledge, request: Request | None, spender: Spender | None = None
    ) -> Charge:
        """Measure a plan and charge for it, unless anything was charged since."""
        own = checked(plan)
        about = about_source(self.source, self.table, self.second_budget)
        self.ledger.check(own, self.dataset, spender=spender, **about)
        answers = measure(own.strategy, own.noise, self._count(own), parts=own.domain.parts).answers
        content = Release(own, answers).to_bytes()
        return self.ledger.charge(
            own,
            content,
            self.dataset,
            request=request,
            version=self.version,
            after=known.last,
            spender=spender,
            **about,
        )

    def _count(self, plan: Plan) -> Any:
        """The counts that a plan's strategy needs, counted once in a session."""
        sets = Strategy.of(plan.strategy).sets
        needed = None if sets is None else tuple(sets)
        if needed not in self._counts:
            self._counts[needed] = counts_for(plan, self.source, self.table)
        return self._counts[needed]


def _release(content: bytes) -> Release | None:
    """What was charged for, unless it is values that were found."""
    try:
        return Release.from_bytes(content)
    except FileError:
        if archive_kind(content) == DISCOVERY_KIND:
            return None
        raise


def _checked_version(version: object) -> str | None:
    if version is not None and (not isinstance(version, str) or not 0 < len(version) <= 200):
        raise InvalidInput("expected a version to be a name of at most 200 characters")
    return version
