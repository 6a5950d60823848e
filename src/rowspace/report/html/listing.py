"""All answers of a short release, the first of every group of a long one; to be searched and unfolded."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from rowspace.releases import Combined, Estimates, Release, answers_of
from rowspace.workload import Part

from ..numbers import counts, whole
from ..views import Table
from .gallery import known

MOST_ROWS = 3000
MOST_GROUPS = 60
_ROWS_OF_A_GROUP = 400
_OPEN_UP_TO = 12
_FEW_GROUPS = 8
"""Short groups lie open when there are no more groups than that: otherwise the page would never end."""
# A part is asked for as a whole; of a larger one not even the first rows are shown.
_LARGEST_PART = 200_000


@dataclass(frozen=True)
class Group:
    """The answers of one name in a table that folds."""

    name: str
    number: str
    table: Table
    unfolded: bool


@dataclass(frozen=True)
class Listing:
    """Tables of answers, how many there are, and what is missing."""

    words: str
    missing: str
    groups: tuple[Group, ...]


def listing(release: Release | Combined, level: float) -> Listing:
    """The answers in one foldable table for each group."""
    workload = release.plan.workload.shown
    named: dict[str, list[Part]] = {}
    for part in workload.parts:
        named.setdefault(part.group, []).append(part)
    sizes = {name: sum(part.size for part in parts) for name, parts in named.items()}
    listed = list(named)[:MOST_GROUPS]
    room = min(_ROWS_OF_A_GROUP, _fair_share([sizes[name] for name in listed], MOST_ROWS))
    groups, shown = [], 0
    for name in listed:
        data = _first_rows(release, named[name], room, level)
        if data is not None and len(data):
            groups.append(_group(name, sizes[name], data, level, unfolded=len(named) <= _FEW_GROUPS))
            shown += len(data)
    if shown == workload.size:
        return Listing(f"All {whole(shown)} answers.", "", tuple(groups))
    missing = (
        f"{whole(workload.size - shown)} answers are not on this page: an exported table has all of them "
        "(rowspace release … -o FILE.csv), and rowspace ask any one."
    )
    words = f"{whole(shown)} of {whole(workload.size)} answers. {missing}"
    return Listing(words, missing, tuple(groups))


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


def _first_rows(
    release: Release | Combined, parts: Sequence[Part], room: int, level: float
) -> Estimates | None:
    """The first answers of a group, as far as there is room."""
    taken: list[Part] = []
    for part in parts:
        if sum(each.size for each in taken) >= room or part.size > _LARGEST_PART:
            break
        taken.append(part)
    data = known(answers_of, release, taken, level) if taken else None
    return None if data is None else data.take(range(min(room, len(data))))


def _group(name: str, size: int, data: Estimates, level: float, *, unfolded: bool) -> Group:
    """One group, open when it is short and others leave room."""
    answers, errors, lows, highs = (
        counts(values, data.std_error) for values in (data.answer, data.std_error, data.low, data.high)
    )
    intervals = (f"{low} to {high}" for low, high in zip(lows, highs, strict=True))
    number = whole(size) if len(data) == size else f"{whole(len(data))} of {whole(size)}"
    return Group(
        name,
        f"{number} answer{'s' * (size != 1)}",
        Table(
            f"Answers about {name}",
            ("query", "answer", f"{100 * level:g} % interval", "std. error"),
            tuple(zip(data.labels, answers, intervals, errors, strict=True)),
        ),
        unfolded and len(data) <= _OPEN_UP_TO,
    )
