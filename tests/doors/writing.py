"""Doors of files, commands, pages, figures and other libraries."""

from __future__ import annotations

import importlib.util
import json
import re
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pyarrow.parquet

import rowspace as rs
from rowspace.report.html import report_page, write_report
from tests.cli.running import rowspace

from .doors import FIGURES, Seen, Visit, door, near, own_rows, same_figures
from .questions import Count, Question, Table


@door("Release.save", "Release.load", "Release.to_bytes", "Release.from_bytes")
def saved_and_loaded(visit: Visit) -> Iterator[Seen]:
    """A file, and bytes."""
    if isinstance(visit.release, rs.Release):
        for again in visit.asked.once("again", lambda: _again(visit)):
            queries = rs.workload.matrix(visit.question.cells, visit.world.domain)
            rows = visit.question.cells
            if rows.any(axis=1).all():
                yield from same_figures(visit, "reloaded", again.ask(queries), rows)
            yield from same_figures(visit, "its own", again.answers(), own_rows(visit))


def _again(visit: Visit) -> list[rs.Release]:
    visit.release.save(_file(visit, ".release"))
    return [rs.Release.load(_file(visit, ".release")), rs.Release.from_bytes(visit.release.to_bytes())]


def _file(visit: Visit, suffix: str, name: str = "it") -> Path:
    kind = "quiet" if visit.asked.quiet else "noisy"
    return visit.asked.folder / f"{visit.world.number}-{kind}-{name}{suffix}"


@door("export .csv", "export .parquet", "export .json", "export .xlsx", "rs.export")
def exported(visit: Visit) -> Iterator[Seen]:
    """The workload's answers in files, of a release and of its consistent counts."""
    if not isinstance(visit.release, rs.Release):
        return
    for suffix, frame in visit.asked.once("exports", lambda: _exports(visit, visit.release, "it")):
        yield from same_figures(visit, suffix, frame, own_rows(visit))
    if visit.asked.reference.supports(np.ones((1, visit.world.domain.size))):
        made = visit.asked.once(("consistent", False), visit.release.consistent)
        own = visit.asked.once(("own", False), made.answers)["answer"]
        for suffix, frame in visit.asked.once("counts", lambda: _exports(visit, made, "counts")):
            yield Seen(f"consistent {suffix}", frame["answer"], own, 1e-12 * visit.asked.scale)


def _exports(visit: Visit, what: Any, name: str) -> list[tuple[str, pd.DataFrame]]:
    found = []
    for suffix in (".csv", ".parquet", ".json"):
        path = _file(visit, suffix, name)
        rs.export(what, path)
        found.append((suffix, _read(path)))
    path = _file(visit, ".xlsx", name)
    rs.export(what, path)
    return [*found, (".xlsx", _workbook(path, what.answers()))]


def _workbook(path: Path, answers: pd.DataFrame) -> pd.DataFrame:
    """The sheets of a workbook in the order of the answers: a group's rows are in order, groups may take turns."""
    about, *sheets = pd.read_excel(path, sheet_name=None, header=None, dtype=object).values()
    groups = about.iloc[about.index[about[0] == "sheet"][0] + 1 :][1]
    figures = answers.select_dtypes("number").columns.tolist()
    rows = {}
    for group, sheet in zip(groups, sheets, strict=True):
        body = sheet.iloc[1:].set_axis(sheet.iloc[0], axis=1)
        rows[group] = iter(body[figures].to_dict("records"))
    return pd.DataFrame([next(rows[group]) for group in answers.iloc[:, 0]]).astype(float)


def _read(path: Path) -> pd.DataFrame:
    if path.suffix == ".parquet":
        return pyarrow.parquet.read_table(path).to_pandas()
    if path.suffix == ".json":
        return pd.DataFrame(json.loads(path.read_text(encoding="utf-8"))["answers"])
    return pd.read_csv(path)


