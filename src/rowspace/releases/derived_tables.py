"""Tables with margins that add up, and the largest cells."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from rowspace.exceptions import InvalidInput, TooLarge
from rowspace.notebook import one_line
from rowspace.operators import Vector

from .answer_columns import answer_columns
from .derived_groups import Groups, groups

if TYPE_CHECKING:
    import pandas as pd

    from .release import Release

MAX_TABLE = 10**6
"""Most cells of a table."""

TOTAL = "total"

FIELDS = ("answer", "std_error", "low", "high")


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
        return f"{self.answer.round(1)}\n{self.answer.attrs.get('population', '')}".rstrip()


def table(
    release: Release,
    row: str,
    column: str | None = None,
    where: str | None = None,
    level: float = 0.95,
    *,
    missing: bool = False,
    of: str | None = None,
) -> CrossTable:
    """Counts by one or two attributes (or levels) with their totals, among the records where a condition holds.

    Totals are of the cells shown; with `missing`, records without a known value have a row and a column of their own.
    of: a measure, whose sums are shown instead of counts.

    >>> import rowspace as rs
    >>> domain = rs.Domain(age=rs.Numeric(0, 2, bins=2, integer=True), sex=rs.Categorical(["F", "M"]))
    >>> made = rs.release(rs.plan(rs.workload.marginal(domain, "age", "sex"), rs.PureDP(1.0)), [10, 20, 30, 40])
    >>> t = table(made, "age", "sex").answer
    >>> bool(t.loc["0", "F"] + t.loc["0", "M"] == t.loc["0", "total"])
    True
    """
    names = [row] if column is None else [row, column]
    body = _asked(release, names, where, level, missing=missing, of=of)
    left = [body.groups.left(axis) for axis in range(len(names))]
    labels = [[body.groups.labels[axis][at] for at in kept] for axis, kept in enumerate(left)]
    cells = {field: array[np.ix_(*left)] for field, array in body.figures.items()}
    margins = [
        _around(
            cells["answer"].sum(axis=1 - axis),
            _asked(release, [names[axis]], where, level, [names[1 - axis]], missing, of).figures,
            left[axis],
        )
        for axis in range(len(names))
        if len(names) == 2
    ]
    corner = _around(
        np.asarray(cells["answer"].sum()), _asked(release, [], where, level, names, missing, of).figures
    )
    frames = {
        field: framed(
            names,
            labels,
            cells[field],
            [margin[field] for margin in margins],
            corner[field],
            "count" if of is None else f"sum of {of}",
        )
        for field in FIELDS
    }
    return CrossTable(**frames, level=level)


def top(release: Release, k: int, *names: str, where: str | None = None, level: float = 0.95) -> pd.DataFrame:
    """The k cells of a table with the largest noisy counts, largest first.

    The intervals hold for all cells of the table at once (Bonferroni), so that choosing the largest does not spoil
    them: a cell is surely among the first k where its interval lies above those of all cells left out (``sure``).
    """
    import pandas as pd

    if isinstance(k, bool) or not isinstance(k, int) or k < 1:
        raise InvalidInput(f"expected a whole number of cells, 1 or more, got {k!r}")
    if not names:
        raise InvalidInput('expected the attributes whose cells are ranked, such as top(5, "region", "age")')
    found = groups(release.plan.domain, names, where)
    possible = int(found.possible.sum())
    figures = _asked(release, names, where, 1 - (1 - level) / possible).figures
    answer = np.where(found.possible, figures["answer"], -np.inf).ravel()
    # Equal ones in the order asked.
    ranked = np.argsort(-answer, kind="stable")[:possible]
    left_out = figures["high"].ravel()[ranked[k:]].max(initial=-np.inf)
    ranked = ranked[:k]
    places = np.unravel_index(ranked, found.possible.shape)
    labels = {
        name: np.array(own, dtype=object)[at]
        for name, own, at in zip(names, found.labels, places, strict=True)
    }
    columns: dict[str, Any] = {field: figures[field].ravel()[ranked] for field in FIELDS}
    columns |= {"sure": columns["low"] > left_out, "rank": np.arange(1, len(ranked) + 1)}
    table = pd.DataFrame(answer_columns(labels, columns))
    table.insert(0, "rank", table.pop("rank"))
    table.attrs["method"] = f"simultaneous intervals for all {possible} cells (Bonferroni)"
    return table


def framed(
    names: Sequence[str],
    labels: Sequence[list[str]],
    cells: Vector,
    margins: Sequence[Vector],
    corner: float,
    what: str = "count",
) -> pd.DataFrame:
    """Cells by one or two attributes, in the order of the labels, with their totals after them."""
    import pandas as pd

    rows = pd.Index([*labels[0], _total_beside(labels[0])], name=names[0])
    if len(names) == 1:
        return pd.DataFrame({what: np.append(cells, corner)}, index=rows)
    across, down = margins
    columns = pd.Index([*labels[1], _total_beside(labels[1])], name=names[1])
    body = np.vstack([np.column_stack([cells, across]), np.append(down, corner)])
    return pd.DataFrame(body, index=rows, columns=columns)


def _total_beside(labels: Sequence[str]) -> str:
    """What the totals are called: a category may have that name."""
    name = TOTAL
    while name in labels:
        name = f"({name})"
    return name


@dataclass(frozen=True)
class _Asked:
    """The answers to groups, each figure an array with an axis for each name."""

    groups: Groups
    figures: dict[str, Vector]


def _asked(
    release: Release,
    names: Sequence[str],
    where: str | None,
    level: float,
    among: Sequence[str] = (),
    missing: bool = False,
    of: str | None = None,
) -> _Asked:
    """Answers by some attributes, summed over what a table shows `among` others."""
    found = groups(release.plan.domain, names, where, among=among, missing=missing, of=of)
    if found.workload.size > MAX_TABLE:
        raise TooLarge(
            f"a table of {found.workload.size:,} cells is too large, the limit is {MAX_TABLE:,}; name fewer or "
            "coarser attributes"
        )
    answers = release.ask(found.workload, level)
    return _Asked(found, {field: found.arranged(answers[field]) for field in FIELDS})


def _around(sums: Vector, figures: dict[str, Vector], left: list[int] | None = None) -> dict[str, Any]:
    """Sums of the cells shown, with the error bars that the same query has by itself."""
    own = figures if left is None else {field: array[left] for field, array in figures.items()}
    ends = {end: sums + (own[end] - own["answer"]) for end in ("low", "high")}
    return {"answer": sums, "std_error": own["std_error"], **ends}
