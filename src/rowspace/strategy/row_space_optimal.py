"""The Gaussian optimum for few queries over many cells, such as the statements of a dashboard."""

from __future__ import annotations

import time
from dataclasses import dataclass
from functools import cached_property
from math import prod
from typing import Any

import numpy as np

from rowspace.error import noise_level
from rowspace.exceptions import InvalidInput, TooLarge
from rowspace.operators import Dense, Operator, Sparse, Vector
from rowspace.privacy import Privacy
from rowspace.tables import ProductWorkload, QueryMix, as_products, distinct_columns, product_rows, tied_axes
from rowspace.threads import one_thread_if_small

from .dual_ascent import ascend
from .result import Result
from .row_space_dual import Blocks, block
from .row_space_laplace import LEAST_STEPS as FEWEST_STEPS
from .row_space_laplace import least_l1, steps_within
from .strategy import Strategy
from .symmetry import Axis, interchangeable, kinds_of

MOST_QUERIES = 2**13
"""Queries of one block, of which the independent ones are searched: 512 MB of inner products."""

LEAST_STEPS = 6

FULL = 1.25
"""Columns for each independent query below which a large row space is that of all cells, and other methods fit."""

LARGE = 1024

QUICK_WORK = 1e10
"""Operations of a step that takes a fraction of a second."""

MANY_PARTS = 256
"""Parts past which strategies of tables take minutes to fit."""


MOST_TIED = 2**20
"""Most joint cells of attributes that queries tie together: rows over them are written out."""


@dataclass(frozen=True)
class RowSpaceOptimal:
    """The strategy of least error under Gaussian noise within the workload's row space, to a factor 1 + gap.

    For Laplace noise a search from there (`row_space_laplace`), without a proof of how good it is.

    Any number of cells: columns and Gram matrices are made from products, axis by axis (`tables.product_rows`), and the
    dual is solved over distinct columns in the row space (`row_space_dual`), apart for every kind of component that
    interchangeable cells lead to (`symmetry`). A step costs about 10r³ for r independent queries, more
    where rows over joint cells of tied attributes are long; as many are made as `work` operations allow, at least six,
    else `TooLarge`. Memory: 1 GB at 3,000 independent queries.

    Guarantees:
        - the lower bound holds for every strategy (`test_no_strategy_beats_the_bound`);
        - the error is that of the returned matrix (`test_the_error_is_that_of_the_dense_matrix`).

    >>> from rowspace import ZCDP, operators as op
    >>> result = RowSpaceOptimal().optimize(op.Dense([[1, 1, 0, 0, 0], [0, 1, 1, 1, 0]]), ZCDP(0.5))
    >>> result.ratio < 1.001
    True
    """

    gap: float = 1e-3
    work: float = 4e12
    max_steps: int = 200

    def optimize(
        self, W: Operator | ProductWorkload, privacy: Privacy, rng: np.random.Generator | None = None
    ) -> Result:
        """The strategy, judged; nothing is random."""
        return FewQueries(as_products(W), privacy.norm == 2).optimize(privacy, self)


