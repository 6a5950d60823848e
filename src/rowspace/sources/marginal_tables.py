"""Many marginal tables of one table of records, those of equal shape stacked in one array."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from math import prod

import numpy as np
import numpy.typing as npt

from rowspace.exceptions import InvalidInput

__all__ = ["AttributeSet", "CountStack", "Counts", "MarginalTables"]

#: Positions of attributes in `Domain.names`, increasing; the empty set is the total.
AttributeSet = tuple[int, ...]

Counts = npt.NDArray[np.int64]


@dataclass(frozen=True, eq=False, repr=False)
class CountStack:
    """Tables of equal shape: `counts[k]` is the table over `sets[k]`."""

    sets: tuple[AttributeSet, ...]
    counts: Counts

    def __repr__(self) -> str:
        return f"CountStack({len(self.sets)} tables of shape {self.counts.shape[1:]})"  # no count


@dataclass(frozen=True, eq=False, repr=False)
class MarginalTables:
    """Counts over sets of attributes: the true ones, not private yet.

    `stacks` groups the tables by shape, for work on all tables of a shape at once; the sets of a stack are in the
    order they were asked for. The arrays are int64 and the holder's own; together they take 8 bytes for each cell.

    >>> tables = MarginalTables.zeros([(), (0,), (1,)], (2, 2))
    >>> [(stack.sets, stack.counts.shape) for stack in tables.stacks]
    [(((),), (1,)), (((0,), (1,)), (2, 2))]
    >>> tables.table((1,))
    array([0, 0])
    """

    stacks: tuple[CountStack, ...]

    @classmethod
    def zeros(cls, sets: Sequence[AttributeSet], shape: Sequence[int]) -> MarginalTables:
        """Tables over these sets without a record; `shape` is that of the domain."""
        by_shape: dict[tuple[int, ...], list[AttributeSet]] = {}
        for attributes in sets:
            by_shape.setdefault(tuple(shape[i] for i in attributes), []).append(attributes)
        return cls(
            tuple(
                CountStack(tuple(group), np.zeros((len(group), *table), dtype=np.int64))
                for table, group in by_shape.items()
            )
        )

    @property
    def sets(self) -> tuple[AttributeSet, ...]:
        """The sets of attributes, stack by stack."""
        return tuple(attributes for stack in self.stacks for attributes in stack.sets)

    @property
    def cells(self) -> int:
        """Cells of all tables together."""
        return sum(prod(stack.counts.shape) for stack in self.stacks)

    def table(self, attributes: AttributeSet) -> Counts:
        """The counts over a set, of shape `tuple(domain.shape[i] for i in attributes)`; not a copy.

        Raises:
            InvalidInput: The set was not counted.
        """
        if attributes not in self._places:
            raise InvalidInput(
                f"expected one of the sets of attributes that were counted, got {attributes!r}"
            )
        stack, index = self._places[attributes]
        return self.stacks[stack].counts[index, ...]

    def __len__(self) -> int:
        return len(self._places)

    def __contains__(self, attributes: object) -> bool:
        return attributes in self._places

    def __repr__(self) -> str:
        return f"MarginalTables({len(self)} tables, {self.cells} cells)"  # no count

    @cached_property
    def _places(self) -> dict[AttributeSet, tuple[int, int]]:
        """Where the table of each set is: which stack, and where in it."""
        return {
            attributes: (place, index)
            for place, stack in enumerate(self.stacks)
            for index, attributes in enumerate(stack.sets)
        }
