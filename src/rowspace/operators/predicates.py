"""All predicates: the paper's W_01, 2ⁿ queries of which only the Gram matrix is ever needed."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from rowspace.exceptions import InvalidInput, TooLarge

from .base import DENSE_LIMIT, Array, Operator, Vector
from .checks import check_size
from .composed import Composed
from .total import UniformGram


@dataclass(frozen=True, eq=False)
class AllPredicates(Operator):
    """Every 0/1 query over n cells, in the order of binary numbers (cell 0 is the leading digit).

    Half of all queries contain a given cell and a quarter contain two given cells, so the Gram matrix is
    2ⁿ⁻²(I + J). Rows are built only while they fit; n ≤ 1000 keeps 2ⁿ a floating-point number.
    """

    n: int

    integral = True
    nonnegative = True
    full_column_rank = True

    def __post_init__(self) -> None:
        object.__setattr__(self, "n", check_size("n", self.n))
        if self.n > 1000:
            raise InvalidInput(
                f"expected at most 1000 cells for all predicates, got {self.n}: 2**n leaves floating point"
            )

    @property
    def shape(self) -> tuple[int, int]:
        return 2**self.n, self.n

    def _apply(self, x: Array) -> Array:
        self._check_rows(max(1, x.size // self.n))
        sums = np.zeros((*x.shape[:-1], 1), dtype=x.dtype)
        for cell in range(self.n):
            doubled = np.stack((sums, sums + x[..., cell : cell + 1]), axis=-1)
            sums = doubled.reshape(*x.shape[:-1], 2 ** (cell + 1))
        return sums

    def _adjoint(self, y: Array) -> Array:
        self._check_rows(1)
        grid = y.reshape(*y.shape[:-1], *(2,) * self.n)
        axes = tuple(range(y.ndim - 1, y.ndim - 1 + self.n))
        return np.stack([grid.take(1, axis=axis).sum(axis=axes[:-1]) for axis in axes], axis=-1)

    def _check_rows(self, batch: int) -> None:
        if 2**self.n * batch > DENSE_LIMIT:
            raise TooLarge(
                f"all predicates over {self.n} cells are 2**{self.n} answers; only their Gram matrix is built"
            )

    def gram(self) -> Operator:
        quarter = 2.0 ** (self.n - 2)
        return UniformGram(self.n, quarter, quarter)

    def nuclear_norm(self) -> float:
        return float(2.0 ** (self.n / 2 - 1) * (self.n - 1 + np.sqrt(self.n + 1)))

    def pinv(self) -> Operator:
        return Composed(self.gram().pinv(), self.T)

    def _column_sums(self, p: int) -> Vector:
        return np.full(self.n, 2.0 ** (self.n - 1))

    def _rows(self, start: int, stop: int) -> Vector:
        digits = np.arange(self.n - 1, -1, -1)
        return np.array(
            [[row >> int(digit) & 1 for digit in digits] for row in range(start, stop)], dtype=float
        )

    def _integer_norm(self, p: int) -> int:
        return int(2 ** (self.n - 1))

    def largest_entry(self) -> float:
        return 1.0
