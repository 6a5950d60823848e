"""What counts are likely to be around a model: a prior whose strength is estimated from the noisy table itself.

A cell's count is its model times a ratio. Ratios follow a mixture: none at all (an empty cell), steps of 35 % from
0.03 to 3,000, and exactly one, within 0.3 to 20 %. Fifteen priors are tried for a table: gamma distributions of mean
one, from nearly all cells empty to hardly any dispersion, and those close to one. Each counts by how well it explains
the noisy table; then the mixture's weights are moved towards what the cells say (a few steps of expectation
maximization, with the prior as if it were `PRIOR_CELLS` cells), and once more in each of `GROUPS` groups of cells, from
small to large by the model: large counts keep to it more closely than small ones. With no information beyond the model
this leaves the model; with little noise, the measurement.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache

import numpy as np
import numpy.typing as npt
import scipy

from rowspace.operators import Array, Vector

STEP = 0.3
"""Distance of neighbouring ratios, in logarithms."""

DISPERSIONS = (0.01, 0.02, 0.05, 0.1, 0.2, 0.4, 0.8, 1.5, 3.0, 6.0, 12.0)
"""Shapes of the gamma priors: the fewer, the emptier most cells."""

NEAR_ONE = (0.003, 0.05, 0.1, 0.2)
"""Relative widths of the priors that believe the model."""

PRIOR_CELLS = 20.0
"""How many cells the prior counts for when the mixture's weights are fitted."""

GROUPS = 4
"""Groups of cells that have weights of their own; each has the same sum of square roots of the model."""

GROUP_CELLS = 10.0
"""How many cells the table's weights count for when those of a group are fitted."""

GAIN = 1.0
"""Log-likelihood that a group's weights must gain on the table's, as they are fitted to the same cells."""

GROUPED_CELLS = 40
"""Fewest cells of a table that has groups."""

ROUNDS = 20
"""Steps of expectation maximization."""

FITTED_CELLS = 2**15
"""Most cells that the mixture is fitted to; more say no more."""

BLOCK = 2**14
"""Cells that are worked on at once."""


@dataclass(frozen=True, eq=False)
class Posterior:
    """What a noisy table says about the counts, given a model: cell by cell, flat."""

    mean: Vector
    variance: Vector
    deviation: Vector
    """Expected absolute deviation from the mean."""


