"""Local search for the strategy of least error whose columns lie in the L1 unit ball.

With A = (P − N)/(column sums of P + N, plus a slack s) and P, N, s ≥ 0 every column has L1 norm at most one, and the
error tr(Lᵗ(AᵗA)⁻¹L) is a smooth function of P, N and s: bounded L-BFGS does the rest. It finds zeros of A exactly,
as bounds.

A workload of deficient rank may be served best by a strategy of deficient rank, where (AᵗA)⁻¹ ends. There the search
starts with AᵗA + φI for a generous φ and follows the minimum while φ falls.
"""

from __future__ import annotations

import numpy as np
import scipy

from rowspace.operators import Vector

FLOORS = (1e-2, 1e-4, 1e-6, 1e-8, 1e-10)
"""The φ of a workload of deficient rank, in turn; one of full rank needs the last alone."""

LARGEST_DROPPED = 1e-3
"""Largest part of A outside the workload's row space that is dropped afterwards."""


def descend(A: Vector, L: Vector, steps: int) -> Vector:
    """A strategy of sensitivity one near a local minimum of the error, from A; the workload has WᵗW = LLᵗ.

    `steps` at most for every φ.
    """
    m, n = A.shape
    variables = _split(A)
    for floor in FLOORS if L.shape[1] < n else FLOORS[-1:]:
        found = scipy.optimize.minimize(
            loss,
            variables,
            args=(m, L, floor),
            jac=True,
            method="L-BFGS-B",
            bounds=[(0.0, None)] * len(variables),
            options={"maxiter": steps, "maxfun": 2 * steps, "ftol": 1e-13, "gtol": 1e-10},
        ).x
        variables = found if np.isfinite(found).all() else variables
    P, N, _ = _parts(variables, m, n)
    return unit_sensitivity((P - N) / _norms(variables, m, n))


def loss(variables: Vector, m: int, L: Vector, floor: float) -> tuple[float, Vector]:
    """tr(Lᵗ(AᵗA + φ)⁻¹L) at A = (P − N)/(Σ(P + N) + s), and its gradient; `variables` is P, N and s, flat."""
    n = len(L)
    if not np.isfinite(variables).all():
        return float("inf"), np.zeros_like(variables)  # a line search may break down
    P, N, _ = _parts(variables, m, n)
    norms = _norms(variables, m, n)
    A = (P - N) / norms
    half = scipy.linalg.cho_solve(scipy.linalg.cho_factor(A.T @ A + floor * np.eye(n)), L)
    # d tr(Lᵗ G⁻¹ L) = −2 tr(Lᵗ G⁻¹ Aᵗ dA G⁻¹ L)
    in_A = -2.0 * (A @ half) @ half.T / norms
    in_norms = -np.einsum("ij,ij->j", in_A, A)
    value = float(np.einsum("ij,ij->", L, half))
    return value, np.concatenate(((in_A + in_norms).ravel(), (in_norms - in_A).ravel(), in_norms))


def unit_error(A: Vector, L: Vector) -> float:
    """E = (largest column L1 norm)²·tr((AᵗA)⁺LLᵗ); infinite when A does not support the workload."""
    answers = scipy.linalg.lstsq(A.T, L, cond=1e-9)[0]
    if np.abs(A.T @ answers - L).max() > 1e-9 * np.abs(L).max():
        return float("inf")
    return float(np.abs(A).sum(axis=0).max() ** 2 * np.einsum("ij,ij->", answers, answers))


def exactly_supporting(A: Vector, L: Vector) -> Vector:
    """A without what it asks only faintly outside the row space of W, so that rounding does not decide its rank."""
    basis = scipy.linalg.orth(L)
    inside = (A @ basis) @ basis.T
    left, values, right = scipy.linalg.svd(A - inside, full_matrices=False)
    kept = values > LARGEST_DROPPED
    return np.asarray(inside + (left[:, kept] * values[kept]) @ right[kept])


def unit_sensitivity(A: Vector) -> Vector:
    """A scaled to sensitivity one."""
    return np.asarray(A / np.abs(A).sum(axis=0).max())


def _split(A: Vector) -> Vector:
    """Variables that give A, scaled to sensitivity one."""
    A = unit_sensitivity(A)
    slack = np.maximum(1.0 - np.abs(A).sum(axis=0), 0.0)
    return np.concatenate((np.maximum(A, 0.0).ravel(), np.maximum(-A, 0.0).ravel(), slack))


def _parts(variables: Vector, m: int, n: int) -> tuple[Vector, Vector, Vector]:
    P, N, slack = np.split(variables, (m * n, 2 * m * n))
    return P.reshape(m, n), N.reshape(m, n), slack


def _norms(variables: Vector, m: int, n: int) -> Vector:
    """What columns are divided by; all of P, N and s may vanish together for a cell nobody asks for."""
    P, N, slack = _parts(variables, m, n)
    return np.asarray(np.maximum(P.sum(axis=0) + N.sum(axis=0) + slack, 1e-12))
