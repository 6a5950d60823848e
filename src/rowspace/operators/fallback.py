"""What an operator without a closed form gets: dense linear algebra, refused past a stated size."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from scipy import linalg

from rowspace.exceptions import TooLarge

from .base import DECOMPOSITION_LIMIT, Operator
from .checks import check_supported

if TYPE_CHECKING:
    from .base import Vector


def dense_pinv(A: Operator) -> Operator:
    """A⁺ as a dense operator, by singular values."""
    from .dense import Dense

    check_decomposable(A, "compute a pseudo-inverse")
    return Dense(np.asarray(linalg.pinv(A.to_dense()), dtype=np.float64))


def inverse_gram(A: Operator) -> Vector:
    """(AᵗA)⁺ as a dense array: from A when it is small (twice the digits), else from its Gram."""
    m, n = A.shape
    if n <= DECOMPOSITION_LIMIT and m <= 4 * n:
        # A = QR, so A⁺(A⁺)ᵗ = R⁺(R⁺)ᵗ with R at most n × n.
        R = linalg.qr(A.to_dense(), mode="r")[0][: min(m, n)]
        B = linalg.pinv(R)
        return np.asarray(B @ B.T)
    if n <= DECOMPOSITION_LIMIT:
        return np.asarray(linalg.pinvh(A.gram().to_dense()))
    raise TooLarge(
        f"cannot invert the Gram matrix of a {m} x {n} {type(A).__name__}: no closed form and more than "
        f"{DECOMPOSITION_LIMIT} cells"
    )


def dense_nuclear_norm(A: Operator) -> float:
    """Σσ from the eigenvalues of the smaller Gram matrix."""
    check_decomposable(A.gram(), "compute the singular values")
    eigenvalues = linalg.eigvalsh(A.gram().to_dense())
    return float(np.sqrt(np.clip(eigenvalues, 0.0, None)).sum())


def dense_profile_trace(A: Operator, W: Operator) -> float:
    """tr((AᵗA)⁺ WᵗW), refusing a workload that A does not support."""
    M = inverse_gram(A)
    V = W.gram().to_dense()
    if A.full_column_rank is not True:
        # Rows outside the row space are what the projector I − MG leaves of V.
        outside = V - V @ (M @ A.gram().to_dense())
        check_supported(float(np.abs(outside).max()), float(np.abs(V).max()))
    return float(np.einsum("ij,ij->", M, V))


def check_decomposable(A: Operator, purpose: str) -> None:
    """Raise `TooLarge` when a dense decomposition would take minutes."""
    m, n = A.shape
    if min(m, n) > DECOMPOSITION_LIMIT or m * n > 2 * DECOMPOSITION_LIMIT**2:
        raise TooLarge(
            f"cannot {purpose} of a {m} x {n} {type(A).__name__}: no closed form and more than "
            f"{DECOMPOSITION_LIMIT} rows and columns"
        )
