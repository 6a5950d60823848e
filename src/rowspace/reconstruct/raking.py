"""Counts that keep to known sums: raking, also known as iterative proportional fitting."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import scipy

from rowspace.operators import Indices, Vector

ROUNDS = 1000
"""Rounds after which it stops in any case."""

EXACT = 1e-12
"""Relative distance of every sum from what it should be at which it stops."""

_LARGE = 1e6


def raked(counts: Vector, groups: Sequence[Indices], totals: Vector) -> Vector:
    """The counts, none negative, scaled group by group until every group of cells has its total.

    Of all counts that have these totals they are the nearest in relative entropy, among those that are zero where the
    totals leave nothing else. A group that has a total and no count shares it alike.

    >>> raked(np.array([1.0, 1.0, 2.0]), [np.array([0, 1]), np.array([0, 1, 2])], np.array([6.0, 9.0]))
    array([3., 3., 3.])
    >>> raked(np.array([1.0, 1.0, 2.0]), [np.array([0, 1]), np.array([0, 1, 2])], np.array([6.0, 6.0]))
    array([3., 3., 0.])
    """
    x = np.where(_may_hold_some(len(counts), groups, totals), counts, 0.0)
    for _ in range(ROUNDS):
        worst = 0.0
        for cells, total in zip(groups, totals.tolist(), strict=True):
            found = float(x[cells].sum())
            if found > 0:
                x[cells] *= total / found
            else:
                x[cells] = total / len(cells)
            worst = max(worst, abs(found - total) / max(total, 1.0))
        if worst <= EXACT:
            break
    return x


def _may_hold_some(cells: int, groups: Sequence[Indices], totals: Vector) -> Vector:
    """Which cells are not zero in all counts that have these totals, none of them negative.

    Scaling alone would reach a zero only in the limit. One linear program over cells that are in the same groups: as
    many of them as can be are above zero at once.
    """
    marks = np.random.default_rng(0).integers(1, 2**62, len(groups), dtype=np.uint64)
    code = np.zeros(cells, dtype=np.uint64)
    for group, mark in zip(groups, marks, strict=True):
        code[group] += mark  # wraps around: as good a mark as any
    distinct, first, kind = np.unique(code, return_index=True, return_inverse=True)
    inside: Any = scipy.sparse.csr_array(
        np.array([np.isin(first, group) for group in groups], dtype=np.float64)
    )
    n, both = len(distinct), scipy.sparse.hstack([inside, inside])
    solved = scipy.optimize.linprog(
        np.concatenate([np.zeros(n), -np.ones(n)]),
        A_eq=both,
        b_eq=_LARGE * totals / max(float(totals.max(initial=0.0)), 1.0),
        bounds=[(0, None)] * n + [(0, 1)] * n,
    )
    above = np.ones(n, dtype=bool) if solved.x is None else solved.x[n:] > 1e-7
    return np.asarray(above[kind.ravel()])
