"""The derived answers as methods, for `Release` to inherit: the words of each are in its own module."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, cast

if TYPE_CHECKING:
    import pandas as pd

    from .derived import Estimate
    from .derived_rows import Query
    from .derived_tables import CrossTable
    from .release import Release


class DerivedAnswers:
    """Differences, ratios, shares, distributions, tables and largest cells of a release."""

    def difference(self, a: Query, b: Query, level: float = 0.95) -> Estimate:
        """The count of `a` minus the count of `b`; see `rowspace.releases.derived.difference`."""
        from .derived import difference

        return difference(cast("Release", self), a, b, level)

    def ratio(self, a: Query, b: Query, level: float = 0.95) -> Estimate:
        """The count of `a` over the count of `b`; see `rowspace.releases.derived.ratio`."""
        from .derived import ratio

        return ratio(cast("Release", self), a, b, level)

    def share(self, part: str, of: str | None = None, level: float = 0.95) -> Estimate:
        """The share of records that satisfy a condition; see `rowspace.releases.derived.share`."""
        from .derived import share

        return share(cast("Release", self), part, of, level)

    def cdf(
        self, attribute: str, where: str | None = None, level: float = 0.95, *, simultaneous: bool = False
    ) -> pd.DataFrame:
        """The share of records below each edge; see `rowspace.releases.derived_quantiles.cdf`."""
        from .derived_quantiles import cdf

        return cdf(cast("Release", self), attribute, where, level, simultaneous=simultaneous)

    def quantiles(
        self,
        attribute: str,
        q: Sequence[float] = (0.1, 0.25, 0.5, 0.75, 0.9),
        where: str | None = None,
        level: float = 0.95,
    ) -> pd.DataFrame:
        """Many quantiles at once, with intervals; see `rowspace.releases.derived_quantiles.quantiles`."""
        from .derived_quantiles import quantiles

        return quantiles(cast("Release", self), attribute, q, where, level)

    def median(self, attribute: str, where: str | None = None, level: float = 0.95) -> Estimate:
        """The median with its interval; see `rowspace.releases.derived_quantiles.median`."""
        from .derived_quantiles import median

        return median(cast("Release", self), attribute, where, level)

    def table(
        self, row: str, column: str | None = None, where: str | None = None, level: float = 0.95
    ) -> CrossTable:
        """Counts with totals that add up; see `rowspace.releases.derived_tables.table`."""
        from .derived_tables import table

        return table(cast("Release", self), row, column, where, level)

    def top(self, k: int, *names: str, where: str | None = None, level: float = 0.95) -> pd.DataFrame:
        """The k largest cells; see `rowspace.releases.derived_tables.top`."""
        from .derived_tables import top

        return top(cast("Release", self), k, *names, where=where, level=level)
