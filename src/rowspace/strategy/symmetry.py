"""Cells that a workload treats alike, and the smaller problems it falls into.

Two cells of an axis are interchangeable when swapping them changes no Gram matrix of what is asked side by side of that
axis: the cells of GROUP BY region, unless some query names one of them, and cells that no query tells apart. Optimal
strategies need not tell such cells apart either (the problem is convex: take the mean over all swaps). With Q_c the
mean over a class c of n_c cells, and P_c = I − Q_c on it, a product query falls into orthogonal components: on every
axis either its means over the classes, or what it is beyond the mean in one class. Components of one kind have the
Gram matrix (a small one over classes) ⊗ P_c ⊗ …, so each kind is a problem over classes alone, Π(n_c − 1) times over.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import scipy

from rowspace.exceptions import TooLarge
from rowspace.operators import Indices, Vector
from rowspace.tables import ProductRows, Vectors, distinct_columns

GRAM_CELLS = 1024
"""Most cells of an axis on which Gram matrices are compared; beyond, only equal columns are alike."""

MOST_KINDS = 512
NEGLIGIBLE = 1e-12


def interchangeable(rows: ProductRows) -> tuple[Indices, ...]:
    """The class of every cell, for every axis."""
    return tuple(_classes(m, own) for m, own in zip(rows.vectors, rows.together, strict=True))


def _classes(matrix: Any, together: Sequence[Indices]) -> Indices:
    n = matrix.shape[1]
    if n > GRAM_CELLS:
        return distinct_columns([matrix], np.arange(matrix.shape[0])[:, None]).classes[0]
    single = sorted({int(own[0]) for own in together if len(own) == 1})
    grams = [(part.T @ part).toarray() for own in together if len(own) > 1 for part in (matrix[own],)]
    signs = [matrix[single].T.toarray() if single else np.zeros((n, 0))]
    signs += [np.stack((np.diagonal(G), G.sum(axis=1), (G * G).sum(axis=1)), axis=1) for G in grams]
    label = _labels(np.concatenate(signs, axis=1))
    for c in range(label.max() + 1):
        cells = np.flatnonzero(label == c)
        if len(cells) > 1 and not all(_alike(G, cells) for G in grams):
            label[cells] = label.max() + 1 + np.arange(len(cells))
    return np.unique(label, return_inverse=True)[1]


def _labels(signs: Vector) -> Indices:
    return np.asarray(np.unique(signs, axis=0, return_inverse=True)[1].ravel())


def _alike(G: Vector, cells: Indices) -> bool:
    """Whether G is the same whichever of these cells change places."""
    inside, outside = G[np.ix_(cells, cells)], np.delete(G[cells], cells, axis=1)
    apart = inside[~np.eye(len(cells), dtype=bool)]
    return bool(
        (outside == outside[:1]).all()
        and (apart == apart[0]).all()
        and (np.diagonal(inside) == inside[0, 0]).all()
    )


@dataclass(frozen=True, eq=False)
class Axis:
    """The vectors of an axis taken apart: means over classes, as whole numbers times a scale, and what is beyond."""

    matrix: Any
    label: Indices

    @cached_property
    def sizes(self) -> Indices:
        """Cells of every class."""
        return np.bincount(self.label)

    @cached_property
    def _onto_classes(self) -> Any:
        """(cells × classes): one where the cell is in the class."""
        cells = np.arange(len(self.label) + 1)
        return scipy.sparse.csr_array((np.ones(len(self.label)), self.label, cells))

    @cached_property
    def _sums(self) -> Any:
        found = scipy.sparse.csr_array(self.matrix @ self._onto_classes)
        found.eliminate_zeros()
        return found

    @cached_property
    def levels(self) -> tuple[Any, Indices, Vector]:
        """(vectors constant on classes, the number of each vector's means among them, the scale it is to be taken).

        After them come the indicators of the classes of several cells, in their order.
        """
        means = scipy.sparse.csr_array(self._sums / self.sizes)
        scale = (np.diff(means.indptr) > 0).astype(np.float64)
        if np.array_equal(self.matrix.data, np.rint(self.matrix.data)) and means.nnz:
            # Primitive integer vectors, and their scales: a sum over n cells makes a mean of denominator n at most.
            sums, sizes = np.rint(self._sums.data).astype(np.int64), self.sizes[self._sums.indices]
            starts, lengths = means.indptr[:-1][scale > 0], np.diff(means.indptr)[scale > 0]
            common = np.lcm.reduceat((sizes // np.gcd(sums, sizes)).astype(object), starts)
            if max(common) * int(np.abs(sums).max()) < 2**53:
                whole = np.rint(means.data * np.repeat(common.astype(np.float64), lengths)).astype(np.int64)
                divisor = np.gcd.reduceat(whole, starts)
                means.data = (whole // np.repeat(divisor, lengths)).astype(np.float64)
                scale[scale > 0] = divisor / common.astype(np.float64)
        vectors = Vectors(len(self.label))
        numbers = vectors.add(means @ self._onto_classes.T)
        indicators = self._onto_classes.T.tocsr()[self.several]
        return scipy.sparse.vstack([vectors.matrix(), indicators], format="csr"), numbers, scale

    @cached_property
    def several(self) -> Indices:
        """The classes of several cells."""
        return np.flatnonzero(self.sizes > 1)

    def indicator(self, number: int) -> int:
        """The number of a class's indicator among the levels."""
        return int(self.levels[0].shape[0] - len(self.several) + np.searchsorted(self.several, number))

    def beyond(self, number: int) -> Vector:
        """What every vector has beyond its mean on the cells of a class (vectors × cells)."""
        cells = np.flatnonzero(self.label == number)
        return np.asarray(self.matrix[:, cells].toarray() - self._sums[:, [number]].toarray() / len(cells))

    @cached_property
    def energies(self) -> Vector:
        """The squared norms of that (vectors × classes of several cells)."""
        squares = (self.matrix.multiply(self.matrix) @ self._onto_classes)[:, self.several].toarray()
        means = self._sums[:, self.several].toarray() / self.sizes[self.several]
        found = np.maximum(squares - means**2 * self.sizes[self.several], 0.0)
        return np.where(found > NEGLIGIBLE * squares, found, 0.0)


@dataclass(frozen=True, eq=False)
class Kind:
    """Components of one kind: per axis the class beyond whose mean it is, or −1 for means over all classes.

    `members` are the queries that have one, `numbers` their vectors (`Axis.levels`) to be taken times `scale`, and
    `energy` the squared norm of what is beyond means.
    """

    classes: tuple[int, ...]
    members: Indices
    numbers: Indices
    scale: Vector
    energy: Vector

    def cells(self, axes: Sequence[Axis]) -> list[int]:
        """How many cells each class has beyond whose mean it is."""
        return [int(axis.sizes[c]) for axis, c in zip(axes, self.classes, strict=True) if c >= 0]


def kinds_of(rows: ProductRows, axes: Sequence[Axis]) -> list[Kind]:
    """The components of all queries by their kinds; `TooLarge` where there are hundreds of kinds."""
    count = len(rows.numbers)
    kinds = [Kind((), np.arange(count), np.empty((count, 0), np.int64), np.ones(count), np.ones(count))]
    for at, axis in enumerate(axes):
        kinds = [longer for kind in kinds for longer in _longer(kind, axis, rows.numbers[kind.members, at])]
        if len(kinds) > MOST_KINDS:
            raise TooLarge(f"the queries fall into more than {MOST_KINDS} kinds of components")
    return kinds


def _longer(kind: Kind, axis: Axis, own: Indices) -> Iterator[Kind]:
    """A kind on one more axis, on which its members have the vectors `own`."""
    _, level, scale = axis.levels
    energies = axis.energies[own]
    options = [(-1, level[own], kind.scale * scale[own], kind.energy)]
    for at in np.flatnonzero(energies.any(axis=0)).tolist():
        number = np.full(len(own), axis.indicator(int(axis.several[at])))
        options.append((int(axis.several[at]), number, kind.scale, kind.energy * energies[:, at]))
    for c, number, factor, energy in options:
        kept = (factor != 0) & (energy > 0)
        if kept.any():
            numbers = np.column_stack((kind.numbers[kept], number[kept]))
            yield Kind((*kind.classes, c), kind.members[kept], numbers, factor[kept], energy[kept])
