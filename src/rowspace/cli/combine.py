"""``rowspace combine``: several releases of one table as one."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

import typer
from rich.text import Text

from rowspace.exceptions import InvalidInput
from rowspace.releases import (
    EXPORTS,
    TABLE_LIMIT,
    Combined,
    Discovery,
    Release,
    check_export,
    export,
    exported_files,
    notes_of,
)
from rowspace.releases import combine as combined
from rowspace.report import answers_view, first_answers, whole
from rowspace.report.html import write_report

from .ask import answer_queries, answers_document, show_answers
from .outputs import PAGES, check_endings, check_writable
from .release_files import FOUND
from .screen import Screen


def combine(
    release_files: list[Path],
    outputs: list[Path] | None,
    queries: list[str] | None,
    *,
    title: str | None,
    level: float,
    force: bool,
    as_json: bool,
    quiet: bool,
) -> None:
    """Print answers of several releases together, and write them to files."""
    screen, outputs = Screen(quiet, as_json), outputs or []
    if len(release_files) < 2:
        raise typer.BadParameter("expected two or more releases to combine, got 1: name the others too")
    check_endings(outputs, (*EXPORTS, *PAGES))
    check_writable(
        [file for path in outputs for file in exported_files(path)], force=force, inputs=release_files
    )
    with screen.working("Reading"):
        both = _combined(release_files)
        for path in outputs:
            if path.suffix.lower() not in PAGES:
                check_export(both.plan, path)
    with screen.working("Combining"):
        rows = answer_queries(both, queries, level) if queries else None
        answers = both.answers(level) if rows is None and both.plan.workload.size <= TABLE_LIMIT else None
    name = title if title is not None else " and ".join(path.stem for path in release_files)
    with screen.working("Writing"):
        for path in outputs:
            if path.suffix.lower() in PAGES:
                write_report(both, path, title=name, level=level)
            else:
                export(both, path, level)
    screen.show("", _summary(both))
    if outputs:
        screen.show(Text.assemble((" written to ", "dim"), ", ".join(map(str, outputs))))
    if rows is not None:
        show_answers(screen, rows, level)
    elif answers is not None:
        shown = first_answers(both.plan.workload, answers)
        # Quiet, the files are the result; without any, the table is.
        (screen.show if outputs else screen.result)(answers_view(shown, level, width=screen.out.width))
    if both.plan.population:
        screen.show(Text(f" {both.plan.population}"))
    if as_json:
        tables = None if answers is None else answers.to_dict(orient="records")
        screen.document(
            {
                **notes_of(both, level),
                "privacy": both.plan.privacy.to_dict(),
                "method": both.method,
                "files": [str(path) for path in outputs],
                "answers": tables if rows is None else answers_document(rows),
            }
        )


def _combined(files: Sequence[Path]) -> Combined:
    """The releases together, and discoveries after them, or which file does not go with those before it."""
    loaded: dict[str, Release | Discovery] = {}  # a file that is named twice is one release
    order = sorted(files, key=_is_discovery)
    parts = [loaded.setdefault(os.path.realpath(path), _loaded(path)) for path in order]
    for number in range(2, len(parts) + 1):
        try:
            both = combined(parts[:number])
        except InvalidInput as error:
            error.args = (f"{order[number - 1].name}: {error}", *error.args[1:])
            raise
    return both


def _is_discovery(path: Path) -> bool:
    return path.suffix.lower() == FOUND


def _loaded(path: Path) -> Release | Discovery:
    return Discovery.load(path) if _is_discovery(path) else Release.load(path)


def _summary(both: Combined) -> Text:
    """What was combined, and what it cost when it was released."""
    return Text.assemble(
        (f" {both.made_of} combined", "bold"),
        f": {whole(both.plan.workload.size)} answers, {both.method}",
        (f"\n free: covered by {both.plan.privacy}, which the releases have cost together", "dim"),
    )
