"""The page, made on the server by the report's templates; its script moves figures and sends changes.

Without JavaScript it shows the study and its plan as they are.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from rowspace.domain import Domain
from rowspace.planning import budget
from rowspace.report import figures, whole
from rowspace.report.explore import example
from rowspace.report.html import Link, Page, PageTable, own_sheet, render
from rowspace.study import CHECK_WARNING, DATA_WARNING, HEADINGS

from .desk import Desk
from .document import Card, cards

_LABELS = 8
_LONGEST_NAME = 80

FAMILIES = (
    ("marginal", "a table: a count for each combination of values"),
    ("ranges", "every range of values of one attribute"),
    ("prefixes", "cumulative counts: every “up to” of one attribute"),
    ("total", "the number of records"),
    ("marginals", "all tables of a few attributes"),
    ("mean", "means of a measure"),
    ("sum", "sums of a measure"),
    ("predicates", "conditions, one on each line"),
    ("sql", "counting queries in SQL"),
)


@dataclass(frozen=True)
class Column:
    """An attribute or a measure: its name, what it is, and its first values."""

    name: str
    kind: str
    values: str


@dataclass(frozen=True)
class Static:
    """The plan at the study's own budget, for those without a script."""

    budget: str
    rmse: str
    unit: str
    certificate: str
    close: bool
    plain: str
    meaning: str
    beliefs: PageTable | None
    groups: PageTable


@dataclass(frozen=True)
class View:
    """All that the page shows."""

    file: str
    revision: int
    saved: bool
    can_undo: bool
    draft: str
    cards: list[Card]
    names: tuple[str, ...]
    measures: tuple[str, ...]
    columns: tuple[Column, ...]
    static: Static | None
    problem: str
    check: str
    check_headings: tuple[str, ...]
    releases: bool
    families: tuple[tuple[str, str], ...]
    example: str


def studio_page(desk: Desk) -> str:
    """The page as it is now."""
    document = desk.document
    study = document.study
    domain = study.domain
    measures = tuple(one.name for one in domain.measures)
    view = View(
        document.path.name,
        desk.revision,
        document.is_saved,
        bool(document.before),
        DATA_WARNING if study.draft else "",
        cards(document.text, study, document.folder),
        tuple(domain.dimensions),
        measures,
        tuple(_columns(domain)),
        _static(desk.plan.state.get("figures"), budget(study.privacy)),
        str(desk.plan.state.get("problem", "")),
        CHECK_WARNING if desk.settings.data else "",
        HEADINGS,
        bool(desk.settings.data and desk.settings.ledger),
        tuple(one for one in FAMILIES if measures or one[0] not in ("sum", "mean")),
        example(domain),
    )
    leads = [study.description] if study.description else []
    leads.append(
        "Say what is asked and how private it must be, and see how accurate every answer will be. No data is looked at."
    )
    links = [Link("plan", "Privacy and accuracy"), Link("questions", "Questions"), Link("columns", "Columns")]
    links += [Link("curator", "The data")] if view.check else []
    links += [Link("releasing", "Release")] if view.releases else []
    page = Page(study.name, "Studio", tuple(leads), (), tuple(links), Link("plan", "Skip to the plan"))
    sheet = own_sheet("rowspace.studio:studio.css")
    return render(
        "rowspace.studio:studio.html", page, sheet=sheet, script="rowspace.studio:studio/", view=view
    )


def _columns(domain: Domain) -> list[Column]:
    found = []
    for name in domain.dimensions:
        one = domain.dimension(name)
        labels = [label[:_LONGEST_NAME] for label in one.labels(0, _LABELS)]
        more = ", …" if one.size > _LABELS else ""
        values = f"{whole(one.size)} value{'' if one.size == 1 else 's'}: {', '.join(labels)}{more}"
        found.append(Column(name, type(one).__name__, values))
    return [*found, *(Column(one.name, "Measure", one.bounds) for one in domain.measures)]


def _static(found: dict[str, Any] | None, own: float) -> Static | None:
    """The figures at the study's own budget as the page writes them."""
    point = found and next((one for one in found["points"] if one["budget"] == own), None)
    if not found or not point:
        return None
    strategy, factor = found["strategies"][point["strategy"]], point["factor"]
    rows = strategy["groups"]
    rmses = figures([factor * row[1] for row in rows])
    worsts = figures([None if row[2] is None else factor * row[2] for row in rows])
    widths = figures(point["widths"] or [None] * len(rows))
    table = PageTable(
        "Errors of each group of queries",
        ("queries about", "number", "typical error", "worst", "± at 95 %"),
        tuple(
            (name, whole(row[0]), rmse, worst, width)
            for name, row, rmse, worst, width in zip(
                found["groups"], rows, rmses, worsts, widths, strict=False
            )
        ),
    )
    beliefs = PageTable(
        "How sure anyone can be", ("Sure before", "after: at least", "after: at most"), point["beliefs"]
    )
    return Static(
        point["parameters"],
        figures([factor * strategy["rmse"]])[0],
        found["unit"],
        point["certificate"],
        point["close"],
        point["plain"],
        point["meaning"],
        beliefs if point["beliefs"] else None,
        table,
    )
