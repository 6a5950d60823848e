"""Workloads as unions of products that name only the attributes they are about.

The form in which a workload of a hundred attributes is planned and answered: no operator over the cells is ever built.
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import product
from math import prod

import numpy as np
import scipy

from rowspace.exceptions import InvalidInput
from rowspace.operators import Identity, Indices, Operator, Padded, Vector, check_supported

from .lattice import SubsetLattice, mask_of, members
from .splits import CellSplit, Split, root


@dataclass(frozen=True, eq=False)
class Piece:
    """Queries about the joint cells of some attributes, ascending, in C order; usually of one attribute."""

    axes: tuple[int, ...]
    operator: Operator


@dataclass(frozen=True, eq=False)
class ProductWorkload:
    """Every part is a product of some of the `pieces`, which share no attribute; other attributes are summed out.

    `powers` are the squared importance weights of the parts.

    >>> from rowspace import operators as op
    >>> age, sex = Piece((0,), op.Ranges(4)), Piece((1,), op.Identity(2))
    >>> W = ProductWorkload((4, 2), (age, sex), ((0,), (0, 1), ()), np.ones(3))
    >>> W.sizes_of_parts
    [10, 20, 1]
    """

    sizes: tuple[int, ...]
    pieces: tuple[Piece, ...]
    parts: tuple[tuple[int, ...], ...]
    powers: Vector

    def __post_init__(self) -> None:
        for piece in self.pieces:
            if piece.operator.shape[1] != prod(self.sizes[axis] for axis in piece.axes):
                raise InvalidInput("expected every piece of a product over the joint cells of its attributes")

    def unweighted(self) -> ProductWorkload:
        """The same queries, all equally important."""
        return self if (self.powers == 1).all() else replace(self, powers=np.ones(len(self.parts)))

    def operator(self) -> Operator:
        """The queries as a matrix over all cells: a stack of Kronecker products."""
        return self.unweighted().weighted_operator()

    def weighted_operator(self) -> Operator:
        """The same, rows times their weights."""
        from .placement import matrix_of

        return matrix_of(self)

    def only(self, numbers: Sequence[int]) -> ProductWorkload:
        """Some of the parts."""
        return replace(self, parts=tuple(self.parts[n] for n in numbers), powers=self.powers[list(numbers)])

    @cached_property
    def sizes_of_parts(self) -> list[int]:
        """Number of queries of every part."""
        rows = [piece.operator.shape[0] for piece in self.pieces]
        return [prod(rows[number] for number in part) for part in self.parts]

    @property
    def queries(self) -> int:
        """Number of queries."""
        return sum(self.sizes_of_parts)

    @cached_property
    def only_cells(self) -> bool:
        """Whether all parts are marginals: one query per cell of some attributes."""
        return all(len(p.axes) == 1 and isinstance(p.operator, Identity) for p in self.pieces)

    @cached_property
    def only_tables(self) -> bool:
        """Whether all parts are marginals, but for cells of missing values that nobody asks for."""
        return all(len(p.axes) == 1 and is_cells(p.operator) for p in self.pieces)

    def axes_of(self, part: Sequence[int]) -> tuple[int, ...]:
        """The attributes of a part, piece by piece: the order of its queries."""
        return tuple(axis for number in part for axis in self.pieces[number].axes)

    @cached_property
    def cells(self) -> tuple[CellSplit, ...]:
        """The split of every attribute in which all cells are alike."""
        return tuple(CellSplit(n) for n in self.sizes)

    @cached_property
    def _batches(self) -> list[tuple[Indices, Indices]]:
        """(numbers of the parts, their pieces as rows) for parts of equally many pieces."""
        by_length: dict[int, list[int]] = {}
        for number, part in enumerate(self.parts):
            by_length.setdefault(len(part), []).append(number)
        return [
            (np.array(numbers), np.array([self.parts[n] for n in numbers], dtype=np.int64).reshape(-1, k))
            if k
            else (np.array(numbers), np.empty((len(numbers), 0), dtype=np.int64))
            for k, numbers in by_length.items()
        ]

    def blocks(self) -> Iterator[tuple[Indices, Indices, list[Indices]]]:
        """(numbers of parts, attributes of each as rows, their pieces): parts whose pieces have as many attributes."""
        width = np.array([len(piece.axes) for piece in self.pieces] or [0])
        for numbers, pieces in self._batches:
            if pieces.shape[1] == 0:
                yield numbers, np.empty((len(numbers), 0), dtype=np.int64), []
                continue
            for shape in np.unique(width[pieces], axis=0):
                own = (width[pieces] == shape).all(axis=1)
                columns = [pieces[own, j] for j in range(pieces.shape[1])]
                axes = []
                for column, k in zip(columns, shape.tolist(), strict=True):
                    distinct, inverse = np.unique(column, return_inverse=True)
                    known = np.array([self.pieces[n].axes for n in distinct.tolist()]).reshape(-1, k)
                    axes.append(known[inverse])
                yield numbers[own], np.concatenate(axes, axis=1), columns

    @cached_property
    def lattice(self) -> SubsetLattice:
        """The sets of attributes asked together, and all below them; attributes of one cell are left out."""
        rows: dict[int, list[Indices]] = {0: [np.empty((1, 0), dtype=np.int64)]}
        varying = np.array(self.sizes) > 1
        for _, axes, _ in self.blocks():
            for kept in np.unique(varying[axes], axis=0) if axes.shape[1] else []:
                own = (varying[axes] == kept).all(axis=1)
                sets = np.sort(axes[own][:, kept], axis=1)
                rows.setdefault(sets.shape[1], []).append(sets)
        return SubsetLattice.under_rows({k: np.concatenate(found) for k, found in rows.items()})

    def costs(self, splits: Sequence[Split] | None = None) -> Vector:
        """What one unit of ν_R costs the workload, for every R of the lattice: Σ over the parts of

        power · Π_{i∈R} tr(W_i K_i W_iᵗ) Π_{j∉R} ‖W_j u_j‖².
        """
        own = splits or self.cells
        return self.summed([piece_costs(piece, own) for piece in self.pieces])

    def summed(self, by_piece: Sequence[Vector]) -> Vector:
        """For every set: Σ over the parts of power · Π over its pieces of what `by_piece` says for that set.

        `by_piece` gives numbers in C order of [attribute in the set?]. O(parts · 2^attributes of a part), vectorized.
        """
        out = np.zeros(self.lattice.size)
        for parts, sets, values in self._entries(by_piece):
            out += np.bincount(sets, self.powers[parts] * values, minlength=len(out))
        return out

    def cost_matrix(self, splits: Sequence[Split] | None = None) -> scipy.sparse.csr_array:
        """What one unit of ν_R costs each part, importance aside: (parts × sets of the lattice)."""
        own = splits or self.cells
        entries = list(self._entries([piece_costs(piece, own) for piece in self.pieces]))
        parts, sets, values = (np.concatenate(column) for column in zip(*entries, strict=True))
        return scipy.sparse.csr_array((values, (parts, sets)), shape=(len(self.parts), self.lattice.size))

    def shares(self, by_piece: Sequence[Vector], weights: Vector) -> list[Vector]:
        """How much of Σ_R weights[R]·summed[R] is due to every number: the derivatives by their logarithms."""
        out = [np.zeros(len(numbers)) for numbers in by_piece]
        for numbers, pieces, patterns in self._places:
            values = _products(by_piece, pieces, len(numbers))
            terms = np.zeros(values.shape)
            for pattern, (seen, sets) in enumerate(patterns):
                terms[seen, pattern] = self.powers[numbers[seen]] * values[seen, pattern] * weights[sets]
            before = 1
            for column in pieces:
                distinct, inverse = np.unique(column, return_inverse=True)
                own = len(by_piece[distinct[0]])
                table = terms.reshape(len(numbers), before, own, -1).sum(axis=(1, 3))
                before *= own
                for piece, found in zip(distinct.tolist(), _grouped(table, inverse), strict=True):
                    out[piece] += found
        return out

    def _entries(self, by_piece: Sequence[Vector]) -> Iterator[tuple[Indices, Indices, Vector]]:
        """(parts, sets, products of numbers), a pattern of chosen attributes at a time."""
        for numbers, pieces, patterns in self._places:
            values = _products(by_piece, pieces, len(numbers))
            for pattern, (seen, sets) in enumerate(patterns):
                yield numbers[seen], sets, values[seen, pattern]

    @cached_property
    def _places(self) -> list[tuple[Indices, list[Indices], list[tuple[Indices, Indices]]]]:
        """Per block of parts and pattern of its attributes: the rows whose set can vary, and which set that is."""
        varying = np.array(self.sizes) > 1
        found = []
        for numbers, axes, pieces in self.blocks():
            patterns = []
            for chosen in product((False, True), repeat=axes.shape[1]):
                sets = axes[:, list(chosen)]
                seen = np.flatnonzero(varying[sets].all(axis=1))
                patterns.append((seen, self.lattice.find(np.sort(sets[seen], axis=1))))
            found.append((numbers, pieces, patterns))
        return found

    def variances(
        self, number: int, component: Sequence[float], splits: Sequence[Split] | None = None
    ) -> Vector:
        """Variance of every query of a part, given ν_R for the subsets R of its attributes in C order of [in R?]."""
        splits = splits or self.cells
        part = self.parts[number]
        by_piece = [piece_variances(self.pieces[n], splits) for n in part]
        out = np.zeros(1)
        for nu, chosen in zip(component, product(*(range(len(rows)) for rows in by_piece)), strict=True):
            term = np.array([nu])
            for rows, pattern in zip(by_piece, chosen, strict=True):
                term = np.multiply.outer(term, rows[pattern]).ravel()
            out = out + term
        return out

    def check_measured(
        self, number: int, known: Container[int], splits: Sequence[Split] | None = None
    ) -> list[bool]:
        """Which subsets of a part's attributes, in C order of [in R?], have a component among `known` (masks).

        `UnsupportedWorkload` if some query of the part needs another one. Where queries say nothing about an attribute,
        as a condition that always holds, or nothing about two together, as a difference of two counts, they need none.
        """
        varying = mask_of(i for i, n in enumerate(self.sizes) if n > 1)
        subsets = [mask_of(own) for own in subsets_in_order(self.axes_of(self.parts[number]))]
        # Along an attribute of one cell nothing varies: sets that contain one have no component.
        varies = [mask & ~varying == 0 for mask in subsets]
        measured = [own and mask in known for mask, own in zip(subsets, varies, strict=True)]
        if any(own and not found for own, found in zip(varies, measured, strict=True)):
            # Every K at the scale of a cell's: a split of large integers has a small one, and a set of two attributes
            # would pass for a rounding error beside its parts.
            each = [split.unit for split in splits or self.cells]
            units = [prod(each[i] for i in members(mask)) for mask in subsets]
            whole = self.variances(number, [own * u for own, u in zip(varies, units, strict=True)], splits)
            missing = [(own and not found) * u for own, found, u in zip(varies, measured, units, strict=True)]
            outside = self.variances(number, missing, splits)
            apart = np.divide(outside, whole, out=np.zeros_like(outside), where=whole > 0)
            check_supported(float(np.sqrt(np.maximum(apart, 0.0).max(initial=0.0))), 1.0)
        return measured


def row_tables(workload: ProductWorkload) -> Iterator[tuple[tuple[int, ...], Vector]]:
    """(attributes ascending, table over them) for every query, importance aside: written out one by one."""
    for part in workload.parts:
        axes = workload.axes_of(part)
        order = np.argsort(axes)
        operators = [workload.pieces[number].operator for number in part]
        for row in product(*(range(operator.shape[0]) for operator in operators)):
            table = np.ones(1)
            for operator, k in zip(operators, row, strict=True):
                table = np.multiply.outer(table, operator.rows_dense(k, k + 1)[0]).ravel()
            table = table.reshape([workload.sizes[i] for i in axes]).transpose(order)
            yield tuple(sorted(axes)), table


def _products(by_piece: Sequence[Vector], pieces: Sequence[Indices], parts: int) -> Vector:
    """The numbers of every part's pieces multiplied out: parts × patterns of chosen attributes."""
    values = np.ones((parts, 1))
    for column in pieces:
        distinct, inverse = np.unique(column, return_inverse=True)
        own = np.array([by_piece[n] for n in distinct.tolist()])[inverse]
        values = (values[:, :, None] * own[:, None, :]).reshape(parts, -1)
    return values


