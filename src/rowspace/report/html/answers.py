"""All answers of a short release, the first of every group of a long one; to be searched and unfolded."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from rowspace.markup import Markup, element, fragment
from rowspace.releases import Combined, Release
from rowspace.workload import Part

from ..numbers import counts, whole
from . import asking
from .estimates import Estimates

MOST_ROWS = 3000
MOST_GROUPS = 60
_ROWS_OF_A_GROUP = 400
_OPEN_UP_TO = 12
_FEW_GROUPS = 8
"""Short groups lie open when there are no more groups than that: otherwise the page would never end."""
# A part is asked for as a whole; of a larger one not even the first rows are shown.
_LARGEST_PART = 200_000


@dataclass(frozen=True)
class _Group:
    """The queries of one name."""

    name: str
    size: int
    parts: tuple[Part, ...]


def answer_tables(release: Release | Combined, level: float) -> Markup:
    """The answers in one foldable table for each group, with a box to search them."""
    groups = _groups(release)
    room = min(_ROWS_OF_A_GROUP, _fair_share([group.size for group in groups[:MOST_GROUPS]], MOST_ROWS))
    tables = []
    shown = 0
    for group in groups[:MOST_GROUPS]:
        data = _first_rows(release, group, room, level)
        if data is not None and len(data):
            tables.append(_foldable(group, data, level, unfolded=len(groups) <= _FEW_GROUPS))
            shown += len(data)
    total = release.plan.workload.size
    missing = "" if shown == total else _missing(total, shown)
    words = (
        f"All {whole(total)} answers."
        if not missing
        else f"{whole(shown)} of {whole(total)} answers. {missing}"
    )
    find = element(
        "div",
        element("label", "Search the answers", for_="find", class_="hidden"),
        element("input", id="find", type="search", placeholder="Search, such as age 18", autocomplete="off"),
        element("output", id="found", for_="find", aria_live="polite", data_missing=missing or None),
        class_="find",
        hidden=True,
    )
    return fragment(element("p", words, class_="note"), find, *tables)


def _missing(total: int, shown: int) -> str:
    """What is not on the page, and where it is."""
    return (
        f"{whole(total - shown)} answers are not on this page: an exported table has all of them "
        "(rowspace release … -o FILE.csv), and rowspace ask any one."
    )


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


def _groups(release: Release | Combined) -> list[_Group]:
    """Groups of one name together, in the order of the workload."""
    parts: dict[str, list[Part]] = {}
    for part in release.plan.workload.parts:
        parts.setdefault(part.group, []).append(part)
    return [_Group(name, sum(p.size for p in found), tuple(found)) for name, found in parts.items()]


def _first_rows(release: Release | Combined, group: _Group, room: int, level: float) -> Estimates | None:
    """The first answers of a group, as far as there is room."""
    taken: list[Part] = []
    for part in group.parts:
        if sum(each.size for each in taken) >= room or part.size > _LARGEST_PART:
            break
        taken.append(part)
    data = asking.answers_of(release, taken, level) if taken else None
    return None if data is None else data.part(0, room)


def _foldable(group: _Group, data: Estimates, level: float, *, unfolded: bool) -> Markup:
    """One group, open when it is short and others leave room."""
    columns = [
        counts(values, data.std_error) for values in (data.answer, data.std_error, data.low, data.high)
    ]
    rows = [
        element(
            "tr",
            element("th", label, scope="row"),
            element("td", answer),
            element("td", f"{low} to {high}"),
            element("td", error),
        )
        for label, answer, error, low, high in zip(data.labels, *columns, strict=True)
    ]
    number = whole(group.size) if len(data) == group.size else f"{whole(len(data))} of {whole(group.size)}"
    headings = ("query", "answer", f"{100 * level:g} % interval", "std. error")
    table = element(
        "table",
        element("caption", f"Answers about {group.name}", class_="hidden"),
        element("thead", element("tr", *(element("th", text, scope="col") for text in headings))),
        element("tbody", *rows),
    )
    summary = element("summary", group.name, element("small", f"{number} answer{'s' * (group.size != 1)}"))
    area = element(
        "div", table, class_="scroll", tabindex="0", role="region", aria_label=f"Answers about {group.name}"
    )
    return element("details", summary, area, open=unfolded and len(data) <= _OPEN_UP_TO)
