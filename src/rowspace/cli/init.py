"""``rowspace init``: a draft of a study, for the curator of the data."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from rich.panel import Panel
from rich.text import Text

from rowspace.sources.databases import is_url
from rowspace.sources.drafting import sketch_columns
from rowspace.study import DATA_WARNING, DataPlace, Study, draft_study

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
from .outputs import check_writable, write_text
from .screen import Screen


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
    screen = Screen(quiet, as_json)
    check_writable([output], force=force, inputs=[] if is_url(data) else [Path(data)])
    form = csv_form(encoding, delimiter, names, nulls, strip, ignore_case, quoted_newlines)
    with screen.working("Looking at the columns"):
        columns = sketch_columns(DataPlace(csv=form).source(data), table=table)
        text = draft_study(columns, _name(data, table), form)
        study = Study.parse(text)
    write_text(output, text)
    # Also when quiet: whoever silences this must still have been told.
    screen.err.print(Panel(Text(DATA_WARNING), title="for the curator only", border_style="yellow", width=80))
    screen.show(
        Text.assemble(" drafted ", (str(output), "bold"), f": {len(study.domain)} attributes, ")
        + Text(f"{study.workload.size:,} queries"),
        Text.assemble((" next  ", "dim"), f"edit it, then: rowspace plan {output}"),
    )
    screen.document({"file": str(output), "warning": DATA_WARNING, "attributes": list(study.domain.names)})


def _name(data: str, table: str | None) -> str:
    """The table, or the file without its ending; of an address nothing, since it may hold a password."""
    if table is not None:
        return table
    return "Untitled" if is_url(data) else Path(data).name.split(".")[0] or "Untitled"
