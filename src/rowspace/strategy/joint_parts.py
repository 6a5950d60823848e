"""Parts of a workload over the tables of their attributes, taken apart into what every smaller table tells.

With weights λ on the cells of an attribute, Σλ = 1, let φ_0 = 1, φ_1, … be functions of the cell that are orthonormal
under λ. Products of such functions are orthonormal under the product of the weights. A query q over a table T has on
them the coefficients q·⊗F_i, F_i = λφ; those on products of φ_k, k ≥ 1, for exactly the attributes S are what q says
about S beyond all smaller tables.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import combinations
from math import prod

import numpy as np
import scipy

from rowspace.exceptions import TooLarge
from rowspace.operators import Operator, Vector
from rowspace.tables import ProductWorkload, along

from .attribute_bound import gram_root

LARGEST_TABLE = 2**14
"""Most cells of a table whose queries are looked at one by one."""

MOST_FUNCTIONS = 1024
"""Most functions of a set that is asked more than integer queries."""

RANK = 1e-9
"""Share of the largest entry below which a pivot counts as zero."""

LARGEST_ROWS = 2**24
"""Most numbers of the queries of one part."""

Attributes = tuple[int, ...]


@dataclass(frozen=True, eq=False)
class JointPart:
    """The queries of a part, times their weight, as an array (queries, *sizes of its attributes, ascending).

    Many queries may be replaced by fewer with the same Gram matrix; `exact` where they are the queries themselves.
    """

    axes: Attributes
    rows: Vector
    weight: float
    exact: bool

    def coefficients(self, frames: Mapping[int, Frame]) -> dict[Attributes, Vector]:
        """(queries × functions) for every set of attributes below."""
        table = self.rows * self.weight
        for place, i in enumerate(self.axes, start=1):
            table = along(table, place, frames[i].F.T)
        found = {}
        for own in subsets(self.axes):
            index = tuple(slice(1, None) if i in own else 0 for i in self.axes)
            found[own] = table[(slice(None), *index)].reshape(len(table), -1)
        return found


@dataclass(frozen=True, eq=False)
class Frame:
    """Functions of one attribute's cells, orthonormal under its weights; the first is one."""

    weights: Vector

    @cached_property
    def _roots(self) -> tuple[Vector, Vector]:
        """√λ, and an orthonormal basis that begins with it."""
        h = np.sqrt(self.weights)
        Q = np.linalg.qr(np.column_stack((h, np.eye(len(h))[:, :-1])))[0]
        Q[:, 0] = h
        return h, Q

    @property
    def F(self) -> Vector:  # noqa: N802 - see above
        """From a query to its coefficients."""
        h, Q = self._roots
        return np.asarray(h[:, None] * Q)

    @property
    def functions(self) -> Vector:
        """φ: (functions × cells)."""
        h, Q = self._roots
        return np.asarray((Q / h[:, None]).T)


def subsets(axes: Sequence[int]) -> list[Attributes]:
    """All subsets, the largest first."""
    return [own for size in range(len(axes), -1, -1) for own in combinations(axes, size)]


def ties(workload: ProductWorkload) -> bool:
    """Whether some queries tie attributes together."""
    return any(len(piece.axes) > 1 for piece in workload.pieces)


def read_part(
    workload: ProductWorkload, number: int, shares: Mapping[int, Vector] | None = None
) -> JointPart:
    """The queries of a part over its own table; `TooLarge` where those are too many numbers.

    Attributes that have `shares` are left out: a cell of theirs stands for its share of the total.
    """
    rows, axes, exact = np.ones((1, 1)), [], True
    for k in workload.parts[number]:
        piece = workload.pieces[k]
        own, same = _rows(piece.operator)
        table = own.reshape(-1, *(workload.sizes[i] for i in piece.axes))
        for place, i in reversed(list(enumerate(piece.axes, start=1))):
            if shares is not None and i in shares:
                table = np.tensordot(table, shares[i], axes=(place, 0))
                same = same and len(shares[i]) == 1
        own = table.reshape(len(table), -1)
        if len(own) > own.shape[1]:
            own, same = np.asarray(np.linalg.qr(own, mode="r")), False
        if rows.shape[1] * own.shape[1] > LARGEST_TABLE or rows.size * own.size > LARGEST_ROWS:
            raise TooLarge("queries over so many joint cells are not looked at one by one")
        rows = np.einsum("ab,cd->acbd", rows, own).reshape(len(rows) * len(own), -1)
        axes += [i for i in piece.axes if shares is None or i not in shares]
        exact = exact and same
    shape = [workload.sizes[i] for i in axes]
    table = rows.reshape(-1, *shape).transpose(0, *(1 + np.argsort(axes)))
    return JointPart(tuple(sorted(axes)), table, float(np.sqrt(workload.powers[number])), exact)


