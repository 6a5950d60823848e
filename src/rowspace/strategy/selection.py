"""The planner's choice: try the candidates that fit the workload, keep the best.

Which candidates fit is a table, in `candidates`. They are tried from top to bottom. Columns that are below the
sensitivity are completed where that helps (`augment`). Candidates whose closed forms do not reach a size refuse with
`TooLarge` and are left out. The search ends early at a candidate that is certified to be within half a percent of the
best possible; at budgets where plain counts draw less noise than any real matrix, what costs nothing is still tried.
Errors here are those of real matrices and continuous noise; `asked` compares what is drawn.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, fields, replace
from math import inf
from typing import Any

import numpy as np

from rowspace.error import max_error, noise_level, profile_trace
from rowspace.exceptions import InvalidInput, InvalidWorkload, TooLarge, UnsupportedWorkload
from rowspace.operators import Identity, Operator, as_operator
from rowspace.privacy import Neighbours, Privacy
from rowspace.tables import Piece, ProductWorkload, as_products, gather

from .attempts import DENSE_CELLS, attempt, completed, proposal
from .candidates import (
    CLOSED_FORMS,
    QUICK_CELLS,
    SEARCHES,
    SEVERAL_ATTRIBUTES,
    TRIED_FIRST,
    PlanningProblem,
)
from .classical import IdentityStrategy
from .effort import Effort, effort_named
from .joint_parts import ties
from .local_search import LocalSearch
from .marginals import Marginals
from .merging import merged_cells
from .min_error import MOST_CELLS, MinError
from .p_identity import PIdentity
from .product import Product
from .residual import Residual
from .result import Optimizer, Result
from .row_space_optimal import FewQueries, RowSpaceOptimal
from .strategy import Strategy
from .union import Attributes, Union
from .worst_product import BalancedResidual

FREE = (*TRIED_FIRST, *CLOSED_FORMS)
"""Candidates that take no time, some of them small integers."""

FACTOR_STEPS = 100
"""Steps of p-Identity for one factor of a product."""

FEW_SEARCHES = 6
"""Searches for the least error from random strategies: for a factor of a product, and beside the best strategies."""

BEST_STARTS = 3
"""Candidates that local searches start from."""

ALMOST = 1.1
"""Certified ratio of the optimum in the row space, cut short by its work, at which no other candidate is tried."""

CLOSE = 1.03
"""Certified ratio at which the optimum in the row space is not looked for after strategies of tables; from there to
`ALMOST` it is worth more and more work."""

LAPLACE_SHARE = 4
"""The search under Laplace noise has a quarter of the work: its steps prove nothing, and table strategies often win."""

FEW_PARTS = 32
"""Parts up to which strategies of tables are found in a second or two."""

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
    """Try every candidate that fits; `taxonomies` maps an attribute's number to its declared tree.

    apart: a few copies of cells are not merged. They would be copies in the places of missing values mostly, without
    which nobody could ask about all records afterwards, whatever else is missing of them.
    """

    taxonomies: Mapping[int, Operator] = field(default_factory=dict)
    effort: str = "normal"
    objective: str = "total"
    apart: bool = False

    def __post_init__(self) -> None:
        effort_named(self.effort)
        if self.objective not in ("total", "max"):
            raise InvalidInput(f"expected objective to be one of total, max, got {self.objective!r}")

    @property
    def limits(self) -> Effort:
        """The sizes up to which optimizers are tried."""
        return effort_named(self.effort)

    def optimize(
        self, W: Operator | ProductWorkload, privacy: Privacy, rng: np.random.Generator | None = None
    ) -> Selected:
        """The best candidate, with the others."""
        results = self.candidates(W, privacy, rng)
        return Selected(
            **{f.name: getattr(results[0], f.name) for f in fields(Result)}, candidates=tuple(results)
        )

    def candidates(
        self,
        W: Operator | ProductWorkload,
        privacy: Privacy,
        rng: np.random.Generator | None = None,
        tables: ProductWorkload | None = None,
    ) -> list[Result]:
        """Results of all candidates, best first; `tables`: the queries that strategies of tables are for, if others."""
        queries = as_products(W)
        problem = self._problem(queries, queries if tables is None else tables, privacy)
        results: list[Result] = []
        for found in self._tried(problem, rng, results):
            results += found
        if not results:
            raise TooLarge(
                f"no strategy can handle {problem.cells} cells; use fewer attributes or coarser bins"
            )
        if privacy.neighbours is Neighbours.REPLACE_ONE and problem.cells <= QUICK_CELLS:
            # The total costs nothing, and some need it more than others.
            results = [completed(result, problem.W, privacy) for result in results]
        losses = [self._loss(result, problem) for result in results]
        best = losses.index(min(losses))
        whole = completed(results[best], problem.W, privacy)
        if whole is not results[best]:
            results[best], losses[best] = whole, min(losses[best], self._loss(whole, problem))
        # Whichever optimizer proved the best bound, it holds for all of them.
        bound = max(result.lower_bound for result in results)
        # Where the worst answer is out of reach for all of them, the total decides.
        order = sorted(range(len(results)), key=lambda at: (losses[at], results[at].total_error))
        by_worst = self.objective == "max"
        return [
            replace(results[at], lower_bound=bound, worst=losses[at] if by_worst else None) for at in order
        ]

    def _tried(
        self, problem: PlanningProblem, rng: np.random.Generator | None, results: Sequence[Result]
    ) -> Iterator[list[Result]]:
        """What each candidate that fits has found, one after the other; `results` are those found so far."""
        few = problem.few
        # A matrix for every set of attributes that queries tie together is found sooner.
        first = few is not None and not ties(problem.tables) and few.comes_first
        if few is not None and first:
            found = self.few(few, problem.privacy, self.limits.row_space_work)
            yield found
            if found and (found[0].ratio < ALMOST or (problem.laplace and few.is_far_from_cells)):
                if problem.laplace and len(problem.tables.parts) <= FEW_PARTS:
                    yield self.tables(problem.tables, problem.privacy, rng)
                cells = noise_level(Identity(problem.cells), problem.privacy) * problem.W.squared_frobenius()
                # Plain counts may draw less noise than the continuous law says.
                if problem.privacy.is_coarse or cells < found[0].total_error:
                    yield [IdentityStrategy().optimize(problem.W, problem.privacy)]
                return
        merged = self._merged(problem, rng)
        yield merged
        if problem.asks_tables and not self._good_enough(results):
            with suppress(TooLarge):
                yield self.tables(problem.tables, problem.privacy, rng)
        if few is not None and not first:
            yield self._few_after(few, problem.privacy, results)
        last = SEVERAL_ATTRIBUTES if problem.several else CLOSED_FORMS
        tried: list[Optimizer] = []
        for fits, make in (*TRIED_FIRST, *SEARCHES, *last):
            if self._good_enough(results) and not (
                problem.privacy.is_coarse and (fits, make) in FREE and not self._draws_least(results, problem)
            ):
                continue
            if fits(problem) and (optimizer := make(problem, self)) not in tried:
                tried.append(optimizer)
                result = attempt(optimizer, problem.W, problem.privacy, rng)
                yield [] if result is None else [result]
        search = None if merged or self._good_enough(results) else self._from_best(problem, results)
        if search is not None:
            result = attempt(search, problem.W, problem.privacy, rng)
            yield [] if result is None else [result]

    def _from_best(self, problem: PlanningProblem, results: Sequence[Result]) -> Optimizer | None:
        """A local search over few cells, from the best strategies found so far."""
        order = sorted(results, key=lambda result: self._loss(result, problem))
        starts = [one.strategy for one in order[:BEST_STARTS]]
        if problem.has_no_optimizer:
            return LocalSearch(starts, self.objective, self.limits.local_work)
        if problem.laplace and starts and problem.cells <= MOST_CELLS:
            return MinError(searches=FEW_SEARCHES, starts=starts)
        return None

    def _problem(
        self, queries: ProductWorkload, tables: ProductWorkload, privacy: Privacy, attribute: int = 0
    ) -> PlanningProblem:
        limits, tree = self.limits, self.taxonomies.get(attribute)
        return PlanningProblem(queries, tables, privacy, limits, self.objective, limits.branchings, tree)

    def _factor(self, attribute: int, W: Operator, privacy: Privacy) -> PlanningProblem:
        """The problem of one factor of a product: whatever its matrix is made of, it is about one attribute."""
        queries = gather((W.shape[1],), [(1.0, (Piece((0,), W),))])
        return self._problem(queries, queries, privacy, attribute)

    def _good_enough(self, results: Sequence[Result]) -> bool:
        return self.objective == "total" and any(result.ratio < GOOD_ENOUGH for result in results)

    def _draws_least(self, results: Sequence[Result], problem: PlanningProblem) -> bool:
        """Whether one that is good enough asks every record once: no integers draw less noise per sensitivity."""
        found = [result.strategy for result in results if result.ratio < GOOD_ENOUGH]
        return any(A.integral and A.integer_norm(problem.privacy.norm) == 1 for A in found)

    def _merged(self, problem: PlanningProblem, rng: np.random.Generator | None) -> list[Result]:
        """The candidates for the problem without copies of cells, where it is smaller."""
        # The Gaussian optimum over few cells needs no copies merged, but where integers of a few units draw less.
        single = not self.apart and (problem.laplace or problem.privacy.is_coarse)
        groups = merged_cells(problem.W, single, problem.privacy.neighbours is Neighbours.ADD_REMOVE)
        if groups is None:
            return []
        alone = replace(self, taxonomies={})
        return [groups.spread(result) for result in alone.candidates(groups.workload, problem.privacy, rng)]

    def few(self, queries: FewQueries, privacy: Privacy, work: float) -> list[Result]:
        """The optimum in the row space of few queries, where it is not too much work."""
        work = work / LAPLACE_SHARE if privacy.norm == 1 else work
        try:
            return [queries.optimize(privacy, RowSpaceOptimal(work=work))]
        except (TooLarge, InvalidInput, UnsupportedWorkload, np.linalg.LinAlgError):
            return []

    def _few_after(self, queries: FewQueries, privacy: Privacy, others: Sequence[Result]) -> list[Result]:
        """The same after other candidates, for as much work as it may gain on them."""
        best = min((result.ratio for result in others), default=ALMOST)
        share = min(1.0, (best - CLOSE) / (ALMOST - CLOSE))
        return self.few(queries, privacy, share * self.limits.row_space_work / 4)

    def without_cells(
        self, W: ProductWorkload, privacy: Privacy, rng: np.random.Generator | None = None
    ) -> list[Result]:
        """The candidates that need no cells, best first."""
        found: list[Result] = []
        tied, mixed = ties(W), self.objective == "total" and not W.only_tables
        if mixed and not tied:
            found = self.few(FewQueries(W, privacy.norm == 2), privacy, self.limits.row_space_work)
            if any(result.ratio < ALMOST for result in found):
                return found
        others = self.tables(W, privacy, rng)
        if mixed and tied:
            found = self._few_after(FewQueries(W, privacy.norm == 2), privacy, others)
        return sorted(found + others, key=lambda result: result.total_error) if found else others

    def tables(
        self, W: Operator | ProductWorkload, privacy: Privacy, rng: np.random.Generator | None = None
    ) -> list[Result]:
        """The strategies of tables, which need no cells: residuals for Gaussian noise, marginals for Laplace noise."""
        if privacy.norm == 1:
            tried: list[Marginals | Residual | BalancedResidual] = [Marginals()]
        else:
            tried = [Residual()] if self.objective == "total" else [Residual(objective="max"), Residual()]
            if self.objective == "max" and not as_products(W).only_tables:
                tried.insert(0, BalancedResidual())
        try:
            return [optimizer.optimize(W, privacy, rng) for optimizer in tried]
        except (UnsupportedWorkload, InvalidWorkload):
            return []

    def _loss(self, result: Result, problem: PlanningProblem) -> float:
        if self.objective == "total":
            return result.total_error
        strategy = Strategy.of(result.strategy)
        if problem.several and strategy.sizes is not None:
            variances = strategy.variances(problem.tables)
            powers = np.repeat(problem.tables.powers, problem.tables.sizes_of_parts)
            return noise_level(result.strategy, problem.privacy) * float((powers * variances).max())
        try:
            return max_error(result.strategy, problem.W, problem.privacy)
        except (UnsupportedWorkload, TooLarge):
            return (
                inf  # a faint query is lost among digits beside large ones, or there are too many to look at
            )

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
        problem = replace(self._factor(attribute, W, privacy), branchings=self.limits.factor_branchings)
        made = [make(problem, self) for fits, make in (*TRIED_FIRST[:1], *CLOSED_FORMS) if fits(problem)]
        proposals = (proposal(proposer, W, privacy) for proposer in made)
        return [A for A in proposals if A is not None]

    def _searched_factors(self, attribute: int, W: Operator, privacy: Privacy) -> list[Operator]:
        if W.shape[1] > self.limits.p_identity_factor_cells:
            return []
        problem = self._factor(attribute, W, privacy)
        made = [make(problem, self) for fits, make in SEARCHES if fits(problem)]
        # One factor is searched for again and again while the others change: short searches, no random starts.
        results = (attempt(_short(optimizer), W, privacy, None) for optimizer in made)
        return [result.strategy for result in results if result is not None]

    def _for_group(self, attributes: Attributes, queries: ProductWorkload, privacy: Privacy) -> Operator:
        """The best strategy for queries about one set of attributes, over those attributes alone."""
        axes, W = sorted(attributes), queries.weighted_operator()
        if len(axes) == 1:
            proposals = self._factors(axes[0], W, privacy) + self._searched_factors(axes[0], W, privacy)
        else:
            proposals = [self.product(axes, privacy).propose(queries, privacy)]
            if W.shape[1] <= DENSE_CELLS:
                proposals.append(W)
        return min(proposals, key=lambda A: noise_level(A, privacy) * profile_trace(A, W))


def _short(search: Optimizer) -> Optimizer:
    """The same with less work."""
    if isinstance(search, PIdentity):
        return replace(search, max_steps=FACTOR_STEPS, restarts=0)
    return replace(search, searches=FEW_SEARCHES) if isinstance(search, MinError) else search
