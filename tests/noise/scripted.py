"""A bit source that says what it is told to, so that a test can walk into any branch of a sampler."""

from __future__ import annotations

from collections import deque

import numpy as np
from numpy.typing import NDArray

from rowspace.noise import BitSource
from rowspace.noise.expansion import Logistic
from rowspace.noise.laplace import SignedGeometric


class ScriptedBits(BitSource):
    """Hands out the scripted words in order; a request of another size than scripted is a failure."""

    def __init__(self, *script: NDArray[np.unsignedinteger]) -> None:
        self._script = deque(script)

    def words8(self, count: int) -> NDArray[np.uint8]:
        if count == 0:
            return np.empty(0, dtype=np.uint8)
        if not self._script:
            raise AssertionError(f"script exhausted by a request for {count} bytes")
        piece = self._script.popleft().view(np.uint8).copy()
        if piece.size != count:
            raise AssertionError(f"scripted {piece.size} bytes, {count} were asked for")
        return piece

    @property
    def used_up(self) -> bool:
        return not self._script


def word8(*values: int) -> NDArray[np.uint8]:
    return np.array(values, dtype=np.uint8)


def word32(*values: int) -> NDArray[np.uint32]:
    return np.array(values, dtype=np.uint32)


def word64(*values: int) -> NDArray[np.uint64]:
    return np.array(values, dtype=np.uint64)


def split(bits: int, *widths: int) -> list[int]:
    """Cut an integer of sum(widths) bits into words, first word first."""
    words = []
    for width in reversed(widths):
        words.append(bits % 2**width)
        bits >>= width
    return words[::-1]


def proposal(law: SignedGeometric, magnitude: int, negative: bool) -> list[NDArray[np.unsignedinteger]]:
    """Return the script that makes `law.draw(1)` yield G = magnitude < 2^digits: a zero flips to one, 255 to zero."""
    flips = [magnitude >> i & 1 for i in range(law.digits)] + [0, int(negative)]
    # A zero byte ties where the probability is below 1/256; a zero word then settles it.
    rare = [Logistic(law.rate * 2**i).prefix(8) == 0 for i in range(law.digits)] + [
        False,
        law.negative.prefix(8) == 0,
    ]
    ties = sum(1 for flip, is_rare in zip(flips, rare, strict=True) if flip and is_rare)
    opening = word8(*(0 if flip else 255 for flip in flips))
    return [opening, word64(*[0] * ties)] if ties else [opening]
