"""What a ledger tells: budgets and charges, as plain values."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from fractions import Fraction
from itertools import accumulate
from typing import Any

import numpy as np

from rowspace.exceptions import InvalidInput
from rowspace.planning import DiscoveryPlan, Plan
from rowspace.privacy import ApproxDP, Privacy

from .composition import Filter
from .costs import Cost, at_least, at_most
from .names import check_key, printable

_LONGEST_SPENDER = 100


@dataclass(frozen=True)
class Budget:
    """The budget of one dataset: what is promised in all, how charges add up, and how much is spent.

    `spent`, `limit` and `remaining` are in `unit`: "epsilon" or "rho". A budget in (ε, δ) counts in ρ, which adds up,
    unless its composition is "basic"; then δ is counted beside ε.
    """

    dataset: str
    filter: Filter
    charges: int
    used: Cost

    @property
    def guarantee(self) -> Privacy:
        """What is promised in all."""
        return self.filter.guarantee

    @property
    def unit(self) -> str:
        """What is counted."""
        return self.filter.unit

    @property
    def limit(self) -> Fraction:
        """The most that may be spent."""
        return self.amount(self.filter.limit)

    @property
    def spent(self) -> Fraction:
        """What is spent."""
        return self.amount(self.used)

    @property
    def remaining(self) -> Fraction:
        """What is left; nothing where δ is used up."""
        if self.used.delta > self.filter.limit.delta:
            return Fraction(0)
        return max(Fraction(0), self.limit - self.spent)

    def spending(self, charges: Sequence[Charge]) -> tuple[list[datetime], list[float]]:
        """Moments and what had been spent by then, to be drawn: one of each for every charge, oldest first."""
        # In the order of the charges, also where a clock was set back between them.
        times = list(accumulate((charge.time for charge in charges), max))
        return times, [float(total) for total in accumulate(self.amount(charge.cost) for charge in charges)]

    def amount(self, cost: Cost) -> Fraction:
        """What of a cost this budget counts."""
        return cost.epsilon if self.unit == "epsilon" else cost.rho

    def __repr__(self) -> str:
        return f"<Budget of {self.dataset!r}: {self}>"

    def __str__(self) -> str:
        left = f"{at_most(self.remaining)} of {at_most(self.limit)} {self.unit} left"
        if not isinstance(self.guarantee, ApproxDP):
            return left
        if self.unit == "epsilon":
            delta = self.filter.limit.delta
            return f"{left}, {at_most(max(Fraction(0), delta - self.used.delta))} of {at_most(delta)} delta"
        return f"{left}, which all of it makes ({self.guarantee.epsilon:g}, {self.guarantee.delta:g})"

    def to_dict(self) -> dict[str, Any]:
        """JSON-safe; exact amounts as fractions in text, beside decimals for people."""
        return {
            "dataset": self.dataset,
            "guarantee": self.guarantee.to_dict(),
            "composition": self.filter.composition,
            "unit": self.unit,
            "limit": at_most(self.limit),
            "spent": at_least(self.spent),
            "remaining": at_most(self.remaining),
            "remaining_exact": str(self.remaining),
            "charges": self.charges,
        }


@dataclass(frozen=True)
class Request:
    """A request that a caller has named, so that a retry gets the same answer.

    about: a digest of what was asked. charge: the last one that its answer was made from. paid: whether it was charged
    for the request itself.
    """

    key: str
    about: str
    charge: int = 0
    paid: bool = False


@dataclass(frozen=True)
class Spender:
    """Somebody in whose name a budget is charged.

    most: what all charges in this name together may cost, in the budget's unit; None where only the budget limits them.
    """

    name: str
    most: Fraction | None = None

    def __post_init__(self) -> None:
        if len(check_key(self.name)) > _LONGEST_SPENDER:
            raise InvalidInput(f"expected a spender's name of at most {_LONGEST_SPENDER} characters")
        if self.most is not None and not self.most >= 0:
            raise InvalidInput("expected a spender's most to be zero or more, in the budget's unit")

    @property
    def who(self) -> str:
        """How charges in this name are kept: no user of a system has a colon in its name."""
        return printable(f"analyst:{self.name}")

    def left(self, budget: Budget, spent: Fraction) -> Fraction:
        """What may still be spent in this name, of which so much was."""
        own = budget.remaining if self.most is None else self.most - spent
        return max(Fraction(0), min(budget.remaining, own))


@dataclass(frozen=True)
class Charge:
    """One release that was paid for."""

    id: int
    dataset: str
    plan: str
    privacy: Privacy
    cost: Cost
    time: datetime
    who: str
    digest: str

    def __repr__(self) -> str:
        return f"<Charge {self.id} to {self.dataset!r}: {self.cost}, {self.time:%Y-%m-%d %H:%M} UTC>"

    def to_dict(self) -> dict[str, Any]:
        """JSON-safe; costs as exact fractions in text."""
        return {
            "charge": self.id,
            "dataset": self.dataset,
            "time": self.time.isoformat(),
            "who": self.who,
            "privacy": self.privacy.to_dict(),
            "cost": {name: str(amount) for name, amount in vars(self.cost).items() if amount},
            "plan_sha256": self.plan,
            "release_sha256": self.digest,
        }


_ASKED = ("workload", "privacy", "strategy", "noise")


def plan_hash(plan: Plan | DiscoveryPlan) -> str:
    """SHA-256 over what the plan asks of the data and with which noise, in one canonical encoding.

    Equal for a plan and its reloaded file. How long planning took and what else was considered are left out.
    """
    if isinstance(plan, DiscoveryPlan):
        return plan.digest
    body, arrays = plan.encode()
    digest = hashlib.sha256()
    asked = {part: body[part] for part in _ASKED}
    digest.update(json.dumps(asked, sort_keys=True, allow_nan=False, separators=(",", ":")).encode())
    for name in sorted(arrays):
        array = np.ascontiguousarray(arrays[name])
        array = array.astype(array.dtype.newbyteorder("<"), copy=False)
        # Name, type and shape, ended by a zero byte, make the stream of bytes readable in one way only.
        digest.update(f"\0{name}:{array.dtype.str}:{array.shape}\0".encode())
        digest.update(array.tobytes())
    return digest.hexdigest()


def content_digest(content: bytes) -> str:
    """SHA-256 of a release file: what ``sha256sum`` prints for it."""
    return hashlib.sha256(content).hexdigest()
