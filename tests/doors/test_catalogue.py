"""Every public way to get a number out of a release is behind a door of this suite, or is no such way and says why.

Add a method, an export format, a command or a bridge: put it behind a door (`asking`, `deriving`, `writing`, `pages`).
"""

from __future__ import annotations

import ast
import importlib.util
from dataclasses import fields, is_dataclass
from pathlib import Path
from typing import Any

import click
import typer

import rowspace as rs
from rowspace import interop, report
from rowspace.cli.program import app
from rowspace.cli.release_files import EXPORTS
from rowspace.releases.combined import Combined
from rowspace.releases.consistent import Consistent
from rowspace.releases.derived import Estimate
from rowspace.releases.derived_tables import CrossTable
from rowspace.releases.estimated import TableEstimate
from rowspace.report import html

from . import asking, deriving, pages, writing  # noqa: F401 - they fill the catalogue
from .doors import BEHIND

NO_DOORS = {
    "what was planned: it has seen no data": [
        "Release.plan", "Combined.plan", "rs.Plan", "rs.plan_for", "rs.Target", "rowspace plan", "rs.error",
        "rs.operators", "rs.strategy", "report.plan_view",
    ],
    "declarations and promises": [
        "rs.Categorical", "rs.Domain", "rs.Numeric", "rs.ApproxDP", "rs.PureDP", "rs.ZCDP", "rs.Neighbours",
        "rs.privacy", "rs.RowspaceError", "rs.__version__", "rowspace init", "report.plain_privacy", "rs.CSV",
        "rs.Dates", "rs.DayOfWeek", "rs.HourOfDay", "rs.Ledger", "rs.PrivacyUnit", "rs.Study",
        "rs.Measure",
    ],
    "words, and levels of intervals": [
        "Release.statement", "Combined.statement", "Combined.method", "Consistent.statement", "Consistent.method",
        "TableEstimate.statement", "TableEstimate.method",
        "CrossTable.level", "Estimate.level", "Estimate.method", "Estimate.population",
    ],
    "what answers are made from": [
        "Release.noisy_answers", "Release.largest_count", "Combined.releases", "Combined.evidence",
        "Combined.found", "Combined.made_of", "Combined.by_horizon",
        "Consistent.release", "Consistent.integral",
        "Consistent.by", "TableEstimate.release", "TableEstimate.integral", "TableEstimate.by", "TableEstimate.fit",
    ],
    "prices, half-widths and what there is to spend or to answer from: tests/session": [
        "Session.budget", "Session.domain", "Session.last", "Session.ledger", "Session.prepare", "Session.price",
        "Session.purchases", "Session.reached", "Session.warm",
    ],
    "those of the release of all that is known: tests/session/test_session.py": ["Session.quantiles"],
    "what was spent": [
        "Combined.spent", "rowspace budget create", "rowspace budget show", "rowspace budget history",
    "rowspace budget prune",
        "report.html.Spending",
    ],
    "how far answers were moved: tests/releases/test_consistent.py": ["Consistent.effect", "TableEstimate.effect"],
    "expected errors of tables, no counts: tests/releases/test_estimated.py": ["TableEstimate.errors"],
    "a value in a notebook, as it prints: tests/test_reprs.py": [
        "Consistent._repr_html_", "TableEstimate._repr_html_", "CrossTable._repr_html_", "Estimate._repr_html_",
    ],
    "writes numbers that are given to it: src/rowspace/report/numbers.py": [
        "report.counts", "report.figures", "report.shown_above", "report.whole",
    ],
    "draws rows that are given to it, such as those of `rowspace ask`": [
        "report.AnswerGroup", "report.AnswerRow", "report.answer_rows", "report.answers_view", "report.first_answers",
    ],
    "means, through every door beside one another: tests/test_measures.py": ["Release.mean", "Combined.mean"],
    "spreads, through every door beside one another: tests/test_variances.py": [
        "Release.variance", "Combined.variance", "Release.standard_deviation", "Combined.standard_deviation",
    ],
    "invented data, by the commands that are doors: tests/cli/test_demo.py": ["rowspace demo"],
    "makes a release of the periods so far, with true counts at tiny noise: tests/test_instalments.py": [
        "rs.instalment",
    ],
    "values and ranges found privately, not answers of a release: tests/test_discovery.py, tests/test_bounding.py": [
        "rs.discover", "rs.Discovery", "rowspace discover", "rs.bounds", "rs.Bounds", "rowspace bounds",
    ],
    "the paper's figures, no release": ["rowspace paper"],
    "what a release says of itself, no answers: tests/releases/test_registry.py": ["rowspace registry"],
    "questions over HTTP and SQL, a session's answers and pandas' counts: tests/serve/test_api.py, test_wire.py": [
        "rowspace serve",
    ],
    "plans, no data and no answers: tests/studio": ["rowspace studio"],
    "who may ask a service, no numbers: tests/serve/test_tokens.py": [
        "rowspace tokens add", "rowspace tokens list", "rowspace tokens revoke",
    ],
    "the format of study files, no numbers: tests/study/test_json_schema.py": ["rowspace schema"],
    "exact numbers for the curator, no release: tests/study/test_checking.py": [
        "rs.check", "rs.Check", "rowspace check",
    ],
    "records and tables of a model of mbi's: tests/interop/test_mbi.py": [
        "interop.mbi.synthetic", "interop.mbi.model_tables",
    ],
}  # fmt: skip


def public_things() -> set[str]:
    """The public surface that a number may come through."""
    found = {f"rs.{name}" for name in rs.__all__}
    for kind in (rs.Release, Combined, Consistent, TableEstimate, CrossTable, Estimate, rs.Session):
        names = {name for name in dir(kind) if not name.startswith("_") or name == "_repr_html_"}
        names |= {field.name for field in fields(kind)} if is_dataclass(kind) else set()
        found |= {f"{kind.__name__}.{name}" for name in names}
    found |= {f"export {suffix}" for suffix in EXPORTS}
    found |= {f"report.{name}" for name in report.__all__} | {f"report.html.{name}" for name in html.__all__}
    found |= {f"interop.{name}" for name in interop.__all__}
    for bridge in ("mbi", "opendp"):
        found |= {f"interop.{bridge}.{name}" for name in _functions(f"rowspace.interop.{bridge}")}
    return found | {f"rowspace {name}" for name in _commands(typer.main.get_command(app))}


def _functions(module: str) -> set[str]:
    """The public functions of a module, which may need a library that is not installed."""
    found = importlib.util.find_spec(module)
    assert found is not None
    assert found.origin is not None
    tree = ast.parse(Path(found.origin).read_text(encoding="utf-8"))
    return {node.name for node in tree.body if isinstance(node, ast.FunctionDef) and node.name[0] != "_"}


def _commands(command: Any) -> set[str]:
    """All commands below one, by the words that are typed."""
    if not hasattr(command, "list_commands"):
        return {""}
    context = click.Context(command)
    below = {name: command.get_command(context, name) for name in command.list_commands(context)}
    return {f"{name} {rest}".strip() for name, one in below.items() if one for rest in _commands(one)}


def test_every_public_way_to_a_number_is_behind_a_door():
    behind = {name for names in BEHIND.values() for name in names}
    excused = {name for names in NO_DOORS.values() for name in names}
    assert public_things() - behind - excused == set(), "put these behind a door, or say why they are none"
    assert (behind | excused) - public_things() == set(), "these are no longer public"
    assert behind & excused == set()
