"""Means of measures: sums over numbers of records, each with an interval. Functions of the released numbers.

As for any ratio (`derived`), with r = A/B the noise of A − rB is that of one query. Where B is many standard errors
from zero the interval is that query's over B, the delta method; nearer to zero it is Fieller's: all r for which A − rB
is compatible with 0. Where B itself is compatible with 0 every mean is, and there is no answer: it would be noise.

Variances and standard deviations of measures, each with an interval. Functions of the released numbers.

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

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import product
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
import scipy

from rowspace.domain import Domain
from rowspace.error import COARSE
from rowspace.exceptions import TooLarge
from rowspace.operators import Sparse, Vector
from rowspace.workload import Factor, Matrix, Mean, MeasureSum, Part, Squares, Valued, Workload

from .answer_columns import AnswerRows, answer_columns, standard_errors_reached
from .derived import DELTA_METHOD, FIELLER
from .derived import STEADY_DENOMINATOR as STEADY_DENOMINATOR
from .derived_tables import groups

if TYPE_CHECKING:
    import pandas as pd

    from .combined import Combined
    from .release import Release


class Answering(Protocol):
    """What means are made from: whatever answers queries, and says about which cells."""

    @property
    def plan(self) -> Any:
        """Its domain, and the noise where there is one."""
        ...

    def ask(self, queries: Workload, level: float) -> pd.DataFrame:
        """Answers with their intervals."""
        ...


MAX_ENTRIES = 10**7
"""Most cells times groups of one table of means."""

AT_ONCE = 2**18
"""About how many answers that means are made from are asked at a time."""

NO_ANSWER = "no answer: the number of records is not distinguishable from zero"

FIGURES = ("answer", "std_error", "low", "high")


def mean(
    release: Release | Combined,
    measure: str,
    *by: str,
    where: str | None = None,
    level: float = 0.95,
    figure: str = "mean",
) -> pd.DataFrame:
    """The mean of a measure for every combination of some attributes, among the records where a condition holds.

    figure: what of a measure, the mean or one of `SPREADS`.
    """
    import pandas as pd

    domain = release.plan.domain
    own = domain.measure(measure).name
    found = groups(domain, by, where)
    (part,) = found.workload.parts
    (figures,) = _figures_of(release, [(part, Mean(domain.subset([own]), figure))], level)
    arranged = {field: found.arranged(column).ravel() for field, column in figures.items()}
    kept = found.possible.ravel()
    places = np.argwhere(found.possible).T
    labels = {
        name: np.array(every, dtype=object)[at]
        for name, every, at in zip(by, found.labels, places, strict=True)
    }
    return pd.DataFrame(answer_columns(labels, {field: column[kept] for field, column in arranged.items()}))


def means_among(
    release: Release | Combined, queries: Workload, level: float, columns: tuple[str, ...]
) -> pd.DataFrame | None:
    """All means of a workload over a release's domain as rows of its table of answers; None where it has none."""
    import pandas as pd

    domain, means = release.plan.domain, queries.means
    asked = [(own.groups, Mean(domain.subset([own.measure]), own.figure)) for own in means]
    frames = []
    for own, figures in zip(means, _figures_of(release, asked, level), strict=True):
        labels = Workload(domain, [own.words]).table(0, own.words.size, columns)
        frames.append(pd.DataFrame(answer_columns(labels, {field: figures[field] for field in FIGURES})))
    return pd.concat(frames, ignore_index=True) if frames else None


def rows_with_means(release: Answering, rows: AnswerRows, level: float) -> AnswerRows:
    """Answers with the means of their workload after them."""
    own = rows.queries.shown
    found = mean_figures(release, own.parts[len(rows.queries.parts) :], level)
    figures = {
        field: np.concatenate([rows.figures[field], *(one[field] for one in found)]) for field in FIGURES
    }
    return replace(rows, queries=own, figures=figures)


