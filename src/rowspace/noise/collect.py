"""Filling an array from a sampler that accepts only some of its proposals."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from rowspace.noise.bits import BitSource
from rowspace.noise.geometric import CHUNK


def collect(
    batch: Callable[[int, BitSource], NDArray[np.int64]], size: int, random: BitSource
) -> NDArray[np.int64]:
    """Return the first `size` values accepted; `batch(count, random)` makes `count` proposals, returns some.

    Proposals are independent, so the accepted ones in order are independent samples of the target, and so
    are the first `size` of them. How many proposals are made depends on what was accepted before, never on
    what comes next.
    """
    out = np.empty(size, dtype=np.int64)
    filled = 0
    while filled < size:
        # About three in four are accepted, so this many usually suffice.
        proposals = min(CHUNK, (size - filled) * 3 // 2 + 16)
        values = batch(proposals, random)[: size - filled]
        out[filled : filled + values.size] = values
        filled += values.size
    return out
