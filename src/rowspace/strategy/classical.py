"""Strategies that need no search: the identity and the workload itself."""

from __future__ import annotations

import time
from dataclasses import dataclass

import numpy as np

from rowspace.exceptions import InvalidWorkload
from rowspace.operators import Identity, Operator
from rowspace.privacy import Privacy

from .result import Result, judged


@dataclass(frozen=True)
class IdentityStrategy:
    """Ask every cell once: the least sensitivity of all full-rank strategies, best for workloads of small sums."""

    def propose(self, W: Operator, privacy: Privacy) -> Operator:
        """The identity over the workload's cells."""
        return Identity(W.shape[1])

    def optimize(self, W: Operator, privacy: Privacy, rng: np.random.Generator | None = None) -> Result:
        """The identity, judged on the workload."""
        started = time.perf_counter()
        A = self.propose(W, privacy)
        seconds = time.perf_counter() - started
        return judged("identity", A, W, privacy, status="no search needed", steps=0, seconds=seconds)


@dataclass(frozen=True)
class WorkloadItself:
    """Ask the workload's own queries, then make their answers consistent by least squares.

    Pays when few queries overlap. Total error is rank(W)·ΔW² per unit of noise (paper, Example 6).
    """

    def propose(self, W: Operator, privacy: Privacy) -> Operator:
        """The workload as its own strategy."""
        if not W.squared_frobenius() > 0:
            raise InvalidWorkload("expected a workload with at least one non-zero query")
        return W

    def optimize(self, W: Operator, privacy: Privacy, rng: np.random.Generator | None = None) -> Result:
        """The workload itself, judged."""
        started = time.perf_counter()
        A = self.propose(W, privacy)
        seconds = time.perf_counter() - started
        return judged("workload itself", A, W, privacy, status="no search needed", steps=0, seconds=seconds)
