"""Families of attribute sets closed downwards, with sums over the sets above or below each.

A set of attributes is an integer whose bit i says whether attribute i is in it. All marginals commute: their Gram
matrices share one eigenspace per set R (what varies in exactly the attributes R and sums to zero along each), so that
everything about a strategy or workload of marginals is one number per set.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from rowspace.exceptions import TooLarge

from .checks import Indices, Vector

LARGEST_SET = 22
"""Most attributes (of two or more cells) in one set: all of its subsets are listed."""

LARGEST_LATTICE = 2**LARGEST_SET
"""Most sets in one family."""


def mask_of(attributes: Iterable[int]) -> int:
    """The integer that stands for a set of attribute numbers."""
    return sum(1 << attribute for attribute in attributes)


def members(mask: int) -> list[int]:
    """The attribute numbers of a set, ascending."""
    found = []
    while mask:
        low = mask & -mask
        found.append(low.bit_length() - 1)
        mask ^= low
    return found


@dataclass(frozen=True)
class SubsetLattice:
    """All subsets of some sets, numbered.

    `steps` holds, for every attribute k that occurs, the numbers of the sets that contain k, and those of the same
    sets without k: a sum over all subsets or supersets is one vectorized addition per attribute.
    """

    masks: tuple[int, ...]
    index: Mapping[int, int]
    steps: Mapping[int, tuple[Indices, Indices]]

    @classmethod
    def under(cls, masks: Iterable[int]) -> SubsetLattice:
        """The sets and everything below them; `TooLarge` when that is too many to list."""
        index: dict[int, int] = {0: 0}
        pending = sorted(set(masks))
        if pending and max(mask.bit_count() for mask in pending) > LARGEST_SET:
            raise TooLarge(
                f"a marginal over more than {LARGEST_SET} attributes has too many subsets; use smaller ones"
            )
        with_it: dict[int, list[int]] = {}
        without: dict[int, list[int]] = {}
        while pending:
            mask = pending.pop()
            if mask in index:
                continue
            index[mask] = len(index)
            if len(index) > LARGEST_LATTICE:
                raise TooLarge(
                    f"these marginals have more than {LARGEST_LATTICE} subsets; use fewer or smaller ones"
                )
            pending.extend(mask ^ (1 << attribute) for attribute in members(mask))
        for mask, number in index.items():
            for attribute in members(mask):
                with_it.setdefault(attribute, []).append(number)
                without.setdefault(attribute, []).append(index[mask ^ (1 << attribute)])
        steps = {k: (np.array(with_it[k]), np.array(without[k])) for k in sorted(with_it)}
        return cls(tuple(index), index, steps)

    def vector(self, values: Mapping[int, float]) -> Vector:
        """One number per set, zero where none is given."""
        out = np.zeros(len(self.masks))
        for mask, value in values.items():
            out[self.index[mask]] = value
        return out

    def sums_above(self, values: Vector) -> Vector:
        """Σ over the sets that contain R, for every R."""
        out = values.copy()
        for with_it, without in self.steps.values():
            out[without] += out[with_it]
        return out

    def sums_below(self, values: Vector) -> Vector:
        """Σ over the subsets of S, for every S: the transpose of `sums_above`."""
        out = values.copy()
        for with_it, without in self.steps.values():
            out[with_it] += out[without]
        return out

    def products(self, factors: Sequence[float]) -> Vector:
        """Π over the attributes in R of their factors, for every R."""
        out = np.ones(len(self.masks))
        for attribute, (with_it, _) in self.steps.items():
            out[with_it] *= factors[attribute]
        return out