def mean_figures(release: Answering, means: Sequence[Part], level: float) -> list[dict[str, Any]]:
    """The means of parts that say them in words (`Workload.shown`), with their intervals and how those were found."""
    domain = release.plan.domain
    asked = []
    for part in means:
        *groups, own = part.factors
        assert isinstance(own, Mean)
        counted = Part(tuple(groups)).over(domain, {})
        asked.append((counted, Mean(domain.subset(own.attributes), own.figure)))
    return _figures_of(release, asked, level)


def _figures_of(release: Answering, asked: Sequence[tuple[Part, Mean]], level: float) -> list[dict[str, Any]]:
    """The means or spreads of every query of some parts, with their intervals and how those were found."""
    means = [own for own in asked if own[1].figure == "mean"]
    answers = _answers(release, means, level)
    found = []
    for part, of in asked:
        if of.figure == "mean":
            found.append(_figures(release, part, of.domain, next(answers), level))
        else:
            Squares(of.domain, of.figure)  # raises where squares are not declared
            found.append(spread_figures(release, part, of.domain, level, of.figure))
    return found


def _answers(release: Answering, means: Sequence[tuple[Part, Mean]], level: float) -> Iterator[Any]:
    """For every part of means the answers that they are made from, three for each; asked many parts at a time."""
    batch: list[Part] = []
    for at, (part, of) in enumerate(means, start=1):
        batch.append(_with(part, _sum_and_number(release.plan.domain, of.domain)))
        if at == len(means) or sum(own.size for own in batch) > AT_ONCE:
            found = release.ask(Workload(release.plan.domain, batch), level)
            ends = np.cumsum([own.size for own in batch])
            yield from (found[end - own.size : end] for own, end in zip(batch, ends, strict=True))
            batch = []


def _sum_and_number(domain: Domain, measure: Domain) -> Matrix:
    """A sum A of a measure, its number of records B, and A − cB for one c, which tells how far both go together."""
    rows = [MeasureSum(measure).operator.to_dense(), Valued(measure).operator.to_dense()]
    rows.append(rows[0] - domain.measure(measure.names[0]).largest * rows[1])
    return Matrix(measure, Sparse(scipy.sparse.csr_array(np.vstack(rows))))


def _figures(release: Answering, part: Part, measure: Any, answers: Any, level: float) -> dict[str, Any]:
    """The means of every query of a part, with their intervals and how those were found."""
    domain = release.plan.domain
    own = domain.measure(measure.names[0])
    sums, records, less = (answers[start::3] for start in range(3))
    a, b = sums["answer"].to_numpy(), records["answer"].to_numpy()
    sigma_a, sigma_b = sums["std_error"].to_numpy(), records["std_error"].to_numpy()
    reach = (records["high"] - records["low"]).to_numpy() / 2
    known = b > reach
    safe = np.where(known, b, 1.0)
    r = np.where(known, a / safe, 0.0)
    covariance = (sigma_a**2 + own.largest**2 * sigma_b**2 - less["std_error"].to_numpy() ** 2) / (
        2 * own.largest
    )
    if is_normal(release):
        sigma = np.sqrt(np.maximum(sigma_a**2 - 2 * r * covariance + r**2 * sigma_b**2, 0.0))
        half = sigma * standard_errors_reached(sums, records)
    else:
        rest = _asked_remainders(release, part, measure, r, level)
        sigma = rest["std_error"].to_numpy()
        half = (rest["high"] - rest["low"]).to_numpy() / 2
    low, high = r - half / safe, r + half / safe
    steady = (b >= STEADY_DENOMINATOR * sigma_b) | (sigma == 0.0) | ~known
    if not steady.all():
        z = np.maximum(half / np.where(sigma > 0, sigma, 1.0), reach / np.where(sigma_b > 0, sigma_b, 1.0))
        leading = b**2 - z**2 * sigma_b**2
        middle = a * b - z**2 * covariance
        root = np.sqrt(np.maximum(0.0, middle**2 - leading * (a**2 - z**2 * sigma_a**2)))
        # Where that is no interval, nothing is known but the bounds.
        bounded = np.where(leading > 0, leading, 1.0)
        low = np.where(steady, low, np.where(leading > 0, (middle - root) / bounded, -np.inf))
        high = np.where(steady, high, np.where(leading > 0, (middle + root) / bounded, np.inf))
    # A mean of values between two bounds is between them.
    low, high = np.clip(low, own.low, own.high), np.clip(high, own.low, own.high)

    def shown(column: Vector) -> Vector:
        return np.where(known, column, np.nan)

    method = np.where(known, np.where(steady, DELTA_METHOD, FIELLER), NO_ANSWER)
    return {
        "answer": shown(r),
        "std_error": shown(sigma / safe),
        "low": shown(low),
        "high": shown(high),
        "method": method,
    }


