"""Planning against evidence in tables: water-filling, whatever the number of attributes.

Let what is known be residuals R with precisions π_R, and let one unit of precision cost p_R of the budget and be worth
v_R/(its square) to the queries. The best that a budget c buys is then x_R = max(0, √(v_R/(μp_R)) − π_R), with μ such
that Σ p_R x_R = c: a convex problem in one number for every set, solved by sorting. New residuals are asked by the rows
that the evidence has, so that both add up set by set, and `combine` is generalized least squares.

*The bound.* Let P_T be the projections onto what varies in exactly the attributes T, N the number of cells,
G = Σ g_T P_T/N with 0 ≤ g_T ≤ 1 and Λ = I/N in the bound of `evidence`: tr GP = Σ g_T a_T with a_T = tr(P_T P)/N, and
Σλ = 1. The nuclear norm of WG^½ is at least Σ_T √g_T r_T, with r_T the terms of `product_bounds` at equal weights, as
the rows of Z for T lie in P_T. So every strategy errs by at least (Σ √g_T r_T)²/(Σ g_T a_T + c). The best g give what
water-filling gives for r_T² in place of p_Tv_T and a_T in place of p_Tπ_T. For marginals and evidence to which all
cells are alike r_T² = p_Tv_T: the strategy is optimal, and certified. Whatever the evidence, P + X as a whole is a
strategy whose squared column norms are at most c and those of the evidence: `product_bounds` again.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from math import sqrt

import numpy as np

from rowspace.error import noise_level
from rowspace.exceptions import InvalidInput, UnsupportedWorkload
from rowspace.operators import Operator, Vector
from rowspace.privacy import Privacy
from rowspace.tables import CellSplit, Elimination, ProductWorkload, Residuals

from .joint_bound import joint_bound
from .joint_parts import ties
from .pooled import Measured
from .product_bounds import Choice, union_bound
from .residual import FAINTEST
from .result import Result
from .table_demand import read_products
from .table_evidence import as_residuals, energies


@dataclass(frozen=True, eq=False)
class AgainstTables:
    """Residuals of least error together with tables that were measured, under Gaussian noise, at any number of cells.

    evidence: measurements of tables that split their attributes alike, or of the same rows over joint cells.

    Guarantees:
        - for marginals it is the optimum beside evidence to which all cells are alike
          (`test_tables_are_as_good_as_the_dense_solver`);
        - the lower bound holds for every strategy (`test_no_strategy_beats_the_bound_beside_tables`).

    >>> from rowspace import ZCDP, operators as op, tables
    >>> known = Measured(tables.Marginals((2, 3), ((0,),), (1,)), 4.0, 0.0, 1.0)
    >>> cells = op.Kronecker(op.Identity(2), op.Identity(3))
    >>> result = AgainstTables((known,)).optimize(cells, ZCDP(0.5))
    >>> round(result.ratio, 6)
    1.0
    """

    evidence: Sequence[Measured]

    def optimize(
        self, W: Operator | ProductWorkload, privacy: Privacy, rng: np.random.Generator | None = None
    ) -> Result:
        """The strategy, judged together with the evidence."""
        started = time.perf_counter()
        if privacy.norm != 2:
            raise InvalidInput("expected a guarantee with Gaussian noise to fill up residuals")
        workload = read_products(W)
        known = as_residuals(self.evidence)
        if known is None:
            raise UnsupportedWorkload("these measurements do not split their attributes alike")
        if known.sizes != workload.sizes:
            raise InvalidInput("expected evidence about the attributes of the workload")
        full, rows = _asked(known, workload)
        bought, _ = water_filled(rows.worth, rows.price, rows.known, 1 / privacy.unit_variance)
        # What is not known at all must be measured, however unimportant.
        bought = np.where(rows.needs(bought), np.maximum(bought, FAINTEST**2 * bought.max()), bought)
        kept = np.flatnonzero(bought)
        largest = sqrt(float(bought[kept].max()))
        A = Residuals(
            full.sizes,
            tuple(full.sets[k] for k in kept.tolist()),
            tuple(np.sqrt(bought[kept]) / largest),
            full.contrasts,
            tuple(full.joint[k] for k in kept.tolist()) if full.joint else (),
        )
        # As it is asked: the norms of tables with joint matrices may add up to less than their bound.
        gained = 1 / (noise_level(A, privacy) * largest**2)
        error = rows.error(gained * bought)
        most = 1 / max(privacy.least_variance, 1e-200)
        bound = min(error, self._bound(workload, most))
        alike = workload.only_cells and known.all_cells_alike
        status = "closed form, optimal" if alike else "closed form, given the rows of the evidence"
        return Result("beside the tables", A, error, bound, status, 1, time.perf_counter() - started)

    def _bound(self, workload: ProductWorkload, most: float) -> float:
        """What no strategy goes below that a budget buys, in squared column norms up to `most`."""
        tables = [(own.strategy, own.variance) for own in self.evidence]
        sums = np.zeros(workload.lattice.size)
        whole = most
        for A, variance in tables:
            sums += energies(A, workload.lattice) / variance
            whole += A.max_column_norm(2) ** 2 / variance
        plain = union_bound(workload, False)
        if ties(workload):
            plain = max(plain, joint_bound(workload, {}))
        found = plain / whole
        for alone in (False,) if workload.only_cells else (False, True):
            choice = Choice.even(workload, False, alone)
            _, value = water_filled(choice.roots**2, np.ones(len(sums)), sums, most)
            found = max(found, choice.kept * value)
        return found


def water_filled(worth: Vector, price: Vector, known: Vector, c: float) -> tuple[Vector, float]:
    """(x, Σ worth/(known + x)) of least value among x ≥ 0 with Σ price·x = c.

    x = max(0, t·√(worth/price) − known): what is paid grows with t, linearly between the t where a set comes in.
    """
    asked = worth > 0
    slope = np.sqrt(worth[asked]) * np.sqrt(price[asked])  # the product may be too small for a number
    paid = price[asked] * known[asked]
    order = np.argsort(paid / slope, kind="stable")
    # With the first k sets in, c = t·Σslope − Σpaid; the last k whose own t is not beyond that one.
    t = (c + np.cumsum(paid[order])) / np.cumsum(slope[order])
    last = np.flatnonzero(t * slope[order] >= paid[order])[-1]
    x = np.zeros(len(worth))
    x[asked] = np.maximum(0.0, t[last] * slope - paid) / price[asked]
    return x, float(np.sum(worth[asked] / (known + x)[asked]))


@dataclass(frozen=True, eq=False)
class _Rows:
    """Sets by what a squared weight of one is worth and costs, and what squared weight is known."""

    worth: Vector
    price: Vector
    known: Vector

    def needs(self, bought: Vector) -> Vector:
        """The sets that are asked about, and neither known nor bought enough to be more than a rounding error."""
        return np.asarray((self.worth > 0) & (self.known == 0) & (bought < FAINTEST**2 * bought.max()))

    def error(self, bought: Vector) -> float:
        """Σ worth/(known + bought)."""
        asked = self.worth > 0
        return float(np.sum(self.worth[asked] / (self.known + bought)[asked]))


def _asked(known: Residuals, workload: ProductWorkload) -> tuple[Residuals, _Rows]:
    """The rows of the evidence for all sets that the workload is about, and plain contrasts where it has none."""
    lattice = workload.lattice
    weights = dict(zip(known.sets, known.weights, strict=True))
    squares = np.array([weights.get(own, 0.0) for own in lattice.sets]) ** 2
    price = lattice.products([S.max_column_norm(2) ** 2 if S.shape[1] > 1 else 1.0 for S in known.matrices])
    joint = dict(zip(known.sets, known.joint, strict=False))
    full = Residuals(
        known.sizes,
        lattice.sets,
        tuple(np.where(squares > 0, np.sqrt(squares), 1.0)),
        known.contrasts,
        tuple(joint.get(own) for own in lattice.sets) if joint else (),
    )
    if not joint:
        scale = [1 / split.n**2 if isinstance(split, CellSplit) else 1.0 for split in known.splits]
        return full, _Rows(workload.costs(known.splits) * lattice.products(scale), price, squares)
    costs = Elimination(full, workload).costs()
    worth = lattice.vector(costs) * np.array(full.weights) ** 2
    for number, own in enumerate(lattice.sets):
        if (J := joint.get(own)) is not None:
            price[number] = J.max_column_norm(2) ** 2
    return full, _Rows(worth, price, squares)
