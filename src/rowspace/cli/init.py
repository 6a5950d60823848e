"""``rowspace init``, ``schema`` and ``check``: a draft of a study, and a study beside the data, for its curator."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import typer
from rich.padding import Padding
from rich.panel import Panel
from rich.table import Table
from rich.text import Text

from rowspace.exceptions import InvalidInput
from rowspace.report import table as plain_table
from rowspace.sources import is_url, root_of, sketch_columns
from rowspace.study import CHECK_WARNING, DATA_WARNING, HEADINGS, Check, DataPlace, Study, draft_study
from rowspace.study import check as check_data

from .failures import FAILED
from .outputs import check_endings, check_writable, write_text
from .screen import Screen

#: What `rowspace schema` is told to write in the documentation; editors look for it beside a study that names it.
SCHEMA = "study.schema.json"


def init(
    data: str,
    output: Path,
    table: str | None,
    form: dict[str, Any],
    *,
    force: bool,
    as_json: bool,
    quiet: bool,
) -> None:
    """Write a draft of a study, and say whose eyes it is for."""
    screen = Screen(quiet, as_json)
    check_endings([output], (".toml",))
    check_writable([output], force=force, inputs=[] if is_url(data) else [Path(data)])
    with screen.working("Looking at the columns"):
        columns = sketch_columns(DataPlace(csv=form).source(data), table=table)
        text = draft_study(columns, _name(data, table), form)
        if output.with_name(SCHEMA).is_file():
            text = f"#:schema ./{SCHEMA}\n{text}"
        study = Study.parse(text)
    write_text(output, text)
    # Also when quiet: whoever silences this must still have been told.
    screen.err.print(Panel(Text(DATA_WARNING), title="for the curator only", border_style="yellow", width=80))
    screen.show(
        Text.assemble(" drafted ", (str(output), "bold"), f": {len(study.domain)} attributes, ")
        + Text(f"{study.workload.size:,} queries"),
        Text.assemble((" next  ", "dim"), f"edit it, then: rowspace check {output} {_shown(data)}"),
    )
    screen.document({"file": str(output), "warning": DATA_WARNING, "attributes": list(study.domain.names)})


def _shown(data: str) -> str:
    """The file; not an address, which may hold a password."""
    return "DATA" if is_url(data) else data


def _name(data: str, table: str | None) -> str:
    """The table, the folder, or the file without its ending; of an address nothing, since it may hold a password."""
    if table is not None:
        return table
    if is_url(data):
        return "Untitled"
    place = root_of(Path(data)) or Path(data)
    return place.resolve().name.split(".")[0] or "Untitled"


def schema(output: Path | None, *, force: bool) -> None:
    """Write it to a file, or else to standard output."""
    text = json.dumps(Study.json_schema(), indent=2) + "\n"
    if output is None:
        sys.stdout.write(text)
        return
    check_endings([output], (".json",))
    check_writable([output], force=force)
    write_text(output, text)


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
