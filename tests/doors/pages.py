"""Doors of pages and figures: what is drawn and printed."""

from __future__ import annotations

import re
from collections.abc import Iterator
from html.parser import HTMLParser

import matplotlib.pyplot as plt
import numpy as np

import rowspace as rs
from rowspace.report.html import report_page, write_report
from tests.cli.running import rowspace

from .doors import CLOSE, FIGURES, Seen, Visit, door, near
from .questions import Table
from .writing import again, file_of


@door("Release.plot", "Combined.plot")
def plotted(visit: Visit) -> Iterator[Seen]:
    """What the figures draw: heights and intervals of columns, colours of a map."""
    question = visit.question
    if not isinstance(question, Table) or len(question.names) > 2 or question.where is not None:
        return
    rows = question.cells_by(*question.names)
    expected = visit.asked.figures(rows.reshape(-1, rows.shape[-1]))
    ax = visit.release.plot(*question.names)
    close = CLOSE * visit.asked.scale
    if len(question.names) == 1:
        yield Seen("columns", [bar.get_height() for bar in ax.patches], expected["answer"], close)
        ends = np.array([segment[:, 1] for segment in ax.collections[0].get_segments()])
        wanted = np.column_stack([expected["low"], expected["high"]])
        yield Seen("lines", ends, wanted, np.max(near(visit, expected, "low")))
    else:
        drawn = np.asarray(ax.images[0].get_array())
        yield Seen("colours", drawn, expected["answer"].reshape(drawn.shape), close)
    plt.close(ax.figure)


@door(
    "report.html.report_page",
    "report.html.write_report",
    "rowspace report",
    "Release._repr_html_",
    "Combined._repr_html_",
)
def on_the_page(visit: Visit) -> Iterator[Seen]:
    """The page's tables, cell by cell and query by query, to the digits it prints; the notebook's too."""
    if not isinstance(visit.release, rs.Release):
        return
    page = visit.asked.once("page", lambda: _page(visit))
    workload = visit.release.plan.workload
    answers = visit.asked.once("answers", visit.release.answers)
    by_label = {}
    for label, row in zip(workload.labels(), answers[list(FIGURES)].to_numpy(), strict=True):
        by_label.setdefault(label, []).append(row)
    estimated = visit.asked.once("estimated by label", lambda: _estimated(visit))
    for label, answer, *second, interval, std_error in page:
        low, high = interval.split(" to ")
        for found, at in ((answer, 0), (std_error, 1), (low, 2), (high, 3)):
            value, unit = _printed(found)
            nearest = min((row[at] for row in by_label[label]), key=lambda number: abs(number - value))
            yield Seen(f"page: {label}", [value], [nearest], unit)
        if second:
            value, unit = _printed(second[0])
            nearest = min(estimated[label], key=lambda number: abs(number - value))
            yield Seen(f"page, as estimated: {label}", [value], [nearest], unit)
    assert len(page) >= min(len(answers), 20)
    yield from _heat_tables(visit)


def _estimated(visit: Visit) -> dict[str, list[float]]:
    """The answers as estimated, by their labels."""
    tables = visit.release.estimate_tables()
    found: dict[str, list[float]] = {}
    own = tables.fit.answerable
    if own is None:
        return found
    for label, answer in zip(own.labels(), tables.answers()["answer"], strict=True):
        found.setdefault(label, []).append(answer)
    return found


def _page(visit: Visit) -> list[list[str]]:
    text = report_page(visit.release)
    path = file_of(visit, ".html")
    write_report(visit.release, path)
    assert path.read_text(encoding="utf-8") == text
    visit.asked.once("again", lambda: again(visit))
    command = file_of(visit, ".html", "command")
    done = rowspace("report", file_of(visit, ".release"), "-o", command, "--title", "Release")
    assert done.code == 0, done.err
    assert command.read_text(encoding="utf-8") == text
    visit.asked.kept["html"] = text
    assert "std. error" in visit.release._repr_html_()
    rows = [row for table in tables_of(text, "") for row in table]
    return [row for row in rows if len(row) in (4, 6) and " to " in row[-2]]


def _heat_tables(visit: Visit) -> Iterator[Seen]:
    """Every shaded table with figures: its first row and column say which cell is which."""
    for table in tables_of(visit.asked.kept["html"], "heat"):
        (corner, *across), *body = table
        names = tuple(corner.split(" \\ "))
        of = Table(visit.world.domain, names)
        rows = of.cells_by(*names)
        expected = visit.asked.figures(rows.reshape(-1, rows.shape[-1]))["answer"].reshape(rows.shape[:2])
        assert across == of.labels(names[1])
        assert [row[0] for row in body] == of.labels(names[0])
        for at, (_, *cells) in enumerate(body):
            for cell, wanted in zip(cells, expected[at], strict=True):
                value, unit = _printed(cell.split(" ± ")[0])
                yield Seen(f"heat {names}", [value], [wanted], unit)


def _printed(text: str) -> tuple[float, float]:
    """A printed number, and the unit of its last digit."""
    plain = text.replace(",", "").replace("\N{MINUS SIGN}", "-").strip()
    decimals = len(plain.partition(".")[2])
    return float(plain), 0.51 * 10.0**-decimals


class _Tables(HTMLParser):
    """The tables of a page as rows of texts."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[tuple[str, list[list[str]]]] = []
        self._cell: list[str] | None = None

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag == "table":
            self.found.append((dict(attrs).get("class") or "", []))
        elif tag == "tr":
            self.found[-1][1].append([])
        elif tag in ("td", "th"):
            self._cell = []

    def handle_endtag(self, tag: str) -> None:
        if tag in ("td", "th") and self._cell is not None:
            self.found[-1][1][-1].append(re.sub(r"[ \n]+", " ", "".join(self._cell)))
            self._cell = None

    def handle_data(self, data: str) -> None:
        if self._cell is not None:
            self._cell.append(data)


def tables_of(page: str, kind: str) -> list[list[list[str]]]:
    parser = _Tables()
    parser.feed(page)
    return [rows for found, rows in parser.found if found == kind or not kind]
