"""Filling an array from batches of unknown size: in order, without loss, without excess."""

from __future__ import annotations

import numpy as np
import pytest

from rowspace.noise import InsecureSeededRandom
from rowspace.noise.arguments import collect
from rowspace.noise.bits import BitSource
from rowspace.noise.laplace import CHUNK


@pytest.mark.parametrize("keep", [0.01, 0.5, 1.0])
@pytest.mark.parametrize("size", [0, 1, 1000, CHUNK + 1, 3 * CHUNK])
def test_takes_the_first_accepted_in_order(keep: float, size: int) -> None:
    proposed, accepted = [], [0]

    def batch(count: int, random: BitSource) -> np.ndarray:
        proposed.append(count)
        start = accepted[0]
        accepted[0] += max(1, int(keep * count))
        return np.arange(start, accepted[0])

    out = collect(batch, size, InsecureSeededRandom(1))
    taken = out.tolist()
    assert len(taken) == size
    assert taken == list(range(size))
    assert all(0 < count <= CHUNK for count in proposed)
