"""``rowspace report``: a release as one web page that needs nothing else."""

from __future__ import annotations

import webbrowser
from pathlib import Path
from typing import Annotated

import typer
from rich.text import Text

from rowspace.ledger import Ledger
from rowspace.releases import Release
from rowspace.report.html import Spending, write_report

from .options import Force, Json, Level, Quiet
from .outputs import check_writable
from .screen import Screen


def report(
    release_file: Annotated[
        Path, typer.Argument(metavar="RELEASE", help="A .release file.", show_default=False)
    ],
    output: Annotated[Path, typer.Option("--output", "-o", metavar="OUT", help="The page to write.")] = Path(
        "report.html"
    ),
    title: Annotated[
        str | None,
        typer.Option("--title", metavar="TEXT", help="Its title; the study's name if left out."),
    ] = None,
    ledger: Annotated[
        str | None,
        typer.Option(
            "--ledger",
            metavar="LEDGER",
            help="Show this budget too: a file or a PostgreSQL URL.",
            show_default=False,
        ),
    ] = None,
    dataset: Annotated[
        str | None,
        typer.Option(
            "--dataset", metavar="NAME", help="Which budget, if the ledger has several.", show_default=False
        ),
    ] = None,
    level: Level = 0.95,
    show: Annotated[bool, typer.Option("--open", help="Open the page in a browser.")] = False,
    force: Force = False,
    as_json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Write a release as one web page: answers as charts, the promise in plain words. [bold]Costs no privacy.[/bold]

    The page loads nothing from anywhere; send it, print it or put it on a server as it is.

    [dim]Examples[/dim]
      rowspace report people.release
      rowspace report people.release -o people.html --ledger budget.db
    """
    screen = Screen(quiet, as_json)
    if dataset is not None and ledger is None:
        raise typer.BadParameter("--dataset names a budget of a ledger: give --ledger too")
    check_writable([output], force=force, inputs=[release_file])
    with screen.working("Reading"):
        made = Release.load(release_file)
        spending = None if ledger is None else _spending(ledger, dataset)
    with screen.working("Drawing"):
        name = title or made.plan.title or release_file.stem
        write_report(made, output, title=name, level=level, spending=spending)
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
