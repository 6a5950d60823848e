"""Workloads of marginals, read from their structure: which sets of attributes are asked, and how much each weighs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import chain

from .base import Operator
from .checks import Vector
from .identity import Identity
from .kronecker import Kronecker
from .scaled import Scaled
from .stack import Stack
from .subset_lattice import SubsetLattice
from .total import Total


@dataclass(frozen=True)
class MarginalWorkload:
    """Σ of squared weights per asked set of attributes; attributes of one cell are left out of the sets.

    >>> from rowspace import operators as op
    >>> W = op.Stack(op.Kronecker(op.Identity(2), op.Total(3)), 2 * op.Kronecker(op.Total(2), op.Total(3)))
    >>> MarginalWorkload.of(W)
    MarginalWorkload(sizes=(2, 3), powers={1: 1.0, 0: 4.0})
    """

    sizes: tuple[int, ...]
    powers: Mapping[int, float]

    @classmethod
    def of(cls, W: Operator) -> MarginalWorkload | None:
        """The marginals that W consists of, or None when it is something else."""
        sizes: tuple[int, ...] | None = None
        powers: dict[int, float] = {}
        for part in _parts(W):
            power, body = (part.factor**2, part.of) if isinstance(part, Scaled) else (1.0, part)
            factors = _factors(body)
            if not all(isinstance(factor, (Identity, Total)) for factor in factors):
                return None
            theirs = tuple(factor.shape[1] for factor in factors)
            if sizes is not None and theirs != sizes:
                return None
            sizes = theirs
            mask = sum(1 << i for i, f in enumerate(factors) if isinstance(f, Identity) and f.shape[1] > 1)
            powers[mask] = powers.get(mask, 0.0) + power
        assert sizes is not None
        return cls(sizes, {mask: power for mask, power in powers.items() if power > 0})

    @cached_property
    def lattice(self) -> SubsetLattice:
        """The asked sets and all below them: the residuals their answers are made of."""
        return SubsetLattice.under(self.powers)

    @cached_property
    def multiplicities(self) -> Vector:
        """Dimensions of the residual space of every set of the lattice: Π (n_i − 1)."""
        return self.lattice.products([n - 1 for n in self.sizes])

    @cached_property
    def eigenvalues(self) -> Vector:
        """The eigenvalue of WᵗW on every residual space, divided by the number of cells (which may be astronomical).

        A marginal over S maps a residual R ⊆ S to itself times the cells it sums over, Π_{j∉S} n_j.
        """
        per_table = self.lattice.vector(self.powers) * self.lattice.products([1 / n for n in self.sizes])
        return self.lattice.sums_above(per_table)


def _parts(W: Operator) -> list[Operator]:
    """The members of a union, of unions as well."""
    return list(chain.from_iterable(map(_parts, W.parts))) if isinstance(W, Stack) else [W]


def _factors(W: Operator) -> list[Operator]:
    """The factors of a product, of products as well."""
    if isinstance(W, Kronecker):
        return list(chain.from_iterable(map(_factors, W.factors)))
    return [W]
