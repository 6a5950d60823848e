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
from rowspace.privacy import ZCDP, ApproxDP, PureDP
from rowspace.privacy.filters import gaussian_limit

#: Every filter that a budget can have, with budgets to play against: (composition, guarantees).
BUDGETS: dict[str, tuple[str | None, tuple[Any, ...]]] = {
    "gaussian": ("gaussian", (ApproxDP(1.0, 1e-3), ApproxDP(0.2, 0.05), ApproxDP(3.0, 1e-6))),
    "concentrated": ("concentrated", (ApproxDP(1.0, 1e-3), ApproxDP(0.2, 0.05), ApproxDP(3.0, 1e-6))),
    "basic": ("basic", (ApproxDP(1.0, 1e-3), ApproxDP(0.2, 0.05), ApproxDP(3.0, 1e-6))),
    "sums of ρ": (None, (ZCDP(0.1), ZCDP(2.0))),
    "sums of ε": (None, (PureDP(0.5), PureDP(3.0))),
}

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


def play(filter_: Filter, rng: np.random.Generator, forgets: bool = False) -> float:
    """One game: a first answer of some share, then all that is left on one side of a threshold, less on the other.

    What is returned is how much of the promise he got. A filter that `forgets` takes answers that speak for his guess
    for repetitions of earlier ones, and does not charge them: a fault that he must find.
    """
    match filter_.guarantee, filter_.composition:
        case PureDP(), _:
            return _pure(filter_, rng, forgets)
        case ZCDP(), _:
            return _concentrated(filter_, rng, forgets)
        case _, "basic":
            return _basic(filter_, rng, forgets)
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
    if forgets:
        much = np.where(seen > 0, affordable(filter_, [], guarantee, lambda x: Fraction(x) ** 2 / 2), much)
    gains = guarantee.epsilon - seen
    by_amount = {mu: gaussian(float(mu), gains) for mu in np.unique(much)}
    got = float(sum(weights @ np.where(much == mu, value, 0.0) for mu, value in by_amount.items()))
    return got / guarantee.delta


def _pure(filter_: Filter, rng: np.random.Generator, forgets: bool) -> float:
    """Two bits, the second kept with an ε chosen by the first: the largest loss there is, over ε."""
    most = affordable(filter_, [], PureDP(1.0), Fraction)
    one = rng.uniform(0.05, 1.0) * most
    left = affordable(filter_, [_cost(filter_, PureDP(1.0), Fraction(one))], PureDP(1.0), Fraction)
    seen, _ = losses("bit", one)
    much = np.where(seen == rng.choice(seen), left, rng.uniform(0.0, 1.0) * left)
    much = np.where((seen > 0) & forgets, most, much)
    return float(np.max(seen + much)) / most


def _concentrated(filter_: Filter, rng: np.random.Generator, forgets: bool) -> float:
    """Two answers with Gaussian noise: the largest Rényi divergence of all orders, over order · ρ.

    (α − 1)D_α = log E exp((α − 1)L), and the second answer multiplies what follows a first one by exp((α − 1)αρ₂).
    """
    guarantee = filter_.guarantee
    assert isinstance(guarantee, ZCDP)
    most = affordable(filter_, [], guarantee, Fraction)
    one = rng.uniform(0.05, 1.0) * most
    left = affordable(filter_, [_cost(filter_, guarantee, Fraction(one))], guarantee, Fraction)
    seen, weights = losses("gaussian", float(np.sqrt(2 * one)))
    much = np.where(seen >= rng.choice(seen), left, rng.uniform(0.0, 1.0) * left)
    if rng.random() < 0.5:
        much = left - much
    much = np.where((seen > 0) & forgets, most, much)
    found = []
    for order in (1.1, 1.5, 2.0, 3.0, 5.0):
        powers = np.log(np.maximum(weights, 1e-300)) + (order - 1) * (seen + order * much)
        found.append(float(scipy.special.logsumexp(powers)) / (order * (order - 1) * guarantee.rho))
    return max(found)


def _basic(filter_: Filter, rng: np.random.Generator, forgets: bool) -> float:
    """A bit, and then Gaussian noise for as much of ε and δ as there is left: δ at the budget's ε, over δ."""
    guarantee = filter_.guarantee
    assert isinstance(guarantee, ApproxDP)
    one = rng.choice([1e-3, rng.uniform(0.0, 0.9)]) * guarantee.epsilon
    seen, weights = losses("bit", one)
    spent = [_cost(filter_, PureDP(1.0), Fraction(one))]
    got = 0.0
    for loss, weight in zip(seen, weights, strict=True):
        before = [] if forgets and loss > 0 else spent
        share = rng.choice([1 - 1e-12, rng.uniform(0.1, 1.0)])  # what is written down is rounded
        epsilon = share * affordable(filter_, before, PureDP(1.0), Fraction)
        promise = ApproxDP(float(epsilon), guarantee.delta)
        amount = gaussian_limit(promise.epsilon, promise.delta)
        cost = _cost(filter_, promise, amount)
        assert filter_.fits(total([*((own, 1) for own in before), (cost, 1)]))
        mu = float(np.sqrt(2 * float(amount)))
        got += float(weight * gaussian(mu, np.array([guarantee.epsilon - loss]))[0])
    return got / guarantee.delta


def _cost(filter_: Filter, privacy: Any, amount: Fraction) -> Cost:
    cost = cost_in(filter_.guarantee, filter_.composition, privacy, amount)
    assert cost is not None
    return cost


def best_of(filter_: Filter, games: int, rng: np.random.Generator, forgets: bool = False) -> float:
    """The most that he gets out of so many games, of what is promised."""
    return max(play(filter_, rng, forgets) for _ in range(games))
