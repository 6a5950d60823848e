"""How many rows each privacy unit has, and what a cap on them leaves out. Not private: for the curator of the data."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from rowspace.sources.coding import fetch

__all__ = ["Cap", "UnitSizes", "unit_sizes"]

_SHARES = (0.25, 0.5, 0.75, 0.9, 0.95, 0.99)
_STEPS = (1, 2, 3, 5)


@dataclass(frozen=True)
class Cap:
    """A cap on the rows of each unit: how many rows are beyond it, and their share of all."""

    rows: int
    left_out: int
    share: float


@dataclass(frozen=True)
class UnitSizes:
    """The distribution of rows per unit.

    Attributes
    ----------
    units, rows: how many there are; rows that no answer counts are not among them.
    quantiles: of every share of units, how many rows they have at most.
    largest: the rows of the unit that has most.
    caps: what caps leave out, the declared one among them, up to the first that leaves out nothing.
    """

    units: int
    rows: int
    quantiles: tuple[tuple[float, int], ...]
    largest: int
    caps: tuple[Cap, ...]


def unit_sizes(backend: Any, rows: Any, declared: int) -> UnitSizes:
    """The distribution of rows over column `unit`: one query, which gives how many units have how many rows."""
    units = rows.group_by("unit").aggregate(size=rows.count())
    histogram = fetch(backend, units.group_by("size").aggregate(units=units.count())).to_pylist()
    if not histogram:
        return UnitSizes(0, 0, (), 0, ())
    pairs = sorted((int(row["size"]), int(row["units"])) for row in histogram)
    sizes, numbers = (np.array(side, np.int64) for side in zip(*pairs, strict=True))
    up_to, total = np.cumsum(numbers), int(sizes @ numbers)
    at = np.searchsorted(up_to, [share * up_to[-1] for share in _SHARES])
    largest = int(sizes[-1])
    caps = []
    for cap in _caps(largest, declared):
        left_out = int(np.maximum(sizes - cap, 0) @ numbers)
        caps.append(Cap(cap, left_out, left_out / total))
    quantiles = tuple((share, int(sizes[k])) for share, k in zip(_SHARES, at, strict=True))
    return UnitSizes(int(up_to[-1]), total, quantiles, largest, tuple(caps))


def _caps(largest: int, declared: int) -> list[int]:
    """1, 2, 3, 5, 10, 20, 50, 100, … up to the first that leaves out nothing, and the declared one."""
    found, tens = {declared}, 1
    while True:
        for step in _STEPS if tens == 1 else (1, 2, 5):
            found.add(step * tens)
            if step * tens >= largest:
                return sorted(found)
        tens *= 10
