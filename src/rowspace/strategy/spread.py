"""The best strategy for units that are counted once in a cell and in at most k cells, under Gaussian noise.

Cells in which one unit may be together are like periods in which it may come back, each next to the one before: so are
the problem, its bound and its optimum (`recurring`). Without negative entries of AᵗA the optimum is about as good, and
two units in each other's place move it √2 times as far as one, not twice.
"""

from __future__ import annotations

import time
from math import prod

import numpy as np

from rowspace.operators import Dense, Operator
from rowspace.privacy import Privacy
from rowspace.tables import ProductWorkload

from .causal import invertible_factor
from .classical import IdentityStrategy
from .participation import SPREAD_CELLS, is_spread
from .product_bounds import union_bound
from .recurring import bound_of_moments, recurring_optimum
from .result import Result, judged
from .row_space import workload_gram

NAME = "for units in several cells"

SEARCHED_CELLS = 256
"""Most cells for which it is searched; beyond, too few of the sets can be looked at for it to be better than others."""


def spread_bound(queries: ProductWorkload, privacy: Privacy) -> float:
    """What no strategy goes below for tables and such units, in the unit of E; 0 of queries that are no tables.

    Cells of tables can change places, so the best AᵗA can be taken to have one diagonal. The mean of ‖A1_S‖² over all
    sets of k of n cells is at least k(n − k)/(n(n − 1)) of its trace: so many times n is what one cell moves.
    """
    if privacy.unit is None or not queries.only_cells:
        return 0.0
    n = prod(queries.sizes)
    most = min(privacy.unit.rows, n)
    return union_bound(queries, False) * max(1.0, most * (n - most) / max(1, n - 1))


def spread_optimum(W: Operator, privacy: Privacy) -> tuple[Result | None, float]:
    """The best strategy found for such units, and what none goes below in the unit of E; over few enough cells.

    >>> from rowspace import ZCDP, PrivacyUnit, operators as op
    >>> privacy = ZCDP(0.5, unit=PrivacyUnit("patient", rows=4, distinct=True))
    >>> spread_optimum(op.Identity(8), privacy)[1] > 0.9 * 4 * 8 * (1 - 3 / 7)
    True
    """
    cells, unit = W.shape[1], privacy.unit
    if unit is None or not is_spread(privacy) or cells > SPREAD_CELLS:
        return None, 0.0
    started, V, most = time.perf_counter(), workload_gram(W), min(unit.rows, cells)
    if cells > SEARCHED_CELLS:
        # All sets of so many cells alike: 1_S·1_Sᵗ on average.
        together = np.full((cells, cells), most * (most - 1) / (cells * (cells - 1)))
        np.fill_diagonal(together, most / cells)
        return None, bound_of_moments(together, V)
    found = recurring_optimum(V, most, 1, signed=False)
    A, seconds = Dense(invertible_factor(found.X)), time.perf_counter() - started
    return judged(NAME, A, W, privacy, status="near its bound", steps=0, seconds=seconds), found.bound


def also_tried(W: Operator, privacy: Privacy) -> list[Result]:
    """What may draw less noise than strategies that are best where it is continuous and units have rows in one cell."""
    spread = spread_optimum(W, privacy)[0]
    plain = [IdentityStrategy().optimize(W, privacy)] if privacy.is_coarse or is_spread(privacy) else []
    return plain if spread is None else [spread, *plain]
