"""Error profiles: spectral decomposition, equivalence, and the strategies that achieve one (Theorem 2)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
import scipy

from rowspace.exceptions import InvalidInput
from rowspace.operators import Dense, Operator, Vector, as_operator, inverse_gram

if TYPE_CHECKING:
    from matplotlib.axes import Axes


@dataclass(frozen=True)
class Decomposition:
    """M = P diag(values) Pᵗ with orthonormal columns of P, eigenvalues in falling order.

    The eigenvectors are the axes of the error ellipsoid; their eigenvalues say how much error a query along
    each axis has per unit of noise.
    """

    vectors: Vector
    values: Vector


def profile(A: Operator | Any) -> Vector:
    """M = (AᵗA)⁻¹, the covariance of the estimated counts per unit of noise variance, as a dense array.

    >>> from rowspace import operators as op
    >>> 8 * profile(op.Haar(4))
    array([[ 3., -1.,  0.,  0.],
           [-1.,  3.,  0.,  0.],
           [ 0.,  0.,  3., -1.],
           [ 0.,  0., -1.,  3.]])
    """
    A = as_operator(A)
    if A.full_column_rank is None or not A.full_column_rank:
        rank = int(np.linalg.matrix_rank(A.to_dense()))
        if rank < A.shape[1]:
            raise InvalidInput(
                f"expected a strategy of full rank {A.shape[1]}, got rank {rank}: it has no error profile"
            )
    # Cleaned of rounding noise so that exact zeros print as zeros.
    M = inverse_gram(A).copy()
    M[np.abs(M) < 1e-14 * np.abs(M).max()] = 0.0
    return M


def decompose(M: npt.ArrayLike) -> Decomposition:
    """The spectral decomposition of an error profile.

    >>> decompose([[2, -1.5], [-1.5, 2]]).values
    array([3.5, 0.5])
    """
    checked = _check_profile(M)
    values, vectors = scipy.linalg.eigh(checked)
    return Decomposition(np.asarray(vectors[:, ::-1]), np.asarray(values[::-1]))


def profile_equivalent(A: Operator | Any, B: Operator | Any, tolerance: float = 1e-9) -> bool:
    """Whether two strategies have the same error profile: then only their sensitivities tell them apart."""
    A, B = as_operator(A), as_operator(B)
    if A.shape[1] != B.shape[1]:
        return False
    G, H = A.gram().to_dense(), B.gram().to_dense()
    return bool(np.abs(G - H).max() <= tolerance * np.abs(G).max())


def strategy_from_profile(M: npt.ArrayLike, rotation: npt.ArrayLike | None = None) -> Dense:
    """A strategy with profile M: Q diag(1/√λ) Pᵗ for any m × n matrix Q with orthonormal columns (Theorem 2).

    Without a rotation Q is the identity. All strategies with profile M arise this way.

    >>> A = strategy_from_profile([[2, -1.5], [-1.5, 2]])
    >>> np.allclose(profile(A), [[2, -1.5], [-1.5, 2]])
    True
    """
    parts = decompose(M)
    A = parts.vectors.T / np.sqrt(parts.values)[:, None]
    if rotation is None:
        return Dense(A)
    Q = np.asarray(rotation, dtype=float)
    n = len(A)
    if Q.ndim != 2 or Q.shape[1] != n or not np.allclose(Q.T @ Q, np.eye(n), atol=1e-9):
        raise InvalidInput(f"expected a rotation with {n} orthonormal columns, got shape {Q.shape}")
    return Dense(Q @ A)


def _check_profile(M: npt.ArrayLike) -> Vector:
    checked = np.array(M, dtype=float)
    if checked.ndim != 2 or checked.shape[0] != checked.shape[1] or not np.isfinite(checked).all():
        raise InvalidInput(f"expected a square matrix of finite numbers, got shape {checked.shape}")
    if not np.allclose(checked, checked.T, rtol=1e-9, atol=1e-12 * np.abs(checked).max()):
        raise InvalidInput("expected a symmetric matrix: an error profile is a covariance")
    if scipy.linalg.eigvalsh(checked)[0] <= 0:
        raise InvalidInput(
            "expected a positive definite matrix: an error profile has no zero or negative eigenvalue"
        )
    return checked


def plot_profile(A: Operator | npt.ArrayLike, ax: Axes | None = None, *, label: str | None = None) -> Axes:
    """Draw the queries w = (w₁, w₂) whose profile term w M wᵗ is one; A is a strategy, or its profile M itself.

    Where one ellipse lies outside another its strategy has the smaller profile term; sensitivities come on top.

    >>> import matplotlib; matplotlib.use("agg")
    >>> ax = plot_profile([[2, -1.5], [-1.5, 2]], label="M₂")
    >>> ax.get_xlabel()
    'weight of the first cell'
    """
    from rowspace.drawing import ellipse

    M = profile(A) if isinstance(A, Operator) else A
    values = decompose(M).values
    if len(values) != 2:
        raise InvalidInput(
            f"expected a strategy over 2 cells, got {len(values)}: an ellipsoid in more dimensions cannot be drawn; "
            "look at error.decompose"
        )
    ax = ellipse(M, label=label, ax=ax)
    ax.set_xlabel("weight of the first cell")
    ax.set_ylabel("weight of the second cell")
    return ax
