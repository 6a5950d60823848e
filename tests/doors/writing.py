"""Doors of files, commands and other libraries."""

from __future__ import annotations

import importlib.util
import json
from collections.abc import Iterator
from functools import reduce
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow.parquet

import rowspace as rs
from tests.cli.running import rowspace

from .doors import Seen, Visit, door, own_rows, same_figures
from .questions import Count, Question, Table


@door("Release.save", "Release.load", "Release.to_bytes", "Release.from_bytes")
def saved_and_loaded(visit: Visit) -> Iterator[Seen]:
    """A file, and bytes."""
    if isinstance(visit.release, rs.Release):
        for copy in visit.asked.once("again", lambda: again(visit)):
            queries = rs.workload.matrix(visit.question.cells, visit.world.domain)
            rows = visit.question.cells
            if rows.any(axis=1).all():
                yield from same_figures(visit, "reloaded", copy.ask(queries), rows)
            yield from same_figures(visit, "its own", copy.answers(), own_rows(visit))


def again(visit: Visit) -> list[rs.Release]:
    """The release from its file and from its bytes."""
    visit.release.save(file_of(visit, ".release"))
    return [rs.Release.load(file_of(visit, ".release")), rs.Release.from_bytes(visit.release.to_bytes())]


def file_of(visit: Visit, suffix: str, name: str = "it") -> Path:
    """A file of this release."""
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
    for suffix in (".csv", ".parquet", ".json", ".xlsx"):
        path = file_of(visit, suffix, name)
        rs.export(what, path)
        found.append((suffix, _read(path)))
    return found


def _read(path: Path) -> pd.DataFrame:
    if path.suffix == ".parquet":
        return pyarrow.parquet.read_table(path).to_pandas()
    if path.suffix == ".json":
        return pd.DataFrame(json.loads(path.read_text(encoding="utf-8"))["answers"])
    if path.suffix == ".xlsx":
        # A sheet for each group, after the one that says what was promised; back in the order of the answers.
        sheets = list(pd.read_excel(path, sheet_name=None, keep_default_na=False).values())[1:]
        order = pd.read_csv(path.with_suffix(".csv"), keep_default_na=False).iloc[:, 0]
        places = np.concatenate([order.index[order == name] for name in order.unique()])
        return pd.concat(sheets, ignore_index=True).set_index(places).sort_index()
    return pd.read_csv(path)


@door("rowspace ask")
def command_ask(visit: Visit) -> Iterator[Seen]:
    """On the command line, as text and in SQL."""
    question = visit.question
    if not isinstance(question, Count | Table) or not isinstance(visit.release, rs.Release):
        return
    if isinstance(question, Table) and question.where is not None:
        return
    visit.asked.once("again", lambda: again(visit))
    texts = [question.sql, *([question.text] if isinstance(question, Count) else [])]
    done = rowspace("ask", file_of(visit, ".release"), *texts, "--json")
    assert done.code == 0, done.err
    frame = pd.DataFrame(json.loads(done.out)["answers"])
    yield from same_figures(visit, "rowspace ask", frame, np.vstack([question.cells] * len(texts)))


@door("rowspace combine")
def command_combine(visit: Visit) -> Iterator[Seen]:
    """Several files by one command."""
    if not isinstance(visit.release, rs.Release):
        yield from same_figures(
            visit, "combine", visit.asked.once("combined", lambda: _combined(visit)), own_rows(visit)
        )


def _combined(visit: Visit) -> pd.DataFrame:
    files = [file_of(visit, ".release", f"one{at}") for at, _ in enumerate(visit.release.releases)]
    for path, release in zip(files, visit.release.releases, strict=True):
        release.save(path)
    done = rowspace("combine", *files, "--json")
    assert done.code == 0, done.err
    return pd.DataFrame(json.loads(done.out)["answers"])


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
    study, data = file_of(visit, ".toml"), file_of(visit, ".parquet", "raw")
    entries = [_entry(question) for question in asked]
    study.write_text(write_study("Doors", visit.world.domain, rs.PureDP(1e7), entries), encoding="utf-8")
    visit.world.raw.to_parquet(data)
    out = file_of(visit, ".csv", "released")
    budget = file_of(visit, ".db", "budget")
    assert rowspace("budget", "create", budget, "it", "--epsilon", "1e8").code == 0
    done = rowspace("release", study, data, "--ledger", budget, "-o", out, "--json")
    assert done.code == 0, done.err
    answers = {"rowspace release": pd.DataFrame(json.loads(done.out)["answers"])["answer"].to_numpy()}
    answers["its csv"] = _read(out)["answer"].to_numpy()
    resumed = file_of(visit, ".parquet", "resumed")
    charge = json.loads(done.out)["charge"]["charge"]
    assert rowspace("budget", "resume", budget, charge, "-o", resumed).code == 0
    return answers | {"resumed": _read(resumed)["answer"].to_numpy()}


def _entry(question: Question) -> dict[str, Any] | None:
    """A part of a study that asks the same."""
    if isinstance(question, Table):
        return {"marginal": list(question.names), "weight": 2.0}
    return {"predicates": [question.text]} if isinstance(question, Count) else None


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
        # Every cell of the table, those of missing values too where they were measured.
        domain = visit.world.domain
        axes = [
            np.eye(n) if name in each.clique else np.ones((1, n))
            for name, n in zip(domain.names, domain.shape, strict=True)
        ]
        rows = reduce(np.kron, axes)
        rows = rows[getattr(each.query, "cells", slice(None))]
        y = np.asarray(each.noisy_measurement, float)
        weights = np.asarray(getattr(each.query, "weights", np.ones(len(y))), float)
        figures = {"answer": y / weights, "std_error": each.stddev / weights}
        yield from same_figures(visit, "mbi", figures, rows, ("answer", "std_error"))
    total = visit.asked.figures(np.ones((1, visit.world.domain.size)))["answer"]
    yield Seen("mbi's total", [known_total(visit.release)], np.maximum(1.0, total), 1e-9 * visit.asked.scale)
