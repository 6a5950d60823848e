"""``rowspace report``: a release as one web page that needs nothing else."""

from __future__ import annotations

import webbrowser
from pathlib import Path

import typer
from rich.text import Text

from rowspace.ledger import Ledger
from rowspace.releases import Release
from rowspace.report.html import Spending, write_report

from .outputs import PAGES, check_endings, check_writable
from .screen import Screen


def report(
    release_file: Path,
    output: Path,
    *,
    title: str | None,
    ledger: str | None,
    dataset: str | None,
    level: float,
    explore: bool,
    show: bool,
    force: bool,
    as_json: bool,
    quiet: bool,
) -> None:
    """Write the page, with the budget where a ledger is given."""
    screen = Screen(quiet, as_json)
    if dataset is not None and ledger is None:
        raise typer.BadParameter("--dataset names a budget of a ledger: give --ledger too")
    check_endings([output], PAGES)
    check_writable([output], force=force, inputs=[release_file])
    with screen.working("Reading"):
        made = Release.load(release_file)
        spending = None if ledger is None else _spending(ledger, dataset)
    with screen.working("Drawing"):
        name = title or made.plan.title or release_file.stem
        write_report(made, output, title=name, level=level, spending=spending, explore=explore)
    size = output.stat().st_size
    screen.show(
        Text.assemble(" written to ", (str(output), "bold"), f", {size / 1000:,.0f} kB, nothing to load")
    )
    screen.document({"file": str(output), "bytes": size, "title": name})
    if show:
        webbrowser.open(output.absolute().as_uri())


def _spending(location: str, dataset: str | None) -> Spending:
    """A budget and its charges."""
    ledger = Ledger(location)
    return Spending(ledger.budget(dataset), tuple(ledger.history(dataset)))
