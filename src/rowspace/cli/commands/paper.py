"""``rowspace paper``: the paper reproduced, claim by claim."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from .options import Force, Json, Quiet


def paper(
    output: Annotated[
        Path,
        typer.Option(
            "--output", "-o", metavar="DIR", help="The folder to write to; made if it is not there."
        ),
    ] = Path("paper"),
    quick: Annotated[
        bool, typer.Option("--quick", help="The same claims on smaller domains, in seconds.")
    ] = False,
    show: Annotated[bool, typer.Option("--open", help="Open the page in a browser.")] = False,
    force: Force = False,
    as_json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Reproduce the paper behind rowspace: every figure, table and claim beside what we compute. [bold]No data.[/bold]

    Writes paper.html (side by side), paper.json (all figures) and paper.md (claim, function, test).

    [dim]Examples[/dim]
      rowspace paper -o out
      rowspace paper -o out --quick
    """
    from rowspace import _research

    _research.load("command", "rowspace paper").paper(
        output, quick=quick, show=show, force=force, as_json=as_json, quiet=quiet
    )
