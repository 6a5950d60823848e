"""RegularizedGaussian: Program 2 for a workload of full rank that is close to the one that is asked."""

from __future__ import annotations

import time
from dataclasses import dataclass

import numpy as np

from rowspace.exceptions import InvalidInput
from rowspace.operators import Identity, Operator, Stack, check_number
from rowspace.privacy import Neighbours, Privacy
from rowspace.strategy import GaussianOptimal, Result
from rowspace.strategy.dual import certified_bound
from rowspace.strategy.factors import factored
from rowspace.strategy.gaussian_optimal import solve
from rowspace.strategy.result import judged
from rowspace.strategy.row_space import workload_gram


@dataclass(frozen=True)
class RegularizedGaussian:
    """Program 2 for WᵗW + δI: the paper's other way with rank-deficient workloads, kept for comparison.

    Every cell is asked for a little, so the strategy has full rank; the price is a total error that exceeds the
    optimum by a term that vanishes with δ like √δ. `relative_delta` is δ over the largest diagonal entry of WᵗW.

    >>> from rowspace import ZCDP, operators as op
    >>> from rowspace.strategy import RegularizedGaussian
    >>> result = RegularizedGaussian().optimize(op.WidthRanges(16, 4), ZCDP(0.5))
    >>> 1 <= result.ratio < 1.01
    True
    """

    relative_delta: float = 1e-6
    gap: float = 1e-6
    max_steps: int = 500

    def __post_init__(self) -> None:
        if not 0 < check_number("relative_delta", self.relative_delta) <= 1:
            raise InvalidInput(f"expected relative_delta above 0 and at most 1, got {self.relative_delta}")
        GaussianOptimal(self.gap, self.max_steps)

    def optimize(self, W: Operator, privacy: Privacy, rng: np.random.Generator | None = None) -> Result:
        """The optimum of the regularized workload, judged on the workload itself."""
        started = time.perf_counter()
        V = workload_gram(W)
        delta = self.relative_delta * float(np.diagonal(V).max())
        softened = Stack(W, np.sqrt(delta) * Identity(len(V)))
        ascent = solve(softened, V + delta * np.eye(len(V)), self.gap, self.max_steps)
        # The bound belongs to the softened workload; for W itself the same λ is evaluated on V.
        add_remove = privacy.neighbours is Neighbours.ADD_REMOVE
        bound = certified_bound(V, ascent.point.weights) if add_remove else None
        return judged(
            "Gaussian optimum, regularized",
            factored(ascent.point.gram(), softened, privacy.norm),
            W,
            privacy,
            status=ascent.ending,
            steps=ascent.steps + 1,
            seconds=time.perf_counter() - started,
            unit_bound=bound,
        )
