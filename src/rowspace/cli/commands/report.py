"""``rowspace report``: a release as one web page that needs nothing else."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from .options import Force, Json, Level, Quiet, ReleaseFile


def report(
    release_file: ReleaseFile,
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
    from ..report import report as write

    write(
        release_file,
        output,
        title=title,
        ledger=ledger,
        dataset=dataset,
        level=level,
        show=show,
        force=force,
        as_json=as_json,
        quiet=quiet,
    )
