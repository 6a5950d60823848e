"""Strategies that need no search: the identity and the workload itself."""

from __future__ import annotations

import time
from dataclasses import dataclass

import numpy as np

from rowspace.exceptions import InvalidWorkload, TooLarge
from rowspace.operators import Dense, Identity, Operator
from rowspace.privacy import Privacy

from .result import Result, judged

PLAIN_ENTRIES = 2**20
"""Most entries of a workload whose queries are compared with each other."""


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

    plain: every query once and all to the same scale, whatever their weights: small integers where the queries are.
    """

    plain: bool = False

    def propose(self, W: Operator, privacy: Privacy) -> Operator:
        """The workload as its own strategy."""
        if not W.squared_frobenius() > 0:
            raise InvalidWorkload("expected a workload with at least one non-zero query")
        if not self.plain:
            return W
        if W.shape[0] * W.shape[1] > PLAIN_ENTRIES:
            raise TooLarge("so many queries are not compared with each other")
        rows = W.to_dense()
        rows = rows[np.any(rows, axis=1)]
        return Dense(np.unique(rows / np.abs(rows).max(axis=1, keepdims=True), axis=0))

    def optimize(self, W: Operator, privacy: Privacy, rng: np.random.Generator | None = None) -> Result:
        """The workload itself, judged."""
        started = time.perf_counter()
        A = self.propose(W, privacy)
        seconds = time.perf_counter() - started
        name = "distinct queries" if self.plain else "workload itself"
        return judged(name, A, W, privacy, status="no search needed", steps=0, seconds=seconds)
