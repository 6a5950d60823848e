"""The planner's choice: try the strategies that fit the workload, keep the best.

Decision table (n cells, d attributes in the workload's products)

| workload                 | candidates                                                                        |
|--------------------------|-----------------------------------------------------------------------------------|
| any                      | identity                                                                          |
| one attribute            | weighted hierarchies; weighted wavelet (n a power of two); a taxonomy if declared |
| n ≤ 2048, or invertible  | the workload itself                                                               |
| d ≥ 2 products           | product: one factor per attribute, each chosen from the one-attribute candidates  |
| d ≥ 2, n ≤ 4096          | union: one product per set of attributes asked together, with a share of budget   |

Candidates whose closed forms do not reach a size refuse with `TooLarge` and are left out; the identity is always
there, so the result is never worse than it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

import numpy as np

from rowspace.error import max_error, noise_level, profile_trace
from rowspace.exceptions import InvalidInput, TooLarge, UnsupportedWorkload
from rowspace.operators import DECOMPOSITION_LIMIT, Operator, Total
from rowspace.privacy import Privacy

from .classical import IdentityStrategy, WorkloadItself
from .hierarchical import BRANCHINGS, Hierarchical, Taxonomy, Wavelet
from .product import Product
from .result import Optimizer, Result
from .terms import Terms
from .union import Attributes, Union

WORKLOAD_ITSELF_LIMIT = 2048
"""Most cells for which the workload itself, which usually has no closed form, is tried as a strategy."""


class Proposer(Protocol):
    """An optimizer cheap enough to be asked many times, for parts of a workload."""

    def propose(self, W: Operator, privacy: Privacy) -> Operator:
        """A strategy for W."""
        ...

    def optimize(self, W: Operator, privacy: Privacy, rng: np.random.Generator | None = None) -> Result:
        """The same, judged."""
        ...


@dataclass(frozen=True)
class Select:
    """Try every candidate that fits; `taxonomies` maps an attribute's number to its declared tree."""

    taxonomies: Mapping[int, Operator] = field(default_factory=dict)
    effort: str = "normal"
    objective: str = "total"

    def candidates(
        self, W: Operator, privacy: Privacy, rng: np.random.Generator | None = None
    ) -> list[Result]:
        """Results of all candidates, best first."""
        tried: list[Optimizer]
        if Terms.of(W) is None:
            tried = list(self._one_attribute(0, W))
        else:
            tried = [IdentityStrategy(), Product(lambda i, V: self._factors(i, V, privacy))]
            if W.shape[1] <= DECOMPOSITION_LIMIT:
                tried.append(Union(lambda attributes, V: self._for_group(attributes, V, privacy)))
            if W.shape[1] <= WORKLOAD_ITSELF_LIMIT:
                tried.append(WorkloadItself())
        results = [r for r in (_attempt(optimizer, W, privacy, rng) for optimizer in tried) if r is not None]
        if not results:
            raise TooLarge(f"no strategy can handle {W.shape[1]} cells; use fewer attributes or coarser bins")
        return sorted(results, key=lambda result: self._loss(result, W, privacy))

    def optimize(self, W: Operator, privacy: Privacy, rng: np.random.Generator | None = None) -> Result:
        """The best candidate."""
        return self.candidates(W, privacy, rng)[0]

    def _loss(self, result: Result, W: Operator, privacy: Privacy) -> float:
        return result.total_error if self.objective == "total" else max_error(result.strategy, W, privacy)

    def _one_attribute(self, attribute: int, W: Operator) -> list[Proposer]:
        n = W.shape[1]
        branchings = BRANCHINGS[:3] if self.effort == "fast" else BRANCHINGS
        tried: list[Proposer] = [IdentityStrategy(), Hierarchical(branchings)]
        if n & (n - 1) == 0:
            tried.append(Wavelet())
        if attribute in self.taxonomies:
            tried.append(Taxonomy(self.taxonomies[attribute]))
        if n <= WORKLOAD_ITSELF_LIMIT or W.full_column_rank or isinstance(W, Total):
            tried.append(WorkloadItself())
        return tried

    def _factors(self, attribute: int, W: Operator, privacy: Privacy) -> Sequence[Operator]:
        proposals = (_proposal(p, W, privacy) for p in self._one_attribute(attribute, W))
        return [A for A in proposals if A is not None]

    def _for_group(self, attributes: Attributes, W: Operator, privacy: Privacy) -> Operator:
        """The best strategy for queries about one set of attributes, over those attributes alone."""
        axes = sorted(attributes)
        if len(axes) == 1:
            proposals = self._factors(axes[0], W, privacy)
        else:
            product = Product(lambda i, V: self._factors(axes[i], V, privacy)).propose(W, privacy)
            proposals = [product, W] if W.shape[1] <= WORKLOAD_ITSELF_LIMIT else [product]
        return min(proposals, key=lambda A: noise_level(A, privacy) * profile_trace(A, W))


def _attempt(
    optimizer: Optimizer, W: Operator, privacy: Privacy, rng: np.random.Generator | None
) -> Result | None:
    """The optimizer's result, or None when the problem is out of its reach."""
    try:
        return optimizer.optimize(W, privacy, rng)
    except (TooLarge, UnsupportedWorkload, InvalidInput):
        return None


def _proposal(proposer: Proposer, W: Operator, privacy: Privacy) -> Operator | None:
    """The proposed strategy, or None when the problem is out of its reach."""
    try:
        return proposer.propose(W, privacy)
    except (TooLarge, UnsupportedWorkload, InvalidInput):
        return None
