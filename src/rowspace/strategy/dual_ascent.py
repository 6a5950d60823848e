"""The search for the best λ: the monotone step λ ← λx², accelerated, until the duality gap is certified.

Measured on the prefix sums of 256 cells, eigendecompositions to a gap of 1e-6: λ ← λx² alone 14, Anderson
acceleration of its logarithm 8, Newton's method with conjugate gradients fails from afar (the dual is not concave in
log λ) and costs two matrix products for every inner step. All ranges take 2 either way.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from rowspace.operators import Vector

from .acceleration import Anderson
from .dual import DualPoint, Geometry, bound_at

LEAST_GAIN = 0.01
"""Share of the spread that an accelerated step must gain to be kept."""

PATIENCE = 3
"""Steps without any gain in the bound after which rounding is taken to be the limit."""


@dataclass(frozen=True)
class Ascent:
    """The best point found, the best bound, and how the search ended."""

    point: DualPoint
    bound: float
    steps: int
    ending: str


def start_weights(V: Vector) -> Vector:
    """λ ∝ diag(V)^½, between the optimum of a diagonal V (V itself) and λ = 1: saves a step on ranges and prefixes."""
    weights = np.sqrt(np.diagonal(V))
    return np.asarray(weights / weights.sum())


def ascend(
    geometry: Geometry,
    start: Vector,
    gap: float,
    max_steps: int,
    bound_at: Callable[[DualPoint], float] = bound_at,
) -> Ascent:
    """Raise the dual bound until the strategy at hand is within a factor 1 + gap of it.

    bound_at: what no strategy goes below, from a point.

    Guarantees:
        - the bound never falls from one accepted step to the next (`test_every_step_raises_the_bound`);
        - Ctrl-C returns the best point so far (`test_interrupted`), if there is one.
    """
    acceleration = Anderson()
    best = geometry.at(start)
    bound, steps, idle = bound_at(best), 1, 0
    try:
        while not _certified(best, bound, gap):
            if steps >= max_steps:
                return Ascent(best, bound, steps, f"stopped after {steps} steps; raise max_steps")
            if idle >= PATIENCE:
                return Ascent(best, bound, steps, "stopped at the limit of rounding; ask for a larger gap")
            point = geometry.at(_next_weights(best, acceleration))
            steps += 1
            reached = bound_at(point)
            if reached < bound * (1 + LEAST_GAIN * _spread(best)):
                # The accelerated step overshot or stands still: the plain one from the best point does neither.
                acceleration.forget()
                point = geometry.at(plain_step(best))
                steps += 1
                reached = bound_at(point)
            gained = reached > bound * (1 + 1e-15) or point.diagonal.max() < best.diagonal.max() * (1 - 1e-9)
            idle = 0 if gained else idle + 1
            best, bound = point, max(bound, reached)
    except KeyboardInterrupt:
        return Ascent(best, bound, steps, "interrupted; best so far")
    return Ascent(best, bound, steps, "certified")


def _certified(point: DualPoint, bound: float, gap: float) -> bool:
    # While x is far from constant the strategy is far from the bound as a rule: no need to compute its error, which
    # costs a matrix product.
    return _spread(point) <= max(4 * gap, 1e-12) and point.error <= (1 + gap) * bound


def _spread(point: DualPoint) -> float:
    """Σλx²/(Σλx)² − 1: how far x is from constant, which is what a step can hope to gain."""
    weighted = point.weights * point.diagonal
    return max(0.0, float(weighted @ point.diagonal) / float(weighted.sum()) ** 2 - 1)


def plain_step(point: DualPoint) -> Vector:
    """The monotone step λ ← λx²."""
    weights = point.weights * point.diagonal**2
    return np.asarray(weights / weights.sum())


def _next_weights(point: DualPoint, acceleration: Anderson) -> Vector:
    """The accelerated step, in logarithms so that weights stay positive; cells at zero stay there."""
    weights, image = point.weights, plain_step(point)
    active = (weights > 0) & (image > 0)
    # A weight that wants to grow matters however small it is: its cell is what keeps the strategy from feasible.
    matters = np.where(image > weights, np.maximum(weights, 1 / len(weights)), weights)
    proposal = acceleration.propose(
        np.log(weights, where=active, out=np.zeros_like(weights)),
        np.log(image, where=active, out=np.zeros_like(weights)),
        matters,
    )
    out = np.where(active, np.exp(np.where(active, proposal - proposal[active].max(), 0.0)), 0.0)
    return np.asarray(out / out.sum())
