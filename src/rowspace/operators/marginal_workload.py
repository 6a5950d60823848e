"""Workloads of marginals, read from their structure: which sets of attributes are asked, and how much each weighs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
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
        terms = []
        for part in _parts(W):
            power, body = (part.factor**2, part.of) if isinstance(part, Scaled) else (1.0, part)
            terms.append((power, _factors(body)))
        # The whole domain may be asked as one identity: the part with most factors tells the attributes.
        sizes = tuple(factor.shape[1] for factor in max((factors for _, factors in terms), key=len))
        read = _Reader(sizes)
        powers: dict[int, float] = {}
        for power, factors in terms:
            mask = read.mask(factors)
            if mask is None:
                return None
            powers[mask] = powers.get(mask, 0.0) + power
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


class _Reader:
    """Reads which attributes a product asks; a factor met before at the same place is not looked at again."""

    def __init__(self, sizes: tuple[int, ...]) -> None:
        self._sizes = sizes
        self._met: dict[tuple[int, int], tuple[int, int] | None] = {}

    def mask(self, factors: Sequence[Operator]) -> int | None:
        """The set of attributes, or None when a factor is neither identity nor total or ends within an attribute."""
        place, mask = 0, 0
        for factor in factors:
            # Factors are alive as long as the workload is, so their ids tell them apart.
            key = (place, id(factor))
            if key not in self._met:
                self._met[key] = self._read(place, factor)
            found = self._met[key]
            if found is None:
                return None
            place, mask = found[0], mask | found[1]
        return mask if all(n == 1 for n in self._sizes[place:]) else None

    def _read(self, place: int, factor: Operator) -> tuple[int, int] | None:
        """(where the factor ends, what it asks) when it begins at this attribute."""
        cells, mask = 1, 0
        if not isinstance(factor, (Identity, Total)):
            return None
        start = place
        while place < len(self._sizes) and (place == start or cells < factor.n):
            cells *= self._sizes[place]
            if isinstance(factor, Identity) and self._sizes[place] > 1:
                mask |= 1 << place
            place += 1
        return (place, mask) if cells == factor.n else None


def _parts(W: Operator) -> list[Operator]:
    """The members of a union, of unions as well."""
    return list(chain.from_iterable(map(_parts, W.parts))) if isinstance(W, Stack) else [W]


def _factors(W: Operator) -> Sequence[Operator]:
    """The factors of a product, of products as well."""
    if not isinstance(W, Kronecker):
        return [W]
    # Exact types are compared: over many attributes this is most of the work.
    nested = any(type(factor) is Kronecker for factor in W.factors)
    return list(chain.from_iterable(map(_factors, W.factors))) if nested else W.factors
