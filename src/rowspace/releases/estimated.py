"""Tables as estimated: never negative, agreeing, nearer to the truth than the measurement wherever cells are sparse.

Unbiased answers are right for large counts, sums and inference; in tables that people read most cells are nearly empty,
and noise swamps them. Here every cell lies between a model and its measurement (`reconstruct.table_estimate`). That is
biased, so two statements go with every answer: an expected error, and how much of the answer is measurement.

Guarantees
- It sees nothing but the release and costs no privacy (by construction: this room may not import `sources`).
- Intervals are those of the unbiased answers, cut at zero and widened to hold the estimate: they cover the truth at
  least as often as stated, whatever the model (tests/releases/test_estimated.py::test_intervals_cover).
- No count is negative and sums of answers are answers to sums
  (tests/releases/test_estimated.py::test_counts_agree).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from rowspace.exceptions import InvalidInput, UnsupportedWorkload
from rowspace.notebook import one_line
from rowspace.operators import Dense, Identity, Operator, Vector
from rowspace.tables import ProductWorkload, asked_of
from rowspace.workload import Workload

from .answer_columns import answer_columns, with_notes
from .consistent import Consistent, as_whole, check_flags
from .consistent_counts import Counts, TableCounts
from .estimate_fit import EstimateFit, Models, estimate_fit
from .evidence import as_queries, promise_of, require_counts, units_of

if TYPE_CHECKING:
    import pandas as pd

    from .combined import Combined
    from .release import Release

MODELS = ("best", "independence")

_WRITTEN_OUT = 2**22


@dataclass(frozen=True, eq=False)
class TableEstimate(Consistent):
    """The tables of a release as estimated; see `Release.estimate_tables`.

    release: what they are made from.
    integral: whether they are whole numbers.
    fit: the estimates, table by table.

    >>> from rowspace.sample import small_release
    >>> small_release().estimate_tables()
    <Tables as estimated, not negative, of <Release of 18 answers under 200-differential privacy (add …>
    """

    fit: EstimateFit

    @cached_property
    def _counts(self) -> Counts:
        return TableCounts(self.release, integral=self.integral, fit=self.fit)

    def answers(self, level: float = 0.95) -> pd.DataFrame:
        """The workload's answers: labels, answer, expected_error, an interval at `level`, and measured.

        expected_error: root of the expected squared error, by what the models' posteriors promise and how far they
        are apart. low, high: an interval that needs no model. measured: how much of
        the answer is measurement, from 0 (all model) to 1.

        Queries that need every cell of a table that was not measured so are left out.

        >>> from rowspace.sample import small_release
        >>> found = small_release().estimate_tables()
        >>> found.answers().columns.tolist()
        ['group', 'age', 'sex', 'answer', 'expected_error', 'low', 'high', 'measured']
        """
        own = self.fit.answerable
        if own is None:
            raise UnsupportedWorkload(
                "no query of the workload is about a table that was measured cell by cell; ask for others"
            )
        return self._framed(own, level)

    def ask(self, queries: Workload | str | Sequence[str], level: float = 0.95) -> pd.DataFrame:
        """Answers to other queries about the tables that were measured, for free; as text, conditions or SQL.

        queries: a workload, or one or several texts.
        level: the confidence level of the intervals.

        >>> from rowspace.sample import small_release
        >>> small_release().estimate_tables().ask("age < 2")["answer"].round().tolist()
        [100.0]
        """
        return self._framed(as_queries(self.release.plan.domain, queries, units_of(self.release)), level)

    def errors(self) -> pd.DataFrame:
        """Every table with its model, its expected error and how much of it is measurement.

        error_share: expected Σ|estimate − truth| over the records. noise_share: the same of the unbiased table.
        rmse: of a cell. measured: the share of its records' counts that is measurement.

        >>> from rowspace.sample import small_release
        >>> small_release().estimate_tables().errors()["table"].tolist()
        ['total', 'age', 'sex', 'age × sex']
        """
        import pandas as pd

        names = self.release.plan.domain.names
        records = max(1.0, self.fit.records)
        rows = []
        for own, table in self.fit.estimated.tables.items():
            weight = table.counts / max(float(table.counts.sum()), 1e-9)
            noise = self.fit.noise[own]
            rows.append(
                {
                    "table": " × ".join(names[i] for i in own) or "total",
                    "cells": table.counts.size,
                    "model": table.model,
                    "error_share": float(table.deviation.sum()) / records,
                    "noise_share": float(np.sqrt(2 / np.pi * noise).sum()) / records,
                    "rmse": float(np.sqrt(table.variance.mean())),
                    "measured": min(1.0, float((weight * table.measured).sum())),
                }
            )
        return with_notes(pd.DataFrame(rows), self)

    def _framed(self, queries: Workload, level: float) -> pd.DataFrame:
        import pandas as pd

        unbiased = self.release.ask(queries, level)  # checks the level and the number of rows
        own = self._own_figures(queries.products())
        answer = self._counts.answer(queries)
        low, high = unbiased["low"].to_numpy(), unbiased["high"].to_numpy()
        low = np.where(own["signed"] > 0, low, np.maximum(low, 0.0))
        figures = {
            "answer": as_whole(answer) if self.integral else answer,
            "expected_error": own["expected_error"],
            "low": np.minimum(low, answer),
            "high": np.maximum(high, answer),
            "measured": own["measured"],
        }
        labels = queries.table(0, queries.size)
        return with_notes(pd.DataFrame(answer_columns(labels, figures)), self, level)

    def _own_figures(self, queries: ProductWorkload) -> dict[str, Vector]:
        """Expected error, share of measurement, and whether coefficients are negative, query by query."""
        squared = [_squared(piece.operator) for piece in queries.pieces]
        pieces = tuple(
            replace(piece, operator=own[0]) for piece, own in zip(queries.pieces, squared, strict=True)
        )
        products = replace(queries, pieces=pieces)
        found = []
        for number, part in enumerate(products.parts):
            axes = products.axes_of(part)
            own = tuple(sorted(axes))
            if own not in self.fit.estimated.tables:
                raise UnsupportedWorkload(
                    "this needs a table that was not measured cell by cell; ask for sums of the tables of errors()"
                )
            table = self.fit.estimated.tables[own]
            # A table without records is as much measured as its cells are.
            weight = table.counts + 1e-9 * max(1.0, self.fit.records)
            stack = np.stack([table.variance, weight * table.measured, weight])
            stack = stack.transpose(0, *(1 + own.index(axis) for axis in axes))
            variance, measured, whole = asked_of(products, number, stack).reshape(3, -1)
            signed = np.full(len(variance), float(any(squared[k][1] for k in part)))
            share = np.divide(measured, whole, out=np.zeros_like(measured), where=whole > 0).clip(0.0, 1.0)
            found.append(np.stack([np.sqrt(np.maximum(variance, 0.0)), share, signed]))
        return dict(zip(("expected_error", "measured", "signed"), np.concatenate(found, axis=1), strict=True))

    @property
    def statement(self) -> str:
        """How to read the numbers, in plain words; goes with every table."""
        kind = "whole and not negative" if self.integral else "not negative"
        left_out = self.release.plan.population
        return (
            f"Tables as estimated: counts are {kind}, {self.method}. They are biased towards the model; expected_error "
            "is the error to expect and measured says how much of an answer is measurement. Intervals need no model: "
            "they are those of the unbiased answers, which the release itself gives, cut at zero and widened to hold "
            f"the estimate. {left_out + ' ' if left_out else ''}Made from a release under "
            f"{promise_of(self.release)}, at no further cost of privacy."
        )

    def __repr__(self) -> str:
        kind = "whole and not negative" if self.integral else "not negative"
        return one_line(f"<Tables as estimated, {kind}, of {self.release!r}>")

    def __str__(self) -> str:
        return f"Tables as estimated: {self.effect}\n  {self.statement}"


def estimate_tables(
    release: Release | Combined, *, integral: bool = False, model: str | Models = "best"
) -> TableEstimate:
    """See `Release.estimate_tables`."""
    check_flags(integral=integral)
    require_counts(release, "estimated tables are")
    if isinstance(model, str) and model not in MODELS:
        raise InvalidInput(f"expected model as one of {', '.join(MODELS)} or a dict of tables, got {model!r}")
    if model == "best":
        return TableEstimate(release, integral, release._tables)
    if isinstance(model, str):
        return TableEstimate(release, integral, estimate_fit(release, independent=True))
    if not hasattr(model, "items"):
        raise InvalidInput(f"expected model as a name or a dict of tables, got {type(model).__name__}")
    return TableEstimate(release, integral, estimate_fit(release, models=model))


def _squared(matrix: Operator) -> tuple[Operator, bool]:
    """The matrix of squared coefficients, and whether some were negative."""
    if isinstance(matrix, Identity):
        return matrix, False
    rows, cells = matrix.shape
    if rows * cells <= _WRITTEN_OUT:
        dense = matrix.to_dense()
        return Dense(dense**2), bool((dense < 0).any())
    signed = not np.allclose(matrix.T @ np.ones(rows), matrix.column_norms(1))
    if signed or matrix.largest_entry() > 1:
        raise UnsupportedWorkload(
            "these queries have coefficients other than 0 and 1 and are too many to write out; ask for fewer at a time"
        )
    return matrix, False
