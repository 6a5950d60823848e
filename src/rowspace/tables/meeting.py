"""Sums over the tables that meet a set of attributes in a given way, from sums over the tables above each set."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from .lattice import SubsetLattice, mask_of
from .splits import MarginalSplit


@dataclass(frozen=True, eq=False)
class MeetingTables:
    """What of |c|⁴ and of the largest |c| a table contributes beyond the attributes it shares with a query."""

    lattice: SubsetLattice
    splits: Sequence[MarginalSplit]
    fourths: Mapping[int, float]
    largest: float

    @classmethod
    def of(
        cls, lattice: SubsetLattice, splits: Sequence[MarginalSplit], weights: Mapping[int, float]
    ) -> MeetingTables:
        """From the weights of the tables, by set (those of one set together in L4)."""
        # Weights are taken relative to the largest: their fourth powers must not overflow.
        top = max(weights.values())
        shares = lattice.products([_fourth(split) for split in splits])
        powers = lattice.vector({mask: (w / top) ** 4 for mask, w in weights.items()})
        above = dict(zip(lattice.masks, lattice.sums_above(powers * shares).tolist(), strict=True))
        return cls(lattice, splits, above, top)

    def sums(self, asked: Sequence[int], shared: Sequence[int]) -> tuple[float, float]:
        """(Σ over the tables T with T ∩ asked = shared of w⁴ Π_{T∖shared} ‖A·u‖₄⁴, a bound of the largest factor).

        By inclusion and exclusion over what else of `asked` a table may contain.
        """
        others = [i for i in asked if i not in shared and len(self.splits[i].u) > 1]
        base = mask_of(shared)
        total = 0.0
        for size in range(len(others) + 1):
            for more in combinations(others, size):
                total += (-1) ** size * self.fourths.get(base | mask_of(more), 0.0)
        here = float(np.prod([_fourth(self.splits[i]) for i in shared]))
        # What inclusion and exclusion leave of rounding error is no table.
        total = total if total > 1e-12 * self.fourths.get(base, 0.0) else 0.0
        power = self.largest**4 * total / here
        return power, power**0.25


def _fourth(split: MarginalSplit) -> float:
    return float(np.sum(split.seen**4))
