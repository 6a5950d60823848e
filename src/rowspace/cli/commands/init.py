"""``rowspace init``: a draft of a study, for the curator of the data."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from .csv_options import (
    Delimiter,
    Encoding,
    IgnoreCase,
    Names,
    Nulls,
    QuotedNewlines,
    Strip,
    csv_form,
)
from .options import Force, Json, Quiet, Table


def init(
    data: Annotated[
        str,
        typer.Argument(
            metavar="DATA",
            help="A CSV or Parquet file, a database file or a database URL.",
            show_default=False,
        ),
    ],
    output: Annotated[
        Path, typer.Option("--output", "-o", metavar="FILE", help="Where to write the draft.")
    ] = Path("study.toml"),
    table: Table = None,
    encoding: Encoding = None,
    delimiter: Delimiter = None,
    names: Names = None,
    nulls: Nulls = None,
    strip: Strip = False,
    ignore_case: IgnoreCase = False,
    quoted_newlines: QuotedNewlines = False,
    force: Force = False,
    as_json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Draft a study file from the columns of a table. [bold]Looks at the data: for its curator only.[/bold]

    The draft's bounds and categories are taken from the data and are not private.
    Replace them by public knowledge (a code book, a law, a form) first of all;
    `release` refuses the draft until its line "draft = true" is deleted.

    [dim]Examples[/dim]
      rowspace init people.parquet
      rowspace init people.duckdb --table residents -o residents.toml
      rowspace init adult.data --names age,sex,pay --null "?" --strip
    """
    from ..init import init as draft

    form = csv_form(encoding, delimiter, names, nulls, strip, ignore_case, quoted_newlines)
    draft(data, output, table, form, force=force, as_json=as_json, quiet=quiet)
