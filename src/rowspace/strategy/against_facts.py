"""The best strategy beside public facts: evidence of infinite weight, over what it leaves open.

*Few cells, Gaussian noise.* As in `dual`, but every query may be replaced by another that differs by facts: let V = LLᵗ
and, for weights λ of the cells, L̃ = L − Cᵗ(CΛCᵗ)⁻¹CΛL, which is L less what the facts say of it, G = L̃ᵗΛL̃ and X(λ) =
L̃G^(−½)L̃ᵗ. The rows of W less any multiples of facts have ‖(W − MC)Λ^½‖₁ ≥ tr G^½, as projecting never raises a sum of
singular values; so (tr G^½)² is a bound by Cauchy and Schwarz, as there. The step λ ← λx² has no proof here: where it
fails to raise the bound the search ends.

*Few cells, Laplace noise*: the search and the bound of `evidence`, in coordinates of what the facts leave open. In the
bound G must see no fact, so that whatever is known adds nothing to tr GY.

*Any number of cells*: residuals, of which those of public tables are hardly measured. The bound is that of
`product_bounds` at equal weights without the sets T of attributes that facts are about: its Z has the rows of the
others alone, which see no fact.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from itertools import chain, combinations
from math import prod

import numpy as np
import scipy

from rowspace.error import noise_level
from rowspace.exceptions import InvalidInput, UnsupportedWorkload
from rowspace.operators import Dense, Identity, Indices, Operator, Stack, Vector
from rowspace.privacy import Neighbours, Privacy
from rowspace.tables import ProductWorkload, as_products
from rowspace.threads import one_thread_if_small

from .dual import HARDLY_DEFICIENT, DualPoint, RowSpace, RowSpacePoint
from .dual_ascent import ascend, start_weights
from .evidence import LOST, ended, starts
from .evidence_search import Search
from .facts import Facts
from .open_cells import CERTAIN, NOTHING_OPEN, OpenCells, open_space
from .product_bounds import Choice
from .result import Result
from .row_space import workload_gram
from .strategy import Strategy

FLOOR = 1e-9
"""Share of the weights that all cells have alike."""

WHOLE_TABLE = 2048
"""Most cells of a table of which it is looked up whether facts determine it."""


@dataclass(frozen=True, eq=False)
class AgainstFacts:
    """The strategy of least error beside facts, to a factor 1 + gap under Gaussian noise; over few cells.

    Guarantees:
        - the lower bound holds for every strategy (`test_no_strategy_beats_the_bound_beside_facts`);
        - the error is that of least squares under the facts (`test_error_under_facts_by_brute_force`).
    """

    facts: Facts
    gap: float = 1e-3
    max_steps: int = 300

    def optimize(
        self, W: Operator | ProductWorkload, privacy: Privacy, rng: np.random.Generator | None = None
    ) -> Result:
        """The strategy, judged under the facts; nothing is random."""
        started = time.perf_counter()
        possible, cells = self.facts.possible_cells(), prod(self.facts.sizes)
        W = as_products(W)
        V = workload_gram(W.weighted_operator())
        if len(V) != cells:
            raise InvalidInput(f"expected facts over {len(V)} cells, got {cells}")
        V = V[np.ix_(possible, possible)]
        with one_thread_if_small(cells):
            L, known = _factor(V), self._known(possible)
            left = np.abs(L - known.T @ (known @ L)).max(initial=0)
            if left**2 <= CERTAIN * np.abs(L).max(initial=0) ** 2:
                raise InvalidInput(NOTHING_OPEN)
            rows, bound, steps, ending = (
                self._few(V, L, possible, privacy)
                if privacy.norm == 1
                else self._gaussian(V, L, known, privacy)
            )
            matrix = np.zeros((len(rows), cells))
            matrix[:, possible] = rows
            A: Operator = Dense(matrix)
            try:
                error = self._error(A, W, privacy)
            except UnsupportedWorkload:  # where next to nothing is asked of some direction, rounding loses it
                A = Stack(A, LOST * float(np.abs(matrix).max()) * Identity(cells))
                error = self._error(A, W, privacy)
        bound = bound if privacy.neighbours is Neighbours.ADD_REMOVE else 0.0
        seconds = time.perf_counter() - started
        return Result("beside the facts", A, error, min(bound, error), ending, steps, seconds)

    def _known(self, possible: Indices) -> Vector:
        """Orthonormal rows that span what the facts say of the cells that are possible."""
        if not self.facts.known:
            return np.zeros((0, len(possible)))
        return _independent_rows(self.facts.queries.operator().to_dense()[:, possible])

    def _gaussian(self, V: Vector, L: Vector, known: Vector, privacy: Privacy) -> Found:
        """By dual ascent."""
        geometry = _Open(L, known)
        ascent = ascend(geometry, start_weights(V), self.gap, self.max_steps, _attained)
        assert geometry.best is not None
        bound = privacy.unit_variance * ascent.bound
        return _rows(geometry.best), bound, ascent.steps, ascent.ending

    def _few(self, V: Vector, L: Vector, possible: Indices, privacy: Privacy) -> Found:
        """By the search of `evidence`."""
        c, most = 1 / privacy.unit_variance, 1 / max(privacy.least_variance, 1e-200)
        basis = open_space(self.facts)[1][possible]
        search = Search(V, np.zeros_like(V), c, most, privacy.norm, basis)
        runs = [search.descend(start, self.max_steps) for start in starts(Dense(L.T), len(V), privacy)]
        found, steps = min(runs, key=lambda run: search.error(run[0]))
        bound = max(search.bound_beside_facts(run[0]) for run in runs)
        return found, bound, steps, ended(search.error(found), bound, self.gap, steps, self.max_steps)

    def _error(self, A: Operator, W: ProductWorkload, privacy: Privacy) -> float:
        return noise_level(A, privacy) * OpenCells.beside(Strategy.of(A), self.facts).trace(W)


Found = tuple[Vector, float, int, str]
"""(strategy, lower bound, steps, how the search ended)."""


@dataclass(eq=False)
class _Open:
    """A workload beside facts as a function of λ (`dual.Geometry`), which remembers the point of least error."""

    L: Vector
    C: Vector
    best: RowSpacePoint | None = None

    def at(self, weights: Vector) -> RowSpacePoint:
        """The point of the queries less what the facts say of them; its error is of these queries themselves."""
        # Some weight everywhere: facts about cells of no weight would be lost among rounding errors.
        weights = (1 - FLOOR) * weights + FLOOR / len(weights)
        weighted = self.C * weights
        known = scipy.linalg.lstsq(weighted @ self.C.T, weighted @ self.L)[0] if len(self.C) else self.L[:0]
        point = RowSpace(self.L - self.C.T @ known).at(weights)
        if self.best is None or point.error < self.best.error:
            self.best = point
        return point


def _rows(point: RowSpacePoint) -> Vector:
    """Rows whose Gram matrix is X, scaled; cells that are asked less than others are asked by themselves too."""
    top = point.diagonal.max()
    missing = np.maximum(0.0, 1 - point.diagonal / top)
    return np.concatenate([point.Y.T / np.sqrt(top), np.diag(np.sqrt(missing))[missing > HARDLY_DEFICIENT]])


def _attained(point: DualPoint) -> float:
    """(tr G^½)² = (Σλx)²."""
    return float(point.weights @ point.diagonal) ** 2


def _independent_rows(C: Vector) -> Vector:
    """Orthonormal rows that span the same."""
    Q, R, _ = scipy.linalg.qr(C.T, mode="economic", pivoting=True)
    sizes = np.abs(np.diagonal(R))
    return np.asarray(Q[:, sizes > len(C.T) * 1e-13 * sizes.max()].T)


def _factor(V: Vector) -> Vector:
    """L with V = LLᵗ, but for directions that are rounding once every cell is asked alike: those only raise V."""
    scale = np.sqrt(np.diagonal(V))
    unit = np.divide(1.0, scale, out=np.zeros_like(scale), where=scale > 0)
    values, Q = scipy.linalg.eigh(V * np.multiply.outer(unit, unit))
    kept = values > len(V) * 1e-14 * values.max()
    return np.asarray(scale[:, None] * Q[:, kept] * np.sqrt(values[kept]))


def public_tables(facts: Facts) -> frozenset[tuple[int, ...]]:
    """The sets of attributes whose tables the facts determine, with all that are below them."""
    found: set[tuple[int, ...]] = set()
    for own in facts.touched:
        shape = [facts.sizes[i] for i in own]
        if int(np.prod(shape)) <= WHOLE_TABLE and own not in found:
            rows = [
                np.broadcast_to(
                    fact.table.reshape([facts.sizes[i] if i in fact.axes else 1 for i in own]), shape
                )
                for fact in facts.known
                if set(fact.axes) <= set(own)
            ]
            cells = int(np.prod(shape))
            matrix = np.array(rows, dtype=np.float64).reshape(len(rows), cells)
            if len(rows) >= cells and np.linalg.matrix_rank(matrix) == cells:
                found.update(_below(own))
    return frozenset(found)


def facts_bound(workload: ProductWorkload, facts: Facts, privacy: Privacy) -> float:
    """What no strategy goes below beside facts, in the unit of E, at any number of cells."""
    varying = [n > 1 for n in workload.sizes]
    seen = {tuple(i for i in own if varying[i]) for touched in facts.touched for own in _below(touched)}
    free = np.array([own not in seen for own in workload.lattice.sets])
    found = 0.0
    for alone in (False,) if workload.only_cells else (False, True):
        choice = Choice.even(workload, False, alone)
        found = max(found, choice.kept * float(choice.roots[free].sum()) ** 2)
    return found if privacy.neighbours is Neighbours.ADD_REMOVE else 0.0


def _below(own: tuple[int, ...]) -> list[tuple[int, ...]]:
    return list(chain.from_iterable(combinations(own, k) for k in range(len(own) + 1)))
