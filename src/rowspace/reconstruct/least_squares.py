"""x̂ = A⁺y: the unbiased estimate of least variance among those linear in y (Theorem 1 of the paper)."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import scipy

from rowspace.exceptions import RowspaceError, TooLarge
from rowspace.operators import Operator
from rowspace.operators.base import Vector
from rowspace.planning import dropped_bits
from rowspace.tables import ComponentTables, TableOperator
from rowspace.threads import calm_threads

TOLERANCE = 1e-12
"""Relative residual of the iterative solver: far below any noise."""


def estimate_counts(strategy: Operator, answers: npt.NDArray[np.int64]) -> Vector:
    """The least-squares estimate of every cell's count.

    By the strategy's own pseudo-inverse where it has one (trees, wavelets, products: linear time), else by LSMR.
    """
    y = noisy_values(strategy, answers)
    if isinstance(strategy, TableOperator):
        return estimate_tables(strategy, answers).cells()
    with calm_threads(strategy.shape[1]):
        try:
            return strategy.pinv() @ y
        except TooLarge:
            return iterated(strategy, y)


def estimate_tables(strategy: TableOperator, answers: npt.NDArray[np.int64]) -> ComponentTables:
    """The same estimate as tables over any attributes that were measured together, without the cells."""
    return strategy.component_tables(noisy_values(strategy, answers))


def noisy_values(strategy: Operator, answers: npt.NDArray[np.int64]) -> Vector:
    """Noisy answers in the strategy's own unit."""
    return np.ldexp(answers, dropped_bits(strategy))


def iterated(strategy: Operator, y: Vector) -> Vector:
    """Least squares by LSMR: actions of the strategy only, whatever its structure."""
    linear = scipy.sparse.linalg.LinearOperator(
        strategy.shape,
        matvec=lambda v: strategy @ v.ravel(),
        rmatvec=lambda v: strategy.T @ v.ravel(),
        dtype=np.float64,
    )
    # conlim=0: a badly conditioned strategy takes more steps; by default it would be left half solved, without a word.
    solution, stop, *_ = scipy.sparse.linalg.lsmr(
        linear, y, atol=TOLERANCE, btol=TOLERANCE, conlim=0, maxiter=10_000
    )
    if stop == 7:
        raise RowspaceError(
            "least squares did not converge; report the plan, its strategy is badly conditioned"
        )
    return np.asarray(solution)
