"""What a release can be asked beyond its workload: thin methods, each a function of its own in this room.

They are imported when they are called: most releases need none of them.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import TYPE_CHECKING, cast

from .notes import stating

if TYPE_CHECKING:
    import numpy as np
    import pandas as pd
    from matplotlib.axes import Axes

    from .combined import Combined
    from .consistent import Consistent
    from .consistent_counts import CellCounts, TableCounts
    from .derived import Estimate
    from .derived_rows import Query
    from .derived_tables import CrossTable
    from .release import Release


class DerivedAnswers:
    """Answers that follow from the estimate, with error bars; all free.

    All say which records they are about: an `Estimate` in `population`, frames in their ``attrs``.
    """

    def difference(self, a: Query, b: Query, level: float = 0.95) -> Estimate:
        """The count of `a` minus the count of `b`; what they share cancels, noise and all."""
        from .derived import difference

        return stating(difference(self._release, a, b, level), self._release)

    def ratio(self, a: Query, b: Query, level: float = 0.95) -> Estimate:
        """The count of `a` over the count of `b`."""
        from .derived import ratio

        return stating(ratio(self._release, a, b, level), self._release)

    def share(self, part: str, of: str | None = None, level: float = 0.95) -> Estimate:
        """The share of records with `part` among those with `of` (all records unless given)."""
        from .derived import share

        return stating(share(self._release, part, of, level), self._release)

    def cdf(
        self, attribute: str, where: str | None = None, level: float = 0.95, *, simultaneous: bool = False
    ) -> pd.DataFrame:
        """The share of records below each edge of a numeric attribute, with a band."""
        from .derived_quantiles import cdf

        return stating(cdf(self._release, attribute, where, level, simultaneous=simultaneous), self._release)

    def quantiles(
        self,
        attribute: str,
        q: Sequence[float] = (0.1, 0.25, 0.5, 0.75, 0.9),
        where: str | None = None,
        level: float = 0.95,
    ) -> pd.DataFrame:
        """Many quantiles of a numeric attribute at once, each with its interval."""
        from .derived_quantiles import quantiles

        return stating(quantiles(self._release, attribute, q, where, level), self._release)

    def median(self, attribute: str, where: str | None = None, level: float = 0.95) -> Estimate:
        """The median of a numeric attribute with its interval."""
        from .derived_quantiles import median

        return stating(median(self._release, attribute, where, level), self._release)

    def table(
        self,
        row: str,
        column: str | None = None,
        where: str | None = None,
        level: float = 0.95,
        *,
        missing: bool = False,
    ) -> CrossTable:
        """Counts by one or two attributes, with totals that add up; `missing` shows records without a known value."""
        from .derived_tables import table

        return stating(table(self._release, row, column, where, level, missing=missing), self._release)

    def top(self, k: int, *names: str, where: str | None = None, level: float = 0.95) -> pd.DataFrame:
        """The k cells of a table with the largest noisy counts."""
        from .derived_tables import top

        return stating(top(self._release, k, *names, where=where, level=level), self._release)

    def plot(self, *names: str, level: float = 0.95, ax: Axes | None = None) -> Axes:
        """One attribute as a histogram with intervals, or two as a heat map."""
        from .plots import plot_release

        return plot_release(self._release, *names, level=level, ax=ax)

    def consistent(self, *, nonnegative: bool = True, integral: bool = False) -> Consistent:
        """Counts that are not negative (and whole), on request: biased, and labelled so."""
        from .consistent import consistent

        return consistent(self._release, nonnegative=nonnegative, integral=integral)

    def synthetic(
        self,
        rows: int | None = None,
        *,
        draw_numbers: bool = False,
        rng: np.random.Generator | int | None = None,
    ) -> pd.DataFrame:
        """Synthetic records that follow the non-negative counts."""
        from .synthetic import synthetic

        return synthetic(self._release, rows, draw_numbers=draw_numbers, rng=rng)

    def combine(self, *others: Release | Combined) -> Combined:
        """Together with other releases of the same table: better answers, with the error bars of the whole."""
        from .combined import combine

        return combine([self._release, *others])

    def _repr_html_(self) -> str:
        from .display import release_html

        return release_html(self._release)

    @cached_property
    def _counts(self) -> CellCounts | TableCounts:
        """Counts that are not negative, kept once they are found: consistent and synthetic answers share them."""
        from .consistent_counts import found_counts

        return found_counts(self._release)

    @property
    def _release(self) -> Release:
        return cast("Release", self)
