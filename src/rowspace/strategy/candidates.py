"""The planner's tables: which optimizers are tried for which workload, from top to bottom.

Each row is (does it fit?, the optimizer). A row reads the `PlanningProblem`: the number of cells, the noise, the limits
of the effort (`effort`), and whether the queries are about one attribute or several. Three stand before all rows:
few queries have their optimum in their row space (`row_space_optimal`), cells that no query tells apart are planned as
one (`merging`), and several attributes are measured through tables (`marginals`, `residual`).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, cast

from rowspace.operators import DECOMPOSITION_LIMIT, Kronecker, Operator, Prefix, Ranges, Scaled, Total
from rowspace.privacy import Neighbours, Privacy
from rowspace.tables import ProductWorkload

from .attempts import DENSE_CELLS
from .classical import IdentityStrategy, WorkloadItself
from .effort import Effort
from .gaussian_optimal import GaussianOptimal
from .hierarchical import Hierarchical, Taxonomy, Wavelet
from .min_error import MinError
from .p_identity import PIdentity
from .row_space_optimal import FewQueries
from .spectral import Spectral
from .worst_laplace import WorstLaplace
from .worst_product import WorstProduct

if TYPE_CHECKING:
    from .selection import Select

QUICK_CELLS = 512
"""Cells up to which judging the workload as its own strategy takes no time."""

FEW_CELLS, FINE_GAP = 256, 1e-6
"""Up to so many cells the Gaussian optimum is computed to so small a gap: a step takes milliseconds."""

WORST_GAP, WORST_STEPS = 1e-3, 100
"""How far the worst answer of more cells may be from the best possible, and the steps that is worth."""


@dataclass(frozen=True, eq=False)
class PlanningProblem:
    """What candidates are looked for: queries under a guarantee, within an effort.

    `tables` are the same queries for strategies of tables, which also count cells that no query sees.
    """

    queries: ProductWorkload
    tables: ProductWorkload
    privacy: Privacy
    limits: Effort
    objective: str
    branchings: tuple[int, ...]
    tree: Operator | None

    @cached_property
    def W(self) -> Operator:  # noqa: N802 - the paper's letter
        """The queries as a matrix over the cells, times their weights."""
        return self.queries.weighted_operator()

    @property
    def cells(self) -> int:
        """Number of cells."""
        return self.W.shape[1]

    @property
    def several(self) -> bool:
        """Whether the queries are about several attributes."""
        return sum(n > 1 for n in self.tables.sizes) > 1

    @property
    def laplace(self) -> bool:
        """Whether the noise is scaled to L1 norms; else to L2 norms."""
        return self.privacy.norm == 1

    @property
    def body(self) -> Operator:
        """The matrix without its weight."""
        return self.W.of if isinstance(self.W, Scaled) else self.W

    @property
    def quick(self) -> bool:
        """Whether the workload as its own strategy is judged at once."""
        return self.cells <= QUICK_CELLS or isinstance(self.body, Total)

    @property
    def has_gaussian_optimum(self) -> bool:
        """Whether the optimum over the cells is computed."""
        return not self.laplace and self.cells <= self.limits.gaussian_cells

    @property
    def has_no_optimizer(self) -> bool:
        """Whether searches are for another sensitivity, or another objective, than the problem has."""
        replaced = self.privacy.neighbours is Neighbours.REPLACE_ONE
        return replaced or (self.laplace and self.objective == "max")

    @property
    def weighs_queries(self) -> bool:
        """Whether the least largest error over the cells is computed; for prefixes a step costs no more than n²."""
        cheap = isinstance(self.body, Prefix) and self.cells <= DECOMPOSITION_LIMIT
        return cheap or self.cells <= self.limits.gaussian_cells

    @property
    def asks_tables(self) -> bool:
        """Whether strategies of tables are tried: where there are several attributes, unless few cells do it all."""
        return self.several and (self.cells > QUICK_CELLS or not self.has_gaussian_optimum)

    @cached_property
    def few(self) -> FewQueries | None:
        """The queries for the optimum in their row space, where the optimum over the cells is out of reach.

        Under Laplace noise plain tables are left to `marginals`: the search in their row space found 7 to 30 % worse.
        """
        fits = self.objective == "total" and self.cells > max(DENSE_CELLS, self.limits.gaussian_cells)
        fits = fits and not (self.laplace and self.tables.only_tables)
        return FewQueries(self.tables, not self.laplace) if fits else None

    @property
    def tree_fits(self) -> bool:
        """Whether the declared taxonomy is over these cells: a predicate may tie attributes, which then are one."""
        return self.tree is not None and self.tree.shape[1] == self.cells


Row = tuple[Callable[[PlanningProblem], bool], Callable[[PlanningProblem, "Select"], Any]]

# What costs nothing: a total, a partition or a cumulative sum may be its own best strategy.
TRIED_FIRST: tuple[Row, ...] = (
    (lambda p: True, lambda p, s: IdentityStrategy()),
    (lambda p: p.quick and (not p.several or p.cells <= DENSE_CELLS), lambda p, s: WorkloadItself()),
    (lambda p: p.cells <= FEW_CELLS, lambda p, s: WorkloadItself(plain=True)),
)

# What takes its time.
SEARCHES: tuple[Row, ...] = (
    (
        lambda p: p.laplace and p.cells <= (FEW_CELLS if p.several else p.limits.p_identity_cells),
        lambda p, s: PIdentity(max_steps=p.limits.p_identity_steps_over(p.cells)),
    ),
    (
        lambda p: p.laplace and p.cells <= p.limits.min_error_cells,
        lambda p, s: MinError(),
    ),
    (
        lambda p: p.has_gaussian_optimum,
        lambda p, s: GaussianOptimal(
            gap=min(p.limits.gaussian_gap, FINE_GAP) if p.cells <= FEW_CELLS else p.limits.gaussian_gap
        ),
    ),
    (
        lambda p: not p.laplace and not p.has_gaussian_optimum and isinstance(p.body, Ranges | Prefix),
        lambda p, s: Spectral(),
    ),
    (
        lambda p: p.laplace and p.objective == "max" and p.cells <= p.limits.gaussian_cells,
        lambda p, s: WorstLaplace(p.limits.p_identity_steps_over(p.cells)),
    ),
    (
        lambda p: not p.laplace and p.objective == "max" and isinstance(p.body, Kronecker),
        lambda p, s: WorstProduct(gap=p.limits.gaussian_gap),
    ),
    (
        lambda p: not p.laplace and p.objective == "max" and p.weighs_queries,
        lambda p, s: GaussianOptimal(
            gap=p.limits.gaussian_gap if p.cells <= FEW_CELLS else max(p.limits.gaussian_gap, WORST_GAP),
            max_steps=WORST_STEPS,
            objective="max",
        ),
    ),
)

# One attribute: closed forms and small searches, cheap enough to be asked again and again.
CLOSED_FORMS: tuple[Row, ...] = (
    (lambda p: True, lambda p, s: Hierarchical(p.branchings)),
    (lambda p: p.cells & (p.cells - 1) == 0, lambda p, s: Wavelet()),
    (lambda p: p.tree_fits, lambda p, s: Taxonomy(cast(Operator, p.tree))),
    (
        lambda p: p.cells <= DENSE_CELLS or p.W.full_column_rank is True or isinstance(p.body, Total),
        lambda p, s: WorkloadItself(),
    ),
)

# Several attributes: one factor per attribute, or one product per set of attributes asked together.
SEVERAL_ATTRIBUTES: tuple[Row, ...] = (
    (lambda p: True, lambda p, s: s.product(range(DECOMPOSITION_LIMIT), p.privacy)),
    (lambda p: p.cells <= DECOMPOSITION_LIMIT, lambda p, s: s.union(p.privacy)),
    (lambda p: p.cells <= DENSE_CELLS and not p.quick, lambda p, s: WorkloadItself()),
)
