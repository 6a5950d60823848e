"""Consistency on request: counts that are not negative, or whole numbers too, at the price of bias.

Unbiased signed counts are what a release gives by itself, and what statistics should be computed from. These are for
those who need a table that looks like counts. Everything here is post-processing of released numbers.

Guarantees
- It sees nothing but the release and costs no privacy (by construction: this room may not import `sources`).
- No count is negative, whole numbers are whole, and sums of answers are answers to sums
  (tests/releases/test_consistent.py::test_counts_are_counts).
- The result says that it is biased and by how much it moved the answers
  (tests/releases/test_consistent.py::test_says_what_it_did).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from rowspace.exceptions import InvalidInput, TooLarge
from rowspace.notebook import one_line
from rowspace.operators import Vector
from rowspace.workload import Workload

from .answer_columns import answer_columns, with_notes
from .consistent_counts import Counts, Effect, counts_of
from .derived_tables import framed, groups
from .evidence import as_queries, promise_of, require_counts, units_of
from .release import TABLE_LIMIT

METHODS = ("projection", "estimate")

if TYPE_CHECKING:
    import pandas as pd

    from .combined import Combined
    from .release import Release


@dataclass(frozen=True, eq=False)
class Consistent:
    """A release as counts that are not negative (and whole): biased, and without error bars.

    release: what the counts are made from.
    integral: whether they are whole numbers.
    by: "projection", "estimate", or None for the better one.

    >>> from rowspace.sample import small_release
    >>> release = small_release()
    >>> release.consistent()
    <Consistent counts, not negative, of <Release of 18 answers under 200-differential privacy (add or…>
    """

    release: Release | Combined
    integral: bool
    by: str | None = field(default=None, kw_only=True)

    @cached_property
    def _counts(self) -> Counts:
        return counts_of(self.release, integral=self.integral, by=self.by)

    def answers(self) -> pd.DataFrame:
        """The workload's answers: labels and answer. No error bars: those of the release are for unbiased answers.

        >>> from rowspace.sample import small_release
        >>> release = small_release()
        >>> release.consistent(integral=True).answers()["answer"].tolist()[:4]
        [10, 20, 30, 40]
        """
        return self._table(self.release.plan.counted)

    def ask(self, queries: Workload | str | Sequence[str]) -> pd.DataFrame:
        """Answers to other queries over the same attributes, for free; as text they are conditions or SQL.

        queries: a workload, or one or several texts.

        >>> from rowspace.sample import small_release
        >>> release = small_release()
        >>> release.consistent(integral=True).ask("age < 2")["answer"].tolist()
        [100]
        """
        return self._table(as_queries(self.release.plan.domain, queries, units_of(self.release)))

    def table(self, row: str, column: str | None = None, *, missing: bool = False) -> pd.DataFrame:
        """Counts by one or two attributes (or levels) with their totals, which are sums of what is shown.

        row, column: attributes or levels of a taxonomy; without `column` the table has one.
        missing: whether records without a known value are shown.

        >>> from rowspace.sample import small_release
        >>> release = small_release()
        >>> print(release.consistent(integral=True).table("sex"))
               count
        sex
        F        160
        M        200
        total    360
        """
        names = [row] if column is None else [row, column]
        found = groups(self.release.plan.domain, names, missing=missing)
        cells = found.arranged(self._counts.answer(found.workload))
        cells = as_whole(cells) if self.integral else cells
        margins = [cells.sum(axis=1), cells.sum(axis=0)] if column is not None else []
        return framed(names, found.labels, cells, margins, cells.sum())

    def synthetic(
        self,
        rows: int | None = None,
        *,
        draw_numbers: bool = False,
        rng: np.random.Generator | int | None = None,
    ) -> pd.DataFrame:
        """Synthetic records that follow these counts; of tables, ``attrs["table_error"]`` says how nearly.

        rows: how many records; as many as were counted, about, unless given.
        draw_numbers: whether numbers are drawn within their bins, rather than the bin's label given.
        rng: a numpy generator or a seed, for the same records again.

        >>> from rowspace.sample import small_release
        >>> records = small_release().estimate_tables().synthetic(360, rng=1)
        >>> records.attrs["table_error"]["age × sex"] < 0.05
        True
        """
        from .synthetic import synthetic

        return synthetic(self.release, rows, draw_numbers=draw_numbers, rng=rng, counts=self._counts)

    def _table(self, queries: Workload) -> pd.DataFrame:
        import pandas as pd

        if queries.size > TABLE_LIMIT:
            raise TooLarge(
                f"a table of {queries.size:,} answers exceeds {TABLE_LIMIT:,} rows; ask for a part of the workload"
            )
        answer: Any = self._counts.answer(queries)
        figures = {"answer": as_whole(answer) if self.integral else answer}
        return with_notes(pd.DataFrame(answer_columns(queries.table(), figures)), self)

    @cached_property
    def effect(self) -> Effect:
        """What it did to the answers of the workload."""
        return self._counts.effect()

    @property
    def method(self) -> str:
        """How the counts were found, in words."""
        return self._counts.method

    @property
    def statement(self) -> str:
        """How to read the numbers, in plain words; goes with every table."""
        kind = "whole and not negative" if self.integral else "not negative"
        left_out = self.release.plan.population
        return (
            f"Biased post-processing: counts were made {kind}, {self.method}. Small counts are too high on average and "
            "large ones too low; use the release itself for statistics and for error bars. "
            f"{left_out + ' ' if left_out else ''}Made from a release under {promise_of(self.release)}, at no further "
            "cost of privacy."
        )

    def __repr__(self) -> str:
        kind = "whole and not negative" if self.integral else "not negative"
        return one_line(f"<Consistent counts, {kind}, of {self.release!r}>")

    def _repr_html_(self) -> str:
        from .display import consistent_html  # here: only notebooks need it

        return consistent_html(self)

    def __str__(self) -> str:
        return f"Consistent counts: {self.effect}\n  {self.statement}"


def consistent(
    release: Release | Combined, *, nonnegative: bool = True, integral: bool = False, by: str | None = None
) -> Consistent:
    """See `Release.consistent`: all answers agree and add up to the total.

    Unless `by` says how: every cell where that many fit, by projection, since cells answer whatever is asked; else
    tables, estimated where that is clearly better.
    """
    check_flags(nonnegative=nonnegative, integral=integral)
    if not nonnegative:
        raise InvalidInput(
            "expected nonnegative=True; for signed counts use the release itself: they are consistent already, and "
            "unbiased"
        )
    if by is not None and by not in METHODS:
        raise InvalidInput(f"expected by as one of {', '.join(METHODS)}, or None for the better one")
    if integral and getattr(release.plan, "known", None):
        raise InvalidInput(
            "expected integral=False: rounding to whole numbers does not keep to the known facts of this release"
        )
    if release.plan.domain.measures:
        if integral or by == "estimate":
            require_counts(release, "whole and estimated tables are")
        by = "projection"
    return Consistent(release, integral, by=by)


def check_flags(**flags: bool) -> None:
    """Refuse what is neither True nor False."""
    for name, value in flags.items():
        if not isinstance(value, bool):
            raise InvalidInput(f"expected {name} to be True or False, got {type(value).__name__}")


def as_whole(answer: Vector) -> Any:
    """Integers where all answers are: queries with fractional coefficients have none."""
    whole = np.rint(answer)
    exact = np.abs(answer - whole).max(initial=0.0) <= 1e-6 * max(1.0, np.abs(answer).max(initial=0.0))
    return whole.astype(np.int64) if exact else answer
