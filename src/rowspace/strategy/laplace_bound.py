"""Lower bounds for Laplace noise alone, where columns are charged by their L1 norms: E(A, W) = Δ₁²·‖WA⁺‖².

For any matrix Z, WZ = WA⁺·AZ, and Hölder's inequality for singular values (3/2 = 1/2 + 1) gives
(Σσ(WZ)^⅔)³ ≤ ‖WA⁺‖²·(Σσ(AZ))². The nuclear norm Σσ(AZ) is convex in A, so over all A with Δ₁ ≤ 1, a product of L1
balls, it is largest at an extreme point: every column has one entry, ±1. Such a matrix is a *signed partition* π of the
cells into rows. Hence for every Z

    E ≥ (Σσ(WZ)^⅔)³ / max over π of (Σσ(A_πZ))².

The bounds for L2 norms hold as well; these are 1.12 to 1.34 times higher on ranges and prefixes of 3 to 7
cells. Neighbours that replace a record have a sensitivity that is no smaller, so they hold for those too.
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np
import scipy

from rowspace.exceptions import TooLarge
from rowspace.operators import Operator, Vector
from rowspace.privacy import Privacy

from .bounds import QUICK_CELLS, decomposed_bound, unit_lower_bound

FEW_CELLS, MOST_CELLS = 7, 9
"""Cells up to which all signed partitions are looked at: without being asked to, in half a second; in a minute."""

SLACK = 1e-9
"""Relative allowance for rounding."""

_ACTIVE, _POWERS, _ROUNDS = 60, (30.0, 300.0), 6


def best_lower_bound(W: Operator, privacy: Privacy) -> float:
    """The best bound for a whole workload in the unit of E; for its parts, asked for often, it would take too long."""
    best = max(unit_lower_bound(W, privacy), decomposed_bound(W))
    return max(best, laplace_bound(W)) if privacy.norm == 1 and W.shape[1] <= QUICK_CELLS else best


@lru_cache(maxsize=64)
def laplace_bound(W: Operator, cells: int = FEW_CELLS) -> float:
    """A bound for L1 norms: up to `cells` cells, or where every permutation leaves WᵗW alone; elsewhere 0.

    Guarantees:
        - below the error of every strategy (`test_laplace_bounds_hold`).

    >>> from rowspace import operators as op
    >>> identity_and_total = op.Stack(op.Identity(256), op.Total(256))
    >>> round(laplace_bound(identity_and_total), 1)  # 286.9 in L2 norms; 386.9 is reached
    354.2
    """
    try:
        V = W.gram().to_dense()
    except TooLarge:
        return 0.0
    n = len(V)
    off = V[~np.eye(n, dtype=np.bool_)]
    if n > 1 and np.ptp(V.diagonal()) == 0 and np.ptp(off) == 0 and V[0, 0] >= off[0] >= 0:
        return _symmetric_bound(n, float(V[0, 0] - off[0]), float(off[0]))
    return _enumerated_bound(V) if n <= min(cells, MOST_CELLS) and V.any() else 0.0


def _symmetric_bound(n: int, a: float, b: float) -> float:
    """WᵗW = aI + bJ, J all ones. Z = I + βJ has one free number, ζ = 1 + nβ, Z's value on the vector of ones."""

    def negative(log_zeta: float) -> float:
        zeta = float(np.exp(log_zeta))
        values = (n - 1) * a ** (1 / 3) + (zeta * (a + n * b) ** 0.5) ** (2 / 3)
        return float(-(values**3) / _largest_nuclear_norm(n, zeta) ** 2)

    grid = np.linspace(0.0, np.log(50.0 * n), 24)
    at = int(np.argmin([negative(x) for x in grid]))
    found = scipy.optimize.minimize_scalar(
        negative, bounds=(grid[max(at - 1, 0)], grid[min(at + 1, len(grid) - 1)]), method="bounded"
    )
    return float(-found.fun) * (1 - SLACK)