@door("rowspace ask")
def command_ask(visit: Visit) -> Iterator[Seen]:
    """On the command line, as text and in SQL."""
    question = visit.question
    if not isinstance(question, Count | Table) or not isinstance(visit.release, rs.Release):
        return
    if isinstance(question, Table) and question.where is not None:
        return
    visit.asked.once("again", lambda: _again(visit))
    texts = [question.sql, *([question.text] if isinstance(question, Count) else [])]
    done = rowspace("ask", _file(visit, ".release"), *texts, "--json")
    assert done.code == 0, done.err
    frame = pd.DataFrame(json.loads(done.out)["answers"])
    yield from same_figures(visit, "rowspace ask", frame, np.vstack([question.cells] * len(texts)))


@door("rowspace release", "rowspace budget resume", "rs.release", "rs.plan")
def command_release(visit: Visit) -> Iterator[Seen]:
    """A study asked of the raw table by the command: without noise, the counts that pandas has."""
    if not visit.asked.quiet:
        return
    found = visit.asked.once("command", lambda: _command(visit))
    rows = [question for question in visit.world.parts if _entry(question) is not None]
    if found is not None:
        truth = np.concatenate([question.truth(visit.world.raw) for question in rows])
        for what, answers in found.items():
            yield Seen(what, answers, truth, 0.3)


def _command(visit: Visit) -> dict[str, np.ndarray] | None:
    from rowspace.study import write_study

    asked = [question for question in visit.world.parts if _entry(question) is not None]
    if not asked:
        return None
    study, data = _file(visit, ".toml"), _file(visit, ".parquet", "raw")
    entries = [_entry(question) for question in asked]
    study.write_text(write_study("Doors", visit.world.domain, rs.PureDP(1e7), entries), encoding="utf-8")
    visit.world.raw.to_parquet(data)
    out = _file(visit, ".csv", "released")
    budget = _file(visit, ".db", "budget")
    assert rowspace("budget", "create", budget, "it", "--epsilon", "1e8").code == 0
    done = rowspace("release", study, data, "--ledger", budget, "-o", out, "--json")
    assert done.code == 0, done.err
    answers = {"rowspace release": pd.DataFrame(json.loads(done.out)["answers"])["answer"].to_numpy()}
    answers["its csv"] = _read(out)["answer"].to_numpy()
    resumed = _file(visit, ".parquet", "resumed")
    charge = json.loads(done.out)["charge"]["charge"]
    assert rowspace("budget", "resume", budget, charge, "-o", resumed).code == 0
    return answers | {"resumed": _read(resumed)["answer"].to_numpy()}


def _entry(question: Question) -> dict[str, Any] | None:
    """A part of a study that asks the same."""
    if isinstance(question, Table):
        return {"marginal": list(question.names), "weight": 2.0}
    return {"predicates": [question.text]} if isinstance(question, Count) else None


@door("Release.plot", "Combined.plot")
def plotted(visit: Visit) -> Iterator[Seen]:
    """What the figures draw: heights and intervals of columns, colours of a map."""
    question = visit.question
    if not isinstance(question, Table) or len(question.names) > 2 or question.where is not None:
        return
    rows = question.cells_by(*question.names)
    expected = visit.asked.figures(rows.reshape(-1, rows.shape[-1]))
    ax = visit.release.plot(*question.names)
    close = 1e-9 * visit.asked.scale
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
    listed = [row for row in page if len(row) == 4]
    for label, answer, interval, std_error in listed:
        low, high = interval.split(" to ")
        for found, at in ((answer, 0), (std_error, 1), (low, 2), (high, 3)):
            value, unit = _printed(found)
            nearest = min((row[at] for row in by_label[label]), key=lambda number: abs(number - value))
            yield Seen(f"page: {label}", [value], [nearest], unit)
    assert len(listed) >= min(len(answers), 20)
    yield from _heat_tables(visit)


def _page(visit: Visit) -> list[list[str]]:
    text = report_page(visit.release)
    path = _file(visit, ".html")
    write_report(visit.release, path)
    assert path.read_text(encoding="utf-8") == text
    visit.asked.once("again", lambda: _again(visit))
    command = _file(visit, ".html", "command")
    done = rowspace("report", _file(visit, ".release"), "-o", command, "--title", "Release")
    assert done.code == 0, done.err
    assert command.read_text(encoding="utf-8") == text
    visit.asked.kept["html"] = text
    assert "std. error" in visit.release._repr_html_()
    return [row for table in _tables(text, "") for row in table if len(row) == 4 and " to " in row[2]]


