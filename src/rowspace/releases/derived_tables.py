"""Tables with margins that add up, and the largest cells."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from rowspace.exceptions import InvalidInput, TooLarge
from rowspace.lines import one_line
from rowspace.operators.base import Vector

from .derived_rows import groups

if TYPE_CHECKING:
    import pandas as pd

    from .release import Release

MAX_TABLE = 10**6
"""Most cells of a table."""

TOTAL = "total"


@dataclass(frozen=True)
class CrossTable:
    """Counts of one or two attributes with totals, as frames of the same shape.

    answer: the counts, a frame with the cells of one attribute down and of the other across, then totals.
    std_error: their standard errors.
    low, high: the ends of their intervals.
    level: the confidence level of the intervals.

    Totals are sums of the cells shown (all answers come from one estimate), with error bars of their own: the noise
    of a sum is not the sum of the noises.

    >>> from rowspace.sample import small_release
    >>> release = small_release(1.0)
    >>> made = release.table("age")
    >>> made
    <CrossTable by age, 5 × 1>
    >>> bool((made.low < made.answer).all().all())
    True
    """

    answer: pd.DataFrame
    std_error: pd.DataFrame
    low: pd.DataFrame
    high: pd.DataFrame
    level: float

    def __repr__(self) -> str:
        names = [str(name) for name in (self.answer.index.name, self.answer.columns.name) if name]
        return one_line(f"<CrossTable by {' and '.join(names)}, {' × '.join(map(str, self.answer.shape))}>")

    def _repr_html_(self) -> str:
        from .display import cross_table_html  # here: only notebooks need it

        return cross_table_html(self)

    def __str__(self) -> str:
        return str(self.answer.round(1))


def table(
    release: Release, row: str, column: str | None = None, where: str | None = None, level: float = 0.95
) -> CrossTable:
    """Counts by one or two attributes (or levels) with their totals, among the records where a condition holds.

    >>> import rowspace as rs
    >>> domain = rs.Domain(age=rs.Numeric(0, 2, bins=2), sex=rs.Categorical(["F", "M"]))
    >>> made = rs.release(rs.plan(rs.workload.marginal(domain, "age", "sex"), rs.PureDP(1.0)), [10, 20, 30, 40])
    >>> t = table(made, "age", "sex").answer
    >>> bool(t.loc["0", "F"] + t.loc["0", "M"] == t.loc["0", "total"])
    True
    """
    names = [row] if column is None else [row, column]
    body = _ask(release, names, where, level)
    rows = body[row].unique().tolist()
    columns = ["count"] if column is None else body[column].unique().tolist()
    if column is not None and len(body) != len(rows) * len(columns):
        raise InvalidInput(
            f"the condition leaves some combinations of {row!r} and {column!r} empty, so there is no table; ask for "
            "one attribute at a time"
        )
    frames = {}
    for field in ("answer", "std_error", "low", "high"):
        frames[field] = _with_totals(release, body, field, names, where, level, (rows, columns))
    return CrossTable(**frames, level=level)


def top(release: Release, k: int, *names: str, where: str | None = None, level: float = 0.95) -> pd.DataFrame:
    """The k cells of a table with the largest noisy counts, largest first.

    The intervals hold for all cells of the table at once (Bonferroni), so that choosing the largest does not spoil
    them: a cell is surely among the first k where its interval lies above those of all cells left out (``sure``).
    """
    if isinstance(k, bool) or not isinstance(k, int) or k < 1:
        raise InvalidInput(f"expected a whole number of cells, 1 or more, got {k!r}")
    if not names:
        raise InvalidInput('expected the attributes whose cells are ranked, such as top(5, "region", "age")')
    cells = groups(release.plan.domain, names, where).size
    ranked = _ask(release, list(names), where, 1 - (1 - level) / max(1, cells))
    ranked = ranked.sort_values("answer", ascending=False, kind="stable", ignore_index=True)
    left_out = ranked["high"].iloc[k:].max() if len(ranked) > k else -np.inf
    ranked = ranked.head(k)
    ranked.insert(0, "rank", range(1, len(ranked) + 1))
    ranked["sure"] = ranked["low"] > left_out
    ranked.attrs["method"] = f"simultaneous intervals for all {cells} cells (Bonferroni)"
    return ranked


def _ask(release: Release, names: list[str], where: str | None, level: float) -> pd.DataFrame:
    """Answers by some attributes, with only their columns."""
    queries = groups(release.plan.domain, names, where)
    if queries.size > MAX_TABLE:
        raise TooLarge(f"a table of {queries.size:,} cells is too large, the limit is {MAX_TABLE:,}")
    found = release.ask(queries, level)
    # A level under a condition on its own attribute is labelled in the attribute's column.
    domain = release.plan.domain
    found = found.rename(columns={domain.resolve(n)[0]: n for n in names if n not in found.columns})
    return found[[*names, "answer", "std_error", "low", "high"]].copy()


def _with_totals(
    release: Release,
    body: pd.DataFrame,
    field: str,
    names: list[str],
    where: str | None,
    level: float,
    labels: tuple[list[str], list[str]],
) -> pd.DataFrame:
    """One frame: cells, then totals."""
    import pandas as pd

    rows, columns = labels
    cells = body[field].to_numpy().reshape(len(rows), len(columns))
    if field == "answer":
        down = cells.sum(axis=0)
        across = cells.sum(axis=1) if len(names) == 2 else None
        corner = float(down.sum())
    else:
        answers = body["answer"].to_numpy().reshape(len(rows), len(columns))
        corner = _bar(release, [], where, level, field, answers.sum().reshape(1))[0]
        down = _bar(release, names[1:], where, level, field, answers.sum(axis=0))
        across = (
            _bar(release, names[:1], where, level, field, answers.sum(axis=1)) if len(names) == 2 else None
        )
    frame = pd.DataFrame(cells, index=pd.Index(rows, name=names[0]), columns=columns)
    if len(names) == 2:
        frame.columns.name = names[1]
        frame[TOTAL] = across
        frame.loc[TOTAL] = [*down, corner]
    else:
        frame.loc[TOTAL] = [corner]
    return frame


def _bar(
    release: Release, names: list[str], where: str | None, level: float, field: str, sums: Vector
) -> Vector:
    """A total's standard error, or an end of its interval around the sum that is shown."""
    own = release.ask(groups(release.plan.domain, names, where), level)
    if field == "std_error":
        return np.asarray(own[field])
    return np.asarray(sums + (own[field] - own["answer"]).to_numpy())
