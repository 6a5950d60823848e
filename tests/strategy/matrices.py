"""Random small workloads with everything that can go wrong: zero, repeated and dependent rows and columns."""

from __future__ import annotations

import numpy as np
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays


@st.composite
def workloads(draw: st.DrawFn) -> np.ndarray:
    m, n = draw(st.integers(1, 7)), draw(st.integers(1, 6))
    W = draw(arrays(np.float64, (m, n), elements=st.integers(-2, 2).map(float)))
    if draw(st.booleans()):
        W = np.concatenate((W, W[:1], np.zeros((1, n))))
    if draw(st.booleans()):
        W[:, 0] = W[:, -1]
    if not W.any():
        W[0, -1] = 1.0
    return W


def brute_force_error(A: np.ndarray, W: np.ndarray, norm: int) -> float:
    """Squared sensitivity times tr((AᵗA)⁺WᵗW), from singular values."""
    sensitivity = np.abs(A).sum(axis=0).max() if norm == 1 else np.sqrt((A**2).sum(axis=0).max())
    return float(sensitivity**2 * np.sum((W @ np.linalg.pinv(A, rcond=1e-10)) ** 2))


def supports(A: np.ndarray, W: np.ndarray) -> bool:
    return bool(np.allclose(W @ np.linalg.pinv(A, rcond=1e-10) @ A, W, atol=1e-6))
