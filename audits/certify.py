"""From how often an event happened on two neighbouring tables to a privacy loss that is proved by it.

A guarantee bounds what any event may tell: with p and q its probabilities on the two tables,

    ε-DP        p ≤ e^ε q                                      so ε ≥ ln(p/q)
    (ε, δ)-DP   p ≤ e^ε q + δ                                  so ε ≥ ln((p − δ)/q)
    ρ-zCDP      D_α(p ‖ q) ≤ αρ for all α > 1                  so ρ ≥ max over α of D_α(p ‖ q)/α

(the last by data processing: D_α between the two Bernoulli laws is at most that between the outputs). All three rise
in p and fall in q where p > q, so a lower confidence bound on p and an upper one on q give a lower confidence bound
on the loss. The confidence bounds are Clopper and Pearson's, exact for every p and every number of trials.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
from scipy import stats

from rowspace.privacy import ZCDP, Privacy, PureDP

Vector = npt.NDArray[np.float64]

FALSE_ALARM = 1e-10
"""Probability that one certified loss is above the true one."""

_ORDERS = 1.0 + np.geomspace(1e-3, 1e3, 61)


def claim(privacy: Privacy) -> float:
    """The ε or ρ that is promised."""
    return float(privacy.rho if isinstance(privacy, ZCDP) else privacy.epsilon)  # type: ignore[attr-defined]


def certified_loss(
    privacy: Privacy, first: npt.ArrayLike, second: npt.ArrayLike, trials: int, alarm: float = FALSE_ALARM
) -> Vector:
    """A loss, in the promise's own unit, that the mechanism has with confidence 1 − alarm; 0 where nothing is proved.

    first, second: how often the event happened in `trials` releases of each table, numbers or arrays.
    """
    p = lower_bound(np.asarray(first), trials, alarm / 2)
    q = upper_bound(np.asarray(second), trials, alarm / 2)
    return np.maximum(loss(privacy, p, q), 0.0)


def loss(privacy: Privacy, p: npt.ArrayLike, q: npt.ArrayLike) -> Vector:
    """The least loss of a mechanism with an event of probability p on one table and q > 0 on the other; 0 if p ≤ q."""
    p, q = np.asarray(p, dtype=np.float64), np.asarray(q, dtype=np.float64)
    with np.errstate(divide="ignore", invalid="ignore"):
        if isinstance(privacy, ZCDP):
            found = _concentrated_loss(p, q)
        else:
            delta = 0.0 if isinstance(privacy, PureDP) else privacy.delta  # type: ignore[attr-defined]
            found = np.log(np.maximum(p - delta, 0.0) / q)
    return np.where(p > q, found, 0.0)


def _concentrated_loss(p: Vector, q: Vector) -> Vector:
    """Largest D_α(p ‖ q)/α; any set of orders gives a valid bound."""
    a = _ORDERS.reshape(-1, *(1,) * p.ndim)
    inside = a * np.log(p) + (1 - a) * np.log(q)
    outside = a * np.log1p(-p) + (1 - a) * np.log1p(-q)
    return np.asarray(np.max(np.logaddexp(inside, outside) / (a - 1) / a, axis=0))


def lower_bound(hits: npt.NDArray[np.integer], trials: int, alarm: float) -> Vector:
    """Clopper–Pearson: below the probability of the event, except with probability `alarm`."""
    return np.where(hits > 0, stats.beta.ppf(alarm, np.maximum(hits, 1), trials - hits + 1), 0.0)


def upper_bound(hits: npt.NDArray[np.integer], trials: int, alarm: float) -> Vector:
    """Clopper–Pearson: above the probability of the event, except with probability `alarm`."""
    return np.where(hits < trials, stats.beta.isf(alarm, hits + 1, np.maximum(trials - hits, 1)), 1.0)
