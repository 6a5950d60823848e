"""Variances and standard deviations of measures, each with an interval. Functions of the released numbers.

In units in which the bounds of a measure are −1 and 1, a group has three answers, θ = (Q, A, B): the sum of squares,
the sum of values and the number of records. With mean m and variance v the truth is B·d with d = (m² + v, m, 1), or B·d
less v in the first place where v is that of a sample. Every m and v is a line, and by how far the answers are from it,
in the noise's own metric Σ⁻¹, it is known which of them are compatible with what was released: those v for which some m
is. That is the profile likelihood; for a mean it is Fieller's method. The distance is |n|²/|d|² with n = θ × d, where
the first square is by Σ and the second by adj Σ, its cofactors: nothing is inverted, so that a fact (an answer without
any noise) does no harm. Both n and d are linear in v, so for a given m the compatible v are between two roots, and m
runs over a fine grid.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import scipy

from rowspace.domain import Domain
from rowspace.operators import Sparse, Vector
from rowspace.workload import Matrix, Part, Workload

from .interval_ends import standard_errors_reached

if TYPE_CHECKING:
    from .means import Answering

PROFILE = "profile likelihood"
TOO_FEW = "no answer: the number of records is not distinguishable from {}"

#: Means that are tried for every group, and over how many half-widths of its interval: an end is off by 0.1 % at most.
_MEANS, _REACH = 129, 4.0
#: Groups at a time.
_GROUPS = 4096

_ROWS = np.array([[1.0, 0.0, 0.0, 1.0], [-1.0, -0.5, 0.5, 1.0], [1.0, 1.0, 1.0, 1.0]])
"""Sums of squares, sums and numbers of records over the cells of a measure with squares."""
_PAIRS = ((0, 1), (0, 2), (1, 2))


def spread_figures(
    release: Answering, part: Part, measure: Domain, level: float, figure: str
) -> dict[str, Any]:
    """One of `SPREADS` for every query of a part, with its interval and how that was found."""
    own = release.plan.domain.measure(measure.names[0])
    answers, sigma, z = _asked(release, part, measure, level)
    sample = figure.startswith("sample")
    # With too few records every variance is compatible with the answers.
    known = answers[:, 2] - sample > z * np.sqrt(sigma[:, 2, 2])
    columns = np.full((4, len(answers)), np.nan)
    for start in range(0, len(answers), _GROUPS):
        at = start + np.flatnonzero(known[start : start + _GROUPS])
        columns[:, at] = _variances(answers[at], sigma[at], z, float(sample))
    answer, std_error, low, high = columns
    largest = 2.0 if sample else 1.0
    low, high, answer = (np.clip(column, 0.0, largest) for column in (low, high, answer))
    power = 2
    if figure.endswith("deviation"):
        # By the delta method, and where the variance is hardly known the root of that.
        std_error = std_error / (2 * np.sqrt(np.maximum(answer, std_error)))
        low, high, answer, power = np.sqrt(low), np.sqrt(high), np.sqrt(answer), 1
    unit = own.reach**power
    method = np.where(known, PROFILE, TOO_FEW.format("one" if sample else "zero"))
    found = {"answer": answer, "std_error": std_error, "low": low, "high": high}
    return {**{name: unit * column for name, column in found.items()}, "method": method}


def _asked(release: Answering, part: Part, measure: Domain, level: float) -> tuple[Vector, Vector, float]:
    """Three answers of every group, the covariances of their noise, and how many standard errors intervals reach."""
    # The noise of a sum of two answers tells how far they go together.
    rows = np.vstack([_ROWS, *(_ROWS[[i]] + _ROWS[[j]] for i, j in _PAIRS)])
    padded = np.zeros((len(rows), measure.size))
    padded[:, : rows.shape[1]] = rows
    six = Matrix(measure, Sparse(scipy.sparse.csr_array(padded)))
    asked = release.ask(Workload(release.plan.domain, [Part((*part.factors, six))]), level)
    variance = asked["std_error"].to_numpy().reshape(-1, len(rows)) ** 2
    sigma = np.zeros((len(variance), 3, 3))
    for i in range(3):
        sigma[:, i, i] = variance[:, i]
    for k, (i, j) in enumerate(_PAIRS, start=3):
        sigma[:, i, j] = sigma[:, j, i] = (variance[:, k] - variance[:, i] - variance[:, j]) / 2
    return asked["answer"].to_numpy().reshape(-1, len(rows))[:, :3], sigma, standard_errors_reached(asked)


def _variances(answers: Vector, sigma: Vector, z: float, less: float) -> Vector:
    """Answer, standard error and both ends of the interval of each group's variance; `less` is 1 for a sample's."""
    squares, sums, records = answers.T
    mean = sums / records
    answer = (squares - sums * mean) / (records - less)
    one = np.ones_like(mean)
    slope = np.stack([one, -2 * mean, mean**2 - answer], axis=-1)
    std_error = np.sqrt(np.maximum(_square(sigma, slope, slope), 0.0)) / (records - less)

    away = np.stack([0 * one, one, -mean], axis=-1)
    error_of_mean = np.sqrt(np.maximum(_square(sigma, away, away), 0.0)) / records
    # Fieller's interval of the mean is wider by this, and no two means are farther apart than the bounds.
    wider = np.maximum(1 - z**2 * sigma[:, 2, 2] / records**2, 1e-3)
    reach = np.minimum(_REACH * z * error_of_mean / wider, 2.0)
    low = high = np.zeros_like(mean)
    metrics = sigma, z**2 * _adjugate(sigma)
    for step in np.linspace(-1, 1, _MEANS):
        left, right = _ends(mean, answer, records, metrics, mean + step * reach, less)
        low, high = np.minimum(low, left), np.maximum(high, right)
    # What has no noise at all is known.
    low, high = (np.where(std_error > 0, end, 0.0) for end in (low, high))
    return np.stack([answer, std_error, answer + low, answer + high])


def _ends(
    mean: Vector, answer: Vector, records: Vector, metrics: tuple[Vector, Vector], m: Vector, less: float
) -> tuple[Vector, Vector]:
    """How far below and above the answer variances are compatible with it, given another mean; zeros where none is."""
    one, off = np.ones_like(m), records * (m - mean)
    # θ × d for the variance answer + x is n + x·n′, and d is d + x·(1, 0, 0).
    n = np.stack([-off, off * (m + mean), off * (answer - m * mean)], axis=-1)
    n_more = np.stack([0 * m, records - less, less * m - records * mean], axis=-1)
    d = np.stack([m**2 + answer, m, one], axis=-1)
    d_more = np.broadcast_to([1.0, 0.0, 0.0], d.shape)
    a, b, c = (
        _square(metrics[0], left, right) - _square(metrics[1], own, other)
        for left, right, own, other in (
            (n_more, n_more, d_more, d_more),
            (n, n_more, d, d_more),
            (n, n, d, d),
        )
    )
    inside = b**2 - a * c
    root, safe = np.sqrt(np.maximum(inside, 0.0)), np.where(a > 0, a, 1.0)
    # Where the square's factor is not positive, nothing is known but the bounds.
    left = np.where(a > 0, np.where(inside >= 0, (-b - root) / safe, 0.0), -np.inf)
    right = np.where(a > 0, np.where(inside >= 0, (-b + root) / safe, 0.0), np.inf)
    return left, right


def _square(matrix: Vector, left: Vector, right: Vector) -> Vector:
    """The products of vectors in the metric of each matrix."""
    return np.asarray(np.einsum("gi,gij,gj->g", left, matrix, right))


def _adjugate(matrix: Vector) -> Vector:
    """The cofactors of symmetric matrices of three rows."""
    rows = [matrix[:, i] for i in range(3)]
    return np.stack(
        [np.cross(rows[1], rows[2]), np.cross(rows[2], rows[0]), np.cross(rows[0], rows[1])], axis=1
    )
