"""Augmentation: completing deficient columns (Theorem 8 of the paper).

Noise is scaled to the largest column norm. A cell whose column is smaller may be asked once more, with the weight that
is missing, at no cost: the sensitivity stays, AᵗA grows by a diagonal, so (AᵗA)⁻¹ shrinks and no query gets worse.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from math import isqrt

import numpy as np

from rowspace.operators import Dense, Diagonal, Identity, Operator, Scaled, Stack, Total, Vector
from rowspace.privacy import Neighbours, Privacy, sensitivity

from .result import Optimizer, Result, judged

WORTH_COMPLETING = 1e-6
"""Smallest missing share of the (squared, for L2) column norm for which a row is added."""


@dataclass(frozen=True)
class Augment:
    """Run another optimizer and complete the deficient columns of what it finds.

    >>> from rowspace import ZCDP, operators as op
    >>> from rowspace.strategy import SingularValue
    >>> plain = SingularValue().optimize(op.Prefix(32), ZCDP(0.5))
    >>> Augment(SingularValue()).optimize(op.Prefix(32), ZCDP(0.5)).total_error < 0.95 * plain.total_error
    True
    """

    base: Optimizer

    def optimize(self, W: Operator, privacy: Privacy, rng: np.random.Generator | None = None) -> Result:
        """The base's strategy, completed; the base's own result when there is nothing to complete."""
        started = time.perf_counter()
        found = self.base.optimize(W, privacy, rng)
        A = augment(found.strategy, privacy)
        if A is found.strategy:
            return found
        return judged(
            f"{found.name}, completed",
            A,
            W,
            privacy,
            status=f"{found.status}; deficient columns completed",
            steps=found.steps,
            seconds=time.perf_counter() - started,
            unit_bound=found.lower_bound / privacy.unit_variance,
        )


def augment(A: Operator, privacy: Privacy) -> Operator:
    """A with a row added for every cell whose column norm is below the largest; A itself when there is none.

    Rows that already ask one cell are enlarged instead: under L1, one row of weight a + b tells more than two of
    weights a and b. For replace-one neighbours the distance of two columns counts, and completing both would raise it;
    there the total is asked as well, which moves no distance, as much as the columns' own norms allow.

    Guarantees:
        - the sensitivity is not raised (`test_sensitivity_stays`, `test_the_total_of_replaced_records_is_free`);
        - no query has a larger error (`test_no_query_gets_worse`).

    >>> from rowspace import PureDP, operators as op
    >>> augment(op.Dense([[1, 1, 0], [0, 1, 0]]), PureDP(1.0)).to_dense()
    array([[1., 1., 0.],
           [0., 1., 0.],
           [1., 0., 0.],
           [0., 0., 2.]])
    """
    if privacy.neighbours is Neighbours.REPLACE_ONE:
        return _with_total(A, privacy)
    sums = A.column_norms(privacy.norm) ** privacy.norm
    # A unit in the last place below the largest, so that rounding cannot raise the sensitivity.
    goal = sums.max() if A.integral and privacy.norm == 1 else sums.max() * (1 - 1e-15)
    missing = np.maximum(goal - sums, 0.0)
    missing[missing <= WORTH_COMPLETING * sums.max()] = 0.0
    if not missing.any():
        return A
    return _completed(A, missing, privacy.norm)


def _with_total(A: Operator, privacy: Privacy) -> Operator:
    """A and the number of all records, where columns are shorter than the distance of two."""
    p, farthest = privacy.norm, sensitivity(A, privacy)
    missing = farthest**p - A.max_column_norm(p) ** p
    if missing <= WORTH_COMPLETING * farthest**p:
        return A
    if A.integral:  # its norms are integers, and so it stays
        weight = float(round(missing) if p == 1 else isqrt(round(missing)))
    else:
        weight = (missing * (1 - 1e-12)) ** (1 / p)
    told = Stack(A, Scaled(weight, Total(A.shape[1])))
    # Of many columns only a bound on the distances is known, which the total raises.
    return told if sensitivity(told, privacy) <= farthest * (1 + 1e-12) else A


def _completed(A: Operator, missing: Vector, norm: int) -> Operator:
    """A with |a|ᵖ raised by `missing` in every column, through rows that ask a single cell."""
    if isinstance(A, (Identity, Diagonal)):
        return Diagonal(_raised(A.column_norms(1), missing, norm))
    if isinstance(A, Stack):
        for position, part in enumerate(A.parts):
            if isinstance(part, (Identity, Diagonal)):
                raised = Diagonal(_raised(part.column_norms(1), missing, norm))
                return Stack(*A.parts[:position], raised, *A.parts[position + 1 :])
    if isinstance(A, Dense):
        return _completed_dense(A.array, missing, norm)
    return Stack(A, Diagonal(_raised(np.zeros_like(missing), missing, norm)))


def _completed_dense(array: Vector, missing: Vector, norm: int) -> Operator:
    """Enlarge the rows that ask one cell, then add one row for every deficient cell that has none."""
    array = array.copy()
    for row in np.flatnonzero(np.count_nonzero(array, axis=1) == 1):
        cell = np.flatnonzero(array[row])[0]
        array[row, cell] = _raised(np.abs(array[row, cell]), missing[cell], norm)
        missing = np.where(np.arange(len(missing)) == cell, 0.0, missing)
    added = np.diag(_raised(np.zeros_like(missing), missing, norm))
    return Dense(np.concatenate((array, added[missing > 0])))


def _raised(weight: Vector, missing: Vector, norm: int) -> Vector:
    return np.asarray(weight + missing if norm == 1 else np.sqrt(weight**2 + missing))
