"""``rowspace combine``: several releases of one table as one."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from .options import Force, Json, Level, Quiet


def combine(
    release_files: Annotated[
        list[Path],
        typer.Argument(metavar="RELEASE...", help="Two or more .release files.", show_default=False),
    ],
    outputs: Annotated[
        list[Path] | None,
        typer.Option(
            "--output",
            "-o",
            metavar="OUT",
            help="Where to write: .csv, .parquet and .json are tables, .html is a report. "
            "May be given several times.",
            show_default=False,
        ),
    ] = None,
    queries: Annotated[
        list[str] | None,
        typer.Option(
            "--ask",
            metavar="QUERY",
            help="Show the answer to this instead: a condition, or SELECT COUNT(*) in SQL. Repeatable.",
            show_default=False,
        ),
    ] = None,
    title: Annotated[
        str | None,
        typer.Option(
            "--title",
            metavar="TEXT",
            help="The report's title; the files' names if left out.",
            show_default=False,
        ),
    ] = None,
    level: Level = 0.95,
    force: Force = False,
    as_json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Combine several releases of one table: better answers than each. [bold]Costs no privacy.[/bold]

    Each release counts by how precise it is, and the error bars are those of the whole.
    That the releases count the same records is for you to know: nothing in them can tell.

    [dim]Examples[/dim]
      rowspace combine first.release second.release
      rowspace combine first.release second.release -o both.csv -o both.html
      rowspace combine first.release second.release --ask "age >= 65" --json
    """
    from ..combine import combine as join

    join(
        release_files,
        outputs or [],
        queries or [],
        title=title,
        level=level,
        force=force,
        as_json=as_json,
        quiet=quiet,
    )
