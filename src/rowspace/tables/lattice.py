"""Families of attribute sets closed downwards, with sums over the sets above or below each.

A set of attributes is an integer whose bit i says whether attribute i is in it. All marginals commute: their Gram
matrices share one eigenspace per set R (what varies in exactly the attributes R and sums to zero along each), so that
everything about a strategy or workload of marginals is one number per set.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate, pairwise
from operator import lt
from typing import Any

import numpy as np

from rowspace.exceptions import InvalidInput, TooLarge
from rowspace.operators import Indices, Vector, check_size

LARGEST_SET = 22
"""Most attributes (of two or more cells) in one set: all of its subsets are listed."""

LARGEST_LATTICE = 2**LARGEST_SET
"""Most sets in one family."""


SLOW_ENTRIES = 2**24
"""Most numbers that are sorted row by row, where sets of attributes do not fit numbers of 64 bits."""


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


def checked_set(attributes: Any, number: int) -> tuple[int, ...]:
    """Ascending attribute numbers, or `InvalidInput`."""
    if type(attributes) is tuple and all(type(a) is int for a in attributes):
        # There may be a hundred thousand sets: the usual case takes no calls.
        if all(map(lt, attributes, attributes[1:])) and (
            not attributes or (attributes[0] >= 0 and attributes[-1] < number)
        ):
            return attributes
        raise InvalidInput(f"expected attribute numbers below {number}, ascending and different")
    if not isinstance(attributes, (tuple, list)):
        raise InvalidInput("expected every set to be a tuple of attribute numbers")
    checked = tuple(check_size("an attribute number", attribute, 0) for attribute in attributes)
    if any(a >= b for a, b in pairwise(checked)) or (checked and checked[-1] >= number):
        raise InvalidInput(f"expected attribute numbers below {number}, ascending and different")
    return checked


@dataclass(frozen=True)
class SubsetLattice:
    """All subsets of some sets, numbered by size, then in lexicographic order.

    `orders[k]` lists the sets of k attributes, one ascending row each; `below[k][:, j]` says which set of `orders[k−1]`
    is left without the j-th attribute.
    """

    orders: tuple[Indices, ...]
    below: tuple[Indices, ...]

    @classmethod
    def under(cls, masks: Iterable[int]) -> SubsetLattice:
        """The sets and everything below them; `TooLarge` when that is too many to list."""
        rows: dict[int, list[list[int]]] = {}
        for mask in set(masks):
            rows.setdefault(mask.bit_count(), []).append(members(mask))
        return cls.under_rows({k: np.array(sets, dtype=np.int64) for k, sets in rows.items()})

    @classmethod
    def under_rows(cls, rows: Mapping[int, Indices]) -> SubsetLattice:
        """The same for sets given as ascending rows of attribute numbers, by number of attributes."""
        largest = max(rows, default=0)
        if largest > LARGEST_SET:
            raise TooLarge(
                f"a marginal over more than {LARGEST_SET} attributes has too many subsets; use smaller ones"
            )
        width = 1 + max((int(sets.max()) for k, sets in rows.items() if k and len(sets)), default=0)
        orders: list[Indices] = [np.empty((0, 0), dtype=np.int64)] * (largest + 1)
        below = list(orders)
        above = np.empty((0, largest + 1), dtype=np.int64)
        total = 0
        for k in range(largest, -1, -1):
            # The sets of k attributes: those given, and every set of k + 1 attributes without one of them.
            given = rows.get(k, np.empty((0, k), dtype=np.int64)) if k else np.empty((1, 0), dtype=np.int64)
            found, inverse = _distinct(given, above, width)
            if len(above):
                below[k + 1] = inverse[len(given) :].reshape(k + 1, len(above)).T
            orders[k] = above = found
            total += len(found)
            if total > LARGEST_LATTICE:
                raise TooLarge(
                    f"these marginals have more than {LARGEST_LATTICE} subsets; use fewer or smaller ones"
                )
        below[0] = np.empty((1, 0), dtype=np.int64)
        return cls(tuple(orders), tuple(below))

    @cached_property
    def offsets(self) -> list[int]:
        """The number of the first set of every size, and the number of all sets."""
        return list(accumulate((len(rows) for rows in self.orders), initial=0))

    @property
    def size(self) -> int:
        """Number of sets."""
        return self.offsets[-1]

    @cached_property
    def sets(self) -> tuple[tuple[int, ...], ...]:
        """Every set as its attribute numbers."""
        return tuple(tuple(row) for rows in self.orders for row in rows.tolist())

    @cached_property
    def masks(self) -> tuple[int, ...]:
        """Every set as an integer."""
        return tuple(mask_of(attributes) for attributes in self.sets)

    @cached_property
    def index(self) -> Mapping[int, int]:
        """The number of every set."""
        return {mask: number for number, mask in enumerate(self.masks)}

    @cached_property
    def steps(self) -> Mapping[int, tuple[Indices, Indices]]:
        """For every attribute that occurs, the sets that contain it, and the same sets without it.

        A sum over all subsets or supersets is then one vectorized addition per attribute.
        """
        attribute = np.concatenate([rows.T.ravel() for rows in self.orders])
        with_it = np.concatenate(
            [np.tile(np.arange(len(rows)) + self.offsets[k], k) for k, rows in enumerate(self.orders)]
        )
        without = np.concatenate(
            [below.T.ravel() + (self.offsets[k - 1] if k else 0) for k, below in enumerate(self.below)]
        )
        order = np.argsort(attribute, kind="stable")
        names, starts = np.unique(attribute[order], return_index=True)
        pieces = zip(np.split(with_it[order], starts[1:]), np.split(without[order], starts[1:]), strict=True)
        return dict(zip(names.tolist(), pieces, strict=True)) if len(names) else {}

    def vector(self, values: Mapping[int, float]) -> Vector:
        """One number per set, zero where none is given."""
        out = np.zeros(self.size)
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
        each = np.asarray(factors, dtype=np.float64)
        return np.concatenate([each[rows].prod(axis=1) for rows in self.orders])

    def find(self, rows: Indices) -> Indices:
        """The numbers of sets given as ascending rows of the same size, all of which must be there."""
        k = rows.shape[1]
        if k == 0 or not len(rows):
            return np.zeros(len(rows), dtype=np.int64)
        width = 1 + max(int(own.max()) for own in self.orders[1:])
        if _has_keys(k, width):
            place = np.searchsorted(_keys(self.orders[k], width), _keys(rows, width))
        else:
            numbers = {tuple(row): number for number, row in enumerate(self.orders[k].tolist())}
            place = np.array([numbers[tuple(row)] for row in rows.tolist()], dtype=np.int64)
        return np.asarray(place + self.offsets[k])


def _has_keys(k: int, width: int) -> bool:
    """Whether sets of k attributes below `width` fit numbers of 64 bits."""
    return width <= 62 or width**k < 2**62


def _keys(rows: Indices, width: int) -> Indices:
    """Rows of attribute numbers as numbers that sort as the rows do: the earlier an attribute, the higher its bit."""
    keys = np.zeros(len(rows), dtype=np.int64)
    for column in rows.T:
        keys = keys - (1 << (61 - column)) if width <= 62 else keys * width + column
    return keys


def _distinct(given: Indices, above: Indices, width: int) -> tuple[Indices, Indices]:
    """(the distinct rows in lexicographic order, the number of each row among them).

    The rows are those given, then those above without their first attribute, then without their second, and so on.
    """
    k = given.shape[1]
    removed = range(k + 1) if len(above) else ()
    if not _has_keys(k, width):
        if len(removed) * len(above) * k > SLOW_ENTRIES:
            raise TooLarge(
                "these marginals of many attributes have too many subsets; use fewer or smaller ones"
            )
        rows = np.concatenate([given, *(np.delete(above, j, axis=1) for j in removed)])
        found, inverse = np.unique(rows, axis=0, return_inverse=True)
        return found, inverse.ravel()
    # Only keys are held for all rows at once: there are k + 1 times as many as sets above.
    keys = [_keys(given, width), *(_keys(np.delete(above, j, axis=1), width) for j in removed)]
    _, first, inverse = np.unique(np.concatenate(keys), return_index=True, return_inverse=True)
    found = np.empty((len(first), k), dtype=np.int64)
    own = first < len(given)
    found[own] = given[first[own]]
    for j in removed:
        own = (first >= len(given) + j * len(above)) & (first < len(given) + (j + 1) * len(above))
        found[own] = np.delete(above[first[own] - len(given) - j * len(above)], j, axis=1)
    return found, inverse
