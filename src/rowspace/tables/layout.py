"""Where the tables of a strategy lie in one flat vector, gathered into stacks of equal shape.

Thousands of small tables are handled a stack at a time: an array (tables, rows along the first attribute, …).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate
from math import prod

import numpy as np

from rowspace.operators import Array, Indices

BLOCK = 2**22
"""Most numbers of a stack that are worked on at once."""


@dataclass(frozen=True)
class TableStack:
    """Some tables of one shape: their numbers among all tables, and where each begins."""

    numbers: Indices
    starts: Indices
    shape: tuple[int, ...]

    @property
    def cells(self) -> int:
        """Numbers in one table."""
        return prod(self.shape)

    @cached_property
    def _contiguous(self) -> bool:
        return bool((np.diff(self.starts) == self.cells).all())

    @property
    def where(self) -> slice | Indices:
        """The place of these tables in the flat vector, a slice where they follow one another."""
        if self._contiguous:
            return slice(int(self.starts[0]), int(self.starts[-1]) + self.cells)
        return (self.starts[:, None] + np.arange(self.cells)).ravel()

    def taken(self, flat: Array) -> Array:
        """The tables (tables, *shape): a view of the flat vector where they follow one another."""
        return flat[self.where].reshape(len(self.numbers), *self.shape)

    def blocks(self) -> Iterator[TableStack]:
        """The stack in pieces of about `BLOCK` numbers."""
        step = max(1, BLOCK // max(1, self.cells))
        for start in range(0, len(self.numbers), step):
            chosen = slice(start, start + step)
            yield TableStack(self.numbers[chosen], self.starts[chosen], self.shape)


@dataclass(frozen=True)
class TableLayout:
    """Tables one after the other; `kinds` tells apart tables of equal shape that are not treated alike."""

    shapes: tuple[tuple[int, ...], ...]
    kinds: tuple[object, ...]

    @cached_property
    def offsets(self) -> list[int]:
        """Where each table begins, and the length of the whole."""
        return list(accumulate(map(prod, self.shapes), initial=0))

    @cached_property
    def stacks(self) -> tuple[TableStack, ...]:
        """The tables by shape and kind, in the order of their first."""
        found: dict[object, list[int]] = {}
        for number, key in enumerate(zip(self.shapes, self.kinds, strict=True)):
            found.setdefault(key, []).append(number)
        starts = np.array(self.offsets)
        return tuple(
            TableStack(np.array(numbers), starts[numbers], self.shapes[numbers[0]])
            for numbers in found.values()
        )


def along(array: Array, axis: int, matrix: Array) -> Array:
    """The matrix applied along one axis of an array."""
    moved = np.tensordot(array, matrix, axes=(axis, 1))
    return np.moveaxis(moved, -1, axis)


def divided_product(values: Indices, weights: Indices, bits: int) -> tuple[Indices, Indices]:
    """(q, r) with values·weights = q·2^bits + r and 0 ≤ r < 2^bits, exactly; the product itself may pass 64 bits.

    For |values| < 2⁶², weights ≥ 0 along the first axis, bits ≤ 60 and q in range. With weights below 2³¹ and
    values = h·2³¹ + l, 0 ≤ l < 2³¹, the product is h·w·2³¹ + l·w, where |h·w| < 2⁶² and l·w < 2⁶². Larger weights
    belong to the few smallest tables: there Python's integers do it.
    """
    w = weights.reshape(-1, *[1] * (values.ndim - 1))
    if weights.max(initial=0) >= 2**31:
        product = values.astype(object) * w
        return (product >> bits).astype(np.int64), (product & (2**bits - 1)).astype(np.int64)
    high, low = values >> 31, (values & (2**31 - 1)) * w
    high *= w
    if bits <= 31:
        return (high << (31 - bits)) + (low >> bits), low & (2**bits - 1)
    # What of h·w·2³¹ is below 2^bits joins the low part: together below 2^bits + 2⁶² < 2⁶³.
    low += (high & (2 ** (bits - 31) - 1)) << 31
    return (high >> (bits - 31)) + (low >> bits), low & (2**bits - 1)
