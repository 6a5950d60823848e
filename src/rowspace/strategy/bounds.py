"""Lower bounds: numbers no strategy can go below, so that every result can say how far from the best it is.

All bounds are in the unit of E(A, W) = (sensitivity)² · tr((AᵗA)⁺WᵗW) and hold for Laplace and Gaussian noise
alike, because the L1 norm of a column is at least its L2 norm.
"""

from __future__ import annotations

import numpy as np

from rowspace.exceptions import TooLarge
from rowspace.operators import Operator, Scaled, Stack
from rowspace.privacy import Neighbours, Privacy


def unit_lower_bound(W: Operator, privacy: Privacy) -> float:
    """The best bound available for this workload under this notion of neighbours; 0 when none is."""
    if privacy.neighbours is Neighbours.REPLACE_ONE:
        return replace_one_bound(W)
    return singular_value_bound(W)


def singular_value_bound(W: Operator) -> float:
    """(Σσ)²/n, with σ the singular values of W.

    Proof. With G = AᵗA, Cauchy–Schwarz gives (tr V^½)² ≤ tr(G)·tr(G⁺V) for V = WᵗW in A's row space, and
    tr(G) = Σ‖a_j‖² ≤ n·max‖a_j‖². Products of workloads multiply. A union is at least the sum of its
    parts, because one strategy serves them all; that is used where the singular values are out of reach.

    >>> from rowspace import operators as op
    >>> singular_value_bound(op.Identity(5))
    5.0
    """
    if isinstance(W, Scaled):
        return W.factor**2 * singular_value_bound(W.of)
    try:
        return W.nuclear_norm() ** 2 / W.shape[1]
    except TooLarge:
        if isinstance(W, Stack):
            return sum(singular_value_bound(part) for part in W.parts)
        # Σσ ≥ (Σσ²)^½ always.
        return W.squared_frobenius() / W.shape[1]


def replace_one_bound(W: Operator) -> float:
    """2(Σσ′)²/n with σ′ the singular values of W on the vectors that sum to zero.

    Proof. Let c be the centre of the smallest ball around the strategy's columns and R its radius. Two columns
    are at least √2·R apart (Jung), so the squared sensitivity is at least 2R². Knowing the number of records,
    which replacing one never changes, can only help; given it, A answers on zero-sum vectors exactly as
    A − c1ᵗ does, whose columns have norm at most R. Apply the singular value bound to it there.
    """
    try:
        V = W.gram().to_dense()
    except TooLarge:
        return 0.0
    if len(V) > 4096:
        return 0.0
    centred = V - V.mean(axis=0) - V.mean(axis=1)[:, None] + V.mean()
    eigenvalues = np.clip(np.linalg.eigvalsh(centred), 0.0, None)
    return float(2.0 * np.sqrt(eigenvalues).sum() ** 2 / len(V))