def _heat_tables(visit: Visit) -> Iterator[Seen]:
    """Every shaded table with figures: its first row and column say which cell is which."""
    for table in _tables(visit.asked.kept["html"], "heat"):
        (corner, *across), *body = table
        names = tuple(corner.split(" \\ "))
        of = Table(visit.world.domain, names)
        rows = of.cells_by(*names)
        figures = visit.asked.figures(rows.reshape(-1, rows.shape[-1]))
        expected = figures["answer"].reshape(rows.shape[:2])
        half = ((figures["high"] - figures["low"]) / 2).reshape(rows.shape[:2])
        assert across == of.labels(names[1])
        assert [row[0] for row in body] == of.labels(names[0])
        for at, (_, *cells) in enumerate(body):
            for cell, *wanted in zip(cells, expected[at], half[at], strict=True):
                margins = (0.0, np.max(near(visit, figures, "low")))
                for text, number, margin in zip(cell.split(" ± "), wanted, margins, strict=True):
                    value, unit = _printed(text)
                    yield Seen(f"heat {names}", [value], [number], unit + margin)


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


def _tables(page: str, kind: str) -> list[list[list[str]]]:
    parser = _Tables()
    parser.feed(page)
    return [rows for found, rows in parser.found if found == kind or not kind]


@door("interop.opendp.make_release", "interop.opendp.table_space", "interop.opendp.counts_space")
def by_opendp(visit: Visit) -> Iterator[Seen]:
    """Released by OpenDP: without noise, the counts that pandas has."""
    if not visit.asked.quiet or not isinstance(visit.release, rs.Release):
        return
    made = visit.asked.once("opendp", lambda: _by_opendp(visit))
    truth = np.concatenate([question.truth(visit.world.raw) for question in visit.world.parts])
    for release in made:
        yield Seen("OpenDP", release.answers()["answer"], truth, 0.3)


def _by_opendp(visit: Visit) -> list[rs.Release]:
    import opendp.prelude as dp

    from rowspace.interop.opendp import counts_space, make_release, table_space
    from rowspace.sources import count_cells

    dp.enable_features("contrib", "honest-but-curious")
    plan = visit.release.plan
    counts = count_cells(visit.world.raw, plan.domain).ravel().tolist()
    found = [make_release(*table_space(plan), plan)(visit.world.raw)]
    return [*found, make_release(*counts_space(plan), plan)(counts)]


HAS_MBI = importlib.util.find_spec("mbi") is not None


@door("interop.mbi.measurements", "interop.mbi.known_total", "interop.mbi.mbi_domain")
def by_mbi(visit: Visit) -> Iterator[Seen]:
    """Marginals for mbi, in the order of its domain. Not taken where mbi is not installed (`test_doors` says so)."""
    if not HAS_MBI or not isinstance(visit.release, rs.Release):
        return
    from rowspace.interop.mbi import known_total, mbi_domain, measurements

    plain = [q for q in visit.world.parts if isinstance(q, Table) and set(q.names) <= set(q.domain.names)]
    if not plain or not visit.asked.reference.supports(np.ones((1, visit.world.domain.size))):
        return
    attributes = list(mbi_domain(visit.release).attributes)
    assert attributes == [name for name in visit.world.domain.names if name in attributes]
    for each in visit.asked.once("mbi", lambda: measurements(visit.release)):
        rows = Table(visit.world.domain, tuple(each.clique)).cells
        y = np.asarray(each.noisy_measurement, float)
        weights = np.asarray(getattr(each.query, "weights", np.ones(len(y))), float)
        figures = {"answer": y / weights, "std_error": each.stddev / weights}
        yield from same_figures(visit, "mbi", figures, rows, ("answer", "std_error"))
    total = visit.asked.figures(np.ones((1, visit.world.domain.size)))["answer"]
    yield Seen("mbi's total", [known_total(visit.release)], np.maximum(1.0, total), 1e-9 * visit.asked.scale)
