"""What a CSV file holds, in a file beside it: "Metadata Vocabulary for Tabular Data", a W3C recommendation of 2015."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

if TYPE_CHECKING:
    import pyarrow as pa

COLUMNS = {
    "answer": "the noisy count, or the sum, mean or variance of a measure",
    "std_error": "its standard error, in counts or in the unit of the measure",
    "low": "lower end of its confidence interval",
    "high": "upper end of its confidence interval",
}
"""What the columns of figures hold; all others are labels."""


def metadata_file(path: str | os.PathLike[str]) -> Path:
    """Where readers of such files look for it: ``NAME.csv-metadata.json``."""
    return Path(path).with_name(f"{Path(path).name}-metadata.json")


def csv_metadata(name: str, schema: pa.Schema, notes: Mapping[str, Any]) -> bytes:
    """The metadata of a CSV file with these columns; the notes in one text, and field by field."""
    described = " ".join(str(notes[key]) for key in ("statement", "intervals") if key in notes)
    document = {
        "@context": ["http://www.w3.org/ns/csvw", {"@language": "en"}],
        "url": quote(os.fsencode(name)),  # names of files are bytes
        "dc:description": described,
        "notes": [dict(notes)],
        "dialect": {"encoding": "utf-8", "header": True, "delimiter": ",", "quoteChar": '"'},
        "tableSchema": {"columns": [_column(field.name, field.type) for field in schema]},
    }
    return (json.dumps(document, ensure_ascii=False, indent=2, allow_nan=False) + "\n").encode()


def _column(name: str, kind: pa.DataType) -> dict[str, Any]:
    """One column: labels are text, whatever they look like."""
    import pyarrow as pa

    if pa.types.is_integer(kind) or pa.types.is_floating(kind):
        datatype = "integer" if pa.types.is_integer(kind) else "number"
        described = {"dc:description": COLUMNS[name]} if name in COLUMNS else {}
        return {"titles": name, "datatype": datatype, **described}
    return {"titles": name, "datatype": "string"}
