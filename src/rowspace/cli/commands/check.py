"""``rowspace check``: a study beside the data, for the curator of the data."""

from __future__ import annotations

from typing import Annotated

import typer

from .options import Json, StudyFile, Table


def check(
    study_file: StudyFile,
    data: Annotated[
        str | None,
        typer.Argument(
            metavar="DATA",
            help="A CSV or Parquet file, a database file or a database URL; may be left out when the study's "
            "\\[data] section says where it is.",
            show_default=False,
        ),
    ] = None,
    table: Table = None,
    as_json: Json = False,
) -> None:
    """See what a study makes of the data, before a release. [bold]Looks at the data: for its curator only.[/bold]

    Counts, per attribute, the rows that are missing, outside, unlisted or
    unreadable, shows the values that are no category, and says what a release
    makes of them; with a privacy unit, how many rows each has and what caps leave
    out. Nothing is spent, and nothing of it may be published.

    [dim]Exit codes: 0 when `release` accepts the data, whatever it leaves out; 1 when it refuses it.[/dim]

    [dim]Examples[/dim]
      rowspace check study.toml people.csv
      rowspace check study.toml people.duckdb --table residents
      rowspace check study.toml people.csv --json
    """
    from ..check import check as look

    look(study_file, data, table, as_json=as_json)
