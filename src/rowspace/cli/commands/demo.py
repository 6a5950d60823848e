"""``rowspace demo``: the main job on bundled, invented people."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from .options import Force, Json, Quiet


def demo(
    folder: Annotated[
        Path | None,
        typer.Option(
            "--output",
            "-o",
            metavar="DIR",
            help="Also keep study, data, plan, release, table and the report, a web page.",
            show_default=False,
        ),
    ] = None,
    force: Force = False,
    as_json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Plan and release the sample study: 50,000 invented people. [bold]Start here.[/bold]

    Shows what a plan says before any data is touched, and then the answers beside the truth.

    [dim]Examples[/dim]
      rowspace demo
      rowspace demo -o demo      [dim]keeps the files, and writes a report to look at[/dim]
    """
    from ..demo import demo as show

    show(folder, force=force, as_json=as_json, quiet=quiet)
