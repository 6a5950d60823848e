"""docs/audits.md: what each of the long audits found when it last ran."""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from types import ModuleType

import rowspace as rs
from audits import Row
from rowspace.files import write_whole

INTRODUCTION = """# Audits

*Written by `make audit`. The ordinary tests hold short versions of all of these; `python -m audits ledger --write`
runs one alone and renews its section.*
"""


def renew(path: Path, module: ModuleType, rows: Sequence[Row], seconds: float) -> None:
    """Put what an audit found into its section of the page, and leave the others as they are."""
    known = sections(path.read_text(encoding="utf-8")) if path.exists() else {}
    known[_name(module)] = _section(module, rows, seconds)
    text = "\n".join([INTRODUCTION, *(known[name] for name in sorted(known))])
    write_whole(path, lambda file: file.write(text.encode()))


def sections(text: str) -> dict[str, str]:
    """The sections of a page by their names."""
    return {part.partition("\n")[0]: f"## {part.rstrip()}\n" for part in re.split(r"(?m)^## ", text)[1:]}


def _name(module: ModuleType) -> str:
    return module.__name__.rpartition(".")[2]


def _section(module: ModuleType, rows: Sequence[Row], seconds: float) -> str:
    """One audit: what it asks, when it ran, and its rows."""
    question = (module.__doc__ or "").strip().partition("\n")[0]
    failed = sum(not row.ok for row in rows)
    day = datetime.now(UTC).date().isoformat()
    lines = [
        f"## {_name(module)}",
        "",
        question,
        "",
        f"*rowspace {rs.__version__}, {day}, {seconds / 60:.0f} minutes: {len(rows)} checks, "
        f"{f'**{failed} failed**' if failed else 'none failed'}.*",
        "",
        "| check | found | required | |",
        "|---|---|---|---|",
    ]
    lines += [
        f"| {_cell(row.name)} | {_cell(row.figure)} | {_cell(row.limit)} | {'ok' if row.ok else '**FAILED**'} |"
        for row in rows
    ]
    return "\n".join([*lines, ""])


def _cell(text: str) -> str:
    """Text that stays within its cell."""
    return text.replace("|", "\\|").replace("\n", " ")
