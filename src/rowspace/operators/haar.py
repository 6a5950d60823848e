"""The Haar wavelet Yₙ of Xiao et al., in the paper's scaling."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from rowspace.exceptions import InvalidInput

from .base import Array, Operator, Vector
from .composed import Composed
from .diagonal import Diagonal
from .kinds import Levelled, OnCells, check_level_weights


@dataclass(frozen=True, eq=False)
class Haar(OnCells, Levelled):
    """The total, then left half minus right half of ever smaller blocks; `Haar(4)` is the paper's Y₄.

    n must be a power of two: a wavelet of another size needs padding, which wastes budget on cells that do
    not exist; use `Hierarchy(n)`, which takes any n. One weight for the total and one per level of
    differences, coarse to fine; all ones by default. The rows are orthogonal: the transform inverts itself.
    O(n) for every verb.

    >>> Haar(4).to_dense().astype(int)
    array([[ 1,  1,  1,  1],
           [ 1,  1, -1, -1],
           [ 1, -1,  0,  0],
           [ 0,  0,  1, -1]])
    """

    n: int
    weights: tuple[float, ...] | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.n & (self.n - 1):
            raise InvalidInput(
                f"expected a power of two for the Haar wavelet, got {self.n}; use Hierarchy(n) instead"
            )
        if self.weights is not None:
            object.__setattr__(self, "weights", check_level_weights(self.weights, self.n.bit_length()))

    @property
    def level_weights(self) -> tuple[float, ...]:
        """Weight of the total, then of every level of differences."""
        return (1.0,) * self.n.bit_length() if self.weights is None else self.weights

    @property
    def full_column_rank(self) -> bool:
        return all(self.level_weights)

    def _apply(self, x: Array) -> Array:
        weights = self._weights_for(x)
        out = np.empty_like(x)
        sums = x
        for level in range(len(weights) - 1, 0, -1):
            left, right = sums[..., 0::2], sums[..., 1::2]
            nodes = 2 ** (level - 1)
            np.multiply(left - right, weights[level], out=out[..., nodes : 2 * nodes])
            sums = left + right
        out[..., :1] = weights[0] * sums
        return out

    def _adjoint(self, y: Array) -> Array:
        weights = self._weights_for(y)
        out = weights[0] * y[..., :1]
        for level in range(1, len(weights)):
            nodes = 2 ** (level - 1)
            differences = weights[level] * y[..., nodes : 2 * nodes]
            finer = np.empty((*y.shape[:-1], 2 * nodes), dtype=y.dtype)
            np.add(out, differences, out=finer[..., 0::2])
            np.subtract(out, differences, out=finer[..., 1::2])
            out = finer
        return out

    def row_norms_squared(self) -> Vector:
        """‖row‖² for every row: weight² times the number of cells the row touches."""
        levels = np.array([0, *range(1, self.n.bit_length())])
        touched = np.array([self.n, *(self.n >> (level - 1) for level in levels[1:])], dtype=float)
        return np.repeat(
            np.square(self.level_weights) * touched, [1, *(2 ** (level - 1) for level in levels[1:])]
        )

    def pinv(self) -> Operator:
        # Orthogonal rows: Y⁺ = Yᵗ diag(1/‖row‖²).
        self.check_vector("invert it")
        return Composed(self.T, Diagonal(self.row_norms_squared()).pinv())

    def nuclear_norm(self) -> float:
        return float(np.sqrt(self.row_norms_squared()).sum())

    def _profile_trace(self, W: Operator) -> float:
        """Σ_rows ‖Wr‖²/‖r‖⁴, with ‖W(left − right)‖² = 2‖W left‖² + 2‖W right‖² − ‖W(left + right)‖²."""
        if not self.full_column_rank:
            return super()._profile_trace(W)
        ones = np.ones(self.n)
        block, total = self.n, 0.0
        energy = W.segment_energy(ones, np.array([0, self.n]))
        total += float(energy[0]) / (self.level_weights[0] * self.n) ** 2
        for weight in self.level_weights[1:]:
            halves = W.segment_energy(ones, np.arange(0, self.n + 1, block // 2))
            differences = 2 * (halves[0::2] + halves[1::2]) - energy
            total += float(differences.sum()) / (weight * block) ** 2
            block, energy = block // 2, halves
        return total

    def row_variances(self, W: Operator) -> Vector | None:
        """The same for every query."""
        ones, block = np.ones(self.n), self.n
        squares = W.segment_squares(ones, np.array([0, self.n]), np.ones(1))
        if squares is None or not self.full_column_rank:
            return None
        variances = squares / (self.level_weights[0] * self.n) ** 2
        for weight in self.level_weights[1:]:
            halves = W.segment_squares(
                ones, np.arange(0, self.n + 1, block // 2), np.ones(2 * self.n // block)
            )
            assert halves is not None
            variances += (2 * halves - squares) / (weight * block) ** 2
            block, squares = block // 2, halves
        return variances
