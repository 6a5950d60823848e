"""Believable tables: from unbiased noisy ones, cell by cell between a model and the measurement, smallest tables first.

The total is measured. A table of one attribute is estimated around equal shares, one of several around the products of
its faces (for two attributes: independence), around its own neighbouring cells, a given model, and paths through a
third attribute. `ratio_prior` says how far to believe each model. The answer is the average of these estimates, of the
plain model and of the measurement, with the shares that make Stein's unbiased estimate of its squared error least.
Then the table is fitted to its faces, which are known better.

Everything looks at released numbers only.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import prod, sqrt

import numpy as np

from rowspace.operators import Array, Vector
from rowspace.tables import ComponentTables, subsets_in_order

from .nonnegative_tables import TableFamily, largest_sets, lifted
from .ratio_prior import posterior
from .table_models import Attributes, fitted_to_faces, paths, products, smoothed, with_background

Noisy = Callable[[Attributes], tuple[Array, Array]]
"""From attributes to their unbiased table and the variance of the noise on its cells."""

SURELY = 2.0
"""Standard errors that the total must be above zero; else nothing is known, and all shares are equal."""

EXACT = 1e-9
"""Variance up to which a cell is known."""

PATHS = 3
"""Attributes that paths go through, for each table: those of the nearest paths."""

PAIRS = 300
"""Steps towards the best average."""

MOSTLY = 0.9
"""Share of an average above which it goes by the name of its largest part."""

UNSAID = 1.1
"""By how much errors exceed what posteriors promise: measured on tables that no figure is quoted for."""


@dataclass(frozen=True, eq=False)
class EstimatedTable:
    """One table: counts, their expected squared and absolute error, and how much of each cell is measurement.

    model: what it was estimated around, in words. around: the same as counts.
    """

    counts: Array
    variance: Array
    deviation: Array
    measured: Array
    model: str
    around: Array


@dataclass(frozen=True, eq=False)
class EstimatedTables:
    """Tables over sets of attributes, every set below them included."""

    sizes: tuple[int, ...]
    records: float
    tables: Mapping[Attributes, EstimatedTable]

    @property
    def all_noise(self) -> bool:
        """Whether not even the number of records can be told from noise."""
        return self.records <= SURELY * sqrt(float(self.tables[()].variance))

    @property
    def family(self) -> TableFamily:
        """The tables that are in no other."""
        largest = largest_sets(list(self.tables))
        return TableFamily(self.sizes, largest, (1.0,) * len(largest))

    def agreeing(self) -> ComponentTables:
        """Tables that agree to the last digit and are not negative: what fitting has left over is removed."""
        family = self.family
        flat = np.concatenate([self.tables[own].counts.ravel() for own in family.sets])
        if self.records <= 0:
            return family.agreed(np.zeros_like(flat))
        return family.agreed(lifted(family, family.flat(family.agreed(flat)), self.records))


def estimated_tables(
    sizes: tuple[int, ...],
    sets: Iterable[Attributes],
    noisy: Noisy,
    *,
    names: Sequence[str],
    ordered: Sequence[bool],
    models: Mapping[Attributes, Array] | None = None,
    independent: bool = False,
) -> EstimatedTables:
    """Estimates of all tables over `sets` and the sets below them.

    names: of the attributes. ordered: those whose neighbouring cells are alike.
    models: tables to try as models. independent: try only products of faces.
    """
    every = sorted(
        {below for own in sets for below in subsets_in_order(own)} | {()}, key=lambda s: (len(s), s)
    )
    records = max(0.0, float(noisy(())[0]))
    variance = np.asarray(noisy(())[1], dtype=np.float64).reshape(())
    deviation = np.sqrt(2 / np.pi * variance)
    found: dict[Attributes, EstimatedTable] = {}
    total = np.array(records)
    found[()] = EstimatedTable(total, variance, deviation, np.array(1.0), "the measured total", total)
    known = records > SURELY * sqrt(float(variance))
    near = ordered if known and not independent else [False] * len(sizes)
    maker = _Maker(sizes, names, noisy, near, models or {}, found, known)
    for ways in range(1, len(every[-1]) + 1):
        level = [own for own in every if len(own) == ways]
        first = {own: maker.first(own) for own in level}
        found.update({own: maker.finished(own, guesses) for own, guesses in first.items()})
        if ways == 2 and known and not independent:
            # All at once, so that no table is a model of its own model.
            found.update(
                {
                    own: maker.finished(own, maker.by_paths(own, guesses, level))
                    for own, guesses in first.items()
                }
            )
    return EstimatedTables(sizes, records, found)


@dataclass(frozen=True, eq=False)
class _Guess:
    """An estimate of a table: the posterior around a model, or an average of such."""

    model: Array
    mean: Array
    variance: Array
    deviation: Array
    words: str


@dataclass(frozen=True, eq=False)
class _Maker:
    """What is needed to estimate a table from those below it."""

    sizes: tuple[int, ...]
    names: Sequence[str]
    noisy: Noisy
    ordered: Sequence[bool]
    models: Mapping[Attributes, Array]
    found: Mapping[Attributes, EstimatedTable]
    known: bool

    def counts(self, own: Attributes) -> Array:
        return self.found[own].counts

    def first(self, own: Attributes) -> list[_Guess]:
        """Around the models that need no table of the same size; the plain one first."""
        y, s2 = self.noisy(own)
        if len(own) == 1:
            plain, words = np.full(y.shape, self.counts(()) / y.size), "equal shares"
        else:
            plain = min(products(own, self.counts), key=lambda model: _distance(model, y, s2))
            words = "independence" if len(own) == 2 else "a product of its faces"
        found = [self._guess(own, plain, words)]
        near = [self.ordered[i] for i in own]
        if any(near):
            model = min(smoothed(plain, y, s2, near), key=lambda m: _distance(m, y, s2), default=None)
            if model is not None:
                found.append(self._guess(own, with_background(model, plain), "its neighbouring cells"))
        if own in self.models:
            found.append(self._guess(own, with_background(self.models[own], plain), "the given model"))
        return found

    def by_paths(self, own: Attributes, first: list[_Guess], level: Sequence[Attributes]) -> list[_Guess]:
        """The same, and around the nearest paths through a third attribute."""
        known, plain = set(level), first[0].model
        others = [
            c
            for c in range(len(self.sizes))
            if c not in own and all(tuple(sorted((i, c))) in known for i in own)
        ]
        y, s2 = self.noisy(own)
        nearest = sorted(paths(own, others, self.counts), key=lambda one: _distance(one[1], y, s2))[:PATHS]
        return first + [
            self._guess(own, with_background(model, plain), f"independence given {self.names[c]}")
            for c, model in nearest
        ]

    def _guess(self, own: Attributes, model: Array, words: str) -> _Guess:
        y, s2 = self.noisy(own)
        found = posterior(model, y, s2, prod(1 - 1 / self.sizes[i] for i in own))
        mean, variance, deviation = (
            v.reshape(y.shape) for v in (found.mean, found.variance, found.deviation)
        )
        return _Guess(model, mean, variance, deviation, words)

    def finished(self, own: Attributes, guesses: list[_Guess]) -> EstimatedTable:
        """Averaged, and fitted to the faces."""
        y, s2 = self.noisy(own)
        average, measured = _average(guesses, y, s2)
        faces = [self.found[own[:k] + own[k + 1 :]] for k in range(len(own))]
        counts = average.mean if self.known else _plain(guesses, y, s2)
        counts = fitted_to_faces(counts, average.variance, [face.counts for face in faces])
        # What the faces may be off moves every cell in proportion, as far as it follows the model.
        relative = sum(
            np.expand_dims(face.variance / np.maximum(face.counts, 1.0) ** 2, axis)
            for axis, face in enumerate(faces)
        )
        moved = ((1 - measured) * counts) ** 2 * relative
        return EstimatedTable(
            counts,
            average.variance + moved,
            np.sqrt(average.deviation**2 + 2 / np.pi * moved),
            measured,
            average.words,
            average.model,
        )


def _average(guesses: list[_Guess], y: Array, s2: Array) -> tuple[_Guess, Array]:
    """The average of guesses, the plain model and the measurement that has the least risk; ∂average/∂y of its cells.

    Stein's estimate of the squared error of m is Σ (m − y)² − s² + 2·s²·∂m/∂y, where s²·∂m/∂y of a posterior mean is
    its variance. For an average the first term is quadratic in the shares, the last one linear.
    """
    means = [*(guess.mean for guess in guesses), _plain(guesses, y, s2), np.maximum(y, 0.0)]
    slopes = [*(np.minimum(guess.variance, s2) for guess in guesses), np.zeros_like(y), s2]
    words = [*(guess.words for guess in guesses), f"{guesses[0].words} alone", "the measurement alone"]
    away = np.stack([(mean - y).ravel() for mean in means])
    squares, linear = away @ away.T, np.array([float(slope.sum()) for slope in slopes])
    shares = least_on_simplex(squares, linear)
    mean, slope = _weighted(shares, means), _weighted(shares, slopes)
    # What the posteriors promise, and how far they are from the average: any of them may be the right one.
    among = shares[: len(guesses)] + 1e-9
    among /= among.sum()
    apart = np.mean([(guess.mean - mean) ** 2 for guess in guesses], axis=0)
    variance = _weighted(among, [guess.variance for guess in guesses]) + apart
    deviation = np.sqrt(_weighted(among, [guess.deviation for guess in guesses]) ** 2 + 2 / np.pi * apart)
    # Where that is less than Stein's estimate allows, beyond what the latter varies by, the latter is right.
    risk = float(shares @ squares @ shares + 2 * linear @ shares - s2.sum())
    promised = max(float(variance.sum()), 1e-12)
    larger = UNSAID**2 * max(1.0, (risk - sqrt(2 * float((s2**2).sum()))) / promised)
    average = _Guess(
        guesses[int(np.argmax(among))].model,
        mean,
        np.minimum(larger * variance, np.maximum(s2, variance)),
        sqrt(larger) * deviation,
        ("" if shares.max() >= MOSTLY else "mostly ") + words[int(np.argmax(shares))],
    )
    return average, np.clip(np.divide(slope, s2, out=np.ones_like(y), where=s2 > 0), 0.0, 1.0)


def _plain(guesses: list[_Guess], y: Array, s2: Array) -> Array:
    """The plain model, but for cells that are known, such as impossible ones."""
    return np.where(s2 > EXACT, guesses[0].model, np.maximum(y, 0.0))


def _weighted(shares: Vector, arrays: Sequence[Array]) -> Array:
    """Σ share·array."""
    found = np.zeros_like(arrays[0])
    for share, own in zip(shares, arrays, strict=True):
        found += share * own
    return found


def least_on_simplex(squares: Array, linear: Vector) -> Vector:
    """The shares a, not negative and of sum one, at which aᵀ·squares·a + 2·linearᵀa is least: one pair at a time.

    >>> least_on_simplex(np.array([[2.0, 0.0], [0.0, 1.0]]), np.zeros(2)).round(3)
    array([0.333, 0.667])
    """
    shares = np.full(len(linear), 1 / len(linear))
    for _ in range(PAIRS):
        slope = squares @ shares + linear
        down, up = int(np.argmin(slope)), int(np.argmax(np.where(shares > 0, slope, -np.inf)))
        gain = float(slope[up] - slope[down])
        if gain <= 1e-9 * float(np.abs(slope).max()):
            break
        curve = float(squares[up, up] + squares[down, down] - 2 * squares[up, down])
        moved = shares[up] if curve * shares[up] <= gain else gain / curve
        shares[down] += moved
        shares[up] -= moved
    return shares


def _distance(model: Array, y: Array, s2: Array) -> float:
    return float(((model - y) ** 2 / np.maximum(s2, 1e-9)).sum())
