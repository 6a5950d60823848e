"""Arguments and options that several commands share."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer


def _check_level(level: float) -> float:
    if not 0 < level < 1:
        raise typer.BadParameter("expected a confidence level between 0 and 1, such as 0.95")
    return level


StudyFile = Annotated[
    Path, typer.Argument(metavar="STUDY", help="The study file (TOML).", show_default=False)
]
ReleaseFile = Annotated[Path, typer.Argument(metavar="RELEASE", help="A .release file.", show_default=False)]
Table = Annotated[
    str | None, typer.Option("--table", metavar="NAME", help="The table, when the data is a database.")
]
Outputs = Annotated[
    list[Path] | None,
    typer.Option(
        "--output",
        "-o",
        metavar="OUT",
        help="Where to write: .release keeps everything, for `ask`; .csv, .parquet, .json and .xlsx are tables. "
        "May be given several times.",
        show_default=False,
    ),
]
Level = Annotated[
    float,
    typer.Option("--level", metavar="P", callback=_check_level, help="Confidence level of the intervals."),
]
Force = Annotated[bool, typer.Option("--force", help="Overwrite files that exist.")]
Json = Annotated[bool, typer.Option("--json", help="Write one JSON document instead of tables.")]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="No progress, no summary.")]
