"""``rowspace plan``: the error of every answer, before any data is touched; or the budget that errors need."""

from __future__ import annotations

import dataclasses
import math
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.text import Text

from rowspace import planning
from rowspace.exceptions import InvalidInput
from rowspace.planning import Plan, TargetPlan, WhatIf
from rowspace.planning.targets import CAP
from rowspace.privacy import ApproxDP, Privacy, PureDP
from rowspace.report import plan_view
from rowspace.report.targets import targets_view, whatif_view
from rowspace.study import Study

from .options import Force, Json, Quiet, StudyFile
from .outputs import check_writable
from .screen import Screen

_MOST_VALUES = 50


def _check_cap(cap: float) -> float:
    if not 0 < cap < math.inf:
        raise typer.BadParameter(
            f"expected the largest ε (or ρ) that targets may need, a number above 0, got {cap:g}; leave out for {CAP:g}"
        )
    return cap


class Effort(StrEnum):
    """How hard to look for a better strategy."""

    FAST = "fast"
    NORMAL = "normal"
    BEST = "best"


class Objective(StrEnum):
    """What to make small."""

    TOTAL = "total"
    MAX = "max"


def plan(
    study_file: StudyFile,
    epsilon: Annotated[
        float | None,
        typer.Option("--epsilon", metavar="E", help="Try another ε than the study's.", show_default=False),
    ] = None,
    epsilons: Annotated[
        str | None,
        typer.Option(
            "--epsilons",
            metavar="E,E,…",
            help="Also show the error at several values of ε (or ρ).",
            show_default=False,
        ),
    ] = None,
    target: Annotated[
        list[str] | None,
        typer.Option(
            "--target",
            metavar="TARGET",
            help='Find the least ε (or ρ) for errors such as "ranges: ±50 @95%". Repeatable.',
            show_default=False,
        ),
    ] = None,
    cap: Annotated[
        float,
        typer.Option(
            "--cap", metavar="E", callback=_check_cap, help="Largest ε (or ρ) that targets may need."
        ),
    ] = CAP,
    save: Annotated[
        Path | None,
        typer.Option(
            "--save", metavar="FILE", help="Keep the plan, for `release --plan`.", show_default=False
        ),
    ] = None,
    effort: Annotated[Effort, typer.Option("--effort", help="How many strategies to try.")] = Effort.NORMAL,
    objective: Annotated[
        Objective,
        typer.Option("--objective", help="Make the total of squared errors small, or the largest of them."),
    ] = Objective.TOTAL,
    force: Force = False,
    as_json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Choose what to measure, and say how accurate every answer will be. [bold]Needs no data.[/bold]

    With --target it is the other way round: the least ε (or ρ) for the errors you can accept.

    [dim]Examples[/dim]
      rowspace plan study.toml
      rowspace plan study.toml --epsilon 0.5 --json
      rowspace plan study.toml --epsilons 0.1,0.5,1,2
      rowspace plan study.toml --target "ranges: ±50 @95%" --save study.plan
    """
    screen = Screen(quiet, as_json)
    if save is not None:
        check_writable([save], force=force)
    if target and epsilon is not None:
        raise InvalidInput(
            "--target finds epsilon, so --epsilon cannot be given with it; use --cap to limit it"
        )
    if target and objective is Objective.MAX:
        raise InvalidInput("--target says which errors matter, so --objective cannot be given with it")
    study = Study.load(study_file)
    if study.draft:
        screen.remark("note: this study is a draft that looked at the data; it cannot be released as it is")
    with screen.working("Planning"):
        if target:
            found = planning.plan_for(study.workload, target, study.privacy, cap=cap, effort=effort.value)
            made = dataclasses.replace(found.plan, title=study.name)
        else:
            found = None
            privacy = study.privacy if epsilon is None else _with_epsilon(study.privacy, epsilon)
            made = planning.plan(study.workload, privacy, effort=effort.value, objective=objective.value)
            made = dataclasses.replace(made, title=study.name)
        curve = [] if epsilons is None else planning.whatif(made, _numbers(epsilons))
        groups = made.group_errors()
        figures = _figures(made, found, curve) if as_json else {}
    if save is not None:
        made.save(save)
    screen.show("", plan_view(made, groups, study.name))
    if found is not None:
        screen.show(targets_view(found))
    if curve:
        screen.show(whatif_view(curve, "ε" if hasattr(made.privacy, "epsilon") else "ρ"))
    if save is not None:
        screen.show(Text.assemble((" saved in ", "dim"), str(save)))
    screen.document({"study": study.name, **figures, "saved": None if save is None else str(save)})


def _figures(made: Plan, found: TargetPlan | None, curve: list[WhatIf]) -> dict[str, Any]:
    """What goes out as JSON."""
    figures = made.to_dict()
    if found is not None:
        figures |= found.to_dict()
    if curve:
        figures["what_if"] = [point.to_dict() for point in curve]
    return figures


def _numbers(text: str) -> list[float]:
    """The values of ``0.1,0.5,1``."""
    try:
        found = [float(piece) for piece in text.split(",")]
    except ValueError:
        raise InvalidInput(f"expected --epsilons 0.1,0.5,1,2 with numbers, got {text[:60]!r}") from None
    if len(found) > _MOST_VALUES:
        raise InvalidInput(f"expected at most {_MOST_VALUES} values of epsilon, got {len(found)}")
    return found


def _with_epsilon(privacy: Privacy, epsilon: float) -> Privacy:
    """The same kind of guarantee at another ε."""
    if not isinstance(privacy, PureDP | ApproxDP):
        raise InvalidInput(
            "--epsilon changes a study that states epsilon; this one states rho: change it there"
        )
    return dataclasses.replace(privacy, epsilon=epsilon)
