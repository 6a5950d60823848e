"""Doors of asking: tables of answers in memory."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from tempfile import mkdtemp

import numpy as np
import pandas as pd

import rowspace as rs
from rowspace import interop
from rowspace.domain import Domain

from .doors import CLOSE, FIGURES, Seen, Visit, column_of, door, near, own_rows, same_figures
from .questions import Count, Table


@door("Release.ask", "Combined.ask")
def ask_as_text(visit: Visit) -> Iterator[Seen]:
    """As a predicate, alone and among others."""
    if isinstance(visit.question, Count):
        text = visit.question.text
        yield from same_figures(visit, "one text", visit.release.ask(text), visit.question.cells)
        twice = visit.release.ask([text, text])
        yield from same_figures(visit, "texts", twice, np.vstack([visit.question.cells] * 2))


@door("Release.ask", "Combined.ask", "rs.workload")
def ask_as_sql(visit: Visit) -> Iterator[Seen]:
    """As a statement: groups in the order of the domain; under a condition, those that it leaves, in any order."""
    question = visit.question
    if not isinstance(question, Count | Table):
        return
    frame = visit.release.ask(question.sql)
    if isinstance(question, Count) or question.where is None:
        yield from same_figures(visit, "sql", frame, question.cells)
        return
    possible = question.cells[question.cells.any(axis=1)]
    expected = visit.asked.figures(possible)
    order, other = (
        np.lexsort([np.round(f["std_error"], 6), np.round(f["answer"], 6)]) for f in (frame, expected)
    )
    for name in FIGURES:
        found = frame[name].to_numpy()[order]
        yield Seen(f"sql: {name}", found, expected[name][other], np.max(near(visit, expected, name)))


@door("Release.ask", "Combined.ask", "rs.Workload")
def ask_as_workload(visit: Visit) -> Iterator[Seen]:
    """As a workload, over the measured attributes and over a domain with one more; weights change nothing."""
    question = visit.question
    if isinstance(question, Table) and question.where is not None:
        return
    queries = question.workload()
    yield from same_figures(visit, "workload", visit.release.ask(queries), question.cells)
    yield from same_figures(visit, "weighted", visit.release.ask(7.5 * queries), question.cells)
    wider = Domain({"a stranger": rs.Categorical(["x", "y"]), **dict(visit.world.domain.attributes)})
    over = rs.Workload(wider, queries.parts)
    yield from same_figures(visit, "wider", visit.release.ask(over), question.cells)


@door("Release.ask")
def labels_say_what_is_asked(visit: Visit) -> Iterator[Seen]:
    """A table of answers looked up by its labels."""
    question = visit.question
    if not isinstance(question, Table) or question.where is not None:
        return
    frame = visit.release.ask(question.workload())
    by = question.cells_by(*question.names)
    for at in np.ndindex(by.shape[:-1]):
        picked = frame
        for name, label in zip(question.names, at, strict=True):
            picked = picked[picked[column_of(frame, name)] == question.labels(name)[label]]
        assert len(picked) == 1
        yield from same_figures(visit, f"labels {at}", picked, by[at][None], ("answer", "std_error"))


@door(
    "Release.answers",
    "Combined.answers",
    "Release.stream",
    "Combined.stream",
    "Release.combine",
    "Combined.combine",
    "rs.Release",
    "rs.Combined",
    "rs.combine",
)
def all_answers(visit: Visit) -> Iterator[Seen]:
    """The workload's own answers at once, and in portions."""
    rows = own_rows(visit)
    frame = visit.asked.once("answers", visit.release.answers)
    yield from same_figures(visit, "answers", frame, rows)
    if hasattr(visit.release, "stream"):
        at = 0
        for portion in visit.release.stream(rows=3):
            yield from same_figures(visit, "stream", portion, rows[at : at + len(portion)])
            assert portion.iloc[:, :-4].equals(frame.iloc[at : at + len(portion), :-4].reset_index(drop=True))
            at += len(portion)
        assert at == len(rows)


@door("Release.estimate")
def the_estimate(visit: Visit) -> Iterator[Seen]:
    """Cell by cell."""
    if hasattr(visit.release, "estimate"):
        found = visit.question.cells @ visit.release.estimate
        expected = visit.asked.figures(visit.question.cells)["answer"]
        yield Seen("estimate", found, expected, CLOSE * visit.asked.scale)


@door("interop.to_numpy", "interop.to_arrow", "interop.to_polars")
def other_frames(visit: Visit) -> Iterator[Seen]:
    """The same tables in other libraries."""
    if not isinstance(visit.release, rs.Release):
        return
    rows = own_rows(visit)
    frames = visit.asked.once(
        "frames",
        lambda: [make(visit.release) for make in (interop.to_numpy, interop.to_arrow, interop.to_polars)],
    )
    for frame in frames:
        yield from same_figures(visit, type(frame).__name__, frame, rows)
    question = visit.question
    if not isinstance(question, Table) or question.where is None:
        asked = interop.to_numpy(visit.release, question.workload())
        yield from same_figures(visit, "asked", asked, question.cells)


@door("rs.Session", "Session.ask", "Session.release")
def session_on_the_ledger(visit: Visit) -> Iterator[Seen]:
    """From a ledger that has paid for the releases: nothing is bought, and the data is not there."""
    if not isinstance(visit.question, Count):
        return

    def opened() -> rs.Session | None:
        releases = getattr(visit.release, "releases", (visit.release,))
        plan = releases[0].plan
        whole = plan.workload.domain.with_places()
        if any(own.plan.domain != whole for own in releases):
            return None  # some cells were too many to be counted beside
        ledger = rs.Ledger(Path(mkdtemp(dir=visit.asked.folder)) / "budget.db")
        # In ρ, which pays for every kind of noise.
        ledger.create("people", rs.ZCDP(1e30, plan.privacy.neighbours, plan.privacy.unit))
        for own in releases:
            ledger.charge(own.plan, own.to_bytes())
        return rs.Session(plan.workload.domain, pd.DataFrame(), ledger=ledger)

    session = visit.asked.once("session", opened)
    if session is not None:
        text = visit.question.text
        yield from same_figures(visit, "session", session.ask(text).table, visit.question.cells)
        everything = session.release().ask(text)
        yield from same_figures(visit, "session's release", everything, visit.question.cells)


@door("rs.Session", "Session.table", "Session.estimate_tables")
def session_that_buys(visit: Visit) -> Iterator[Seen]:
    """Tables bought from the records themselves, with next to no noise: what the raw table counts."""
    question, world, privacy = visit.question, visit.world, visit.release.plan.privacy
    if not visit.asked.quiet or not isinstance(question, Table) or question.where is not None:
        return
    if len(question.names) < 2 or not set(question.names) <= set(world.domain.names):
        return
    ledger = rs.Ledger(Path(mkdtemp(dir=visit.asked.folder)) / "budget.db")
    ledger.create("people", rs.ZCDP(1e6, getattr(privacy, "neighbours", "add-remove")))
    domain = Domain({name: world.domain[name] for name in question.ordered})
    session = rs.Session(domain, world.raw, ledger=ledger)
    truth = question.truth(world.raw)
    found = session.estimate_tables(question.workload().about(domain), spend=1e5).ask(question.workload())
    yield Seen("session's estimated table", found["answer"], truth, 0.5)
    table = session.table(*question.ordered, within=0.5).table
    yield Seen("session's table", table["answer"], truth, 0.5)