def _largest_nuclear_norm(n: int, zeta: float) -> float:
    """An upper bound of Σσ(A_πZ) over all signed partitions for Z = I + βJ; proved in docs/design/014-what-is-drawn.md.

    With m_c blocks of size c it is F(m) = Σ m_c √c + (1/π)∫ ln(1 + Σ m_c R_c(t)) dt at most, concave in m. For every
    size b of the largest block its tangent at one block of b and singletons bounds it.
    """
    gamma = (zeta * zeta - 1.0) / n
    if gamma <= 0:
        return float(n)
    t = np.exp(np.arange(-40.0, 45.0 + np.log(n) + np.log(max(gamma * n, 1.0)), 0.1))
    weights, sizes = 0.1 * t / np.pi, np.arange(1.0, n + 1)
    R = gamma * np.square(sizes)[:, None] / (np.square(t) + sizes[:, None])
    inside = R + (n - sizes)[:, None] * R[0]
    F = np.sqrt(sizes) + (n - sizes) + np.log1p(inside) @ weights
    slopes = (np.sqrt(sizes)[:, None] + (R * weights) @ (1.0 / (1.0 + inside)).T) / sizes[:, None]
    allowed = (sizes[:, None] <= np.minimum(sizes, n - sizes)) | (sizes[:, None] == 1)
    steepest = np.where(allowed, slopes, -np.inf).max(axis=0)
    return float((F + (n - sizes) * (steepest - slopes[0])).max()) * (1 + SLACK)


def _enumerated_bound(V: Vector) -> float:
    """Over all signed partitions, with Z searched for by those that are largest so far; any Z gives a bound."""
    n = len(V)
    partitions = signed_partitions(n)
    values, vectors = scipy.linalg.eigh(V / V.diagonal().max())
    # Rounding noise in place of 0 would count with the power ⅓; less of V is a lower bound still.
    noise = 16 * n * np.finfo(float).eps
    values = np.clip(values - noise * values.max(), 0.0, None)
    root, Z = (vectors * np.sqrt(values)) @ vectors.T, (vectors * values**0.25) @ vectors.T
    best, active = 0.0, np.zeros(0, dtype=np.int64)
    for _ in range(_ROUNDS):
        parts = np.array_split(partitions, 1 + len(partitions) // 2**15)
        norms = np.concatenate([np.linalg.svd(some @ Z, compute_uv=False).sum(axis=-1) for some in parts])
        sigma = np.linalg.svd(root @ Z, compute_uv=False)
        kept = sigma[sigma > noise * sigma.max()]
        found = float(np.sum(kept ** (2 / 3)) ** 3 / norms.max() ** 2)
        if abs(found - best) <= 5e-4 * best:
            break
        best, active = max(best, found), np.union1d(active, np.argsort(-norms)[:_ACTIVE])
        for power in _POWERS:
            Z = _improved(Z, root, partitions[active].astype(float), power)
    return float(best * V.diagonal().max() * (1 - SLACK))


def _improved(Z: Vector, root: Vector, partitions: Vector, power: float) -> Vector:
    """A better Z for some partitions, the maximum over them replaced by a norm of that power."""

    def loss(flat: Vector) -> tuple[float, Vector]:
        at = flat.reshape(Z.shape)
        u, s, v = np.linalg.svd(partitions @ at)
        norms = s.sum(axis=-1)
        shares = (norms / norms.max()) ** power
        below = np.log(norms.max()) + np.log(shares.sum()) / power
        shares = shares / shares.sum() / norms
        slope = np.einsum("k,kij->ij", shares, np.swapaxes(partitions, 1, 2) @ (u @ v))
        u, s, v = np.linalg.svd(root @ at)
        s = np.maximum(s, 1e-12 * s.max())
        total = np.sum(s ** (2 / 3))
        above = root.T @ ((u * (2 / 3 * s ** (-1 / 3) / total)) @ v)
        return float(2 * below - 3 * np.log(total)), (2 * slope - 3 * above).ravel()

    found = scipy.optimize.minimize(loss, Z.ravel(), jac=True, method="L-BFGS-B", options={"maxiter": 60})
    return np.asarray(found.x.reshape(Z.shape))


@lru_cache(maxsize=2)
def signed_partitions(n: int) -> np.ndarray[tuple[int, ...], np.dtype[np.int8]]:
    """Every partition of n cells into rows with signs, as matrices (number, n, n); a row's first cell has a plus."""
    stack, used = np.zeros((1, n, n), dtype=np.int8), np.zeros(1, dtype=np.int64)
    for j in range(n):
        grown, rows = [], []
        for k in range(j + 1):
            for row, sign in [(row, sign) for row in range(k) for sign in (1, -1)] + [(k, 1)]:
                some = stack[used == k].copy()
                some[:, row, j] = sign
                grown.append(some)
                rows.append(np.full(len(some), max(k, row + 1)))
        stack, used = np.concatenate(grown), np.concatenate(rows)
    return stack
