"""All answers of a short release, the first of every group of a long one; to be searched and unfolded.

Counts have two readings side by side: as measured, which is unbiased, and as estimated, which is never negative.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from rowspace.exceptions import RowspaceError
from rowspace.releases import Combined, Estimates, Release, TableEstimate, answers_of
from rowspace.workload import Part, Workload

from ..numbers import counts, whole
from ..views import PageTable
from .gallery import known

MOST_ROWS = 3000
MOST_GROUPS = 60
_ROWS_OF_A_GROUP = 400
_OPEN_UP_TO = 12
_FEW_GROUPS = 8
"""Short groups lie open when there are no more groups than that: otherwise the page would never end."""
# A part is asked for as a whole; of a larger one not even the first rows are shown.
_LARGEST_PART = 200_000
# Estimating is a matter of seconds up to so many queries.
_MOST_ESTIMATED = 200_000

_READINGS = (
    "Counts in tables that were measured cell by cell have two readings. As measured, an answer is unbiased: right for "
    "sums, comparisons and inference, and negative now and then; the interval and the standard error are its own and "
    "need no model. As estimated it is never negative and nearer to the truth where counts are small, but drawn "
    "towards a model; beside it stands how much of it is measurement."
)


@dataclass(frozen=True)
class ListedGroup:
    """The answers of one name in a table that folds."""

    name: str
    number: str
    table: PageTable
    unfolded: bool


@dataclass(frozen=True)
class Listing:
    """Tables of answers, how many there are, and what is missing."""

    words: str
    missing: str
    groups: tuple[ListedGroup, ...]
    readings: str = ""


def listing(release: Release | Combined, level: float) -> Listing:
    """The answers in one foldable table for each group."""
    workload = release.plan.workload.shown
    named: dict[str, list[Part]] = {}
    for part in workload.parts:
        named.setdefault(part.group, []).append(part)
    sizes = {name: sum(part.size for part in parts) for name, parts in named.items()}
    listed = list(named)[:MOST_GROUPS]
    room = min(_ROWS_OF_A_GROUP, _fair_share([sizes[name] for name in listed], MOST_ROWS))
    estimate = _estimated(release)
    groups, shown, twice = [], 0, False
    for name in listed:
        parts = _first_parts(named[name], room)
        data = known(answers_of, release, parts, level) if parts else None
        if data is None or not len(data):
            continue
        data = data.take(range(min(room, len(data))))
        second = None if estimate is None else known(_second_reading, estimate, parts, len(data), level)
        groups.append(_group(name, sizes[name], data, second, level, unfolded=len(named) <= _FEW_GROUPS))
        shown += len(data)
        twice |= second is not None
    readings = _READINGS if twice else ""
    if twice and getattr(release.plan, "known", None):
        readings += " Known facts hold exactly as measured; as estimated they hold nearly."
    if shown == workload.size:
        return Listing(f"All {whole(shown)} answers.", "", tuple(groups), readings)
    missing = (
        f"{whole(workload.size - shown)} answers are not on this page: an exported table has all of them "
        "(rowspace release … -o FILE.csv), and rowspace ask any one."
    )
    words = f"{whole(shown)} of {whole(workload.size)} answers. {missing}"
    return Listing(words, missing, tuple(groups), readings)


def _fair_share(sizes: Sequence[int], room: int) -> int:
    """The most rows that every group may have so that all together fit: what small ones leave goes to the large ones.

    >>> _fair_share([1, 1, 50, 100], 30)
    14
    """
    ordered = sorted(sizes)
    for at, size in enumerate(ordered):
        share = room // (len(ordered) - at)
        if size > share:
            return share
        room -= size
    return max(ordered, default=0)


def _first_parts(parts: Sequence[Part], room: int) -> list[Part]:
    """The first parts of a group, as many as have a row that there is room for."""
    taken: list[Part] = []
    for part in parts:
        if sum(each.size for each in taken) >= room or part.size > _LARGEST_PART:
            break
        taken.append(part)
    return taken


def _estimated(release: Release | Combined) -> TableEstimate | None:
    """The tables as estimated, where the release has tables that can be."""
    if release.plan.workload.size > _MOST_ESTIMATED or release.plan.domain.measures:
        return None
    try:
        return release.estimate_tables()
    except RowspaceError:
        return None


def _second_reading(
    estimate: TableEstimate, parts: Sequence[Part], rows: int, level: float
) -> list[tuple[str, str]]:
    """The first answers as estimated, and how much of each is measurement."""
    answers = estimate.ask(Workload(estimate.release.plan.domain, parts), level).head(rows)
    values, errors = answers["answer"].tolist(), answers["expected_error"].tolist()
    shares = (f"{100 * share:.0f} %" for share in answers["measured"].tolist())
    return list(zip(counts(values, errors), shares, strict=True))


def _group(
    name: str,
    size: int,
    data: Estimates,
    second: list[tuple[str, str]] | None,
    level: float,
    *,
    unfolded: bool,
) -> ListedGroup:
    """One group, open when it is short and others leave room."""
    answers, errors, lows, highs = (
        counts(values, data.std_error) for values in (data.answer, data.std_error, data.low, data.high)
    )
    intervals = (f"{low} to {high}" for low, high in zip(lows, highs, strict=True))
    number = whole(size) if len(data) == size else f"{whole(len(data))} of {whole(size)}"
    interval = f"{100 * level:g} % interval"
    headings: tuple[str, ...] = ("query", "answer", interval, "std. error")
    rows: list[tuple[str, ...]] = list(zip(data.labels, answers, intervals, errors, strict=True))
    if second is not None:
        headings = ("query", "as measured", "as estimated", "measurement in it", interval, "std. error")
        rows = [(*row[:2], *more, *row[2:]) for row, more in zip(rows, second, strict=True)]
    return ListedGroup(
        name,
        f"{number} answer{'s' * (size != 1)}",
        PageTable(f"Answers about {name}", headings, tuple(rows)),
        unfolded and len(data) <= _OPEN_UP_TO,
    )
