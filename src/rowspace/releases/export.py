"""Tables of answers as CSV, Parquet or JSON, each with the privacy statement inside the file."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

from rowspace.exceptions import InvalidInput
from rowspace.files import write_whole

from .release import Release


def export(release: Release, path: str | os.PathLike[str], level: float = 0.95) -> None:
    """Write the answers to a .csv, .parquet or .json file, whole or not at all.

    CSV carries the statement in leading lines that start with ``#`` (pandas: ``comment="#"``), Parquet in the
    schema's metadata under ``rowspace``, JSON in the field ``statement``.
    """
    writers = {".csv": _csv, ".parquet": _parquet, ".json": _json}
    suffix = Path(path).suffix.lower()
    if suffix not in writers:
        raise InvalidInput(f"expected a file ending in {', '.join(writers)}, got {Path(path).name!r}")
    content = writers[suffix](release, level)
    write_whole(path, lambda file: file.write(content))


def _csv(release: Release, level: float) -> bytes:
    header = f"# {release.statement}\n# Intervals cover the true answer with probability {level:g}.\n"
    return (header + release.answers(level).to_csv(index=False)).encode()


def _parquet(release: Release, level: float) -> bytes:
    import pyarrow as pa
    import pyarrow.parquet as pq

    table = pa.Table.from_pandas(release.answers(level), preserve_index=False)
    notes = {"rowspace": json.dumps({"statement": release.statement, "level": level})}
    sink = pa.BufferOutputStream()
    pq.write_table(table.replace_schema_metadata((table.schema.metadata or {}) | notes), sink)
    return bytes(sink.getvalue())


def _json(release: Release, level: float) -> bytes:
    body: dict[str, Any] = {
        "statement": release.statement,
        "privacy": release.plan.privacy.to_dict(),
        "level": level,
        "answers": release.answers(level).to_dict(orient="records"),
    }
    return json.dumps(body, ensure_ascii=False, indent=1, allow_nan=False).encode()
