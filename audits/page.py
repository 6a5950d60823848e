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

PAGE = Path(__file__).parents[1] / "docs" / "audits.md"
FAILED = "**FAILED**"

INTRODUCTION = """# Audits

*Written by `make audit`. The ordinary tests hold short versions of all of these; `python -m audits ledger --write`
runs one alone and renews its section.*
"""


def renew(path: Path, module: ModuleType, rows: Sequence[Row], seconds: float) -> None:
    """Put what an audit found into its section of the page, and leave the others as they are."""
    known = sections(path.read_text(encoding="utf-8")) if path.exists() else {}
    known[_name(module)] = _section(module, rows, seconds)
    _write(path, known)


def renew_rows(path: Path, name: str, rows: Sequence[Row]) -> None:
    """Put some rows of an audit that were found anew in the place of those of the same names."""
    known = sections(path.read_text(encoding="utf-8"))
    lines = known[name].split("\n")
    for row in rows:
        at = next(i for i, line in enumerate(lines) if line.startswith(f"| {_cell(row.name)} |"))
        lines[at] = _line(row)
    failed = sum(line.endswith(f"| {FAILED} |") for line in lines)
    known[name] = re.sub(r"checks, [^.]*\.", f"checks, {_verdict(failed)}.", "\n".join(lines), count=1)
    _write(path, known)


def _write(path: Path, known: dict[str, str]) -> None:
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
        f"*rowspace {rs.__version__}, {day}, {seconds / 60:.1f} processor minutes: {len(rows)} checks, "
        f"{_verdict(failed)}.*",
        "",
        "| check | found | required | |",
        "|---|---|---|---|",
    ]
    return "\n".join([*lines, *map(_line, rows), ""])


def _line(row: Row) -> str:
    return f"| {_cell(row.name)} | {_cell(row.figure)} | {_cell(row.limit)} | {'ok' if row.ok else FAILED} |"


def _verdict(failed: int) -> str:
    return f"**{failed} failed**" if failed else "none failed"


def _cell(text: str) -> str:
    """Text that stays within its cell."""
    return text.replace("|", "\\|").replace("\n", " ")
