"""Options that declare how a CSV file is written, where no study says it yet."""

from __future__ import annotations

from typing import Annotated, Any

import typer

Encoding = Annotated[
    str | None,
    typer.Option("--encoding", metavar="NAME", help="Of a CSV file that is not UTF-8.", show_default=False),
]
Delimiter = Annotated[
    str | None,
    typer.Option("--delimiter", metavar="C", help="Between the cells of a CSV file.", show_default=False),
]
Names = Annotated[
    str | None,
    typer.Option("--names", metavar="A,B,…", help="Of all columns, if it has no header.", show_default=False),
]
Nulls = Annotated[
    list[str] | None,
    typer.Option(
        "--null", metavar="TEXT", help="Means a missing value; may be repeated.", show_default=False
    ),
]
Strip = Annotated[bool, typer.Option("--strip", help="Leave out spaces around the values of a CSV file.")]
IgnoreCase = Annotated[bool, typer.Option("--ignore-case", help="Take categories in any case of letters.")]
QuotedNewlines = Annotated[
    bool, typer.Option("--quoted-newlines", help="Cells in quotes may have line breaks.")
]


def csv_form(
    encoding: str | None,
    delimiter: str | None,
    names: str | None,
    nulls: list[str] | None,
    strip: bool,
    ignore_case: bool,
    quoted_newlines: bool,
) -> dict[str, Any]:
    """What was said, as the keys of [data]."""
    said = {
        "encoding": encoding,
        "delimiter": delimiter,
        "names": None if names is None else [name.strip() for name in names.split(",")],
        "nulls": nulls,
        "strip": strip,
        "ignore_case": ignore_case,
        "quoted_newlines": quoted_newlines,
    }
    return {key: value for key, value in said.items() if value}