def _with(part: Part, factor: Factor) -> Part:
    return Part((*part.factors, factor))


def _less(measure: Domain, ratio: float) -> Matrix:
    """A sum of a measure minus a multiple of its number of records."""
    value, one = (factor.operator.to_dense() for factor in (MeasureSum(measure), Valued(measure)))
    return Matrix(measure, Sparse(scipy.sparse.csr_array(value - ratio * one)))


def is_normal(release: Answering) -> bool:
    """Whether every answer's noise is a normal variable, for all that an interval can tell."""
    noise = getattr(release.plan, "noise", None)
    return noise is not None and noise.excess_kurtosis < 1e-3 and noise.variance > COARSE


def _asked_remainders(
    release: Answering, part: Part, measure: Any, ratios: Vector, level: float
) -> pd.DataFrame:
    """The answers to `_remainders`: all in one matrix or, where its attributes must stay apart, group by group."""
    try:
        return release.ask(_remainders(release, part, measure, ratios), level)
    except TooLarge:
        return release.ask(_remainders_by_group(release, part, measure, ratios), level)


def _remainders_by_group(release: Answering, part: Part, measure: Any, ratios: Vector) -> Workload:
    """The same, every query as a product of rows: for strategies over so many cells that only products can be asked."""
    matrices = [factor.operator for factor in part.factors]
    parts = []
    for number, row in enumerate(product(*(range(matrix.shape[0]) for matrix in matrices))):
        chosen = [
            Matrix(factor.domain, Sparse(scipy.sparse.csr_array(matrix.rows_dense(k, k + 1))))
            for factor, matrix, k in zip(part.factors, matrices, row, strict=True)
        ]
        parts.append(Part((*chosen, _less(measure, ratios[number])), name="remainders"))
    return Workload(release.plan.domain, parts)


def _remainders(release: Answering, part: Part, measure: Any, ratios: Vector) -> Workload:
    """For every query of a part, its sum of a measure minus a multiple of its number of records."""
    domain = release.plan.domain
    own = domain.subset([*part.attributes, *measure.names])
    cells = own.size // measure.size
    if part.size * own.size > MAX_ENTRIES:
        raise TooLarge(
            f"{part.size:,} means over {own.size:,} cells are too many at once, the limit of both multiplied is "
            f"{MAX_ENTRIES:,}; ask for the means of fewer or coarser groups"
        )
    if part.factors:
        dense = Workload(domain.subset(part.attributes), [Part(part.factors)]).operator().to_dense()
    else:
        dense = np.ones((1, cells))
    rows = scipy.sparse.csr_array(dense)
    value, one = (
        scipy.sparse.csr_array(factor.operator.to_dense())
        for factor in (MeasureSum(measure), Valued(measure))
    )
    mixed = scipy.sparse.kron(rows, value) - scipy.sparse.diags_array(ratios) @ scipy.sparse.kron(rows, one)
    return Workload(domain, [Part((Matrix(own, Sparse(scipy.sparse.csr_array(mixed))),), name="remainders")])


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
