"""Strategies over cells: what leads from a query w to the coefficients c = wA⁺ of its noise.

A strategy is a product of factors, each over some attributes in a row, or one factor over all of them. A factor is a
stack of blocks, each a product of small matrices; A⁺ is never written down: the page solves for c.

- A of full column rank: c = A(AᵗA)⁻¹w.
- Otherwise some rows B of A are independent, and the others are combinations DB of them. The b with w = Bᵗb is unique,
  and the least c with Aᵗc = w has (I + DᵗD)⁻¹b at the rows of B, and D times that at the others.
- Cells that A does not tell apart are one: w is their mean, and must be the same for all of them.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from itertools import pairwise
from math import prod
from typing import Any

import numpy as np
import scipy

from rowspace.error import FINE_LATTICE
from rowspace.exceptions import TooLarge
from rowspace.operators import Identity, Kronecker, Merged, Operator, Scaled, Stack, Vector
from rowspace.strategy import Strategy
from rowspace.tables import QueryMix

from .packing import LARGEST_SYSTEM, Packer

_MOST_ENTRIES = 2**21
"""Most entries of a factor that are looked at."""
_RANK = 1e-9
_ACCURATE = 1e-10
_IDENTITY_LIMIT = 2**22

Run = tuple[int, int]
"""From an attribute to before another."""


def cells_view(A: Operator, sizes: Sequence[int], pack: Packer) -> dict[str, Any]:
    """A strategy whose noise is put together coefficient by coefficient (`rowspace.error.moments`)."""
    scale, inner = _unscaled(A)
    factors = inner.factors if isinstance(inner, Kronecker) else (inner,)
    runs = attribute_runs([factor.shape[1] for factor in factors], sizes)
    if runs is None:
        factors, runs = (inner,), [(0, len(sizes))]
    views = [_factor(factor, sizes[a:b], pack) for factor, (a, b) in zip(factors, runs, strict=True)]
    views[0]["scale"] *= scale
    for view, (a, b) in zip(views, runs, strict=True):
        view |= {"first": a, "after": b}
    return {
        "kind": "cells",
        # Of a product the moments are products, unless it stands inside something else.
        "product": isinstance(A, Kronecker),
        "factors": views,
        "fine": A.largest_entry() > FINE_LATTICE,
        "axes": [list(own) for own in A.axes] if isinstance(A, QueryMix) else None,
        "widest": Strategy.of(A).tables is not None,
    }


def attribute_runs(columns: Sequence[int], sizes: Sequence[int]) -> list[Run] | None:
    """Which attributes in a row every factor is about, from their numbers of cells; None where they do not fit.

    >>> attribute_runs([6, 5, 1], [2, 3, 5])
    [(0, 2), (2, 3), (3, 3)]
    """
    runs, at = [], 0
    for cells in columns:
        first = at
        while prod(sizes[first:at]) < cells and at < len(sizes):
            at += 1
        if prod(sizes[first:at]) != cells:
            return None
        runs.append((first, at))
    if prod(sizes[at:]) > 1 or not runs:
        return None
    return [*runs[:-1], (runs[-1][0], len(sizes))]


def _unscaled(A: Operator) -> tuple[float, Operator]:
    scale = 1.0
    while isinstance(A, Scaled):
        scale, A = scale * A.factor, A.of
    return scale, A


def _factor(A: Operator, sizes: Sequence[int], pack: Packer) -> dict[str, Any]:
    """One factor: its blocks, and how its coefficients are solved for."""
    view: dict[str, Any] = {"columns": A.shape[1], "fine": A.largest_entry() > FINE_LATTICE}
    scale, A = _unscaled(A)
    if isinstance(A, Merged):
        view["groups"] = pack.array(A.groups)
        sizes = (A.of.shape[1],)
        more, A = _unscaled(A.of)
        scale *= more
    view |= {"scale": scale, "cells": A.shape[1]}
    if isinstance(A, Identity):
        if A.shape[1] > _IDENTITY_LIMIT:
            raise TooLarge("a page has no room for the coefficients of so many cells")
        return view | {"diagonal": True}
    if A.shape[0] * A.shape[1] > _MOST_ENTRIES:
        raise TooLarge(f"a page solves systems of at most {_MOST_ENTRIES:,} entries")
    dense = A.to_dense()
    return view | _blocks(A, sizes, pack) | _system(dense, pack)


def _blocks(A: Operator, sizes: Sequence[int], pack: Packer) -> dict[str, Any]:
    """The rows as products of small matrices, all over the same groups of attributes."""
    parts = [(scale, *_factors(part, sizes)) for scale, part in _stacked(A, 1.0)]
    ends = sorted(set.intersection(*({after for _, after in runs} for _, _, runs in parts)) - {0})
    shape = [prod(sizes[a:b]) for a, b in pairwise([0, *ends])]
    blocks = [[pack.matrix(M) for M in _matrices(scale, own, runs, ends)] for scale, own, runs in parts]
    return {"shape": shape, "blocks": blocks}


def _stacked(A: Operator, scale: float) -> list[tuple[float, Operator]]:
    """The parts of a stack, of stacks inside it too."""
    more, A = _unscaled(A)
    if isinstance(A, Stack):
        return [found for part in A.parts for found in _stacked(part, scale * more)]
    return [(scale * more, A)]


def _factors(part: Operator, sizes: Sequence[int]) -> tuple[tuple[Operator, ...], list[Run]]:
    """A part as a product, and which attributes each of its factors is about."""
    factors = part.factors if isinstance(part, Kronecker) else (part,)
    runs = attribute_runs([factor.shape[1] for factor in factors], sizes)
    return ((part,), [(0, len(sizes))]) if runs is None else (factors, runs)


def _matrices(
    scale: float, factors: Sequence[Operator], runs: Sequence[Run], ends: Sequence[int]
) -> list[Any]:
    """One matrix for every group of attributes, factors inside one multiplied out; the first has the scale."""
    found = [scipy.sparse.csr_array([[scale if number == 0 else 1.0]]) for number in range(len(ends))]
    for factor, (_, after) in zip(factors, runs, strict=True):
        number = bisect_left(ends, after)
        found[number] = scipy.sparse.kron(found[number], factor.to_dense(), format="csr")
    return found


def _system(dense: Vector, pack: Packer) -> dict[str, Any]:
    """How c is found: by AᵗA, by independent rows, or, where neither is accurate, by A⁺ written down."""
    _m, n = dense.shape
    norms = np.linalg.norm(dense, axis=1)
    unit = dense / np.where(norms > 0, norms, 1.0)[:, None]
    size = np.abs(np.diagonal(scipy.linalg.qr(unit.T, mode="r", pivoting=True)[0]))
    rank = int(np.sum(size > _RANK * size[0]))
    # Large rows first: the others are then small combinations of them, and little is lost in D.
    rows = np.sort(scipy.linalg.qr(dense.T, mode="r", pivoting=True)[1][:rank])
    inverse = np.asarray(scipy.linalg.pinv(dense), dtype=np.float64)
    if rank == n <= LARGEST_SYSTEM and _agree(_by_columns(dense), inverse.T):
        return {"solve": "columns"}
    if rank <= LARGEST_SYSTEM and _agree(_by_rows(dense, unit, norms, rows), inverse.T):
        return {"solve": "rows", "rows": pack.array(rows)}
    return {"solve": "inverse", "inverse": pack.matrix(inverse), "whole": rank == n}


def _by_columns(dense: Vector) -> Vector:
    """A(AᵗA)⁻¹, as the page finds it."""
    size = np.linalg.norm(dense, axis=0)
    unit = dense / size
    return np.asarray(unit @ _inverse(unit.T @ unit) / size)


def _by_rows(dense: Vector, unit: Vector, norms: Vector, rows: Any) -> Vector:
    """From w to c by independent rows B, and the others as combinations D of them, as the page finds it."""
    others = np.setdiff1d(np.arange(len(dense)), rows)
    inner = _inverse(unit[rows] @ unit[rows].T)
    D = dense[others] @ unit[rows].T @ inner / norms[rows]
    b = (inner @ unit[rows]) / norms[rows, None]
    b = b - D.T @ (_inverse(np.eye(len(others)) + D @ D.T) @ (D @ b))
    c = np.empty_like(dense)
    c[rows], c[others] = b, D @ b
    return c


def _inverse(gram: Vector) -> Vector:
    """By Cholesky; not a number where that fails, which no comparison accepts."""
    if not len(gram):
        return gram
    factor, failed = scipy.linalg.lapack.dpotrf(gram, lower=True)
    inverse, failed_too = scipy.linalg.lapack.dpotri(factor, lower=True)
    if failed or failed_too:
        return np.full_like(gram, np.nan)
    return np.asarray(np.tril(inverse) + np.tril(inverse, -1).T)


def _agree(found: Vector, wanted: Vector) -> bool:
    """Whether coefficients are right for every cell, relative to the largest."""
    return bool(np.abs(found - wanted).max() <= _ACCURATE * np.abs(wanted).max())
