"""The strategy of mixed queries: errors and answers from coefficients in its row space, query by query."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from math import prod
from typing import Any

import numpy as np
import scipy

from rowspace.error import Moments
from rowspace.operators import Indices, Vector, check_supported
from rowspace.tables import (
    Piece,
    ProductWorkload,
    QueryMix,
    classes,
    distinct_columns,
    distinct_rows,
    product_rows,
)
from rowspace.threads import one_thread_if_small

from .symmetry import Axis, Kind, kinds_of

AT_ONCE = 2**22


@dataclass(frozen=True, eq=False)
class Component:
    """What queries have in one block: `rows` of coefficients on its mixed answers, of which member k has number[k]."""

    block: int
    kind: Kind
    axes: tuple[Axis, ...]
    number: Indices
    rows: Vector

    def beyond(self, rows: Any, members: Indices) -> Iterator[Vector]:
        """What each member is beyond the mean, axis by axis where its block is about that; times 1/n, for n·I − 11ᵗ."""
        for at, (axis, c) in enumerate(zip(self.axes, self.kind.classes, strict=True)):
            if c >= 0:
                yield axis.beyond(c)[rows.numbers[self.kind.members[members], at]] / axis.sizes[c]


def is_within(queries: ProductWorkload, A: QueryMix) -> bool:
    """Whether every piece is about one axis."""
    return all(any(set(piece.axes) <= set(own) for own in A.axes) for piece in queries.pieces)


@lru_cache(maxsize=1)
def components(
    A: QueryMix, sizes: tuple[int, ...], pieces: tuple[Piece, ...], parts: tuple[tuple[int, ...], ...]
) -> tuple[Any, list[Component]]:
    """(the queries as rows, their components in A's blocks); `UnsupportedWorkload` outside the row space."""
    rows = product_rows(ProductWorkload(sizes, pieces, parts, np.ones(len(parts))), A.axes)
    labels = [classes(V, own) for V, own in zip(A.vectors, zip(*A.beyond, strict=True), strict=True)]
    axes = tuple(Axis(matrix, label) for matrix, label in zip(rows.vectors, labels, strict=True))
    blocks = {}
    for number, beyond in enumerate(A.beyond):
        first = [V.indices[V.indptr[c]] if c >= 0 else -1 for V, c in zip(A.vectors, beyond, strict=True)]
        blocks[tuple(int(own[c]) if c >= 0 else -1 for own, c in zip(labels, first, strict=True))] = number
    found = []
    with one_thread_if_small(max(map(len, A.numbers))):
        for kind in kinds_of(rows, axes):
            check_supported(float(kind.classes not in blocks), 1.0)
            found.append(_component(A, blocks[kind.classes], kind, axes))
    return rows, found


def _component(A: QueryMix, block: int, kind: Kind, axes: tuple[Axis, ...]) -> Component:
    asked, number = np.unique(kind.numbers, axis=0, return_inverse=True)
    own = A.numbers[block]
    vectors = [
        scipy.sparse.vstack([V.csr(), axis.levels[0]], format="csr")
        for V, axis in zip(A.vectors, axes, strict=True)
    ]
    after = np.array([V.shape[0] for V in A.vectors])
    values = distinct_columns(vectors, np.concatenate((own, asked + after))).values
    rank, T = len(own), A.mixes[block].array
    # Most queries that are asked are among those that are mixed: only the others have to be solved for.
    first, kinds = distinct_rows(np.ascontiguousarray(values.T))
    mixed = np.full(len(first), -1)
    mixed[kinds[:rank]] = np.arange(rank)
    found = mixed[kinds[rank:]]
    C = np.zeros((len(asked), rank))
    C[found >= 0, found[found >= 0]] = 1.0
    if (found < 0).any():
        C[found < 0] = _solved(values[:, :rank].T, values[:, rank:].T[found < 0])
    if T.shape[0] == rank:
        with np.errstate(all="ignore"):
            rows = scipy.linalg.lu_solve(scipy.linalg.lu_factor(T), C.T, trans=1, overwrite_b=True).T
        check_supported(float(not np.isfinite(rows).all()), 1.0)
    else:
        rows = C @ np.linalg.pinv(T)
        check_supported(float(np.abs(rows @ T - C).max()), float(np.abs(C).max()))
    return Component(block, kind, axes, number.ravel(), rows)


def _solved(mixed: Any, asked: Any) -> Vector:
    """C with asked = C·mixed; `UnsupportedWorkload` where there is none."""
    R = scipy.sparse.csr_array(mixed.astype(np.float64))
    norms = np.sqrt((R.multiply(R)).sum(axis=1))
    unit = scipy.sparse.csr_array(scipy.sparse.diags_array(1 / norms) @ R)
    factor = scipy.linalg.cho_factor((unit @ unit.T).toarray())
    out = np.empty((len(asked), len(norms)))
    step = max(1, AT_ONCE // R.shape[1])
    for start in range(0, len(asked), step):
        w = asked[start : start + step].astype(np.float64)
        c = scipy.linalg.cho_solve(factor, unit @ w.T).T
        c += scipy.linalg.cho_solve(factor, unit @ (w - c @ unit).T).T
        outside, size = np.abs(w - c @ unit).max(axis=1), np.abs(w).max(axis=1)
        check_supported(float((outside / size).max()), 1.0)
        out[start : start + step] = c / norms
    return out


def mix_moments(A: QueryMix, queries: ProductWorkload) -> Moments:
    """The moments of every query's coefficients on the noise."""
    rows, found = components(A, queries.sizes, queries.pieces, queries.parts)
    second, fourth, largest = (np.zeros(len(rows.numbers)) for _ in range(3))
    for own in found:
        squares, top = np.square(own.rows), np.abs(own.rows).max(axis=1)
        one, two, three = (
            squares.sum(axis=1)[own.number],
            (squares**2).sum(axis=1)[own.number],
            top[own.number],
        )
        for at, (axis, c) in enumerate(zip(own.axes, own.kind.classes, strict=True)):
            if c >= 0:
                apart = axis.beyond(c) / axis.sizes[c]
                vector = rows.numbers[own.kind.members, at]
                one, two = one * (apart**2).sum(axis=1)[vector], two * (apart**4).sum(axis=1)[vector]
                three = three * np.abs(apart).max(axis=1)[vector]
        members, scale = own.kind.members, own.kind.scale
        second[members] += scale**2 * one
        fourth[members] += scale**4 * two
        largest[members] = np.maximum(largest[members], scale * three)
    return Moments(second, fourth, largest, np.zeros_like(second))


def mix_answers(A: QueryMix, values: Vector, queries: ProductWorkload) -> Vector:
    """The answers of least squares to every query, from noisy answers."""
    rows, found = components(A, queries.sizes, queries.pieces, queries.parts)
    out = np.zeros(len(rows.numbers))
    for own in found:
        measured, sizes = A.block_of(values, own.block), A.contrasted[own.block]
        mixed = own.rows @ measured.reshape(len(measured), -1)
        step = max(1, AT_ONCE // prod(sizes))
        for start in range(0, len(own.number), step):
            members = np.arange(start, min(start + step, len(own.number)))
            part = mixed[own.number[members]].reshape(len(members), *sizes)
            for apart in own.beyond(rows, members):
                part = np.einsum("mk...,mk->m...", part, apart)
            out[own.kind.members[members]] += own.kind.scale[members] * part
    return out
