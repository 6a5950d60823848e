"""``rowspace schema``: the JSON Schema of study files."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from .options import Force


def schema(
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", metavar="FILE", help="Where to write it; else it is printed."),
    ] = None,
    force: Force = False,
) -> None:
    """Write the JSON Schema of study files, by which editors complete and check them.

    Editors that know Taplo (such as VS Code with Even Better TOML) use it in a study whose first line is
    "#:schema ./study.schema.json". `init` writes that line where the file is beside the draft.

    [dim]Examples[/dim]
      rowspace schema -o study.schema.json
    """
    from ..schema import schema as write

    write(output, force=force)
