"""``rowspace plan``: the error of every answer, before any data is touched; or the budget that errors need."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import Any

import typer
from rich.text import Text

from rowspace import planning
from rowspace.exceptions import InvalidInput
from rowspace.planning import CAP, Effort, Objective, Plan, TargetPlan, WhatIf, targets_of_groups, with_budget
from rowspace.privacy import ApproxDP, Privacy, PureDP
from rowspace.report import plan_view, targets_view, whatif_view
from rowspace.study import Study

from .outputs import check_writable
from .screen import Screen

_MOST_VALUES = 50


def plan(
    study_file: Path,
    *,
    epsilon: float | None,
    epsilons: str | None,
    targets: list[str] | None,
    cap: float | None,
    save: Path | None,
    effort: Effort,
    objective: Objective,
    over: str | None,
    force: bool,
    as_json: bool,
    quiet: bool,
) -> None:
    """Make a plan, show it and keep it."""
    screen, targets = Screen(quiet, as_json), targets or []
    if save is not None:
        check_writable([save], force=force, inputs=[study_file])
    _check_options(epsilon, targets, cap, objective)
    if over is not None and targets:
        raise typer.BadParameter("--target finds the budget of one release: leave out --over")
    values = [] if epsilons is None else _numbers(epsilons)
    study = Study.load(study_file)
    privacy = study.privacy if epsilon is None else _with_epsilon(study.privacy, epsilon)
    _check_numbers(study, targets, values)
    if targets and study.known:
        raise InvalidInput(
            "--target finds a budget without known facts: leave out [known], or state the budget"
        )
    if study.draft:
        screen.remark("note: this study is a draft that looked at the data; it cannot be released as it is")
    with screen.working("Planning"):
        if targets:
            found = planning.plan_for(study.workload, targets, privacy, cap=cap or CAP, effort=effort)
            made = dataclasses.replace(found.plan, title=study.name)
        else:
            found = None
            made = planning.plan(
                study.workload, privacy, effort=effort, objective=objective, over=over, **study.wishes
            )
            made = dataclasses.replace(made, title=study.name)
        curve = planning.whatif(made, values) if values else []
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


def _check_options(
    epsilon: float | None, targets: list[str], cap: float | None, objective: Objective
) -> None:
    """Refuse options that contradict one another."""
    if cap is not None and not targets:
        raise typer.BadParameter("--cap limits what targets may need: give --target too")
    if targets and epsilon is not None:
        raise typer.BadParameter(
            "--target finds epsilon, so --epsilon cannot be given with it; use --cap to limit it"
        )
    if targets and objective == "max":
        raise typer.BadParameter("--target says which errors matter, so --objective cannot be given with it")


def _check_numbers(study: Study, targets: list[str], values: list[float]) -> None:
    """Refuse, before a plan is searched for, a target of no group and a value that is no ε (or ρ)."""
    if targets:
        targets_of_groups(targets, [part.group for part in study.workload.parts])
    for value in values:
        with_budget(study.privacy, value)


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
