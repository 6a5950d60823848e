"""``rowspace plan``: the error of every answer, before any data is touched; or the budget that errors need."""

from __future__ import annotations

import math
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from .options import Force, Json, Quiet, StudyFile


def _check_cap(cap: float | None) -> float | None:
    if cap is not None and not 0 < cap < math.inf:
        raise typer.BadParameter(
            f"expected the largest ε (or ρ) that targets may need, a number above 0, got {cap:g}"
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
        float | None,
        typer.Option(
            "--cap",
            metavar="E",
            callback=_check_cap,
            help="With --target: the largest ε (or ρ) that may be needed; 10 if left out.",
            show_default=False,
        ),
    ] = None,
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
    from ..plan import plan as make

    make(
        study_file,
        epsilon=epsilon,
        epsilons=epsilons,
        targets=target or [],
        cap=cap,
        save=save,
        effort=effort.value,
        objective=objective.value,
        force=force,
        as_json=as_json,
        quiet=quiet,
    )
