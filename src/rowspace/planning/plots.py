"""Figures of a plan: what was considered, how accurate each group is, what more or less privacy would do."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from math import sqrt
from typing import TYPE_CHECKING

import numpy as np

from rowspace.exceptions import InvalidInput
from rowspace.privacy import ZCDP, ApproxDP, ApproxDPTheorem3, Privacy, PureDP
from rowspace.strategy import calibrated_noise

from .considered import considered
from .plan import Plan

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_MOST_BARS = 30


def plot_candidates(plan: Plan, ax: Axes | None = None) -> Axes:
    """Error of every strategy considered, best on top, against the bound that none can beat.

    Those more than eight times worse than the best are left out: they would press all others against the axis.
    """
    from rowspace.drawing import bars

    judged = considered(plan)
    shown = judged.near(_MOST_BARS)
    names = [plan.candidates[at].name for at, _ in shown]
    ax = bars(names, [error for _, error in shown], bound=judged.bound, ax=ax)
    ax.set_xlabel(judged.name.replace("RMSE", "root mean square error of an answer"))
    return ax


def plot_groups(plan: Plan, ax: Axes | None = None) -> Axes:
    """Root mean square error of every group of queries, the first thirty."""
    from rowspace.drawing import bars

    groups = plan.group_errors()
    shown = groups[:_MOST_BARS]
    ax = bars([group.group for group in shown], [group.rmse for group in shown], ax=ax)
    rest = f" (the first {len(shown)} of {len(groups):,} groups)" if len(shown) < len(groups) else ""
    ax.set_xlabel(f"root mean square error of an answer{rest}")
    return ax


def plot_what_if(plan: Plan, parameters: Sequence[float] | None = None, ax: Axes | None = None) -> Axes:
    """Error of this strategy against ε (or ρ), with the plan's own value marked; δ stays as it is.

    parameters: where to evaluate, by default from a hundredth to a hundred times the plan's. The noise is calibrated
    anew at each, so the curve is what would be drawn, rounding included.

    >>> import matplotlib, rowspace as rs; matplotlib.use("agg")
    >>> plan = rs.plan(rs.workload.identity(rs.Domain(age=rs.Numeric(0, 4, bins=4))), rs.PureDP(1.0))
    >>> plot_what_if(plan, [0.1, 1.0]).get_xlabel()
    'epsilon'
    """
    from rowspace.drawing import curve

    name = "rho" if isinstance(plan.privacy, ZCDP) else "epsilon"
    own = float(getattr(plan.privacy, name))
    values = (
        np.geomspace(own / 100, own * 100, 41) if parameters is None else np.asarray(parameters, dtype=float)
    )
    if values.ndim != 1 or not values.size:
        raise InvalidInput(f"expected a list of values of {name}, got shape {values.shape}")
    profile_term = plan.rmse**2 / plan.noise.variance
    variances = [
        calibrated_noise(plan.strategy, _at(plan.privacy, value), plan.horizon).variance
        for value in values.tolist()
    ]
    errors = [sqrt(profile_term * variance) for variance in variances]
    ax = curve(values, errors, here=(own, plan.rmse), ax=ax)
    ax.set_xlabel(name)
    ax.set_ylabel("root mean square error of an answer")
    return ax


def _at(privacy: Privacy, value: float) -> Privacy:
    """The same kind of promise with another ε or ρ."""
    match privacy:
        case ZCDP():
            return dataclasses.replace(privacy, rho=value)
        case PureDP() | ApproxDP() | ApproxDPTheorem3():
            return dataclasses.replace(privacy, epsilon=value)
    raise InvalidInput(f"expected a promise in epsilon or rho, got {type(privacy).__name__}")
