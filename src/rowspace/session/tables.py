"""Tables bought in two steps: margins first, then the tables whose estimates gain most from less noise.

The first step measures all tables as `purpose="tables"` does for the whole amount, but gives those of several
attributes only `FIRST` of their share of it. From its noisy answers follows how large each table's error will be at
less noise (`EstimateFit.expected_errors`): a table that its model explains gains nothing, one that the model misses
gains much. The second step spends the rest where the sum of these errors falls most for what it costs.

Guarantee
- The second step is chosen from answers that were paid for and public things, never from counts (by construction: this
  file sees a fit, which is made of a release).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from fractions import Fraction
from math import inf, prod, sqrt

import numpy as np

from rowspace.exceptions import BudgetExceeded, InvalidInput, InvalidWorkload
from rowspace.ledger import Charge, at_least, at_most
from rowspace.operators import Vector
from rowspace.planning import Plan, for_purpose, plan_over
from rowspace.privacy import Privacy
from rowspace.releases import EstimateFit, estimate_fit
from rowspace.strategy import Select
from rowspace.tables import subsets_in_order
from rowspace.workload import Part, Workload

from .knowledge import Knowledge
from .purse import Purse

FIRST = 0.35
"""Share of what tables of several attributes get that the first step spends: found on tables that no figure is of."""

SHARES = (1.0, 0.6, 0.35, 0.2, 0.12, 0.07, 0.04, 0.02, 0.01)
"""Variances of a table's noise, as shares of what it has after the first step, that are considered."""

ROUNDED = Fraction(1, 10**12)
"""By how much more than is left an amount may be: one that was rounded means all of it."""

LEAST = 1e-3
"""Weights below so much of the largest one are none."""

_SELECT = Select(effort="fast", objective="total")


def checked_tables(workload: object, spend: object) -> Workload:
    """A workload of tables, at least one of them of several attributes, for which an amount may be spent."""
    if not isinstance(workload, Workload):
        raise InvalidInput(
            f"expected a workload such as rs.workload.marginals(domain, up_to=2), got {type(workload).__name__}"
        )
    if not all(part.is_table for part in workload.parts) or not any(map(_is_large, workload.parts)):
        raise InvalidWorkload(
            "expected tables alone, some of several attributes, such as rs.workload.marginals(domain, up_to=2); ask "
            "for other queries by themselves"
        )
    if isinstance(spend, bool) or not isinstance(spend, int | float) or not 0 < spend < inf:
        raise InvalidInput("expected spend= above zero: what the tables may cost, in the budget's unit")
    return workload


def buy_tables(
    workload: Workload,
    spend: float,
    purse: Purse,
    *,
    room: Callable[[], Fraction],
    charged: Callable[[str | None], Charge | None],
    buy: Callable[[Callable[[Knowledge], Plan], str | None], Charge],
    key: str | None,
) -> Charge:
    """Both steps, or one where pieces cost more than the whole; the last charge.

    spend: the amount, in the budget's unit. room: how much there is.
    buy: what plans for what is known, and pays, under a key. charged: what was charged under one.
    """
    if (done := charged(key)) is not None:
        return done
    margins = None if key is None else f"{key} (margins)"
    paid = charged(margins)
    left = room() + (Fraction(0) if paid is None else purse.amount(paid.cost))
    amount = Fraction(spend)
    if left < amount <= left * (1 + ROUNDED):
        amount = left
    if amount > left:
        raise BudgetExceeded(
            f"{at_most(left)} {purse.filter.unit} is left to spend, less than {at_least(amount)}; nothing was released"
        )
    whole = _guarantee(purse, amount)
    if whole.norm == 1:
        return buy(lambda _: one_step(workload, whole), key)
    if paid is None:
        first = _guarantee(purse, amount * Fraction(first_share(workload, whole)))
        paid = buy(lambda _: first_step(workload, whole, first), margins)
    rest = _guarantee(purse, amount - purse.amount(paid.cost))
    return buy(lambda known: second_step(workload, estimate_fit(purse.release(known)), rest), key)


def _guarantee(purse: Purse, amount: Fraction) -> Privacy:
    """What an amount of the budget's unit buys."""
    found = purse.whole(amount)
    if found is None:
        raise InvalidInput("this is too little to buy anything with; spend more")
    return found


def one_step(workload: Workload, privacy: Privacy) -> Plan:
    """All at once."""
    return plan_over(for_purpose(workload, privacy, "tables"), privacy, _SELECT)


