"""What a reader must know about a plan's figures: where the bound is loose, and where hardly any noise is drawn."""

from __future__ import annotations

from dataclasses import replace
from math import inf, sqrt
from typing import TYPE_CHECKING, Any

from rowspace.exceptions import RowspaceError
from rowspace.notebook import shown_above
from rowspace.privacy import ZCDP, PureDP
from rowspace.strategy import Residual, Strategy, calibrated_noise, to_integers

if TYPE_CHECKING:
    from .plan import Plan

LOOSE = 2.0
"""Certified ratio from which on a plan explains itself under Laplace noise."""

MOST_CELLS, MOST_TABLES = 512, 1000
"""Up to so many cells, or tables of them, planning the same study under Gaussian noise takes a fraction of a second."""

SAYS_NOTHING = 1e4
"""Ratio beyond which the bound is only that an error is not negative, or hardly more."""

HARDLY_ANY = 0.01
"""Variance below which noise is nearly always 0."""


def certified(ratio: float, objective: str = "total") -> str:
    """A certified ratio of what a plan was made for, in words, never closer than it is."""
    of = "" if objective == "total" else " of its worst answer"
    if ratio == inf:
        return f"no lower bound is available for {f'the error{of}' if of else 'this workload'}"
    if ratio < 1.00005:
        return f"optimal in the error{of}" if of else "optimal"
    if ratio > SAYS_NOTHING:
        return f"no lower bound on the error{of} says anything at this budget"
    if ratio < 2:
        return f"within {shown_above(100 * (ratio - 1), 2)} % of the best possible squared error{of}"
    return f"within a factor {shown_above(ratio)} of the best possible squared error{of}"


def remarks(plan: Plan) -> tuple[str, ...]:
    """One sentence each; none for most plans."""
    found = []
    if plan.given:
        found.append(
            "These are the errors together with what earlier releases or discoveries have measured: combine them with "
            "this one."
        )
    if plan.over:
        found.append(
            f"These are the errors of answers on the day that their last period of {plan.over} is over."
        )
    if plan.known:
        found.append(f"{plan.known.words} These are the errors of answers that keep to it.")
    hardly = plan.noise.variance < HARDLY_ANY
    if LOOSE <= plan.ratio <= SAYS_NOTHING and plan.privacy.norm == 1:
        found.append(
            "Which part of the factor is the bound's is not known: under Laplace noise few workloads have a strategy "
            "that reaches it."
        )
        found += [] if hardly or plan.given else _under_gaussian_noise(plan)
    elif 1.05 <= plan.ratio <= SAYS_NOTHING and plan.privacy.is_coarse:
        found.append(
            "Which part of that is the bound's is not known: where noise of whole numbers is a few units wide, the "
            "bound knows only that nothing has less noise than a plain count."
        )
    unit = plan.privacy.unit
    if unit is not None and unit.rows > 1:
        privacy: Any = plan.privacy
        one = calibrated_noise(plan.strategy, replace(privacy, unit=replace(unit, rows=1)), plan.horizon)
        price = sqrt(plan.noise.variance / one.variance) if one.variance > 0 else inf
        what = "cells" if unit.distinct else "rows"
        found.append(
            f"Protecting up to {unit.rows:,} {what} of each {unit.column} costs {price:.3g} times the standard error "
            "of protecting one."
        )
    if hardly:
        # An integer that is not 0 has a square of 1 at least: the chance of it is at most the variance.
        chance = (
            f"at most one in {1 / plan.noise.variance:.2g}" if plan.noise.variance else "practically none"
        )
        found.append(
            f"The noise is nearly always 0 at this budget: {chance} of the numbers that are asked gets any. The "
            "release is nearly exact, and hides accordingly little."
        )
    return tuple(found)


def _under_gaussian_noise(plan: Plan) -> list[str]:
    """What the same queries reach under the zero-concentrated privacy that ε implies, where that is found at once.

    ε-differential privacy implies ρ = ε²/2 (Bun & Steinke 2016, Proposition 1.4): the promise compared with is weaker.
    """
    privacy = plan.privacy
    if not isinstance(privacy, PureDP):
        return []
    rho = privacy.epsilon**2 / 2
    other = ZCDP(rho, privacy.neighbours, privacy.unit)
    try:
        pair = _planned_under(plan, other) or _tables_under(plan, other)
    except RowspaceError:
        return []
    if pair is None:
        return []
    worst = " of the worst answer" if plan.objective == "max" else " of an answer"
    return [
        f"For comparison: under zero-concentrated privacy with ρ = ε²/2 = {rho:.3g}, a weaker promise that every "
        f"release with ε = {privacy.epsilon:.3g} keeps too, the same study reaches a standard error{worst} of "
        f"{pair[0]:.4g} (here {pair[1]:.4g})."
    ]


def _planned_under(plan: Plan, privacy: ZCDP) -> tuple[float, float] | None:
    """Standard errors of the plan for the same study under a guarantee, and of this one."""
    from .choosing import plan as planned  # it makes plans, which explain themselves

    if plan.domain.size > MOST_CELLS and not (
        plan.objective == "total"
        and len(plan.workload.parts) <= MOST_TABLES
        and plan.counted.products().only_cells
    ):
        return None
    other = planned(
        plan.workload,
        privacy,
        effort="fast",
        known=dict(plan.known.counts),
        impossible=plan.known.impossible,
        objective="max" if plan.objective == "max" else "total",
    )
    if plan.objective == "max":
        return sqrt(other.max_error), sqrt(plan.max_error)
    return other.rmse, plan.rmse


def _tables_under(plan: Plan, privacy: ZCDP) -> tuple[float, float] | None:
    """The same of residuals, which take no search, for queries about a few attributes each; a plan may do better."""
    queries = plan.counted.products()
    joint = max((piece.operator.shape[1] for piece in queries.pieces), default=1)
    plain = plan.objective == "total" and not (plan.known or plan.domain.measures or plan.over)
    if not plain or len(queries.parts) > MOST_TABLES or joint > MOST_CELLS:
        return None
    integers, noise = to_integers(Residual().propose(queries, privacy), privacy)
    trace = Strategy.of(integers).trace(queries.unweighted())
    return sqrt(noise.variance * trace / plan.workload.size), plan.rmse
