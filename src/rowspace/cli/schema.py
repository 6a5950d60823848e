"""``rowspace schema``: the JSON Schema of study files."""

from __future__ import annotations

import json
import sys
from pathlib import Path

from rowspace.study import Study

from .outputs import check_endings, check_writable, write_text


def schema(output: Path | None, *, force: bool) -> None:
    """Write it to a file, or else to standard output."""
    text = json.dumps(Study.json_schema(), indent=2) + "\n"
    if output is None:
        sys.stdout.write(text)
        return
    check_endings([output], (".json",))
    check_writable([output], force=force)
    write_text(output, text)