def first_share(workload: Workload, privacy: Privacy) -> float:
    """The share of the whole amount that the first step spends."""
    costs = {1: 0.0, 2: 0.0}
    for own, cost in _costs(for_purpose(workload, privacy, "tables")).items():
        costs[1 if len(own) <= 1 else 2] += cost
    return (costs[1] + FIRST * costs[2]) / (costs[1] + costs[2])


def first_step(workload: Workload, whole: Privacy, privacy: Privacy) -> Plan:
    """The tables at `first_share` of the whole, which is what `privacy` costs."""
    weighted = for_purpose(workload, whole, "tables")
    parts = [
        replace(part, weight=part.weight * FIRST) if _is_large(part) else part for part in weighted.parts
    ]
    return plan_over(Workload(weighted.domain, parts), privacy, _SELECT)


def second_step(workload: Workload, fit: EstimateFit, privacy: Privacy) -> Plan:
    """The tables that are worth measuring better, each as well as it is worth."""
    large = [part for part in workload.parts if _is_large(part)]
    position = workload.domain.position
    sets = [tuple(sorted(map(position, part.attributes))) for part in large]
    amounts, errors = [], []
    for own in sets:
        # A table's own part of the noise is nearly all of it; by that of the smaller ones this counts too little.
        free = prod(1 - 1 / fit.sizes[i] for i in own)
        precision = free / max(float(np.mean(fit.noise[own])), 1e-12)
        amounts.append(free * precision * (1 / np.array(SHARES) - 1))
        errors.append(fit.expected_errors(own, SHARES))
    spent = shared_out(amounts, errors, 1 / privacy.unit_variance)
    weights = np.array(
        [
            amount / prod(1 - 1 / fit.sizes[i] for i in own) / sqrt(part.size)
            for amount, own, part in zip(spent, sets, large, strict=True)
        ]
    )
    if not weights.any():
        return one_step(workload, privacy)  # nothing is known to gain
    weights /= weights.max()
    chosen = [replace(part, weight=float(w)) for part, w in zip(large, weights, strict=True) if w > LEAST]
    return plan_over(Workload(workload.domain, chosen), privacy, _SELECT)


def shared_out(amounts: Sequence[Vector], errors: Sequence[Vector], budget: float) -> Vector:
    """How much of a budget each gets so that the sum of errors is least; errors between the points are on their hull.

    amounts: ascending from 0, for each. errors: what is left at each of them.

    >>> shared_out([np.array([0.0, 1.0, 4.0])] * 2, [np.array([9.0, 5.0, 0.0]), np.array([9.0, 9.0, 8.0])], 3.0)
    array([3., 0.])
    """
    steps = []
    for number, (own, left) in enumerate(zip(amounts, errors, strict=True)):
        left, at = np.minimum.accumulate(left), 0
        while at < len(own) - 1:
            gains = (left[at] - left[at + 1 :]) / (own[at + 1 :] - own[at])
            if gains.max() <= 0:
                break
            to = at + 1 + int(np.argmax(gains))
            steps.append((float(gains.max()), number, float(own[to] - own[at])))
            at = to
    spent = np.zeros(len(amounts))
    for _, number, amount in sorted(steps, key=lambda step: -step[0]):
        spent[number] += min(amount, budget)
        budget -= min(amount, budget)
    return spent


def _is_large(part: Part) -> bool:
    return len(part.factors) > 1


def _costs(workload: Workload) -> dict[tuple[int, ...], float]:
    """What residuals of least Σ weight²·variance spend on every set of attributes, up to one factor.

    The residual of a set S has privacy cost Π_S (1 − 1/n) for a unit of precision, and adds to each cell of a table
    above it variance Π_S (1 − 1/n) · Π_rest 1/n² (Xiao et al., 2023); so it gets √(cost · Σ weight² · variance).
    """
    sizes, found = workload.domain.shape, dict[tuple[int, ...], float]()
    for own, power in _powers(workload):
        for below in subsets_in_order(own):
            rest = prod(sizes[i] ** -2.0 for i in own if i not in below)
            found[below] = found.get(below, 0.0) + power * rest
    return {own: sqrt(power) * prod(1 - 1 / sizes[i] for i in own) for own, power in found.items()}


def _powers(workload: Workload) -> Iterator[tuple[tuple[int, ...], float]]:
    """Every table's attributes and squared weight, cells counted one by one."""
    for part in workload.parts:
        yield tuple(sorted(map(workload.domain.position, part.attributes))), part.weight**2 * part.size
