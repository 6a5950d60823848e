"""docs/audits.md: what the long audits found when they last ran."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from types import ModuleType

import rowspace as rs
from audits import Row
from rowspace.files import write_whole

INTRODUCTION = """# Audits

*Written by `make audit` (`python -m audits --write`): rowspace {version}, {day}, {minutes:.0f} minutes, {verdict}.*

The ordinary tests hold short versions of all of these. Each can be run alone: `python -m audits ledger`.
"""


def write(found: Mapping[ModuleType, Sequence[Row]], seconds: float, path: Path) -> None:
    """Write the page, whole or not at all."""
    rows = [row for own in found.values() for row in own]
    failed = sum(not row.ok for row in rows)
    verdict = f"{len(rows)} checks, " + (f"**{failed} failed**" if failed else "none failed")
    day = datetime.now(UTC).date().isoformat()
    introduction = INTRODUCTION.format(version=rs.__version__, day=day, minutes=seconds / 60, verdict=verdict)
    text = "\n".join([introduction, *(_section(module, own) for module, own in found.items())])
    write_whole(path, lambda file: file.write(text.encode()))


def _section(module: ModuleType, rows: Sequence[Row]) -> str:
    """One audit: what it asks, and its rows."""
    name = module.__name__.rpartition(".")[2]
    question = (module.__doc__ or "").strip().partition("\n")[0]
    lines = [f"## {name}", "", question, "", "| check | found | required | |", "|---|---|---|---|"]
    lines += [
        f"| {_cell(row.name)} | {_cell(row.figure)} | {_cell(row.limit)} | {'ok' if row.ok else '**FAILED**'} |"
        for row in rows
    ]
    return "\n".join([*lines, ""])


def _cell(text: str) -> str:
    """Text that stays within its cell."""
    return text.replace("|", "\\|").replace("\n", " ")
