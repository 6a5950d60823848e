"""Workloads of a few cells, and the errors that an optimizer of least L1 error has to reach on them."""

import numpy as np
from hypothesis import strategies as st

from rowspace import operators as op
from rowspace.privacy import PureDP

UNIT = PureDP(2**0.5)
COUNTS_AND_TOTAL = op.Stack(op.Identity(6), 3 * op.Total(6))

# Workload, rows, error.
FIGURES = [
    (op.Ranges(4), None, 20.0),
    (op.Prefix(4), None, 10.0),
    (op.Prefix(8), None, 35.4),
    (op.Total(4), None, 1.0),
    (op.Total(4), 1, 1.0),
    (op.WidthRanges(6, 4), 3, 8.6565),
    (COUNTS_AND_TOTAL, 7, 51.3653),
]

# A search once left a direction at 1e-7 that no query asks: enough to look like rank, too little to invert.
TRACES = op.Dense(
    np.array([[1, 1, -1, 1], [2, 0, 0, 2], [-1, 1, -1, -1], [1, 0, 1, 1], [1, 1, -1, 1], [0, 0, 0, 0]], float)
)


def unit_error(A, W):
    """E(A, W) from dense matrices alone."""
    A, V = A.to_dense(), W.gram().to_dense()
    return np.abs(A).sum(axis=0).max() ** 2 * np.trace(np.linalg.pinv(A.T @ A) @ V)


@st.composite
def workloads(draw):
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    rows, n = draw(st.integers(1, 6)), draw(st.integers(1, 4))
    W = rng.integers(-1, 3, (rows, n)).astype(float)
    W[0, 0] = 1.0
    if draw(st.booleans()):
        W = np.concatenate((W, W[:1], np.zeros((1, n))))
    if draw(st.booleans()):
        W[:, -1] = W[:, 0]
    return op.Dense(W)
