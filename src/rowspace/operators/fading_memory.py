"""What a triangle over very many periods remembers: Σx and Σ(2(s − a) − (h − 1))·x of blocks [a, a + h).

Blocks have lengths that are powers of two, and begin at multiples of them. A block is there from h/2 periods after its
end on, and becomes part of one of length 2h when that is: at time t the blocks [t − 3h, t − 2h) and [t − 2h, t − h)
become one, h being the largest power of two that divides t. So there are at most 2 log₂ t numbers, whose sums stay
integers. Where periods are taken in steps, blocks no longer than a step are kept period by period.
"""

from __future__ import annotations

import numpy as np

from .checks import Array, Indices


def along(h: int) -> Indices:
    """Where the periods of a block are, from its middle, in half periods."""
    return np.arange(1 - h, h, 2)


def blocks_before(t: int, step: int = 1) -> list[tuple[int, int]]:
    """(start, length) of the blocks that row t sees, oldest first, the last ones period by period.

    step: a power of two that divides t; blocks no longer than that are seen period by period.

    >>> blocks_before(12)
    [(0, 8), (8, 2), (10, 1), (11, 1)]
    """
    found, h = [(s, 1) for s in range(max(0, t - (2 - t // step % 2) * step), t)][::-1], 2 * step
    while 3 * h <= 2 * t:
        phase = t % (2 * h)
        first = t - phase - (2 * h if phase < h else 0)
        if first >= 0 and h <= 2 * phase < 2 * h:
            found.append((first + h, h))
        if first >= 0 and (phase < h or 2 * phase >= 3 * h):
            found.append((first, h))
        h *= 2
    return found[::-1]


def remembered(x: Array) -> Array:
    """What is remembered of the periods so far, the first axis of x being time."""
    found = []
    for a, h in blocks_before(len(x)):
        own = x[a : a + h]
        found.append(own.sum(axis=0))
        if h > 1:
            found.append(np.tensordot(along(h), own, axes=1))
    return np.array(found, dtype=x.dtype).reshape(-1, *x.shape[1:])


def counted(memory: Array, t: int) -> Array:
    """The sum over the periods before row t, from what is remembered of them."""
    numbers = [min(2, h) for _, h in blocks_before(t)]
    return np.asarray(memory[np.cumsum([0, *numbers])[:-1]].sum(axis=0))


def _merging(t: int, step: int) -> tuple[int, int] | None:
    """(numbers before the two blocks that become one at time t, the length of each); None where there are none."""
    h = t & -t
    if not t or t < 3 * h:
        return None
    return sum(min(length, 2) for a, length in blocks_before(t, step) if a < t - 3 * h), h


def condensed(memory: Array, t: int, step: int = 1) -> Array:
    """What is remembered before row t, from what was before row t - step, followed by the counts of that step."""
    merging = _merging(t, step)
    if merging is None:
        return memory
    before, h = merging
    if h == step:
        after = before + 2 * h
        raw = memory[before:after]
        both = [raw.sum(axis=0), np.tensordot(along(2 * h), raw, axes=1)]
    else:
        after = before + 4
        left, left_along, right, right_along = memory[before:after]
        both = [left + right, left_along + right_along + h * (right - left)]
    return np.concatenate([memory[:before], np.array(both, dtype=memory.dtype), memory[after:]])


def as_before(memory: Array, t: int, step: int) -> Array:
    """The transpose of `condensed`."""
    merging = _merging(t, step)
    if merging is None:
        return memory
    before, h = merging
    whole, slope = memory[before : before + 2]
    if h == step:
        parts = whole + np.multiply.outer(along(2 * h), slope)
    else:
        parts = np.array([whole - h * slope, slope, whole + h * slope, slope])
    return np.concatenate([memory[:before], parts, memory[before + 2 :]])
