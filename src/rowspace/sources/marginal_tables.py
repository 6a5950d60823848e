"""Many marginal tables of one table of records, those of equal shape stacked in one array."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import prod

import numpy as np
import numpy.typing as npt

from rowspace.exceptions import InvalidInput

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


#: About how many cells cost as much as one pass over a million records, be they codes streamed from DuckDB or grouped
#: in PostgreSQL (docs/design/009).
CELLS_PER_PASS = 50_000

#: Larger tables that stand for wanted ones are held together in memory while counting: 512 MB of int64.
MAX_JOINED_CELLS = 2**26


def count_of_cells(tables: Collection[AttributeSet], shape: Sequence[int]) -> int:
    """Cells of all tables together, however many."""
    return sum(prod(shape[i] for i in attributes) for attributes in tables)


def cost(tables: Collection[AttributeSet], shape: Sequence[int]) -> int:
    """What it costs to count these tables, in cells: a pass over the records each, and their cells.

    The records are taken to be a million, whatever their number: the true one must not decide anything that can be seen
    from outside.

    >>> pairs = [(0, 1), (0, 2), (1, 2)]
    >>> cost(pairs, (10, 10, 10)), cost([(0, 1, 2)], (10, 10, 10))
    (150300, 51000)
    """
    return len(tables) * CELLS_PER_PASS + count_of_cells(tables, shape)


def tables_to_count(
    sets: Collection[AttributeSet], shape: Sequence[int], *, apart: Collection[int] = ()
) -> list[AttributeSet]:
    """The cheapest choice of tables found of which all wanted ones are sums, in lexicographic order.

    A marginal of a marginal is a marginal: one larger table may stand for many. Tried are the wanted tables that are
    below no other, and for a few partitions of the attributes into groups the
    unions of the groups that each wanted table touches. A partition never needs more tables than there are wanted ones.
    apart: attributes of which no two come into one table that is not wanted: sums of parts are costlier than counts.

    >>> tables_to_count([(), (0,), (0, 1), (0, 2), (1, 2)], (10, 10, 10))
    [(0, 1, 2)]
    >>> tables_to_count([(), (0,), (0, 1), (0, 2), (1, 2)], (100, 100, 100))
    [(0, 1), (0, 2), (1, 2)]
    """
    wanted = best = Supersets(sets, shape).maximal()
    for groups in _partitions(sorted({i for attributes in wanted for i in attributes}), shape):
        touched = {frozenset(groups[i] for i in attributes) for attributes in wanted}
        joined = {tuple(sorted(i for group in own for i in group)) for own in touched}
        too_many = bool(apart) and any(sum(i in apart for i in own) > 1 for own in joined.difference(wanted))
        if too_many or count_of_cells(joined, shape) > MAX_JOINED_CELLS:
            continue
        tables = Supersets(joined, shape).maximal()
        if cost(tables, shape) < cost(best, shape):
            best = tables
    return sorted(best)


def _partitions(attributes: Sequence[int], shape: Sequence[int]) -> Iterator[dict[int, AttributeSet]]:
    """Partitions into ever larger groups, up to one group for all; each as the group of every attribute."""
    ascending = sorted(attributes, key=lambda i: shape[i])
    seen: set[tuple[AttributeSet, ...]] = {tuple((i,) for i in ascending)}
    most = 2
    while most <= MAX_JOINED_CELLS:
        groups = tuple(_packed(ascending, shape, most))
        if groups not in seen:
            seen.add(groups)
            yield {i: group for group in groups for i in group}
        if len(groups) <= 1:
            return
        most *= 2


def _packed(ascending: Sequence[int], shape: Sequence[int], most: int) -> Iterator[AttributeSet]:
    """Groups of attributes with at most `most` cells, or of one attribute."""
    group: list[int] = []
    for i in ascending:
        if group and prod(shape[j] for j in group) * shape[i] > most:
            yield tuple(group)
            group = []
        group.append(i)
    if group:
        yield tuple(group)


class Supersets:
    """Sets of attributes in the order of their cells, and for any set the smallest of them above it.

    Each attribute has an integer whose bit k says whether the k-th set contains it, so that a search among
    thousands of sets is an AND of a few long integers.
    """

    def __init__(self, sets: Collection[AttributeSet], shape: Sequence[int]) -> None:
        # Of equally many cells the larger set comes later: it may be above the smaller one, never below.
        self.ascending = sorted(set(sets), key=lambda s: (prod(shape[i] for i in s), len(s), s))
        self._position = {attributes: position for position, attributes in enumerate(self.ascending)}
        containing: dict[int, bytearray] = {}
        for position, attributes in enumerate(self.ascending):
            for i in attributes:
                bits = containing.setdefault(i, bytearray(len(self.ascending) // 8 + 1))
                bits[position // 8] |= 1 << position % 8
        self._containing = {i: int.from_bytes(bits, "little") for i, bits in containing.items()}

    def above(self, attributes: AttributeSet) -> AttributeSet | None:
        """The smallest of the sets that strictly contains one of them, or None."""
        first = self._position[attributes] + 1
        found = (1 << len(self.ascending)) - 1
        for i in attributes:
            found &= self._containing[i]
        found >>= first
        return self.ascending[first + (found & -found).bit_length() - 1] if found else None

    def maximal(self) -> list[AttributeSet]:
        """The sets that no other of them contains; one of the most attributes is in no other."""
        most = max(map(len, self.ascending), default=0)
        return [own for own in self.ascending if len(own) == most or self.above(own) is None]
