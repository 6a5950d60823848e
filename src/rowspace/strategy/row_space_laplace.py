"""Laplace noise on few queries: mixes of them whose columns have a small L1 norm.

A = T·R with R the independent queries over distinct columns, made orthonormal, and T square. The error
(max_j ‖a_j‖₁)²·tr(K(TᵗT)⁻¹) is neither convex nor smooth; L-BFGS minimizes its logarithm with the maximum as a p-norm
and |a| as (a² + δ²)^½, p rising and δ falling from stage to stage. It starts from the symmetric root of the Gaussian
optimum. On 50 SQL statements (127 independent queries, 2,312 columns) it ends at 3.5 times the Gaussian optimum, where
p-Identity over the same columns has 19 times.
"""

from __future__ import annotations

import numpy as np
import scipy

from rowspace.operators import Vector

STAGES = ((10, 1e-2), (30, 3e-3), (100, 1e-3), (300, 3e-4), (1000, 1e-4))
"""(p, δ); δ in units of the largest column norm."""

MOST_STEPS, LEAST_STEPS = 150, 30


def steps_within(work: float, rank: int, columns: int) -> int:
    """Steps of a stage that so many operations allow."""
    return min(MOST_STEPS, int(work / (len(STAGES) * 5.0 * rank**2 * columns)))


def least_l1(R: Vector, K: Vector, Z: Vector, steps: int) -> Vector:
    """T of little error for the queries R (r × columns), the demand K = CᵗC of W = CR, from TᵗT = Z."""
    lower = np.linalg.cholesky(R @ R.T)
    Q = scipy.linalg.solve_triangular(lower, R, lower=True)
    demand = lower.T @ K @ lower
    values, U = np.linalg.eigh(lower.T @ Z @ lower)
    T = (U * np.sqrt(np.maximum(values, 0.0))) @ U.T
    rank = len(T)

    def loss(x: Vector, p: int, delta: float) -> tuple[float, Vector]:
        T = x.reshape(rank, rank)
        A = T @ Q
        size = np.sqrt(A * A + delta**2)
        norms = size.sum(axis=0)
        largest = norms.max()
        powers = (norms / largest) ** p
        inverse = np.linalg.inv(T.T @ T)
        product = inverse @ demand
        trace = float(np.trace(product))
        value = 2 * np.log(largest) + 2 / p * np.log(powers.sum()) + np.log(trace)
        A /= size
        A *= 2 * powers / (powers.sum() * norms)
        return float(value), np.asarray(A @ Q.T - 2 * T @ (product @ inverse) / trace).ravel()

    for p, delta in STAGES:
        T /= np.abs(T @ Q).sum(axis=0).max()
        found = scipy.optimize.minimize(
            loss, T.ravel(), (p, delta), "L-BFGS-B", jac=True, options={"maxiter": steps, "maxcor": 20}
        )
        T = found.x.reshape(rank, rank)
    return np.asarray(scipy.linalg.solve_triangular(lower, T.T, lower=True, trans="T").T)
