"""The transpose of any operator."""

from __future__ import annotations

from dataclasses import dataclass

from .base import Array, Indices, Operator, Vector, check_operators


@dataclass(frozen=True, eq=False)
class Transpose(Operator):
    """Aᵗ, by swapping the two actions of A."""

    of: Operator

    def __post_init__(self) -> None:
        check_operators(self.of)

    @property
    def shape(self) -> tuple[int, int]:
        m, n = self.of.shape
        return n, m

    @property
    def integral(self) -> bool:
        return self.of.integral

    @property
    def nonnegative(self) -> bool:
        return self.of.nonnegative

    def _apply(self, x: Array) -> Array:
        return self.of._adjoint(x)

    def _adjoint(self, y: Array) -> Array:
        return self.of._apply(y)

    @property
    def T(self) -> Operator:
        return self.of

    def pinv(self) -> Operator:
        return self.of.pinv().T

    def largest_entry(self) -> float:
        return self.of.largest_entry()

    def _rounded(self, bits: int) -> tuple[Operator, float]:
        rounded, scale = self.of.integer_form(bits)
        return rounded.T, scale

    def _rounded_at(self, scale: float) -> Operator:
        return self.of._rounded_at(scale).T

    def nuclear_norm(self) -> float:
        return self.of.nuclear_norm()

    def _dense(self) -> Vector:
        return self.of._dense().T

    def _integers(self) -> Indices:
        return self.of._integers().T
