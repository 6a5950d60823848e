"""What the optimizers for strategies of tables share: reading the workload, its bound, and the judged result."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from rowspace.error import noise_level
from rowspace.exceptions import InvalidWorkload
from rowspace.operators import Identity, Operator, Vector
from rowspace.privacy import Privacy
from rowspace.tables import (
    MarginalSplit,
    ProductWorkload,
    SubsetLattice,
    as_products,
    marginal_splits,
    mask_of,
)

from .joint_bound import joint_bound
from .joint_parts import ties
from .product_bounds import products_bound
from .result import Result
from .strategy import Strategy


@dataclass(frozen=True, eq=False)
class TableDemand:
    """What tables must tell: the products asked, and how much of every residual they need."""

    products: ProductWorkload
    bases: tuple[Operator, ...] | None = None

    def based_on(self, base: Operator, attributes: set[int]) -> TableDemand:
        """The same, some attributes measured by another matrix (of unit sensitivity) than the identity."""
        bases = self.bases or tuple(Identity(n) for n in self.sizes)
        return replace(self, bases=tuple(base if i in attributes else own for i, own in enumerate(bases)))

    @cached_property
    def splits(self) -> tuple[MarginalSplit, ...]:
        """The split of every attribute."""
        if self.bases is None:
            return self.products.cells
        return marginal_splits(self.bases)

    @cached_property
    def shares(self) -> list[float]:
        """What a table sees of the total of every attribute it resolves; 1/n for the identity."""
        return [split.share for split in self.splits]

    @property
    def sizes(self) -> tuple[int, ...]:
        """Cells of every attribute."""
        return self.products.sizes

    @property
    def lattice(self) -> SubsetLattice:
        """The sets of attributes asked together, and all below them."""
        return self.products.lattice

    @cached_property
    def wanted(self) -> tuple[int, ...]:
        """The sets of attributes asked together; attributes of one cell are left out."""
        varying = mask_of(i for i, n in enumerate(self.sizes) if n > 1)
        axes = map(self.products.axes_of, self.products.parts)
        return tuple(dict.fromkeys(mask_of(own) & varying for own in axes))

    @cached_property
    def needs(self) -> Vector:
        """What one unit of ν_R costs the workload times Π_{i∈R} share, for every set R of the lattice."""
        return self.products.costs(self.splits) * self.lattice.products(self.shares)


def read_products(W: Operator | ProductWorkload) -> ProductWorkload:
    """A workload as products that name their attributes, or `InvalidWorkload`."""
    if isinstance(W, ProductWorkload):
        return W
    if not W.squared_frobenius() > 0:
        raise InvalidWorkload("expected a workload with at least one non-zero query")
    found = as_products(W)
    if len(found.sizes) < 2 and not found.only_cells:
        raise InvalidWorkload(
            "expected a union of products over the same two or more attributes; for other queries use select"
        )
    return found.only(np.flatnonzero(found.powers).tolist())


def judged_on_tables(
    name: str,
    A: Operator,
    workload: ProductWorkload,
    privacy: Privacy,
    *,
    status: str,
    steps: int,
    seconds: float,
    unit_bound: float = 0.0,
) -> Result:
    """A result whose error is computed from the strategy itself; works for astronomically many cells.

    `unit_bound`: a bound the optimizer has proved, in the unit of E; the better of it and the default counts.
    """
    error = noise_level(A, privacy) * Strategy.of(A).trace(workload)
    if ties(workload):
        unit_bound = max(unit_bound, joint_bound(workload, {}))
    bound = privacy.unit_variance * max(products_bound(workload, privacy), unit_bound)
    return Result(name, A, error, bound, status, steps, seconds)
