"""What the page is told about a plan: every figure at every position of its slider, so that it asks for nothing else.

The positions are 24 to a decade (the preferred numbers E24), with the study's own budget among them. At each, figures
are those of the plan that `rowspace plan --epsilon` makes there, its integer noise and choice of strategy included.
"""

from __future__ import annotations

from collections.abc import Iterator
from math import isfinite
from typing import Any

from rowspace.exceptions import IntegerOverflow, InvalidInput, RowspaceError
from rowspace.planning import (
    CAP,
    Across,
    Effort,
    Point,
    Shape,
    TargetPlan,
    budget,
    budget_name,
    plan_for,
    with_budget,
)
from rowspace.privacy import Privacy
from rowspace.report import parameters
from rowspace.report.html import promise
from rowspace.study import Study

LEVEL = 0.95
MOST_GROUPS = 60
"""Groups that the page shows; `rowspace plan --json` lists all."""

_MOST_EXAMINED = 1200
_E24 = (10, 11, 12, 13, 15, 16, 18, 20, 22, 24, 27, 30, 33, 36, 39, 43, 47, 51, 56, 62, 68, 75, 82, 91)
_ENDS = {"epsilon": (-3, 20.0), "rho": (-5, 20.0)}


def positions(privacy: Privacy) -> list[float]:
    """The budgets of the slider, smallest first.

    >>> from rowspace import PureDP
    >>> found = positions(PureDP(0.77))
    >>> found[:3], found[-1], 0.77 in found, len(found)
    ([0.001, 0.0011, 0.0012], 20.0, True, 105)
    """
    decade, end = _ENDS[budget_name(privacy)]
    found = {float(f"{step}e{power - 1}") for power in range(decade, 2) for step in _E24}
    return sorted({budget(privacy), *(value for value in found if value <= end)})


def planned(study: Study) -> Iterator[dict[str, Any]]:
    """The figures at little effort, then at the best; then for both sides of the border, with exact intervals.

    Intervals of real noise take a while at a hundred budgets: until then those of the study's own budget are scaled.
    """
    guarantees = [with_budget(study.privacy, value) for value in positions(study.privacy)]
    beyond = [one for one in guarantees if one.is_coarse != study.privacy.is_coarse]
    beyond.sort(key=lambda one: abs(budget(one) - budget(study.privacy)))
    efforts: tuple[Effort, ...] = ("fast", "best")
    for effort in efforts:
        across = Across(study.workload, study.privacy, effort, **study.wishes)
        yield figures(study, across, guarantees, effort, rough=True)
    if beyond:
        across.search(beyond[0])
    yield figures(study, across, guarantees, effort)


def figures(
    study: Study, across: Across, guarantees: list[Privacy], effort: str, rough: bool = False
) -> dict[str, Any]:
    """All that the page needs, as JSON. Errors of groups are those of `strategies` times the `factor` of a point.

    rough: whether intervals are scaled from those at the budget that each strategy was found at.
    """
    shapes: list[Shape] = []
    points = []
    for guarantee in guarantees:
        try:
            point = across.at(guarantee)
        except IntegerOverflow:
            continue  # noise so wide cannot be drawn
        if not any(shape is point.base for shape in shapes):
            shapes.append(point.base)
        number = next(at for at, shape in enumerate(shapes) if shape is point.base)
        points.append(_point(point, number, across.is_exact(guarantee), rough))
    name = budget_name(study.privacy)
    names = list(dict.fromkeys(part.group for part in study.workload.parts))
    return {
        "effort": effort,
        "letter": "ε" if name == "epsilon" else "ρ",
        "own": budget(study.privacy),
        "groups": names[:MOST_GROUPS] if len(names) <= _MOST_EXAMINED else [],
        "left_out": max(0, len(names) - MOST_GROUPS) if len(names) <= _MOST_EXAMINED else len(names),
        "queries": study.workload.size,
        "unit": shapes[0].plan.error_unit,
        "strategies": [_strategy(shape, len(names)) for shape in shapes],
        "points": points,
    }


def _strategy(shape: Shape, groups: int) -> dict[str, Any]:
    own = shape.groups[:MOST_GROUPS] if groups <= _MOST_EXAMINED else []
    return {
        "name": shape.plan.candidates[0].name,
        "rmse": shape.rmse,
        "groups": [[group.queries, group.rmse, group.largest_std_error] for group in own],
    }


def _point(point: Point, strategy: int, exact: bool, rough: bool) -> dict[str, Any]:
    widths = point.base.own_half_widths if rough else point.half_widths(LEVEL)
    if widths is not None and rough:
        widths = [point.factor * width for width in widths]
    privacy = point.plan.privacy
    return {
        **_promised(privacy),
        "strategy": strategy,
        "factor": point.factor,
        "widths": None if widths is None else widths[:MOST_GROUPS],
        "certificate": point.certificate,
        "close": _is_close(point.ratio),
        "exact": exact,
        "rough": rough and point.factor != 1,
    }


def _is_close(ratio: float) -> bool:
    return isfinite(ratio) and ratio < 2


def _promised(privacy: Privacy) -> dict[str, Any]:
    """A guarantee in words."""
    said = promise(privacy)
    return {
        "budget": budget(privacy),
        "parameters": parameters(privacy),
        "plain": said.plain,
        "meaning": said.meaning,
        "beliefs": [] if said.beliefs is None else said.beliefs.rows,
    }


def solved(study: Study, targets: list[str]) -> dict[str, Any]:
    """The least budget for some targets, as `rowspace plan --target` finds it."""
    if study.known:
        raise InvalidInput(
            "targets find a budget without known facts: leave out [known], or choose the budget"
        )
    try:
        found = plan_for(study.workload, targets, study.privacy, cap=CAP)
    except InvalidInput as error:
        return {"targets": targets, "unmet": str(error)}
    return _met(found, targets)


def _met(found: TargetPlan, targets: list[str]) -> dict[str, Any]:
    reached = {**found.others, **{met.group: met.half_width for met in found.met}}
    return {
        "targets": targets,
        **_promised(found.plan.privacy),
        "certificate": found.plan.certificate,
        "close": _is_close(found.plan.ratio),
        "reached": reached,
        "least": found.lower_bound,
    }


def sentence(error: Exception) -> str:
    """What is said of a failure; one that nobody expected says only that."""
    if isinstance(error, RowspaceError):
        return (str(error).splitlines() or [""])[0]
    if isinstance(error, MemoryError):
        return "there is not enough memory to plan this; ask for fewer or smaller tables"
    return f"planning failed ({type(error).__name__}); `rowspace plan` says more"
