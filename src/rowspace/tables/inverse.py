"""The pseudo-inverse of tables to which all cells are alike."""

from __future__ import annotations

from dataclasses import dataclass

from rowspace.exceptions import InvalidInput
from rowspace.operators import Array, Operator

from .table_operator import TableOperator


@dataclass(frozen=True, eq=False)
class TableInverse(Operator):
    """A⁺ = G⁺Aᵗ with G⁺ = Σ_R P_R/λ_R: the Gram matrix G has one eigenvalue per set R, on the residual space of R.

    The projections P_R are taken in the small tables, not in the cells: a few passes over n.
    """

    of: TableOperator

    def __post_init__(self) -> None:
        if not getattr(self.of, "all_cells_alike", False):
            raise InvalidInput(f"expected plain marginals or residuals, got {type(self.of).__name__}")

    @property
    def shape(self) -> tuple[int, int]:
        m, n = self.of.shape
        return n, m

    def _apply(self, y: Array) -> Array:
        return self._inverse_gram(self.of._adjoint(y))

    def _adjoint(self, x: Array) -> Array:
        return self.of._apply(self._inverse_gram(x))

    def _inverse_gram(self, x: Array) -> Array:
        axes, n = self.of.axes, float(self.of.shape[1])
        tables = {}
        for mask, table in axes.sums(x, self.of.eigenvalues).items():
            # P_R x is centred sums over n, and λ_R the eigenvalue times n.
            tables[mask] = axes.centred(table, mask) / (self.of.eigenvalues[mask] * n * n)
        return axes.spread(tables)

    def pinv(self) -> Operator:
        return self.of
