"""The exactly optimal Gaussian strategy for weighted marginals, in closed form (ResidualPlanner, Xiao et al. 2023).

With λ_R the strategy's eigenvalue on residual R, μ_R the workload's and m_R the residual's dimension, the error is
(Σ m_R λ_R / n) · Σ m_R μ_R / λ_R: squared column norms are all equal, so each is the trace over n. By Cauchy–Schwarz it
is least for λ_R ∝ √μ_R, where it is (Σ m_R √μ_R)²/n: the singular value bound, below which no strategy can go.
"""

from __future__ import annotations

import time
from dataclasses import dataclass

import numpy as np

from rowspace.exceptions import InvalidInput
from rowspace.operators import Operator, Residuals
from rowspace.operators.marginal_workload import MarginalWorkload
from rowspace.operators.subset_lattice import members
from rowspace.privacy import Privacy

from .marginal_results import judged_on_marginals, read_marginals
from .result import Result


@dataclass(frozen=True)
class Residual:
    """Any union of weighted marginals under Gaussian noise: proven optimal, at any number of cells.

    Costs time in the number of sets of attributes below the asked ones, not in the cells.

    >>> from itertools import combinations
    >>> from rowspace import ZCDP, operators as op
    >>> pairs = combinations([op.Identity(10)] * 3, 2)
    >>> W = op.Stack(*(op.Kronecker(a, b, op.Total(10)) for a, b in pairs), op.Kronecker(*[op.Total(10)] * 3))
    >>> result = Residual().optimize(W, ZCDP(0.5))
    >>> round(result.ratio, 9)
    1.0
    """

    def propose(self, W: Operator, privacy: Privacy) -> Residuals:
        """The strategy alone."""
        return self._strategy(read_marginals(W), privacy)

    def optimize(self, W: Operator, privacy: Privacy, rng: np.random.Generator | None = None) -> Result:
        """The optimal strategy, with the certificate that it is."""
        started = time.perf_counter()
        workload = read_marginals(W)
        A = self._strategy(workload, privacy)
        status = "closed form, optimal for neighbours that add or remove a record"
        seconds = time.perf_counter() - started
        return judged_on_marginals("residuals", A, workload, privacy, status=status, steps=1, seconds=seconds)

    @staticmethod
    def _strategy(workload: MarginalWorkload, privacy: Privacy) -> Residuals:
        if privacy.norm != 2:
            raise InvalidInput(
                "expected a privacy guarantee with Gaussian noise for residuals; for Laplace noise use Marginals"
            )
        lattice = workload.lattice
        # λ_R = w_R² Π_{i∈R} n_i, per cell, is to be √μ_R; scaled so that the largest weight is one.
        weights = np.sqrt(np.sqrt(workload.eigenvalues) / lattice.products(workload.sizes))
        weights = weights / weights.max()
        order = sorted(
            range(len(weights)), key=lambda k: (lattice.masks[k].bit_count(), members(lattice.masks[k]))
        )
        sets = tuple(tuple(members(lattice.masks[k])) for k in order)
        return Residuals(workload.sizes, sets, tuple(weights[order].tolist()))