def _grouped(table: Vector, group: Indices) -> Vector:
    """Sums of the rows of every group."""
    return np.stack([np.bincount(group, column) for column in table.T], axis=1)


def is_cells(W: Operator) -> bool:
    """Whether queries are one per cell of an attribute, or of its first cells."""
    return isinstance(W, Identity) or (isinstance(W, Padded) and isinstance(W.of, Identity))


def subsets_in_order(axes: Sequence[int]) -> list[tuple[int, ...]]:
    """The subsets of some attributes in C order of a (2, 2, …) array, one axis per attribute; each ascending."""
    patterns = product((False, True), repeat=len(axes))
    return [tuple(sorted(a for a, chosen in zip(axes, p, strict=True) if chosen)) for p in patterns]


def piece_costs(piece: Piece, splits: Sequence[Split]) -> Vector:
    """tr(W (⊗_{R}K ⊗_{rest}uuᵗ) Wᵗ) for every set R of the piece's attributes, in C order of [in R?]."""
    if len(piece.axes) == 1:
        split = splits[piece.axes[0]]
        # What is zero may come out a rounding error below it.
        return np.maximum(0.0, [split.level(piece.operator), split.trace(piece.operator)])
    return np.array([rows.sum() for rows in piece_variances(piece, splits)])


def piece_variances(piece: Piece, splits: Sequence[Split]) -> list[Vector]:
    """The diagonal of what `piece_costs` is the trace of: one vector over the queries for every set R."""
    if len(piece.axes) == 1:
        split = splits[piece.axes[0]]
        return [(piece.operator @ split.u) ** 2, split.quadratic(piece.operator)]
    own = [splits[axis] for axis in piece.axes]
    shape = [len(split.u) for split in own]
    blocks: list[list[Vector]] = [[] for _ in range(2 ** len(own))]
    for _, rows in piece.operator.row_blocks():
        for number, chosen in enumerate(product((False, True), repeat=len(own))):
            table = rows.reshape(len(rows), *shape)
            # Contracted or transformed one attribute at a time, always the first that is left; it goes to the end.
            for split, resolved in zip(own, chosen, strict=True):
                table = np.tensordot(table, root(split) if resolved else split.u[:, None], axes=(1, 0))
            blocks[number].append(np.square(table).reshape(len(rows), -1).sum(axis=1))
    return [np.concatenate(found) for found in blocks]


def gather(sizes: Sequence[int], parts: Iterable[tuple[float, tuple[Piece, ...]]]) -> ProductWorkload:
    """A workload of (weight, pieces): the same piece, by identity, is kept once."""
    numbers: dict[int, int] = {}
    pieces: list[Piece] = []
    rows, powers = [], []
    for weight, own in parts:
        for piece in own:
            if id(piece) not in numbers:
                numbers[id(piece)] = len(pieces)
                pieces.append(piece)
        rows.append(tuple(numbers[id(piece)] for piece in own))
        powers.append(weight**2)
    return ProductWorkload(tuple(sizes), tuple(pieces), tuple(rows), np.array(powers, dtype=np.float64))
