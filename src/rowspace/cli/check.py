"""``rowspace check``: a study beside the data, for the curator of the data."""

from __future__ import annotations

from pathlib import Path

import typer
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from rowspace.exceptions import InvalidInput
from rowspace.report.plans import table as plain_table
from rowspace.study import CHECK_WARNING, Check, Study
from rowspace.study import check as check_data
from rowspace.study.checking import HEADINGS

from .failures import FAILED
from .screen import Screen

_WIDEST_NAME = 24
_OPTIONAL = HEADINGS.index("outside")  # from here on, a column of zeros is left out


def check(study_file: Path, data: str | None, table: str | None, *, as_json: bool) -> None:
    """Look, show, and end with whether a release accepts the data."""
    screen = Screen(as_json=as_json)
    study = Study.load(study_file)
    address = data if data is not None else study.database_url()
    if address is None:
        raise InvalidInput(
            "expected DATA, a file or a database URL: the study has no [data] section that says where"
        )
    with screen.working("Looking at the data"):
        found = check_data(study, address, table=table)
    style = "bold" if found.accepted else "bold red"
    screen.result(
        Text(CHECK_WARNING, "yellow"),
        "",
        Text.assemble((f" {study.name}", "bold"), "  ", (found.verdict, style)),
        _table(found),
        *(_bullet(line) for line in (*found.unit_lines(), *found.lines())),
    )
    screen.document({"study": study.name, **found.to_dict()})
    if not found.accepted:
        raise typer.Exit(FAILED)


def _table(found: Check) -> Table:
    """One row for each attribute; what is not known stands out, and what is nowhere takes no room."""
    shown, lines = plain_table(), found.table()
    shown.add_column(
        HEADINGS[0], overflow="fold", min_width=min(max(len(line[0]) for line in lines), _WIDEST_NAME)
    )
    shown.add_column(HEADINGS[1])
    kept = [at for at in range(2, len(HEADINGS)) if at < _OPTIONAL or any(line[at] != "0" for line in lines)]
    for at in kept:
        shown.add_column(HEADINGS[at], justify="right", no_wrap=True)
    for line in lines:
        shown.add_row(
            Text(line[0]), Text(line[1]), *(Text(line[at], "dim" if line[at] == "0" else "") for at in kept)
        )
    return shown


def _bullet(line: str) -> Padding:
    """A line of advice, refusals in red; lines that are broken stay indented."""
    refused = line.startswith("refused: ")
    bullet = Table.grid(padding=(0, 1))
    bullet.add_row("•", Text(line, "red" if refused else ""))
    return Padding(bullet, (0, 0, 0, 1))
