"""The keys of a study file on its reference page: from the models that read it, as `rowspace schema` is."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from rowspace.study.file import StudyFile
from rowspace.study.file.attributes import ATTRIBUTES, MeasureTable
from rowspace.study.file.queries import KEYS, QUERIES
from rowspace.study.writing import line


def fill(text: str) -> str:
    """The page with a table of keys in the place of each comment `<!-- keys of SECTION -->`."""
    return re.sub(r"^<!-- keys of (\w+) -->$", lambda found: _keys(found[1]), text, flags=re.MULTILINE)


def _keys(section: str) -> str:
    """The keys of one section."""
    if section == "domain":
        rows = list(_attributes())
    elif section == "measure":
        rows = [_row(MeasureTable, name) for name in MeasureTable.model_fields]
    elif section == "workload":
        rows = [_row(next(t for t in QUERIES.values() if name in t.model_fields), name) for name in KEYS]
    else:
        table = StudyFile.model_fields[section].annotation
        rows = [_row(table, name) for name in table.model_fields]
    return "\n".join(["| key | meaning |", "|---|---|", *rows])


def _attributes() -> Iterator[str]:
    """Each type with its keys; those that mean the same again are only named."""
    told: set[str] = set()
    for kind, table in ATTRIBUTES.items():
        rows = {name: _row(table, name) for name in table.model_fields if name != "type"}
        again = ", ".join(f"`{name}`" for name, row in rows.items() if row in told)
        meaning = (table.__doc__ or "").rstrip(".") + (f"; also {again}, as above" if again else "")
        yield f'| `type = "{kind}"` | **{meaning}** |'
        yield from (row for row in rows.values() if row not in told)
        told.update(rows.values())


def _row(table: Any, name: str) -> str:
    """A key as it is written, what it means, and what it is unless given."""
    field = table.model_fields[name]
    default = f". Default: `{line(name, field.default)}`" if field.default and not field.is_required() else ""
    return f"| `{table.example(name)}` | {field.description}{default} |"


def _fill(app: Any, name: str, source: list[str]) -> None:
    source[0] = fill(source[0])


def setup(app: Any) -> dict[str, bool]:
    """Register with Sphinx."""
    app.connect("source-read", _fill)
    return {"parallel_read_safe": True}
