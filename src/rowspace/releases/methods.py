"""What a release can be asked beyond its workload: thin methods, each a function of its own in this room.

They are imported when they are called: most releases need none of them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any, cast

from .answer_columns import stating, with_notes

if TYPE_CHECKING:
    import numpy as np
    import pandas as pd
    from matplotlib.axes import Axes

    from rowspace.workload import Workload

    from .combined import Combined
    from .consistent import Consistent
    from .consistent_counts import CellCounts, TableCounts
    from .derived import Estimate, Query
    from .derived_tables import CrossTable
    from .discovered import Discovery
    from .estimate_fit import EstimateFit, Models
    from .estimated import TableEstimate
    from .release import Release


class DerivedAnswers:
    """Answers that follow from the estimate, with error bars; all free.

    All say which records they are about: an `Estimate` in `population`, frames in their ``attrs``.
    """

    def difference(self, a: Query, b: Query, level: float = 0.95) -> Estimate:
        """The count of `a` minus the count of `b`; what they share cancels, noise and all.

        a, b: conditions as text, or workloads of one query.
        level: the confidence level of the interval.

        >>> from rowspace.sample import small_release
        >>> release = small_release()
        >>> round(release.difference("sex = 'F'", "sex = 'M'").value)
        -40
        """
        from .derived import difference

        return stating(difference(self._release, a, b, level), self._release)

    def ratio(self, a: Query, b: Query, level: float = 0.95) -> Estimate:
        """The count of `a` over the count of `b`.

        a, b: conditions as text, or workloads of one query.
        level: the confidence level of the interval.

        >>> from rowspace.sample import small_release
        >>> release = small_release()
        >>> round(release.ratio("sex = 'F'", "sex = 'M'").value, 2)
        0.8
        """
        from .derived import ratio

        return stating(ratio(self._release, a, b, level), self._release)

    def share(self, part: str, of: str | None = None, level: float = 0.95) -> Estimate:
        """The share of records with `part` among those with `of` (all records unless given).

        part, of: conditions as text.
        level: the confidence level of the interval.

        >>> from rowspace.sample import small_release
        >>> release = small_release()
        >>> round(release.share("sex = 'F'", of="age >= 2").value, 3)
        0.462
        """
        from .derived import share

        return stating(share(self._release, part, of, level), self._release)

    def mean(self, measure: str, *by: str, where: str | None = None, level: float = 0.95) -> pd.DataFrame:
        """The mean of a measure, for every combination of some attributes where some are named.

        measure: its name. by: attributes or levels of a taxonomy.
        where: a condition on the records, as text; all of them unless given.
        level: the confidence level of the intervals.

        Of values as they were summed: clipped to the bounds and rounded to the grid. A group whose number of records is
        not distinguishable from zero has no answer (NaN), and `method` says so.

        >>> import pandas as pd, rowspace as rs
        >>> people = rs.Domain(sex=rs.Categorical(["F", "M"]), measures=[rs.Measure("income", 0, 10, step=1)])
        >>> plan = rs.plan(rs.workload.mean(people, "income", by="sex"), rs.PureDP(1e6))
        >>> made = rs.release(plan, pd.DataFrame({"sex": ["F", "F", "M", None], "income": [2, 3, 9, 1]}))
        >>> made.mean("income", "sex")["answer"].round(6).tolist()
        [2.5, 9.0]
        """
        from .means import mean

        return stating(mean(self._release, measure, *by, where=where, level=level), self._release)

    def variance(
        self,
        measure: str,
        *by: str,
        where: str | None = None,
        level: float = 0.95,
        sample: bool = False,
    ) -> pd.DataFrame:
        """The variance of a measure, for every combination of some attributes where some are named.

        measure: its name; declared with ``squares=True``. by, where, level: as for `mean`.
        sample: whether records are a sample: then their number less one is divided by.

        Of values as they were summed: rounding to the grid moves a standard deviation by half a step at most.

        >>> import pandas as pd, rowspace as rs
        >>> people = rs.Domain(measures=[rs.Measure("income", 0, 10, step=1, squares=True)])
        >>> plan = rs.plan(rs.workload.variance(people, "income"), rs.PureDP(1e6))
        >>> made = rs.release(plan, pd.DataFrame({"income": [2, 4, 9, None]}))
        >>> made.variance("income")["answer"].round(3).tolist()
        [8.667]
        """
        return self._spread("variance", measure, *by, where=where, level=level, sample=sample)

    def standard_deviation(
        self,
        measure: str,
        *by: str,
        where: str | None = None,
        level: float = 0.95,
        sample: bool = False,
    ) -> pd.DataFrame:
        """The standard deviation of a measure: the root of its `variance`.

        measure, by, where, level, sample: as for `variance`.

        >>> import pandas as pd, rowspace as rs
        >>> people = rs.Domain(measures=[rs.Measure("income", 0, 10, step=1, squares=True)])
        >>> plan = rs.plan(rs.workload.standard_deviation(people, "income"), rs.PureDP(1e6))
        >>> made = rs.release(plan, pd.DataFrame({"income": [2, 4, 9, None]}))
        >>> made.standard_deviation("income")["answer"].round(3).tolist()
        [2.944]
        """
        return self._spread("standard deviation", measure, *by, where=where, level=level, sample=sample)

    def _spread(self, figure: str, measure: str, *by: str, sample: bool, **how: Any) -> pd.DataFrame:
        from .means import mean

        name = f"sample {figure}" if sample else figure
        return stating(mean(self._release, measure, *by, figure=name, **how), self._release)

    def cdf(
        self, attribute: str, where: str | None = None, level: float = 0.95, *, simultaneous: bool = False
    ) -> pd.DataFrame:
        """The share of records below each edge of a numeric attribute, with a band.

        attribute: a numeric attribute.
        where: a condition on the records, as text; all of them unless given.
        level: the confidence level of the band.
        simultaneous: whether the band covers the whole curve at once, rather than each point.

        >>> from rowspace.sample import small_release
        >>> release = small_release()
        >>> release.cdf("age").columns.tolist()[:2]
        ['below', 'share']
        """
        from .derived_quantiles import cdf

        return stating(cdf(self._release, attribute, where, level, simultaneous=simultaneous), self._release)

    def quantiles(
        self,
        attribute: str,
        q: Sequence[float] = (0.1, 0.25, 0.5, 0.75, 0.9),
        where: str | None = None,
        level: float = 0.95,
    ) -> pd.DataFrame:
        """Many quantiles of a numeric attribute at once, each with its interval.

        attribute: a numeric attribute.
        q: the shares of records below, each between 0 and 1.
        where: a condition on the records, as text; all of them unless given.
        level: the confidence level of the intervals.

        >>> from rowspace.sample import small_release
        >>> release = small_release()
        >>> len(release.quantiles("age", q=[0.25, 0.75]))
        2
        """
        from .derived_quantiles import quantiles

        return stating(quantiles(self._release, attribute, q, where, level), self._release)

    def median(self, attribute: str, where: str | None = None, level: float = 0.95) -> Estimate:
        """The median of a numeric attribute with its interval.

        attribute: a numeric attribute.
        where: a condition on the records, as text; all of them unless given.
        level: the confidence level of the interval.

        >>> from rowspace.sample import small_release
        >>> release = small_release()
        >>> 2 < release.median("age").value < 3
        True
        """
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
        of: str | None = None,
    ) -> CrossTable:
        """Counts by one or two attributes, with totals that add up.

        row, column: attributes or levels of a taxonomy; without `column` the table has one.
        where: a condition on the records, as text; all of them unless given.
        level: the confidence level of the intervals.
        missing: whether records without a known value have a row and a column of their own.
        of: a measure whose sums are shown instead of counts.

        >>> from rowspace.sample import small_release
        >>> release = small_release()
        >>> print(release.table("age", "sex").answer.round().astype(int))
        sex      F    M  total
        age
        0       10   20     30
        1       30   40     70
        2       50   60    110
        3       70   80    150
        total  160  200    360
        """
        from .derived_tables import table

        made = table(self._release, row, column, where, level, missing=missing, of=of)
        return stating(made, self._release)

    def top(self, k: int, *names: str, where: str | None = None, level: float = 0.95) -> pd.DataFrame:
        """The k cells of a table with the largest noisy counts.

        k: how many cells.
        names: the attributes whose cells are ranked.
        where: a condition on the records, as text; all of them unless given.
        level: the confidence level, of the intervals of all cells at once.

        >>> from rowspace.sample import small_release
        >>> release = small_release()
        >>> release.top(2, "age")["age"].tolist()
        ['3', '2']
        """
        from .derived_tables import top

        return stating(top(self._release, k, *names, where=where, level=level), self._release)

    def plot(self, *names: str, level: float = 0.95, ax: Axes | None = None) -> Axes:
        """One attribute as a histogram with intervals, or two as a heat map.

        names: one or two attributes.
        level: the confidence level of the intervals.
        ax: matplotlib axes to draw on; new ones unless given.

        >>> from rowspace.sample import small_release
        >>> release = small_release()
        >>> axes = release.plot("age")
        >>> axes.get_xlabel()
        'age'
        """
        from .chart_data import plot_release

        return plot_release(self._release, *names, level=level, ax=ax)

    def consistent(
        self, *, nonnegative: bool = True, integral: bool = False, by: str | None = None
    ) -> Consistent:
        """Counts that are not negative (and whole), on request: biased, and labelled so.

        nonnegative: always True; the release itself has the signed counts.
        integral: whether counts are to be whole numbers too.
        by: "projection" for the nearest counts, "estimate" for tables as estimated; the better one unless given, and
        its `statement` says which.

        >>> from rowspace.sample import small_release
        >>> release = small_release()
        >>> release.consistent(integral=True).ask("sex = 'F'")["answer"].tolist()
        [160]
        """
        from .consistent import consistent

        return consistent(self._release, nonnegative=nonnegative, integral=integral, by=by)

    def estimate_tables(self, *, integral: bool = False, model: str | Models = "best") -> TableEstimate:
        """The tables as estimated: never negative, agreeing, each cell between a model and its measurement.

        integral: whether counts are to be whole numbers too.
        model: "best" (products of smaller tables, paths through a third attribute, neighbouring cells), "independence"
            (products alone), or tables by the names of their attributes, which are tried beside the others.

        Every answer comes with its expected error, an interval that needs no model, and how much of it is measurement.

        >>> from rowspace.sample import small_release
        >>> release = small_release()
        >>> release.estimate_tables(integral=True).table("age", "sex").loc["3"].tolist()
        [70, 80, 150]
        """
        from .estimated import estimate_tables

        return estimate_tables(self._release, integral=integral, model=model)

    def synthetic(
        self,
        rows: int | None = None,
        *,
        draw_numbers: bool = False,
        rng: np.random.Generator | int | None = None,
    ) -> pd.DataFrame:
        """Synthetic records that follow the non-negative counts.

        rows: how many records; as many as were counted, about, unless given.
        draw_numbers: whether numbers are drawn within their bins, rather than the bin's label given.
        rng: a numpy generator or a seed, for the same records again.

        >>> from rowspace.sample import small_release
        >>> release = small_release()
        >>> release.synthetic(5, rng=1).columns.tolist()
        ['age', 'sex']
        """
        from .synthetic import synthetic

        return synthetic(self._release, rows, draw_numbers=draw_numbers, rng=rng)

    def combine(self, *others: Release | Combined | Discovery) -> Combined:
        """Together with other releases of the same table: better answers, with the error bars of the whole.

        others: releases of the same table, declared alike, or what `rs.discover` found in it.

        >>> from rowspace.sample import small_release
        >>> release = small_release()
        >>> release.combine(small_release(0.1))
        <Combined of 2: 18 answers under 200.1-differential privacy (add or remove one record)>
        """
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

    @cached_property
    def _tables(self) -> EstimateFit:
        """The tables as estimated around the best model, kept once they are found."""
        from .estimate_fit import estimate_fit

        return estimate_fit(self._release)

    @property
    def _release(self) -> Release:
        return cast("Release", self)


def means_portion(
    release: Release | Combined, queries: Workload, level: float, columns: tuple[str, ...] | None = None
) -> Iterator[pd.DataFrame]:
    """The means of a workload over a release's domain as one more portion of its answers, where it has some."""
    if queries.domain.measures:
        from .means import means_among

        found = means_among(release, queries, level, columns or queries.columns)
        if found is not None:
            yield with_notes(found, release, level)


def with_means(
    release: Release | Combined, queries: Workload, answers: pd.DataFrame, level: float
) -> pd.DataFrame:
    """A table of answers with the means of the workload after them."""
    for means in means_portion(release, queries, level):
        import pandas as pd

        notes = answers.attrs
        answers = pd.concat([answers, means], ignore_index=True)
        answers.attrs |= notes
    return answers