def _rows(W: Operator) -> tuple[Vector, bool]:
    """The queries, or fewer with the same Gram matrix; and whether they are integers and the queries themselves."""
    if W.shape[0] <= W.shape[1] and W.shape[0] * W.shape[1] <= LARGEST_ROWS:
        return W.to_dense(), W.integral
    if W.shape[1] > MOST_FUNCTIONS:
        raise TooLarge("queries over so many joint cells are not looked at one by one")
    return gram_root(W), False


@dataclass(eq=False)
class JointTable:
    """A set S of J: integers that span what is asked about it, and their functions in orthonormal form."""

    attributes: Attributes
    sizes: tuple[int, ...]
    basis: Vector
    """Rows: O_S by the products of orthonormal functions."""
    integers: Vector
    """Integer queries Q_S about the table whose part beyond smaller ones spans O_S."""
    mixing: Vector
    """t with (that part of Q_S) = t·O_S; what else Q_S has is spanned by the O_R of smaller sets."""
    functions: Vector
    """O_S on the cells of the table."""
    weights: Vector
    """λ."""
    smaller: list[Attributes] = field(default_factory=list)


def table_of(
    own: Attributes,
    sizes: tuple[int, ...],
    asked: list[tuple[JointPart, Vector]],
    frames: Mapping[int, Frame],
) -> JointTable | None:
    """What is asked about a set beyond smaller ones; None where that is nothing."""
    shape = tuple(sizes[i] for i in own)
    rows = np.concatenate([c for _, c in asked]) if asked else np.zeros((1, prod(n - 1 for n in shape)))
    R, order = scipy.linalg.qr(rows.T, mode="r", pivoting=True)
    pivots = np.abs(np.diagonal(R))
    # Beside the size of the queries: what they do not say about a set at all comes out as rounding.
    size = max((part.weight * float(np.abs(part.rows).max()) for part, _ in asked), default=0.0)
    rank = int(np.sum(pivots > RANK * size))
    if rank == 0:
        return None
    functions = _product([frames[i].functions[1:] for i in own])
    cells = prod(shape)
    if all(part.exact for part, _ in asked):
        chosen = order[:rank]
        basis = np.linalg.qr(rows[chosen].T)[0].T
        integers, scales = _summed(own, asked, chosen)
        mixing = (rows[chosen] * scales[:, None]) @ basis.T
    elif rows.shape[1] > MOST_FUNCTIONS:
        raise TooLarge("queries that are no integers tie too many cells together")
    else:
        # Differences of neighbours say nothing about smaller tables.
        basis, integers = np.eye(rows.shape[1]), _product([-np.diff(np.eye(n), axis=0) for n in shape])
        mixing = _product([-np.diff(frames[i].F[:, 1:], axis=0) for i in own])
    return JointTable(own, shape, basis, integers, mixing, basis @ functions, np.full(cells, 1 / cells))


def _product(factors: Sequence[Vector]) -> Vector:
    """The Kronecker product."""
    found: Vector = np.ones((1, 1))
    for factor in factors:
        found = np.asarray(np.kron(found, factor), dtype=np.float64)
    return found


def _summed(
    own: Attributes, asked: list[tuple[JointPart, Vector]], chosen: np.ndarray
) -> tuple[Vector, Vector]:
    """Some of the queries summed over all attributes but those of a set, and by how much they exceed their shares."""
    tables, scales = [], []
    for part, _ in asked:
        outside = tuple(1 + k for k, i in enumerate(part.axes) if i not in own)
        tables.append(part.rows.sum(axis=outside).reshape(len(part.rows), -1))
        scales.append(np.full(len(part.rows), prod(part.rows.shape[k] for k in outside) / part.weight))
    return np.concatenate(tables)[chosen], np.concatenate(scales)[chosen]
