"""``rowspace plan``: the error of every answer, before any data is touched."""

from __future__ import annotations

import dataclasses
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from rowspace import planning
from rowspace.exceptions import InvalidInput
from rowspace.privacy import ApproxDP, Privacy, PureDP
from rowspace.report import plan_view
from rowspace.study import Study

from .options import Force, Json, Quiet, StudyFile
from .outputs import check_writable
from .screen import Screen


class Effort(StrEnum):
    """How hard to look for a better strategy."""

    FAST = "fast"
    NORMAL = "normal"
    BEST = "best"


def plan(
    study_file: StudyFile,
    epsilon: Annotated[
        float | None,
        typer.Option("--epsilon", metavar="E", help="Try another ε than the study's.", show_default=False),
    ] = None,
    save: Annotated[
        Path | None,
        typer.Option(
            "--save", metavar="FILE", help="Keep the plan, for `release --plan`.", show_default=False
        ),
    ] = None,
    effort: Annotated[Effort, typer.Option("--effort", help="How many strategies to try.")] = Effort.NORMAL,
    force: Force = False,
    as_json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Choose what to measure, and say how accurate every answer will be. [bold]Needs no data.[/bold]

    [dim]Examples[/dim]
      rowspace plan study.toml
      rowspace plan study.toml --epsilon 0.5 --json
      rowspace plan study.toml --save study.plan
    """
    screen = Screen(quiet, as_json)
    if save is not None:
        check_writable([save], force=force)
    study = Study.load(study_file)
    privacy = study.privacy if epsilon is None else _with_epsilon(study.privacy, epsilon)
    with screen.working("Planning"):
        made = planning.plan(study.workload, privacy, effort=effort.value)
        groups = made.group_errors()
        figures = made.to_dict() if as_json else {}
    if save is not None:
        made.save(save)
    screen.show("", plan_view(made, groups, study.name))
    if save is not None:
        screen.show(f" [dim]saved in[/dim] {save}")
    screen.document({"study": study.name, **figures, "saved": None if save is None else str(save)})


def _with_epsilon(privacy: Privacy, epsilon: float) -> Privacy:
    """The same kind of guarantee at another ε."""
    if not isinstance(privacy, PureDP | ApproxDP):
        raise InvalidInput(
            "--epsilon changes a study that states epsilon; this one states rho: change it there"
        )
    return dataclasses.replace(privacy, epsilon=epsilon)
