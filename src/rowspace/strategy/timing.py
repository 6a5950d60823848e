"""Where time is among the cells of a strategy."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

import numpy as np

from rowspace import operators as op
from rowspace.operators import Indices


def by_period(sizes: Sequence[int], axis: int) -> Indices:
    """The cells of a domain in the order of time: those of the first period first, each period in its own order."""
    cells = np.arange(int(np.prod(sizes))).reshape(tuple(sizes))
    return np.ascontiguousarray(np.moveaxis(cells, axis, 0)).ravel()


def factor_of_time(product: op.Kronecker, sizes: Sequence[int], axis: int) -> int | None:
    """Which factor is about time alone; the others may be about several attributes each."""
    before = np.cumprod([1, *(f.shape[1] for f in product.factors)]).tolist()
    where = before.index(prod(sizes[:axis])) if prod(sizes[:axis]) in before else len(product.factors)
    fits = before[-1] == prod(sizes) and where < len(product.factors)
    return where if fits and product.factors[where].shape[1] == sizes[axis] else None
