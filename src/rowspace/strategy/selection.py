"""The planner's choice: try the strategies that fit the workload, keep the best.

Decision table (n cells, d attributes in the workload's products; the sizes are in `effort`)

| noise    | workload                  | candidates                                                                 |
|----------|---------------------------|----------------------------------------------------------------------------|
| any      | any                       | identity                                                                   |
| any      | n ≤ 2048, or invertible   | the workload itself                                                        |
| any      | one attribute             | weighted hierarchies; wavelet (n a power of two); a declared taxonomy      |
| Laplace  | one attribute             | p-Identity; least error by local search for a few cells (effort "best")    |
| Gaussian | any, moderate n           | the Gaussian optimum, of the total or of the worst query                   |
| Gaussian | ranges or prefixes, large | the spectral strategy                                                      |
| Laplace  | marginals only            | weighted marginals, wanted ones or larger ones that cover them             |
| Gaussian | marginals only            | residuals: exactly optimal in closed form                                  |
| any      | d ≥ 2 products            | product: one factor per attribute, chosen in turn by the rows above        |
| any      | few distinct columns      | all of these, for one cell out of each group that no query tells apart     |
| any      | d ≥ 2, n ≤ 4096           | union: one product per set of attributes asked together, sharing the budget |

Columns that are below the sensitivity are completed where that helps (`augment`). Candidates whose closed forms do not
reach a size refuse with `TooLarge` and are left out; the identity is always there, so the result is never worse. The
search ends early at a candidate that is certified to be within half a percent of the best possible.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from math import inf
from typing import Any

import numpy as np

from rowspace.error import max_error, noise_level, profile_trace, query_variances
from rowspace.exceptions import InvalidInput, InvalidWorkload, TooLarge, UnsupportedWorkload
from rowspace.operators import DECOMPOSITION_LIMIT, Operator, Prefix, Ranges, Scaled, TableOperator, Total
from rowspace.operators.given import as_operator
from rowspace.operators.product_workload import ProductWorkload
from rowspace.privacy import Privacy

from .attempts import DENSE_CELLS, attempt, completed, proposal
from .classical import IdentityStrategy, WorkloadItself
from .effort import Effort, effort_named
from .gaussian_optimal import GaussianOptimal
from .hierarchical import Hierarchical, Taxonomy, Wavelet
from .marginals import Marginals
from .merging import merged_cells
from .min_error import MinError
from .p_identity import PIdentity
from .product import Product
from .residual import Residual
from .result import Optimizer, Proposer, Result
from .spectral import Spectral
from .terms import Terms
from .union import Attributes, Union

QUICK_CELLS = 512
"""Cells up to which judging the workload as its own strategy takes no time."""

FACTOR_STEPS = 100
"""Steps of p-Identity for one factor of a product."""

FEW_CELLS, FINE_GAP = 256, 1e-6
"""Up to so many cells the Gaussian optimum is computed to so small a gap."""

GOOD_ENOUGH = 1.005
"""Certified ratio at which no other candidate is tried: none could be better by more than half a percent."""


@dataclass(frozen=True)
class Selected(Result):
    """The best candidate, with all that were tried, best first."""

    candidates: tuple[Result, ...]

    def __str__(self) -> str:
        return "\n".join(str(result) for result in self.candidates)


def select(
    W: Operator | Any,
    privacy: Privacy,
    *,
    effort: str = "normal",
    objective: str = "total",
    rng: np.random.Generator | None = None,
) -> Selected:
    """The best strategy for a workload, an operator or any matrix, out of all candidates that fit (see above).

    >>> from rowspace import PureDP, operators as op
    >>> best = select(op.Prefix(32), PureDP(1.0), effort="fast")
    >>> best.total_error <= min(result.total_error for result in best.candidates)
    True
    """
    return Select(effort=effort, objective=objective).optimize(as_operator(W), privacy, rng)


@dataclass(frozen=True)
class Select:
    """Try every candidate that fits; `taxonomies` maps an attribute's number to its declared tree."""

    taxonomies: Mapping[int, Operator] = field(default_factory=dict)
    effort: str = "normal"
    objective: str = "total"

    def __post_init__(self) -> None:
        effort_named(self.effort)
        if self.objective not in ("total", "max"):
            raise InvalidInput(f"expected objective to be one of total, max, got {self.objective!r}")

    @property
    def limits(self) -> Effort:
        """The sizes up to which optimizers are tried."""
        return effort_named(self.effort)

    def candidates(
        self,
        W: Operator,
        privacy: Privacy,
        rng: np.random.Generator | None = None,
        products: ProductWorkload | None = None,
    ) -> list[Result]:
        """Results of all candidates, best first; `products` is the same workload attribute by attribute, if several."""
        searches = self._searches(0, W, privacy)
        results = self._merged(W, privacy, rng)
        if Terms.of(W) is None and products is None:
            closed_forms: Sequence[Optimizer] = self._proposers(0, W, self.limits.branchings)
        else:
            closed_forms = self._several_attributes(W, privacy)
            searches = [search for search in searches if isinstance(search, GaussianOptimal)]
            if (W.shape[1] > QUICK_CELLS or not searches) and not self._good_enough(results):
                results += self.tables(products or W, privacy, rng)
        # What costs nothing to try comes first: a total, a partition or a cumulative sum may be its own best strategy.
        quick = W.shape[1] <= QUICK_CELLS or isinstance(W.of if isinstance(W, Scaled) else W, Total)
        free = [c for c in closed_forms if isinstance(c, WorkloadItself) and quick]
        others = [c for c in closed_forms if c not in free]
        tried: list[Optimizer] = [IdentityStrategy(), *free, *searches, *others]
        for optimizer in tried:
            if self._good_enough(results):
                break
            result = attempt(optimizer, W, privacy, rng)
            if result is not None:
                results.append(result)
        if not results:
            raise TooLarge(f"no strategy can handle {W.shape[1]} cells; use fewer attributes or coarser bins")
        losses = [self._loss(result, W, privacy, products) for result in results]
        best = losses.index(min(losses))
        results[best] = completed(results[best], W, privacy)
        losses[best] = min(losses[best], self._loss(results[best], W, privacy, products))
        # Whichever optimizer proved the best bound, it holds for all of them.
        bound = max(result.lower_bound for result in results)
        order = sorted(range(len(results)), key=lambda number: losses[number])
        by_worst = self.objective == "max"
        return [
            replace(results[at], lower_bound=bound, worst=losses[at] if by_worst else None) for at in order
        ]

    def _good_enough(self, results: Sequence[Result]) -> bool:
        return self.objective == "total" and any(result.ratio < GOOD_ENOUGH for result in results)

    def _merged(self, W: Operator, privacy: Privacy, rng: np.random.Generator | None) -> list[Result]:
        """The candidates for the problem without copies of cells, where it is much smaller."""
        groups = merged_cells(W)
        if groups is None:
            return []
        alone = replace(self, taxonomies={})
        return [groups.spread(result) for result in alone.candidates(groups.workload, privacy, rng)]

    def tables(
        self, W: Operator | ProductWorkload, privacy: Privacy, rng: np.random.Generator | None = None
    ) -> list[Result]:
        """The strategies of tables, which need no cells: residuals for Gaussian noise, marginals for Laplace noise."""
        found: list[Result] = []
        try:
            if privacy.norm == 1:
                found.append(Marginals().optimize(W, privacy, rng))
            else:
                found.append(Residual().optimize(W, privacy, rng))
                if self.objective == "max":
                    found.insert(0, Residual(objective="max").optimize(W, privacy, rng))
        except (UnsupportedWorkload, InvalidWorkload):
            pass
        except TooLarge:
            if not isinstance(W, Operator):
                raise
        return found

    def optimize(self, W: Operator, privacy: Privacy, rng: np.random.Generator | None = None) -> Selected:
        """The best candidate, with the others."""
        results = self.candidates(W, privacy, rng)
        return Selected(
            **{f.name: getattr(results[0], f.name) for f in fields(Result)}, candidates=tuple(results)
        )

    def _loss(self, result: Result, W: Operator, privacy: Privacy, products: ProductWorkload | None) -> float:
        if self.objective == "total":
            return result.total_error
        if isinstance(result.strategy, TableOperator) and products is not None:
            return noise_level(result.strategy, privacy) * float(
                query_variances(result.strategy, products).max()
            )
        try:
            return max_error(result.strategy, W, privacy)
        except UnsupportedWorkload:
            return inf  # a faint query is lost among digits beside large ones

    def _proposers(self, attribute: int, W: Operator, branchings: tuple[int, ...]) -> list[Proposer]:
        """Closed forms and small searches, cheap enough to be asked again and again."""
        n = W.shape[1]
        tried: list[Proposer] = [Hierarchical(branchings)]
        if n & (n - 1) == 0:
            tried.append(Wavelet())
        tree = self.taxonomies.get(attribute)
        # A predicate may tie attributes together, which then are one, and those behind it have other numbers.
        if tree is not None and tree.shape[1] == W.shape[1]:
            tried.append(Taxonomy(tree))
        if n <= DENSE_CELLS or W.full_column_rank or isinstance(W.of if isinstance(W, Scaled) else W, Total):
            tried.append(WorkloadItself())
        return tried

    def _searches(self, attribute: int, W: Operator, privacy: Privacy) -> list[Optimizer]:
        """The optimizers that take their time."""
        n, limits = W.shape[1], self.limits
        tried: list[Optimizer] = []
        if privacy.norm == 1:
            if n <= limits.p_identity_cells:
                tried.append(PIdentity(max_steps=limits.p_identity_steps))
            if n <= limits.min_error_cells:
                tried.append(MinError())
            return tried
        if n <= limits.gaussian_cells:
            # A few hundred cells take milliseconds a step: there the optimum itself is had for nothing.
            tried.append(
                GaussianOptimal(
                    gap=min(limits.gaussian_gap, FINE_GAP) if n <= FEW_CELLS else limits.gaussian_gap
                )
            )
        elif isinstance(W.of if isinstance(W, Scaled) else W, (Ranges, Prefix)):
            tried.append(Spectral())
        if self.objective == "max" and n <= limits.worst_query_cells:
            tried.append(GaussianOptimal(gap=limits.gaussian_gap, objective="max"))
        return tried

    def _several_attributes(self, W: Operator, privacy: Privacy) -> list[Optimizer]:
        tried: list[Optimizer] = [self.product(range(DECOMPOSITION_LIMIT), privacy)]
        if W.shape[1] <= DECOMPOSITION_LIMIT:
            tried.append(self.union(privacy))
        if W.shape[1] <= DENSE_CELLS:
            tried.append(WorkloadItself())
        return tried

    def product(self, axes: Sequence[int], privacy: Privacy) -> Product:
        """Products over the attributes `axes`: cheap factors first, then the searches on what they leave."""
        return Product(
            lambda i, V: self._factors(axes[i], V, privacy),
            lambda i, V: self._searched_factors(axes[i], V, privacy),
        )

    def union(self, privacy: Privacy) -> Union:
        """Unions of the best strategy for every group of attributes."""
        return Union(lambda attributes, V: self._for_group(attributes, V, privacy))

    def _factors(self, attribute: int, W: Operator, privacy: Privacy) -> list[Operator]:
        proposers = [IdentityStrategy(), *self._proposers(attribute, W, self.limits.factor_branchings)]
        proposals = (proposal(p, W, privacy) for p in proposers)
        return [A for A in proposals if A is not None]

    def _searched_factors(self, attribute: int, W: Operator, privacy: Privacy) -> list[Operator]:
        if W.shape[1] > self.limits.p_identity_factor_cells:
            return []
        # One factor is searched for again and again while the others change: short searches, no random starts.
        optimizers = [
            replace(search, max_steps=FACTOR_STEPS, restarts=0) if isinstance(search, PIdentity) else search
            for search in self._searches(attribute, W, privacy)
        ]
        results = (attempt(optimizer, W, privacy, None) for optimizer in optimizers)
        return [result.strategy for result in results if result is not None]

    def _for_group(self, attributes: Attributes, W: Operator, privacy: Privacy) -> Operator:
        """The best strategy for queries about one set of attributes, over those attributes alone."""
        axes = sorted(attributes)
        if len(axes) == 1:
            proposals = self._factors(axes[0], W, privacy) + self._searched_factors(axes[0], W, privacy)
        else:
            proposals = [self.product(axes, privacy).propose(W, privacy)]
            if W.shape[1] <= DENSE_CELLS:
                proposals.append(W)
        return min(proposals, key=lambda A: noise_level(A, privacy) * profile_trace(A, W))
