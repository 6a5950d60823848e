"""What a ledger tells: budgets and charges, as plain values."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from fractions import Fraction
from typing import Any

from rowspace.privacy import ZCDP, ApproxDP, Privacy

from .amounts import at_least, at_most
from .composition import limit_of
from .costs import Cost


@dataclass(frozen=True)
class Budget:
    """The budget of one dataset: what is promised in all, and how much of it is spent.

    `spent` is in the unit of the budget (ε, ρ, or ε at the budget's δ); None when it cannot be told without the
    accountant that took the charges.
    """

    dataset: str
    guarantee: Privacy
    charges: int
    spent: Fraction | None

    @property
    def unit(self) -> str:
        """What is counted, in words."""
        match self.guarantee:
            case ZCDP():
                return "rho"
            case ApproxDP(delta=delta):
                return f"epsilon at delta {delta:g}"
        return "epsilon"

    @property
    def limit(self) -> Fraction:
        """The most that may be spent."""
        return limit_of(self.guarantee)

    @property
    def remaining(self) -> Fraction:
        """What is left."""
        return Fraction(0) if self.spent is None else max(Fraction(0), self.limit - self.spent)

    def __repr__(self) -> str:
        return f"<Budget of {self.dataset!r}: {self}>"

    def __str__(self) -> str:
        return f"{at_most(self.remaining)} of {at_most(self.limit)} {self.unit} left"

    def to_dict(self) -> dict[str, Any]:
        """JSON-safe; exact amounts as fractions in text, beside decimals for people."""
        return {
            "dataset": self.dataset,
            "guarantee": self.guarantee.to_dict(),
            "unit": self.unit,
            "limit": at_most(self.limit),
            "spent": None if self.spent is None else at_least(self.spent),
            "remaining": at_most(self.remaining),
            "remaining_exact": str(self.remaining),
            "charges": self.charges,
        }


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
