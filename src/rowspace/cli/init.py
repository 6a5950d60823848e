"""``rowspace init``: a draft of a study, for the curator of the data."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

from rich.panel import Panel
from rich.text import Text

from rowspace.sources.databases import is_url
from rowspace.sources.drafting import sketch_columns
from rowspace.sources.files import root_of
from rowspace.study import DATA_WARNING, DataPlace, Study, draft_study

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