def posterior(model: Array, noisy: Array, variance: Array, freedom: float) -> Posterior:
    """The posterior of every cell.

    variance: of the noise, cell by cell. freedom: the share of the cells that is free when smaller tables are known,
    by which the likelihood counts: noise on tables is correlated, and a 2 × 2 table has one free cell, not four.

    >>> found = posterior(np.full(4, 5.0), np.array([7.0, 0.0, -2.0, 13.0]), np.full(4, 0.01), 1.0)
    >>> found.mean.round()
    array([ 7.,  0.,  0., 13.])
    """
    P, y, s2 = (np.asarray(values, dtype=np.float64).ravel() for values in (model, noisy, variance))
    s2 = np.maximum(s2, 1e-9)
    every = -(-len(P) // FITTED_CELLS)
    edges = _edges(P)
    weights = _fitted(_explained(P[::every], y[::every], s2[::every]), freedom, _groups(P[::every], edges))
    out = np.empty((3, len(P)))
    for start in range(0, len(P), BLOCK):
        own = slice(start, start + BLOCK)
        parts = _explained(P[own], y[own], s2[own]) * weights[_groups(P[own], edges)]
        out[:, own] = _moments(parts, P[own], y[own], s2[own])
    return Posterior(out[0], out[1], out[2])


def expected_deviations(
    model: Array, noisy: Array, variance: Array, freedom: float, shares: Sequence[float]
) -> Vector:
    """What Σ |count − posterior mean| will be once noise has so many shares of its variance; 1 is as it is.

    Counts are drawn from the posterior and measured again, so this is what the noisy table itself promises. The draws
    are the same every time: all of it follows from what was released.

    >>> noisy = np.array([7.0, 0.0, -2.0, 13.0])
    >>> expected_deviations(np.full(4, 5.0), noisy, np.full(4, 9.0), 1.0, (1, 0.0001)).round()
    array([9., 0.])
    """
    every = -(-model.size // FITTED_CELLS)
    P, y, s2 = (np.asarray(values, dtype=np.float64).ravel()[::every] for values in (model, noisy, variance))
    s2 = np.maximum(s2, 1e-9)
    ratios, widths, _ = _mixture()
    likelihood, groups = _explained(P, y, s2), _groups(P, _edges(P))
    weights = _fitted(likelihood, freedom, groups)[groups]
    rng = np.random.default_rng(0)
    parts = (likelihood * weights).cumsum(axis=1)
    ratio = np.argmax(parts >= rng.random((len(P), 1)) * parts[:, -1:], axis=1)
    own = (P * ratios[ratio] * widths[ratio]) ** 2
    total = own + s2
    spread = np.sqrt(own * s2 / total) * rng.standard_normal(len(P))
    truth = np.maximum((P * ratios[ratio] * s2 + y * own) / total + spread, 0.0)
    normal, found = rng.standard_normal(len(P)), []
    for share in shares:
        # What is measured besides has the variance s²·share/(1 − share); together they have s²·share.
        again = share * y + (1 - share) * truth + np.sqrt(share * (1 - share) * s2) * normal
        parts = _explained(P, again, share * s2) * weights
        found.append(np.abs(_moments(parts, P, again, share * s2)[0] - truth).sum())
    return np.array(found) * every


@cache
def _mixture() -> tuple[Vector, Vector, Vector]:
    """The ratios, their relative widths, and the priors as weights on them (priors, ratios)."""
    steps = np.exp(np.arange(np.log(0.03), np.log(3000), STEP))
    ratios = np.concatenate([[0.0], steps, np.ones(len(NEAR_ONE))])
    # A little wider than the steps, so that the mixture has no gaps.
    widths = np.concatenate([[0.0], np.full(len(steps), 1.3 * STEP / np.sqrt(12)), NEAR_ONE])
    edges = np.exp(np.log(steps[0]) + STEP * (np.arange(len(steps) + 1) - 0.5))
    priors = np.zeros((len(DISPERSIONS) + len(NEAR_ONE), len(ratios)))
    for row, shape in zip(priors, DISPERSIONS, strict=False):
        below = scipy.special.gammainc(shape, shape * edges)
        row[0], row[1 : len(steps) + 1] = below[0], np.diff(below)
    priors[len(DISPERSIONS) :, len(steps) + 1 :] = np.eye(len(NEAR_ONE))
    return ratios, widths, priors / priors.sum(axis=1, keepdims=True)


def _edges(P: Vector) -> Vector:
    """Where groups of cells begin, by their model."""
    if len(P) < GROUPED_CELLS:
        return np.zeros(0)
    ascending = np.sort(P)
    sums = np.cumsum(np.sqrt(np.maximum(ascending, 0.0)))
    return np.asarray(ascending[np.searchsorted(sums, sums[-1] * np.arange(1, GROUPS) / GROUPS)])


def _groups(P: Vector, edges: Vector) -> npt.NDArray[np.intp]:
    """The group of every cell; equal cells are in one."""
    return np.searchsorted(edges, P, side="right")


def _explained(P: Vector, y: Vector, s2: Vector) -> Vector:
    """How likely each ratio makes each cell (cells, ratios), in units of the likeliest."""
    ratios, widths, _ = _mixture()
    total = (P[:, None] * (ratios * widths)) ** 2 + s2[:, None]
    logs = -0.5 * ((y[:, None] - P[:, None] * ratios) ** 2 / total + np.log(total / s2[:, None]))
    return np.asarray(np.exp(logs - logs.max(axis=1, keepdims=True)))


def _fitted(likelihood: Vector, freedom: float, groups: npt.NDArray[np.intp]) -> Vector:
    """The weights of the ratios (groups, ratios)."""
    *_, priors = _mixture()
    logs = freedom * np.log(likelihood @ priors.T + 1e-300).sum(axis=0)
    share = np.exp(logs - logs.max())
    whole = _moved(likelihood, freedom, share @ priors / share.sum(), PRIOR_CELLS)
    found = np.tile(whole, (GROUPS, 1))
    for group in np.unique(groups) if np.ptp(groups) else ():
        own = likelihood[groups == group]
        weights = _moved(own, freedom, whole, GROUP_CELLS)
        if freedom * np.log((own @ weights + 1e-300) / (own @ whole + 1e-300)).sum() > GAIN:
            found[group] = weights
    return found


def _moved(likelihood: Vector, freedom: float, prior: Vector, cells: float) -> Vector:
    """Weights moved from those of a prior, which counts for so many cells, towards what the cells say."""
    weights = prior
    for _ in range(ROUNDS):
        seen = freedom * weights * (likelihood.T @ (1 / np.maximum(likelihood @ weights, 1e-300)))
        weights = seen + cells * prior
        weights /= weights.sum()
    return weights


def _moments(parts: Vector, P: Vector, y: Vector, s2: Vector) -> tuple[Vector, Vector, Vector]:
    """Mean, variance and expected absolute deviation of mixtures of normal distributions cut at zero, about."""
    ratios, widths, _ = _mixture()
    parts = parts / np.maximum(parts.sum(axis=1, keepdims=True), 1e-300)
    own = (P[:, None] * (ratios * widths)) ** 2
    total = own + s2[:, None]
    middle = np.maximum((P[:, None] * ratios * s2[:, None] + y[:, None] * own) / total, 0.0)
    spread = own * s2[:, None] / total
    mean = np.einsum("ij,ij->i", parts, middle)
    off = mean[:, None] - middle
    variance = np.einsum("ij,ij->i", parts, spread + off**2)
    sd = np.sqrt(spread) + 1e-12
    z = off / sd
    absolute = sd * np.sqrt(2 / np.pi) * np.exp(-0.5 * z**2) + off * (2 * scipy.special.ndtr(z) - 1)
    return mean, variance, np.einsum("ij,ij->i", parts, absolute)
