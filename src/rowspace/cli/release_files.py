"""The files of a release: which may be asked for, decided before anything is spent, and the writing of them.

Shared by `release` and `budget resume`, so that what was interrupted is written as it would have been.
"""

from __future__ import annotations

import filecmp
import os
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

from rich.text import Text

from rowspace.exceptions import FileError, InvalidInput, TooLarge
from rowspace.files import write_whole
from rowspace.planning import Plan
from rowspace.releases import (
    EXPORTS,
    TABLE_LIMIT,
    Discovery,
    Release,
    check_export,
    export,
    exported_files,
    notes_of,
)
from rowspace.report import answers_view, first_answers, whole
from rowspace.study import attribute_block

from .outputs import check_endings, check_writable, write_text
from .screen import Screen

if TYPE_CHECKING:
    import pandas as pd


NATIVE = ".release"
FOUND = ".discovery"

_SHOWN_WITH_MEANS = 10_000
"""Most answers that are computed for a screen when there are means among them."""


def check_outputs(
    outputs: Sequence[Path] | None,
    inputs: Sequence[Path],
    *,
    force: bool,
    known: Sequence[str] = (NATIVE, *EXPORTS),
) -> list[Path]:
    """The files to write, those of the first ending before others: everything can be had from them if one fails."""
    if not outputs:
        raise InvalidInput(f"expected at least one output, -o FILE, ending in one of {', '.join(known)}")
    check_endings(outputs, known)
    # What stands beside a table is a file like any other.
    check_writable([file for path in outputs for file in exported_files(path)], force=force, inputs=inputs)
    return sorted(outputs, key=lambda path: path.suffix.lower() != known[0])


def refuse_long_tables(plan: Plan, targets: Sequence[Path]) -> None:
    """Refuse, before data is touched, to write tables too large for their format or for memory."""
    for target in targets:
        if target.suffix.lower() != NATIVE:
            check_export(plan, target)
    largest = max(plan.workload.parts, key=lambda part: part.size)
    if largest.size > TABLE_LIMIT and any(target.suffix.lower() != NATIVE for target in targets):
        raise TooLarge(
            f"{largest.group!r} alone has {whole(largest.size)} answers, more than the {TABLE_LIMIT:,} rows that are "
            f"made at a time; write a {NATIVE} file and ask it for a part"
        )


def require_same_files(
    made: Release, targets: Sequence[Path], level: float, *, content: bytes | None
) -> None:
    """Refuse to replace what is not what `write_files` wrote before: a retry leaves other files as they are."""
    there = [target for target in targets if any(map(os.path.lexists, exported_files(target)))]
    with TemporaryDirectory() as name:
        copies = [Path(name) / str(number) / target.name for number, target in enumerate(there)]
        for copy in copies:
            copy.parent.mkdir()
        write_files(made, copies, level, content=content)
        for target, copy in zip(there, copies, strict=True):
            for old, new in zip(exported_files(target), exported_files(copy), strict=True):
                if os.path.lexists(old) and not (old.is_file() and filecmp.cmp(old, new, shallow=False)):
                    raise FileError(
                        f"{old} exists, is not what this request wrote, and is left as it is; choose another name, or "
                        "overwrite with --force"
                    )


def write_files(
    made: Release | Discovery, targets: Sequence[Path], level: float, *, content: bytes | None
) -> None:
    """Write every file whole; if one fails, say which are there. content: the bytes that were charged for."""
    written: list[str] = []
    for target in targets:
        try:
            if target.suffix.lower() in (NATIVE, FOUND):
                native = made.to_bytes() if content is None else content
                write_whole(target, lambda file, native=native: file.write(native))
            elif target.suffix.lower() == ".toml":
                assert isinstance(made, Discovery)
                write_text(target, _study_text(made))
            else:
                export(made, target, level)
        except FileError as error:
            # Running again would spend the budget again, so what is there must not be lost sight of.
            there = f"; written before: {', '.join(written)}" if written else ""
            raise FileError(f"{error}{there}") from None
        written.append(str(target))


def _study_text(found: Discovery) -> str:
    """The attributes of a study that has the categories that were found."""
    attributes = found.attributes if len(found) else {}
    note = "# " + found.statement + "\n"
    return note + "".join(f"\n{attribute_block(name, own)}\n" for name, own in attributes.items())


def answers_to_show(made: Release, level: float, *, all_of_them: bool) -> pd.DataFrame | None:
    """The answers for the JSON document, or the first portion of them for a screen; none where that is too large."""
    workload = made.plan.workload
    if all_of_them:
        return made.answers(level) if workload.size <= TABLE_LIMIT else None
    if workload.means and workload.size <= _SHOWN_WITH_MEANS:
        return made.answers(level)  # means come last, and are what was asked for
    return next(made.stream(level=level)) if workload.parts[0].size <= TABLE_LIMIT else None


def show_release(
    screen: Screen,
    name: str,
    made: Release,
    answers: pd.DataFrame | None,
    level: float,
    targets: Sequence[Path],
    cost: Text,
) -> None:
    """What was released, where it is and what it cost, then the first answers."""
    plan = made.plan
    screen.show(
        "",
        Text.assemble(" ", (name, "bold"), f": {whole(plan.workload.size)} answers under {plan.privacy}"),
        Text.assemble((" written to ", "dim"), ", ".join(map(str, targets))),
        *([cost] if cost else []),
    )
    if answers is not None:
        screen.show(answers_view(first_answers(plan.workload.shown, answers), level, width=screen.out.width))
    screen.show(Text(" Negative or fractional counts are noise, not mistakes.", "dim"))
    if plan.population:
        screen.show(Text(f" {plan.population}"))


def release_document(
    made: Release, answers: pd.DataFrame | None, level: float, targets: Sequence[Path]
) -> dict[str, Any]:
    """A release for machines."""
    return {
        **notes_of(made, level),
        "privacy": made.plan.privacy.to_dict(),
        "files": [str(target) for target in targets],
        "answers": None if answers is None else answers.to_dict(orient="records"),
    }
