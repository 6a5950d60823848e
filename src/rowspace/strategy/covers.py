"""Cover designs: few larger sets of attributes that contain all wanted ones.

Under Laplace noise every measured table adds its weight to the sensitivity, so a few larger tables can beat many small
ones. The best small covers are Steiner systems, where every wanted set lies in exactly one block. Greedy choice in
lexicographic order finds some of them (S(2,3,7), S(3,4,8), …: they are lexicographic codes), cyclic difference sets
others.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations
from math import comb

import numpy as np
import numpy.typing as npt

from rowspace.operators import Vector
from rowspace.tables import mask_of, members

Flags = npt.NDArray[np.bool_]

LISTED_BLOCKS = 4000
"""Most blocks that are all compared at each greedy choice; past that blocks are grown attribute by attribute."""

CYCLIC: tuple[tuple[int, tuple[tuple[int, ...], ...]], ...] = (
    (7, ((0, 1, 3),)),
    (13, ((0, 1, 3, 9),)),
    (13, ((0, 1, 4), (0, 2, 7))),
    (21, ((0, 1, 4, 14, 16),)),
    (31, ((1, 5, 11, 24, 25, 27),)),
    (10, ((0, 1, 3, 4), (0, 1, 2, 6), (0, 2, 4, 7))),
)
"""(points, base blocks): all their shifts form a Steiner system of pairs (the last one: of triples)."""


def maximal(masks: list[int]) -> list[int]:
    """The sets that lie in no other."""
    kept: list[int] = []
    for mask in sorted(set(masks), key=lambda m: (-m.bit_count(), members(m))):
        if not any(mask & ~other == 0 for other in kept):
            kept.append(mask)
    return kept


def covers_by_size(
    wanted: list[int], size: int, rng: np.random.Generator, tries: int
) -> Iterator[tuple[int, ...]]:
    """Covers by blocks of at most `size` attributes: known designs first, then greedy ones in different orders."""
    attributes = members(_union(wanted))
    if size >= len(attributes):
        yield (_union(wanted),)
        return
    if all(mask.bit_count() == size for mask in wanted):
        yield tuple(wanted)
        return
    yield from _known(wanted, attributes, size)
    if comb(len(attributes), size) <= LISTED_BLOCKS:
        blocks = [mask_of(block) for block in combinations(attributes, size)]
        for attempt in range(tries):
            order = np.arange(len(blocks)) if attempt == 0 else rng.permutation(len(blocks))
            yield _greedy(wanted, [blocks[k] for k in order])
    else:
        yield _grown(wanted, attributes, size, rng)


def _union(masks: list[int]) -> int:
    union = 0
    for mask in masks:
        union |= mask
    return union


def _known(wanted: list[int], attributes: list[int], size: int) -> Iterator[tuple[int, ...]]:
    """The designs on enough points whose blocks, cut down to the attributes there are, cover everything."""
    designs = [
        (points, [[(b + shift) % points for b in base] for base in bases for shift in range(points)])
        for points, bases in CYCLIC
    ]
    designs.append((9, _affine_plane_of_nine()))
    for points, blocks in designs:
        if len(blocks[0]) == size and len(attributes) <= points <= len(attributes) + 2:
            cut = [mask_of(sorted({attributes[b] for b in block if b < len(attributes)})) for block in blocks]
            cover = maximal(cut)
            if _containment(wanted, cover).any(axis=0).all():
                yield tuple(_without_idle(wanted, cover))


def _affine_plane_of_nine() -> list[list[int]]:
    """The 12 lines of the 3 × 3 plane: S(2, 3, 9)."""
    lines = [[3 * x + (slope * x + shift) % 3 for x in range(3)] for slope in range(3) for shift in range(3)]
    return lines + [[3 * x + y for y in range(3)] for x in range(3)]


def _greedy(wanted: list[int], blocks: list[int]) -> tuple[int, ...]:
    """Always the block, the first of them, that covers most of what is not covered yet."""
    covered = _containment(wanted, blocks)
    gains, left, chosen = covered.sum(axis=1), np.ones(len(wanted), dtype=bool), []
    while left.any():
        best = int(np.argmax(gains))
        chosen.append(blocks[best])
        new = left & covered[best]
        gains = gains - covered[:, new].sum(axis=1)
        left &= ~new
    return tuple(_without_idle(wanted, chosen))


def _grown(wanted: list[int], attributes: list[int], size: int, rng: np.random.Generator) -> tuple[int, ...]:
    """Blocks grown from an uncovered set by the attribute that completes most uncovered ones."""
    table = _indicator(wanted, attributes)
    left, chosen = rng.permutation(len(wanted)), []
    while left.size:
        inside = table[left[0]].copy()
        while inside.sum() < size:
            missing = table[left] & ~inside
            lacking = missing.sum(axis=1)
            # Sets that lack one attribute count; those that lack two decide ties.
            scores: Vector = np.where(lacking == 1, 1.0, np.where(lacking == 2, 0.01, 0.0)) @ missing
            if not scores.any():
                break
            inside[int(np.argmax(np.where(inside, -1.0, scores)))] = True
        chosen.append(mask_of(a for a, flag in zip(attributes, inside.tolist(), strict=True) if flag))
        left = left[(table[left] & ~inside).any(axis=1)]
    return tuple(_without_idle(wanted, chosen))


def _without_idle(wanted: list[int], blocks: list[int]) -> list[int]:
    """The blocks without those whose sets all lie in others, latest first."""
    covered = _containment(wanted, blocks)
    times, kept = covered.sum(axis=0), []
    for block, covers in reversed(list(zip(blocks, covered, strict=True))):
        if (times[covers] > 1).all():
            times = times - covers
        else:
            kept.append(block)
    return kept[::-1]


def _containment(wanted: list[int], blocks: list[int]) -> Flags:
    """Which block (row) contains which wanted set (column): a matrix product counts the attributes it lacks."""
    attributes = members(_union(wanted))
    lacking = (~_indicator(blocks, attributes)).astype(np.float64) @ _indicator(wanted, attributes).T
    return np.asarray(lacking == 0)


def _indicator(masks: list[int], attributes: list[int]) -> Flags:
    """Sets as rows of flags, one per attribute."""
    flags = [[bool(mask >> attribute & 1) for attribute in attributes] for mask in masks]
    return np.array(flags, dtype=bool).reshape(len(masks), len(attributes))
