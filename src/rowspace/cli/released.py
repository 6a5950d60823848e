"""What is said of a release that was written: released numbers only."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rich.text import Text

from rowspace.releases import Release, notes_of
from rowspace.report import answers_view, first_answers
from rowspace.report.numbers import whole

from .screen import Screen

if TYPE_CHECKING:
    import pandas as pd


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
        screen.show(answers_view(first_answers(plan.workload, answers), level, width=screen.out.width))
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
