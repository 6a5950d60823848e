"""What a list of charges comes to, under each kind of budget.

    pure ε      Σ ε                                    exact
    zCDP ρ      Σ ρ                                    exact
    (ε, δ)      Σ ε with Σ δ (basic composition), or the accountant of dp-accounting where that is less

Under (ε, δ) the ρ of all zCDP charges is summed first and turned into one (ε', δ/2), half of the budget's δ.
Each line is an upper bound on what was really spent, so the least of those at hand is taken.

What is asked, and whether to go on, may always depend on earlier answers. May the amounts, too? Sums of ε and of ρ
hold even then (Rogers, Roth, Ullman & Vadhan 2016; Feldman & Zrnic 2021). Under (ε, δ) they must have been decided
without the answers: taking the least of several bounds, and composing distributions of different noise, is proven
for amounts that are fixed, and known to fail in general for others. docs/guarantees.md says so under "Assumed".
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from rowspace.exceptions import LedgerError
from rowspace.privacy import ZCDP, ApproxDP, Privacy, PureDP, zcdp_to_approx

from . import accountant
from .amounts import float_above, written
from .costs import Cost


@dataclass(frozen=True)
class Entry:
    """Equal charges: what was promised, what each of them costs, and how many there are."""

    privacy: Privacy
    cost: Cost
    times: int


def limit_of(guarantee: Privacy) -> Fraction:
    """The most that may be spent: ρ, or ε (at the budget's δ), as written."""
    match guarantee:
        case ZCDP(rho=amount) | PureDP(epsilon=amount) | ApproxDP(epsilon=amount):
            return written(amount)
    raise LedgerError(f"expected a budget in PureDP, ZCDP or ApproxDP, got {type(guarantee).__name__}")


def spent(guarantee: Privacy, entries: Sequence[Entry]) -> Fraction | None:
    """What the charges come to, in the unit of `limit_of`; None if no bound is at hand without the accountant."""
    match guarantee:
        case PureDP():
            return sum((entry.times * entry.cost.epsilon for entry in entries), Fraction(0))
        case ZCDP():
            return sum((entry.times * entry.cost.rho for entry in entries), Fraction(0))
        case ApproxDP():
            bounds = (_basic(guarantee, entries), _accounted(guarantee, entries))
            return min((bound for bound in bounds if bound is not None), default=None)
    raise LedgerError(f"expected a budget in PureDP, ZCDP or ApproxDP, got {type(guarantee).__name__}")


def fits(guarantee: Privacy, entries: Sequence[Entry]) -> bool:
    """Whether the charges stay within the budget; the accountant is asked only where plain sums do not show it."""
    if isinstance(guarantee, ApproxDP):
        basic = _basic(guarantee, entries)
        if basic is not None and basic <= limit_of(guarantee):
            return True
    total = spent(guarantee, entries)
    return total is not None and total <= limit_of(guarantee)


def _basic(guarantee: ApproxDP, entries: Sequence[Entry]) -> Fraction | None:
    """Σ ε, if Σ δ stays within the budget's δ."""
    epsilon, delta = _concentrated(guarantee, entries)
    epsilon += sum(entry.times * entry.cost.epsilon for entry in entries)
    delta += sum(entry.times * entry.cost.delta for entry in entries)
    return epsilon if delta <= written(guarantee.delta) else None


def _accounted(guarantee: ApproxDP, entries: Sequence[Entry]) -> Fraction | None:
    """The accountant's ε at the budget's δ; None where dp-accounting is not installed."""
    if not entries or not accountant.is_installed():
        return None
    loss = accountant.PrivacyLoss()
    for entry in entries:
        if not entry.cost.rho:
            loss.add(entry.privacy, entry.cost.epsilon, entry.times)
    epsilon, delta = _concentrated(guarantee, entries)
    if epsilon:
        loss.add_promise(epsilon, delta)
    return loss.epsilon(guarantee.delta)


def _concentrated(guarantee: ApproxDP, entries: Sequence[Entry]) -> tuple[Fraction, Fraction]:
    """All zCDP charges together as one (ε', δ/2)."""
    rho = sum((entry.times * entry.cost.rho for entry in entries), Fraction(0))
    if not rho:
        return Fraction(0), Fraction(0)
    half = guarantee.delta / 2
    return Fraction(zcdp_to_approx(float_above(rho), half)), Fraction(half)
