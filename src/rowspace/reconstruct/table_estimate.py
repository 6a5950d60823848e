"""Believable tables: from unbiased noisy ones, cell by cell between a model and the measurement, smallest tables first.

The total is measured. A table of one attribute is estimated around equal shares, one of several around the products of
its faces (for two attributes: independence); where the noisy table says that a path through a third attribute, its own
neighbouring cells or a given model explain it better, around that. `ratio_prior` says how far to believe the model.
A guard compares the estimate with the model and with the measurement by Stein's unbiased estimate of the squared error,
and takes one of these where it is clearly better. Then the table is fitted to its faces, which are known better.

Everything looks at released numbers only.

A table brought to given sums: cells known best move least, then in proportion, so that none is negative.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import prod, sqrt

import numpy as np

from rowspace.operators import Array
from rowspace.tables import ComponentTables, subsets_in_order

from .nonnegative_tables import TableFamily, largest_sets, lifted
from .ratio_prior import Posterior, posterior
from .table_models import Attributes, paths, products, smoothed, with_background

Noisy = Callable[[Attributes], tuple[Array, Array]]
"""From attributes to their unbiased table and the variance of the noise on its cells."""

SURELY = 2.0
"""Standard errors that the total must be above zero; else nothing is known, and all shares are equal."""

UNSAID = 1.15
"""By how much errors exceed what the prior says, root mean square: measured on tables that no figure is quoted for."""


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
        found.update({own: maker.finished(own, guess) for own, guess in first.items()})
        if ways == 2 and known and not independent:
            # All at once, so that no table is a model of its own model.
            second = {own: maker.by_paths(own, guess, level) for own, guess in first.items()}
            found.update({own: maker.finished(own, g) for own, g in second.items() if g is not first[own]})
    return EstimatedTables(sizes, records, found)


@dataclass(frozen=True, eq=False)
class _Guess:
    """A model of a table and what the noisy table makes of it."""

    model: Array
    plain: Array
    posterior: Posterior
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

    def first(self, own: Attributes) -> _Guess:
        """The best of the models that need no table of the same size."""
        y, s2 = self.noisy(own)
        if len(own) == 1:
            plain, words = np.full(y.shape, self.counts(()) / y.size), "equal shares"
        else:
            plain = min(products(own, self.counts), key=lambda model: _distance(model, y, s2))
            words = "independence" if len(own) == 2 else "a product of its faces"
        best = self._guess(own, plain, plain, words)
        near = [self.ordered[i] for i in own]
        if any(near):
            model = min(smoothed(plain, y, s2, near), key=lambda m: _distance(m, y, s2), default=None)
            if model is not None:
                best = self._better(own, best, model, "its neighbouring cells")
        if own in self.models:
            best = self._better(own, best, self.models[own], "the given model")
        return best

    def by_paths(self, own: Attributes, best: _Guess, level: Sequence[Attributes]) -> _Guess:
        """The same, or around the best path through a third attribute."""
        known = set(level)
        others = [
            c
            for c in range(len(self.sizes))
            if c not in own and all(tuple(sorted((i, c))) in known for i in own)
        ]
        y, s2 = self.noisy(own)
        found = min(
            paths(own, others, self.counts), key=lambda one: _distance(one[1], y, s2), default=(None, y)
        )
        if found[0] is None or _distance(found[1], y, s2) >= _distance(best.plain, y, s2):
            return best
        return self._better(own, best, found[1], f"independence given {self.names[found[0]]}")

    def _better(self, own: Attributes, best: _Guess, model: Array, words: str) -> _Guess:
        """Whichever explains the noisy table better."""
        other = self._guess(own, with_background(model, best.plain), best.plain, words)
        return other if other.posterior.evidence > best.posterior.evidence else best

    def _guess(self, own: Attributes, model: Array, plain: Array, words: str) -> _Guess:
        freedom = prod(1 - 1 / self.sizes[i] for i in own)
        return _Guess(model, plain, posterior(model, *self.noisy(own), freedom), words)

    def finished(self, own: Attributes, guess: _Guess) -> EstimatedTable:
        """Guarded, and fitted to the faces."""
        y, s2 = self.noisy(own)
        mean, variance, deviation, words = _guarded(guess, y, s2)
        mean = mean if self.known else guess.plain
        faces = [self.found[own[:k] + own[k + 1 :]] for k in range(len(own))]
        counts = fitted_to_faces(mean, variance, [face.counts for face in faces])
        # What the faces may be off moves every cell in proportion.
        relative = sum(
            np.expand_dims(face.variance / np.maximum(face.counts, 1.0) ** 2, axis)
            for axis, face in enumerate(faces)
        )
        moved = counts**2 * relative
        return EstimatedTable(
            counts,
            variance + moved,
            np.sqrt(deviation**2 + 2 / np.pi * moved),
            np.clip(np.divide(variance, s2, out=np.ones_like(y), where=s2 > 0), 0.0, 1.0),
            words,
            guess.model,
        )


def _guarded(guess: _Guess, y: Array, s2: Array) -> tuple[Array, Array, Array, str]:
    """Mean, variance and expected deviation of a table's cells: the posterior's, the model's or the measurement's.

    Stein's estimate of the squared error of a posterior mean m is Σ (m − y)² − s² + 2·variance, as ∂m/∂y is the
    posterior variance over s². That of the model is the same without variance; the measurement's is Σ s².
    """
    own = guess.posterior
    mean, variance, deviation = (v.reshape(y.shape) for v in (own.mean, own.variance, own.deviation))
    noise = float(s2.sum())
    risk = float(((mean - y) ** 2).sum()) - noise + 2 * float(np.minimum(variance, s2).sum())
    for other, its_risk, words in (
        (guess.model, float(((guess.model - y) ** 2).sum()) - noise, f"{guess.words} alone"),
        (np.maximum(y, 0.0), noise, "the measurement alone"),
    ):
        # Clearly: by more than the standard deviation of what is compared.
        if risk - its_risk > 2 * sqrt(float((s2 * (mean - other) ** 2).sum())):
            share = np.maximum(other, 1e-9) / max(float(np.maximum(other, 1e-9).sum()), 1e-9)
            variance = max(its_risk, 0.0) * share if other is guess.model else s2
            return other, variance, np.sqrt(2 / np.pi * variance), words
    # Where the prior promises more than Stein's estimate allows, beyond what that varies by, the latter is right.
    promised = max(float(variance.sum()), 1e-12)
    larger = UNSAID**2 * max(1.0, (risk - sqrt(2 * float((s2**2).sum()))) / promised)
    return (
        mean,
        np.minimum(larger * variance, np.maximum(s2, variance)),
        sqrt(larger) * deviation,
        guess.words,
    )


def _distance(model: Array, y: Array, s2: Array) -> float:
    return float(((model - y) ** 2 / np.maximum(s2, 1e-9)).sum())


ROUNDS = 50
"""Rounds of each of the two."""

ACCURACY = 1e-7
"""Largest difference from the sums, as a share of all records, at which it stops."""


def fitted_to_faces(table: Array, variance: Array, faces: Sequence[Array]) -> Array:
    """The table whose sum along axis k is faces[k]: least squares weighted by 1/variance, then proportional fitting.

    Where the faces belong to no table at all, as three of a cube may, the sums are met as nearly as the rounds allow.

    >>> fitted_to_faces(np.ones((2, 2)), np.ones((2, 2)), [np.array([3.0, 3.0]), np.array([2.0, 4.0])])
    array([[1., 1.],
           [2., 2.]])
    """
    total = float(faces[0].sum())
    if total <= 0:
        return np.zeros_like(table)
    # No cell is out of reach: where all of a line is certain, proportions decide.
    known = variance + 1e-6 * variance.mean() + 1e-9 * total / table.size
    shares = [known / known.sum(axis=axis, keepdims=True) for axis in range(table.ndim)]
    for _ in range(ROUNDS):
        for axis, face in enumerate(faces):
            missing = np.expand_dims(face - table.sum(axis=axis), axis)
            table = np.maximum(table + shares[axis] * missing, 0.0)
        if _off(table, faces) <= ACCURACY * total:
            return table
    table = table + 1e-9 * total / table.size
    for _ in range(4 * ROUNDS):
        for axis, face in enumerate(faces):
            sums = table.sum(axis=axis)
            factors = np.divide(face, sums, out=np.zeros_like(sums), where=sums > 0)
            table = table * np.expand_dims(factors, axis)
        if _off(table, faces) <= ACCURACY * total:
            break
    return table


def _off(table: Array, faces: Sequence[Array]) -> float:
    return float(max(np.abs(table.sum(axis=axis) - face).sum() for axis, face in enumerate(faces)))
