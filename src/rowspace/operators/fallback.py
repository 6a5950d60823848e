"""What an operator without a closed form gets: dense linear algebra, refused past a stated size."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np
import scipy

from rowspace.exceptions import TooLarge

from .base import DECOMPOSITION_LIMIT, DENSE_LIMIT, Operator
from .checks import check_supported, read_only

if TYPE_CHECKING:
    from .base import Indices, Vector


@lru_cache(maxsize=4)
def dense_pinv(A: Operator) -> Operator:
    """A⁺ = (AᵗA)⁺Aᵗ with the first factor dense; by singular values where there are fewer rows than cells."""
    from .composed import Composed
    from .dense import Dense

    check_decomposable(A, "compute a pseudo-inverse")
    m, n = A.shape
    if n <= DECOMPOSITION_LIMIT and m >= n:
        return Composed(Dense(inverse_gram(A)), A.T)
    return Dense(_pinv_by_singular_values(A))


@lru_cache(maxsize=4)
def _pinv_by_singular_values(A: Operator) -> Vector:
    """The pseudo-inverse of a wide matrix; remembered, since a release is asked many times."""
    return read_only(scipy.linalg.pinv(A.to_dense()), np.float64)


@lru_cache(maxsize=4)
def inverse_gram(A: Operator) -> Vector:
    """(AᵗA)⁺ as a dense, read-only array; the last few are remembered, since a strategy is judged several times.

    By Cholesky where AᵗA is far from singular, else from A itself, which keeps twice the digits.
    """
    m, n = A.shape
    if n > DECOMPOSITION_LIMIT:
        raise TooLarge(
            f"cannot invert the Gram matrix of a {m} x {n} {type(A).__name__}: no closed form and more than "
            f"{DECOMPOSITION_LIMIT} cells"
        )
    M = _by_cholesky(A) if m >= n else None
    if M is None and m <= 4 * n:
        # A = QR, so A⁺(A⁺)ᵗ = R⁺(R⁺)ᵗ with R at most n × n.
        B = scipy.linalg.pinv(scipy.linalg.qr(A.to_dense(), mode="r")[0][: min(m, n)])
        M = np.asarray(B @ B.T, dtype=np.float64)
    elif M is None:
        M = np.asarray(scipy.linalg.pinvh(A.gram().to_dense()), dtype=np.float64)
    return read_only(M, np.float64)


def _by_cholesky(A: Operator) -> Vector | None:
    """(AᵗA)⁻¹, or None when AᵗA is so near to singular that more than half the digits would be lost."""
    from .dense import Dense

    if isinstance(A, Dense) and A.full_column_rank:  # triangular: its own factor, lower when turned over
        factor, failed = A.array.T, 0
    else:
        factor, failed = scipy.linalg.lapack.dpotrf(A.gram().to_dense(), lower=True)
    size = np.abs(np.diagonal(factor))
    if failed or size.min() < 1e-4 * size.max():
        return None
    inverse, failed = scipy.linalg.lapack.dpotri(factor, lower=True)
    return None if failed else np.asarray(np.tril(inverse) + np.tril(inverse, -1).T)


@lru_cache(maxsize=256)
def dense_nuclear_norm(A: Operator) -> float:
    """Σσ from the eigenvalues of the smaller Gram matrix; remembered, since unions share their factors."""
    check_decomposable(A.gram(), "compute the singular values")
    eigenvalues = scipy.linalg.eigvalsh(A.gram().to_dense())
    return float(np.sqrt(np.clip(eigenvalues, 0.0, None)).sum())


def dense_segment_energy(A: Operator, density: Vector, bounds: Indices) -> Vector:
    """Sums over square blocks of the weighted Gram matrix."""
    G = A.gram().to_dense() * np.multiply.outer(density, density)
    by_rows = np.add.reduceat(G, bounds[:-1], axis=0)
    segment = np.arange(len(bounds) - 1)
    return np.asarray(np.add.reduceat(by_rows, bounds[:-1], axis=1)[segment, segment])


def dense_profile_trace(A: Operator, W: Operator) -> float:
    """tr((AᵗA)⁺ WᵗW), refusing a workload that A does not support."""
    return float(np.einsum("ij,ij->", dense_profile(A, W), W.gram().to_dense()))


def dense_profile(A: Operator, W: Operator) -> Vector:
    """(AᵗA)⁺, refusing a workload that A does not support."""
    M = inverse_gram(A)
    if A.full_column_rank is not True:
        _check_support(A, W, M)
    return M


def _check_support(A: Operator, W: Operator, M: Vector) -> None:
    """Raise unless W vanishes on what A cannot see.

    The projector I − MG turns random vectors into vectors A maps to zero, in general position among them: a query
    outside the row space vanishes on one of them with probability zero.
    """
    random = np.random.default_rng(0).standard_normal((W.shape[1], 4))
    unseen = random - M @ (A.gram() @ random)
    if W.shape[0] <= DENSE_LIMIT // 16:
        # Each query by its own size: beside large ones a small one outside would pass.
        size = np.abs(W @ random).max(axis=1)
        residual, scale = np.max(np.abs(W @ unseen).max(axis=1) / np.where(size > 0, size, 1.0)), 1.0
    else:
        residual, scale = (
            np.sqrt(np.abs(np.einsum("ij,ij->j", v, W.gram() @ v)).max()) for v in (unseen, random)
        )
    check_supported(float(residual), float(scale))


def check_decomposable(A: Operator, purpose: str) -> None:
    """Raise `TooLarge` when a dense decomposition would take minutes."""
    m, n = A.shape
    if min(m, n) > DECOMPOSITION_LIMIT or m * n > 2 * DECOMPOSITION_LIMIT**2:
        raise TooLarge(
            f"cannot {purpose} of a {m} x {n} {type(A).__name__}: no closed form and more than "
            f"{DECOMPOSITION_LIMIT} rows and columns"
        )


INTEGER_LIMIT = 2**25
"""Most entries of a matrix without closed forms whose sensitivity is computed: a second or two."""

_last_matrix: tuple[Operator, Indices] | None = None


def kept_integers(A: Operator) -> Indices:
    """Its matrix; the last one is kept: a plan asks for its largest entry and for its norms.

    It is known by identity: an operator of somebody's own may say that it equals one of ours.
    """
    m, n = A.shape
    if m * n > INTEGER_LIMIT:
        raise TooLarge(
            f"cannot find the sensitivity of a {m} x {n} {type(A).__name__}: no closed form and more than "
            f"{INTEGER_LIMIT} entries"
        )
    global _last_matrix
    kept = _last_matrix
    if kept is None or kept[0] is not A:
        kept = _last_matrix = A, read_only(A._integers(), np.int64)
    return kept[1]


def with_faint_identity(integers: Operator, bits: int) -> Operator:
    """Full rank, by an identity of half as many bits below."""
    from .diagonal import Identity
    from .stack import Stack

    faint = max(1, round(integers.largest_entry() * 2.0 ** (-bits // 2)))
    return Stack(integers, faint * Identity(integers.shape[1]))
