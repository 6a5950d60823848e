"""What an attribute adds to the bound on a union of products where all cells have equal weight: at any size.

See `attribute_bound` for level and resolution. With g, b and G the blocks of WᵗW along 1/√n and its complement,

    e the answers to an even table:       level² = g/n,             resolution² = (tr (G − bbᵗ/g)^½)²/n,
    e what only the total leads to:       level² = (g − bᵗG⁺b)/n,   resolution² = (tr G^½)²/n.
"""

from __future__ import annotations

import numpy as np
import scipy

from rowspace.operators import DECOMPOSITION_LIMIT, Identity, Operator, Prefix, Ranges, Scaled, Vector

DECOMPOSED_CELLS = DECOMPOSITION_LIMIT // 2
"""Most cells of an attribute for a decomposition of its Gram matrix; a second or two."""


def even_bound(W: Operator, alone: bool) -> Vector:
    """(level², resolution²) at equal weights; `alone` picks the second e."""
    n = W.shape[1]
    if isinstance(W, Scaled):
        return W.factor**2 * even_bound(W.of, alone)
    if isinstance(W, Identity):
        return np.array([1.0, (n - 1.0) ** 2]) / n
    large = n > DECOMPOSED_CELLS
    if isinstance(W, Prefix | Ranges) and large:
        return _centred_waves(W)
    ones = np.ones(n)
    image = W.gram() @ ones
    g = float(ones @ image) / n
    if n == 1 or g <= 0:
        return np.array([g / n, 0.0])
    if large:
        # The sum of singular values is at least the root of the sum of their squares.
        b = (image - image.mean()) / np.sqrt(n)
        squares = W.squared_frobenius() - g - float(b @ b) / g
        return np.array([g, max(0.0, squares - 1e-9 * W.squared_frobenius())]) / n
    V = W.gram().to_dense()
    centred = V - V.mean(axis=0) - V.mean(axis=1)[:, None] + V.mean()
    b = (image - image.mean()) / np.sqrt(n)
    if not alone:
        return np.array([g, _root_trace(centred - np.outer(b, b) / g) ** 2]) / n
    least = float(b @ np.linalg.lstsq(centred, b, rcond=1e-10)[0]) * (1 + 1e-9)
    return np.array([max(0.0, g - least), _root_trace(centred) ** 2]) / n


def _root_trace(V: Vector) -> float:
    """tr V^½, without the eigenvalues that rounding may have made."""
    values = np.clip(scipy.linalg.eigvalsh(V), 0.0, None)
    return float(np.sqrt(values[values > 1e-9 * values.max(initial=0.0)]).sum())


def _centred_waves(W: Prefix | Ranges) -> Vector:
    """Closed forms for the second e, O(n).

    Prefix sums y of a table that sums to zero end at zero: their singular values are those of T^(−½), 1/(2 sin(πk/2n)),
    T the second difference of size n − 1. All ranges are the differences of 0, y and 0, whose squares sum to
    (n + 1)‖y‖² − (Σy)²: but for one rank √(n + 1) times the prefixes, so at least all singular values except the
    largest remain. For the level, 1ᵗ(WᵗW)⁻¹1 is 1 for prefixes, and 1ᵗT1/(n + 1) = 2/(n + 1), T of size n, for ranges.
    """
    n = W.n
    waves = 0.5 / np.sin(np.pi * np.arange(1, n) / (2 * n))
    if isinstance(W, Prefix):
        return np.array([1.0, float(waves.sum()) ** 2 / n])
    return np.array([(n + 1) / 2, (n + 1) * float(waves[1:].sum()) ** 2 / n])
