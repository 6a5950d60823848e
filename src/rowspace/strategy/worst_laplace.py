"""The worst answer under Laplace noise: p-Identity for the sum of squares, with queries weighed for the worst.

The weights μ are those of the least largest error under Gaussian noise (`worst_query`). Their bound holds here as well,
since the L1 norm of a column is at least its L2 norm; the strategy for weighed queries is near the best, no more.
"""

from __future__ import annotations

import time
from dataclasses import dataclass

import numpy as np

from rowspace.error import max_error
from rowspace.operators import Dense, Operator, Scaled, Weighted
from rowspace.privacy import Privacy

from .gaussian_optimal import WorstQueryResult
from .p_identity import PIdentity
from .result import judged
from .row_space import row_space_factor
from .weighted_gram import weighted_gram
from .worst_query import ascend_worst, weighing_of

GAP, STEPS = 1e-2, 30
"""Weights are found to this gap, in so many steps at most."""


@dataclass(frozen=True)
class WorstLaplace:
    """p-Identity by queries weighed for the worst answer; max_steps: those of p-Identity.

    >>> from rowspace import PureDP, operators as op
    >>> found = WorstLaplace().optimize(op.Prefix(64), PureDP(2**0.5))       # cells: 64
    >>> found.max_lower_bound < found.max_error < 20
    True
    """

    max_steps: int = 500

    def optimize(
        self, W: Operator, privacy: Privacy, rng: np.random.Generator | None = None
    ) -> WorstQueryResult:
        """The strategy and what no strategy's worst answer goes below."""
        started = time.perf_counter()
        body, power = (W.of, W.factor**2) if isinstance(W, Scaled) and W.factor else (W, 1.0)
        queries = weighing_of(body)
        found = ascend_worst(queries, GAP, STEPS).certificate
        weighed = Weighted(np.sqrt(found.importance), body)
        # As few rows as there are cells: their Gram matrix is asked for in every step.
        rows = Dense(row_space_factor(weighed, weighted_gram(body, found.importance)).T)
        search = PIdentity(max_steps=self.max_steps, restarts=0).optimize(rows, privacy, rng)
        bound = privacy.unit_variance * power * queries.certified(found)
        result = judged(
            f"{search.name}, worst query",
            search.strategy,
            W,
            privacy,
            status=search.status,
            steps=search.steps,
            seconds=time.perf_counter() - started,
        )
        worst = max_error(search.strategy, W, privacy)
        return WorstQueryResult(**vars(result), max_error=worst, max_lower_bound=min(bound, worst))
