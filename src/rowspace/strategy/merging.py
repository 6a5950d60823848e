"""Cells that no query tells apart: a few predicates over millions of cells are a problem of a few cells.

If columns j and k of W are equal, one cell can stand for both. A strategy A for W, cut down to one cell of each group,
answers the cut-down workload W′ with the same coefficients (W = CA gives W′ = CA′), and its columns are among A's. The
other way round, a strategy for W′ with its columns repeated is one for W. So the optima agree, for both norms and both
kinds of neighbours, and every bound for W′ is one for W.

Equal columns are found by what they add up to with random 64-bit weights, modulo 2⁶⁴, twice: in integers the sums of
equal columns are equal, and those of others differ but with probability n²/2¹²⁸. Columns of other numbers are compared.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from rowspace.operators import Dense, Indices, Merged, Operator, Scaled, Stack, Vector, Weighted

from .result import Result

MOST_CELLS = 2**24
MOST_QUERIES = 2**22
"""One random weight for each query, one sum for each cell."""

MOST_GROUPS = 2048
"""A dense problem of so many cells takes seconds."""

MOST_ENTRIES = 2**22
"""Most entries of a matrix that are no integers."""

FEW_CELLS = 256
"""Up to so many cells a second search takes next to no time."""

SAMPLE = 4 * MOST_GROUPS
"""Cells looked at first: where they fall into many groups already, all would."""


@dataclass(frozen=True, eq=False)
class MergedCells:
    """Which cells are alike, and the workload over one cell of each group."""

    of_cells: Indices
    workload: Dense

    def spread(self, result: Result) -> Result:
        """A result for the groups as one for the cells."""
        strategy = Merged(result.strategy, self.of_cells)
        return replace(result, name=f"{result.name}, merged cells", strategy=strategy)


def merged_cells(W: Operator, single: bool = False, unseen_apart: bool = True) -> MergedCells | None:
    """The groups of cells with equal columns; None when there are too many, or they cannot be told.

    single: of few cells a single copy will do; else half of all must be copies. unseen_apart: with it, cells that no
    query sees stay apart, which lets others ask about them and costs nothing, unless records are replaced.

    >>> from rowspace import operators as op
    >>> groups = merged_cells(op.Dense([[1, 1, 0, 0, 0, 1], [0, 0, 1, 1, 1, 0]]))
    >>> groups.of_cells.tolist(), groups.workload.to_dense().tolist()
    ([1, 1, 0, 0, 0, 1], [[0.0, 1.0], [1.0, 0.0]])
    """
    m, n = W.shape
    if n > MOST_CELLS or m > MOST_QUERIES:
        return None
    few = single and n <= FEW_CELLS
    most = n - 1 if few else min(MOST_GROUPS, n // 2)
    sums = _sums(W, np.random.default_rng(0))
    if few and unseen_apart and sums is not None:
        unseen = ~sums.any(axis=1)
        sums[unseen] = np.arange(unseen.sum())[:, np.newaxis]
    if sums is None or len(np.unique(sums[:: max(1, n // SAMPLE)], axis=0)) > most:
        return None
    _, first, groups = np.unique(sums, axis=0, return_index=True, return_inverse=True)
    if len(first) > most or m * len(first) > MOST_CELLS:
        return None
    return MergedCells(groups.ravel(), Dense(_columns(W, first)))


def _columns(W: Operator, cells: Indices) -> Vector:
    """Some columns of W, by rows or by unit vectors, whichever are fewer; some millions of numbers at a time."""
    m, n = W.shape
    if m <= len(cells):
        return np.concatenate([rows[:, cells] for _, rows in W.row_blocks()])
    step = max(1, 2**22 // max(m, n))
    blocks = []
    for start in range(0, len(cells), step):
        some = cells[start : start + step]
        units = np.zeros((len(some), n))
        units[np.arange(len(some)), some] = 1.0
        blocks.append(W._apply(units))
    return np.concatenate(blocks).T


def _sums(W: Operator, rng: np.random.Generator) -> Indices | None:
    """Two random sums of every column (n × 2), equal for equal columns; None for many entries that are no integers."""
    if isinstance(W, Stack):
        parts = [_sums(part, rng) for part in W.parts]
        found = [part for part in parts if part is not None]
        return sum(found[1:], found[0]) if len(found) == len(parts) else None
    if isinstance(W, Scaled | Weighted) and not W.integral:
        # Weights of queries do not tell cells apart.
        return _sums(W.of, rng)
    weights = rng.integers(-(2**63), 2**63 - 1, (2, W.shape[0]), endpoint=True)
    if W.integral:
        return W._adjoint(weights).T
    if W.shape[0] * W.shape[1] > MOST_ENTRIES:
        return None
    # One random number for each kind of column; minus zero is zero.
    _, kinds = np.unique(W.to_dense().T + 0.0, axis=0, return_inverse=True)
    return rng.integers(-(2**63), 2**63 - 1, (kinds.max() + 1, 2), endpoint=True)[kinds.ravel()]
