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
from .participation import SPREAD_CELLS, in_several_cells, is_spread
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
    most = min(privacy.unit.rows, (n + 1) // 2)
    return union_bound(queries, False) * max(1.0, most * (n - most) / max(1, n - 1))


def spread_optimum(W: Operator, privacy: Privacy, values: int = 1) -> tuple[Result | None, float]:
    """The best strategy found for such units, and what none goes below in the unit of E; over few enough cells.

    values: so many cells in a row are values of measures at one cell, of which a unit has one. The bound is over the
    sets that can be, the strategy for the noise of all of them.

    Under Laplace noise units move answers by no less than in L2, so the same bound holds.

    >>> from rowspace import ZCDP, PrivacyUnit, operators as op
    >>> privacy = ZCDP(0.5, unit=PrivacyUnit("patient", rows=4, distinct=True))
    >>> spread_optimum(op.Identity(8), privacy)[1] > 0.9 * 4 * 8 * (1 - 3 / 7)
    True
    """
    cells, unit = W.shape[1], privacy.unit
    if unit is None or not in_several_cells(privacy) or cells > SPREAD_CELLS:
        return None, 0.0
    started, V, most = time.perf_counter(), workload_gram(W), min(unit.rows, cells)
    groups = cells // values
    can_be = min(most, groups)
    # All sets of so many groups alike, and in each all values: 1_S·1_Sᵗ on average.
    taken = min(can_be, (groups + 1) // 2)  # more of them are too much alike
    beside = taken * (taken - 1) / max(1, groups * (groups - 1)) / values**2
    M = np.asarray(np.kron(beside * (1 - np.eye(groups)), np.ones((values, values))), np.float64)
    np.fill_diagonal(M, taken / cells)
    bound = bound_of_moments(M, V)
    if cells > SEARCHED_CELLS or not is_spread(privacy):
        return None, bound
    found = recurring_optimum(V, most, 1, signed=False)
    # Sets whose places are so far apart have no two in one group.
    alone = found if values == 1 else recurring_optimum(V, can_be, values, signed=False)
    bound = max(bound, alone.bound)
    A, seconds = Dense(invertible_factor(found.X)), time.perf_counter() - started
    return judged(NAME, A, W, privacy, status="near its bound", steps=0, seconds=seconds), bound


def also_tried(W: Operator, privacy: Privacy) -> list[Result]:
    """What may draw less noise than strategies that are best where it is continuous and units have rows in one cell."""
    spread = spread_optimum(W, privacy)[0]
    plain = [IdentityStrategy().optimize(W, privacy)] if privacy.is_coarse or is_spread(privacy) else []
    return plain if spread is None else [spread, *plain]