@dataclass(frozen=True, eq=False)
class FewQueries:
    """A workload on its way to its optimum: the blocks of its dual are made once.

    alike: whether interchangeable cells are taken as such, which pays for Gaussian noise alone.
    """

    workload: ProductWorkload
    alike: bool = True

    @cached_property
    def _rows(self) -> Any:
        axes, sizes = tied_axes(self.workload), self.workload.sizes
        largest = max(prod(sizes[i] for i in own) for own in axes)
        if largest > MOST_TIED:
            raise TooLarge(f"attributes of {largest} joint cells are tied together; the limit is {MOST_TIED}")
        return product_rows(self.workload, axes)

    @cached_property
    def _axes(self) -> tuple[Axis, ...]:
        each = (np.arange(m.shape[1]) for m in self._rows.vectors)
        labels = interchangeable(self._rows) if self.alike else tuple(each)
        return tuple(Axis(m, own) for m, own in zip(self._rows.vectors, labels, strict=True))

    @cached_property
    def _kinds(self) -> list[tuple[Any, Any, Vector]]:
        """(kind, its distinct queries, their squared weights)."""
        levels = (axis.levels[0] for axis in self._axes)
        if not all(np.array_equal(m.data, np.rint(m.data)) for m in (*self._rows.vectors, *levels)):
            raise InvalidInput("expected queries of whole numbers: others cannot be mixed exactly")
        powers = np.repeat(self.workload.powers, self.workload.sizes_of_parts)
        found = []
        for kind in kinds_of(self._rows, self._axes):
            queries, number = np.unique(kind.numbers, axis=0, return_inverse=True)
            if len(queries) > MOST_QUERIES:
                raise TooLarge(f"{len(queries)} different queries are too many; the limit is {MOST_QUERIES}")
            power = powers[kind.members] * kind.scale**2 * kind.energy
            copies = prod(n - 1 for n in kind.cells(self._axes))
            found.append((kind, queries, np.bincount(number.ravel(), power, minlength=len(queries)) / copies))
        if not any(power.any() for _, _, power in found):
            raise InvalidInput("expected a workload with at least one non-zero query")
        return [(kind, queries[power > 0], power[power > 0]) for kind, queries, power in found if power.any()]

    @cached_property
    def _over_tied(self) -> float:
        """Operations of a step over rows that are written out, of 0 and 1 over the joint cells of tied attributes."""
        W = self.workload
        tied = {i for own in tied_axes(W) if len(own) > 1 for i in own}

        def ones(part: tuple[int, ...]) -> float:
            pieces = [W.pieces[k] for k in part]
            each = [
                p.operator.squared_frobenius() if tied.issuperset(p.axes) else p.operator.shape[0]
                for p in pieces
            ]
            return prod(each) * prod(W.sizes[i] for i in tied.difference(W.axes_of(part)))

        return 4.0 * W.queries * sum(map(ones, W.parts)) if tied else 0.0

    @cached_property
    def work(self) -> float:
        """Operations of a step, about."""
        return self._over_tied + sum(10.0 * len(queries) ** 3 for _, queries, _ in self._kinds)

    @property
    def comes_first(self) -> bool:
        """Whether it is tried before strategies of tables: it is quick, or those would be slow."""
        try:
            return self.work < QUICK_WORK or len(self.workload.parts) > MANY_PARTS
        except (TooLarge, InvalidInput):
            return False

    @cached_property
    def is_far_from_cells(self) -> bool:
        """Whether queries are so few that asking every cell, or sums of cells, is no match for them."""
        return sum(block.rank * 2 for block in self._blocks[0].blocks) < len(self._blocks[0].start())

    @cached_property
    def _blocks(self) -> tuple[Blocks, list[Any]]:
        """The dual, and the independent queries of every block."""
        vectors = [axis.levels[0] for axis in self._axes]
        values = distinct_columns(vectors, np.concatenate([queries for _, queries, _ in self._kinds])).values
        blocks, numbers, start = [], [], 0
        for kind, queries, power in self._kinds:
            cells = kind.cells(self._axes)
            own = values[:, start : start + len(queries)].T
            found, chosen = block(own, power, prod(n - 1 for n in cells), prod(cells))
            if LARGE < found.rank > np.count_nonzero(own.any(axis=0)) / FULL:
                raise TooLarge(
                    f"{found.rank} independent queries are not few over {len(values)} different cells"
                )
            start += len(queries)
            blocks.append(found)
            numbers.append(queries[chosen])
        return Blocks(tuple(blocks)), numbers

    def optimize(self, privacy: Privacy, limits: RowSpaceOptimal) -> Result:
        """The strategy, judged."""
        started = time.perf_counter()
        # What is known before rows are written out comes first.
        if self._over_tied * LEAST_STEPS > limits.work or self.work * LEAST_STEPS > limits.work:
            raise TooLarge(f"{LEAST_STEPS} steps take more than {limits.work:.1e} operations")
        steps = min(limits.max_steps, int(limits.work / self.work))
        geometry, numbers = self._blocks
        with one_thread_if_small(max(len(own) for own in numbers)):
            ascent = ascend(geometry, geometry.start(), limits.gap, steps)
            if not np.isfinite(geometry.best.error):
                raise TooLarge(
                    "some queries are so faint beside others that they are lost among their digits"
                )
            mixes, status = [T for _, T in geometry.best.mixes], ascent.ending
            if privacy.norm == 1:
                mixes, status = self._least_l1(geometry, limits.work), "local search; no proof"
            A = self._mix(mixes, numbers)
            error = noise_level(A, privacy) * Strategy.of(A).trace(self.workload)
        bound = privacy.unit_variance * ascent.bound
        status = f"{status}: within a factor {max(error / bound, 1.0):.5g} of the best possible"
        seconds = time.perf_counter() - started
        return Result("row space optimum", A, error, min(bound, error), status, ascent.steps, seconds)

    @staticmethod
    def _least_l1(geometry: Blocks, work: float) -> list[Vector]:
        """Other mixes, of the one block that there is without interchangeable cells."""
        (own,), ((_, T),) = geometry.blocks, geometry.best.mixes
        steps = steps_within(work, own.rank, own.R.shape[1])
        if steps < FEWEST_STEPS:
            raise TooLarge(
                f"{own.rank} queries over {own.R.shape[1]} different cells are too many for a search"
            )
        R = own.R if isinstance(own.R, np.ndarray) else own.R.toarray()
        return [least_l1(R, (own.F @ own.F.T).toarray(), T.T @ T, steps)]

    def _mix(self, mixed: list[Vector], numbers: list[Any]) -> QueryMix:
        """The strategy that asks these mixes."""
        mixes, beyond = [], []
        for (kind, _, _), T in zip(self._kinds, mixed, strict=True):
            mixes.append(Dense(T / prod(kind.cells(self._axes))))
            pairs = zip(kind.classes, self._axes, strict=True)
            beyond.append(tuple(axis.indicator(c) if c >= 0 else -1 for c, axis in pairs))
        vectors = tuple(Sparse(axis.levels[0]) for axis in self._axes)
        axes = tied_axes(self.workload)
        return QueryMix(self.workload.sizes, axes, vectors, tuple(numbers), tuple(mixes), tuple(beyond))
