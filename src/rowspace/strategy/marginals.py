"""Weighted marginals for a workload of marginals: which tables to measure, and how much of the budget each gets.

The error is not convex in the weights: a table that is not measured at all is a local optimum of its own. So the
weights are optimized from several starts, each with its own tables: the wanted ones, covers of them by larger ones,
everything at once; then tables are united and single ones added where that helps.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np
import scipy

from rowspace.operators import Operator, Vector, check_size
from rowspace.privacy import Privacy
from rowspace.tables import Marginals as MarginalsOperator
from rowspace.tables import ProductWorkload, TableOperator, members

from .attribute_bases import based
from .attribute_classes import attribute_classes
from .covers import covers_by_size, maximal
from .marginal_loss import MarginalLoss
from .result import Result
from .table_demand import TableDemand, judged_on_tables, read_products
from .table_unions import best_union, without_some

ALL_SUBSETS = 10
"""Most attributes for which every subset is a candidate."""

LARGER_BY = 3
"""With more attributes than that, how many more attributes a block of a cover has than the largest wanted set."""

WHOLE_TABLE = 16
"""Most attributes for which the table of all of them (the identity) is tried: it has 2^attributes subsets."""

ADDED_TABLES = 500
"""With more than `ALL_SUBSETS` attributes, how many wanted tables are tried as additions."""

MOST_TRIES, PATIENCE, UNITING = 80, 40, 1.3e9
"""Searches for unions: how many at most, without success, and for how many (tables³ · residuals) per restart."""

_Found = tuple[float, dict[int, float]]
"""The error of tables, and their weights."""


@dataclass
class _Best:
    """The best tables and weights so far."""

    workload: TableDemand
    norm: int
    max_steps: int
    value: float = np.inf
    weights: dict[int, float] = field(default_factory=dict)
    steps: int = 0

    def descend(self, start: dict[int, float]) -> None:
        """Optimize the weights of these tables, and keep them if they are better."""
        self._keep(*self._descended(start))

    def unite(self, start: dict[int, float], rng: np.random.Generator | None = None) -> _Found:
        """The same; then replace tables by their union, the pair that gains most first, as long as one does."""
        value, weights = self._descended(start)
        while (united := best_union(self.workload, weights, self.norm, rng)) is not None:
            self._keep(value, weights)
            before, (value, weights) = value, self._descended(united)
            if value > before * (1 - 1e-7):
                break
        self._keep(value, weights)
        return value, weights

    def _keep(self, value: float, weights: dict[int, float]) -> None:
        if value < self.value * (1 - 1e-9):
            self.value, self.weights = value, weights

    def _descended(self, start: dict[int, float]) -> _Found:
        """The least error of these tables and their weights there, the largest one."""
        loss = MarginalLoss(self.workload, tuple(start), self.norm)
        weights = self._minimized(loss, np.array(list(start.values())))
        # A faint table costs sensitivity and tells little: without it the others often do better.
        while True:
            kept = weights > 1e-3 * weights.max()
            trial = MarginalLoss(self.workload, tuple(np.array(loss.candidates, object)[kept]), self.norm)
            if kept.all() or trial.value(weights[kept]) > loss.value(weights) * (1 + 1e-2):
                break
            loss, weights = trial, self._minimized(trial, weights[kept])
        found = dict(zip(loss.candidates, (weights / weights.max()).tolist(), strict=True))
        return loss.value(weights), found

    def _minimized(self, loss: MarginalLoss, start: Vector) -> Vector:
        found = scipy.optimize.minimize(
            loss,
            start,
            jac=True,
            method="L-BFGS-B",
            bounds=[(0.0, None)] * len(start),
            options={"maxiter": self.max_steps, "ftol": 1e-12, "gtol": 1e-9},
        )
        self.steps += int(found.nit)
        return np.asarray(found.x)


@dataclass(frozen=True)
class Marginals:
    """Unions of weighted marginals: measure the wanted tables or larger ones, with the best weights found.

    For Laplace noise. It works under Gaussian noise too, but there `Residual` is optimal and takes no search.
    `restarts` is the number of random starts, and of random covers of every block size.

    >>> from itertools import combinations
    >>> from rowspace import PureDP, operators as op
    >>> triples = combinations([op.Identity(10)] * 5, 4)
    >>> W = op.Stack(*(op.Kronecker(*triple, op.Total(10)) for triple in triples))
    >>> Marginals().optimize(W, PureDP(1.0)).strategy.shape[1]
    100000
    """

    restarts: int = 3
    max_steps: int = 500

    def __post_init__(self) -> None:
        check_size("restarts", self.restarts, 0)
        check_size("max_steps", self.max_steps)

    def propose(self, W: Operator | ProductWorkload, privacy: Privacy) -> TableOperator:
        """The strategy alone."""
        best, _ = self._found(TableDemand(read_products(W)), privacy, np.random.default_rng(0))
        return _operator(best.workload, best.weights)

    def optimize(
        self, W: Operator | ProductWorkload, privacy: Privacy, rng: np.random.Generator | None = None
    ) -> Result:
        """The best tables and weights found."""
        started = time.perf_counter()
        workload = TableDemand(read_products(W))
        best, interrupted = self._found(workload, privacy, rng or np.random.default_rng(0))
        A = _operator(best.workload, best.weights)
        status = f"{len(best.weights)} tables; more restarts may find better ones"
        return judged_on_tables(
            "marginals",
            A,
            workload.products,
            privacy,
            status="interrupted; best so far" if interrupted else status,
            steps=best.steps,
            seconds=time.perf_counter() - started,
        )

    def _found(self, workload: TableDemand, privacy: Privacy, rng: np.random.Generator) -> tuple[_Best, bool]:
        """Tables of cells first; then, where more than cells is asked, tables of what suits each attribute."""
        best, interrupted = self._search(workload, privacy, rng)
        classes = (
            [] if workload.products.only_cells or privacy.norm != 1 else attribute_classes(workload.products)
        )
        demand = workload
        for kinds, attributes in classes:
            for base in based(kinds, privacy):
                trial = _Best(
                    demand.based_on(base, attributes), privacy.norm, self.max_steps, steps=best.steps
                )
                trial.descend(best.weights)
                if trial.value < best.value:
                    best, demand = trial, trial.workload
        if demand is not workload:
            again, interrupted = self._search(demand, privacy, rng)
            best = min(best, again, key=lambda found: found.value)
        return best, interrupted

    def _search(
        self, workload: TableDemand, privacy: Privacy, rng: np.random.Generator
    ) -> tuple[_Best, bool]:
        best = _Best(workload, privacy.norm, self.max_steps)
        try:
            for start in self._starts(best, rng):
                best.descend(start)
            # Last: covers found before have equal weights, and small integers draw less noise.
            best.unite(dict.fromkeys(workload.wanted, 1.0))
            self._unite(best, rng)
            self._extend(best)
        except KeyboardInterrupt:
            if not best.weights:
                raise
            return best, True
        return best, False

    def _starts(self, best: _Best, rng: np.random.Generator) -> Iterator[dict[int, float]]:
        """Tables and weights to start from."""
        workload = best.workload
        yield dict.fromkeys(workload.wanted, 1.0)
        whole = sum(1 << i for i, n in enumerate(workload.sizes) if n > 1)
        if whole.bit_count() <= WHOLE_TABLE:
            yield {whole: 1.0}
        wanted = maximal(list(workload.wanted))
        smallest, attributes = wanted[0].bit_count(), whole.bit_count()
        few = attributes <= ALL_SUBSETS
        largest = attributes if few else min(attributes, smallest + LARGER_BY)
        covers = [
            cover
            for size in range(smallest, largest + 1)
            for cover in covers_by_size(wanted, size, rng, 1 + self.restarts)
        ]
        # Equal weights tell which covers are promising.
        covers = sorted(set(covers), key=lambda cover: _equal(best, cover))[: 4 + self.restarts]
        for cover in covers:
            yield dict.fromkeys(cover, 1.0)
            # Smaller wanted tables next to a cover of the larger ones.
            yield dict.fromkeys(workload.wanted, 0.3) | dict.fromkeys(cover, 1.0)
        if few:
            everything = _subsets(whole)
            yield dict.fromkeys(everything, 1.0)
            for _ in range(self.restarts):
                yield dict(zip(everything, rng.random(len(everything)).tolist(), strict=True))

    def _unite(self, best: _Best, rng: np.random.Generator) -> None:
        """Unions from the best tables, then again and again from what is left when some are dissolved."""
        value, weights = best.unite(best.weights)
        work = len(weights) ** 3 * best.workload.lattice.size
        tries, at_last = min(MOST_TRIES, int(self.restarts * UNITING // work)), 0
        for number in range(tries):
            if number - at_last > PATIENCE:
                return
            before = best.value
            value, united = best.unite(without_some(best.workload, weights, rng), rng)
            at_last = number if best.value < before else at_last
            # A little worse is a way to somewhere else.
            weights = united if value <= best.value * (1 + 2e-3) else weights

    def _extend(self, best: _Best) -> None:
        """Add the one table that helps most, as long as one does."""
        workload = best.workload
        whole = sum(1 << i for i, n in enumerate(workload.sizes) if n > 1)
        few = whole.bit_count() <= ALL_SUBSETS
        others = _subsets(whole) if few else list(workload.wanted)[:ADDED_TABLES]
        for _ in range(self.restarts):
            before = best.value
            candidates = tuple(best.weights) + tuple(mask for mask in others if mask not in best.weights)
            loss = MarginalLoss(workload, candidates, best.norm)
            weights = np.zeros(len(candidates))
            weights[: len(best.weights)] = list(best.weights.values())
            trials: list[tuple[float, int, float]] = []
            for k in range(len(best.weights), len(candidates)):
                for share in (0.1, 0.5):
                    weights[k] = share
                    trials.append((loss.value(weights), k, share))
                weights[k] = 0.0
            improving = sorted(trial for trial in trials if trial[0] < best.value * (1 - 1e-7))
            if improving:
                _, k, share = improving[0]
                best.descend(best.weights | {candidates[k]: share})
            if best.value > before * (1 - 1e-6):
                return


def _equal(best: _Best, masks: tuple[int, ...]) -> float:
    """The error with equal weights."""
    return MarginalLoss(best.workload, masks, best.norm).value(np.ones(len(masks)))


def _subsets(whole: int) -> list[int]:
    """All subsets of a set."""
    subsets = [0]
    for attribute in members(whole):
        subsets += [mask | 1 << attribute for mask in subsets]
    return subsets


def _operator(workload: TableDemand, weights: dict[int, float]) -> TableOperator:
    """The tables in order of size."""
    order = sorted(weights, key=lambda mask: (mask.bit_count(), members(mask)))
    sets = tuple(tuple(members(mask)) for mask in order)
    values = tuple(weights[mask] for mask in order)
    return MarginalsOperator(workload.sizes, sets, values, workload.bases or ())
