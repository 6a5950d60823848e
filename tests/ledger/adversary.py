"""An adversary who sees every answer, spends next what helps most, and wants a δ above the budget's.

Two tables that differ in one record, both known to him; he sees answers, and not which table they are from. Of every
game that a filter lets him play the exact δ at the budget's ε is computed: E max(0, 1 − e^(ε − L)) over the losses L of
all his answers, by quadrature where they are Gaussian.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy

from rowspace.ledger.composition import Filter, total
from rowspace.ledger.costs import Cost, cost_in
from rowspace.privacy import ApproxDP, PureDP

Vector = npt.NDArray[np.float64]

#: Nodes and weights of the standard normal, trapezoidal: exact to rounding for smooth functions.
NODES = np.linspace(-12.0, 12.0, 4001)
WEIGHTS = np.exp(-0.5 * NODES * NODES) * (NODES[1] - NODES[0]) / np.sqrt(2 * np.pi)


def gaussian(mu: float, gain: Vector) -> Vector:
    """E max(0, 1 − e^(gain − L)) for the loss L of one more answer with Gaussian noise of μ."""
    if mu == 0:
        return np.maximum(0.0, -np.expm1(np.minimum(gain, 0.0)))
    first, second = mu / 2 - gain / mu, -mu / 2 - gain / mu
    return np.asarray(
        scipy.special.ndtr(first) - np.exp(np.minimum(gain + scipy.special.log_ndtr(second), 0.0))
    )


def losses(kind: str, amount: float) -> tuple[Vector, Vector]:
    """The losses of one answer and their probabilities: of Gaussian noise of μ, or of a bit kept with ε."""
    if kind == "gaussian":
        return amount * NODES + amount * amount / 2, WEIGHTS
    likely = 1.0 / (1.0 + np.exp(-amount))
    return np.array([amount, -amount]), np.array([likely, 1.0 - likely])


def affordable(
    filter_: Filter, spent: Sequence[Cost], privacy: Any, amount: Callable[[float], Fraction]
) -> float:
    """The largest x, by bisection, such that noise that costs `amount(x)` still fits."""
    low, high = 0.0, 64.0
    for _ in range(60):
        middle = (low + high) / 2
        cost = cost_in(filter_.guarantee, filter_.composition, privacy, amount(middle))
        fits = cost is not None and filter_.fits(total([*((one, 1) for one in spent), (cost, 1)]))
        low, high = (middle, high) if fits else (low, middle)
    return low


def play(filter_: Filter, rng: np.random.Generator) -> float:
    """One game: a first answer of some share, then all that is left on one side of a threshold, less on the other."""
    guarantee, pure, spent = filter_.guarantee, PureDP(1.0), []
    assert isinstance(guarantee, ApproxDP)
    first = str(rng.choice(["gaussian", "bit"]))
    share = rng.uniform(0.05, 1.0)
    if first == "gaussian":
        rho = Fraction(share) * filter_.limit.rho
        spent.append(Cost(rho=rho))
        seen, weights = losses(first, float(np.sqrt(2 * float(rho))))
    else:
        most = affordable(filter_, [], pure, lambda x: Fraction(x))
        spent.append(_cost(filter_, pure, Fraction(share * most)))
        seen, weights = losses(first, share * most)
    left = affordable(filter_, spent, guarantee, lambda x: Fraction(x) ** 2 / 2)
    threshold = rng.choice(seen)
    much = np.where(seen >= threshold, left, rng.uniform(0.0, 1.0) * left)
    if rng.random() < 0.5:
        much = left - much
    gains = guarantee.epsilon - seen
    by_amount = {mu: gaussian(float(mu), gains) for mu in np.unique(much)}
    return float(sum(weights @ np.where(much == mu, value, 0.0) for mu, value in by_amount.items()))


def _cost(filter_: Filter, privacy: Any, amount: Fraction) -> Cost:
    cost = cost_in(filter_.guarantee, filter_.composition, privacy, amount)
    assert cost is not None
    return cost


def best_of(filter_: Filter, games: int, rng: np.random.Generator) -> float:
    """The most that he gets out of so many games."""
    return max(play(filter_, rng) for _ in range(games))
