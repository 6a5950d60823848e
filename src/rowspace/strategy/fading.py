"""The triangle for horizons whose optimum is out of reach: the causal root of prefixes in the limit, columns alike.

It is close to the spectral bound: 1.028 at 4,096 periods (the optimum: 1.022), 1.021 at 10⁵, 1.023 at 10⁶ in 30 bits.
It serves counts of prefixes, in total or, made for a horizon a little longer than there is, for the worst of them.
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from rowspace.operators import Fading

MOST_BITS = 30
"""Bits of the largest weight: what leaves room for a billion records."""

_PASSES = 9
_POWER = 0.7
"""Of what is left of a column's squared norm after a pass: its weight is in half of it, its neighbours' in the rest."""


@lru_cache(maxsize=2)
def fading(n: int, objective: str = "total", bits: int = MOST_BITS) -> Fading:
    """The triangle over n periods, with columns of nearly one norm. bits: at most so many in an entry."""
    # Lines that fall by one in the length of the longest block must still fall.
    bits = min(bits, 3 * n.bit_length() // 2 + 2)
    horizon = n if objective == "total" else n + n // 16
    relative, power = np.ones(n), 0.5
    for number in range(_PASSES):
        # Weights are largest for the last periods, whose columns are short, but for the first time.
        grid = 2.0 ** (bits - (0 if number else 3)) / relative.max()
        C = Fading(horizon, np.maximum(1, np.rint(relative * grid)).astype(np.int64))
        squares = C.squared_norms
        relative = C.weights * (np.median(squares) / squares) ** power
        power = _POWER
    return C
