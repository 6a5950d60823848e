"""What strategies that measure whole tables share: which components they see, and how tables meet a query."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from functools import cached_property

from .marginal_lattice import MeetingTables
from .splits import MarginalSplit
from .subset_lattice import SubsetLattice
from .table_operator import TableOperator


class MeasuredTables(TableOperator):
    """Tables measured as a whole: a table tells something about every set below its own."""

    @property
    @abstractmethod
    def splits(self) -> tuple[MarginalSplit, ...]:
        """How every attribute's queries split into what smaller tables tell and the rest."""

    @cached_property
    def _lattice(self) -> SubsetLattice:
        return SubsetLattice.under(
            mask for mask, weight in zip(self._masks, self.weights, strict=True) if weight
        )

    @cached_property
    def _meeting(self) -> MeetingTables:
        weights: dict[int, float] = {}
        for mask, weight in zip(self._masks, self.weights, strict=True):
            if weight:
                weights[mask] = (weights.get(mask, 0.0) ** 4 + weight**4) ** 0.25
        return MeetingTables.of(self._lattice, self.splits, weights)

    def tables_meeting(self, asked: Sequence[int], shared: Sequence[int]) -> tuple[float, float]:
        """Over all tables that share exactly these of the asked attributes (see `MeetingTables.sums`)."""
        return self._meeting.sums(asked, shared)
