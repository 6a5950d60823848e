"""The strategies a plan was chosen from, judged by what it was chosen for: the typical answer, or the worst one."""

from __future__ import annotations

from dataclasses import dataclass
from math import sqrt
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .plan import Plan


_FAR = 8.0


@dataclass(frozen=True)
class Considered:
    """One error for each candidate, best first, as a standard error in counts; None where nobody looked.

    name: what the error is called, in a heading. bound: what no strategy can go below; None where none is known.
    ratios: squared errors over the squared bound.
    """

    name: str
    errors: tuple[float | None, ...]
    bound: float | None
    ratios: tuple[float | None, ...]

    def near(self, most: int) -> list[tuple[int, float]]:
        """Which candidates to draw, with their errors: the first ones up to eight times worse than the best.

        Those further away would press all others against the axis.
        """
        known = [(at, error) for at, error in enumerate(self.errors) if error is not None]
        best = min((error for _, error in known), default=0.0)
        return [(at, error) for at, error in known if error <= _FAR * best][:most]


def considered(plan: Plan) -> Considered:
    """The candidates by what the plan was made for."""
    size = plan.workload.size
    if plan.objective == "total" or any(c.max_error is None for c in plan.candidates[:1]):
        errors = tuple(sqrt(candidate.total_error / size) for candidate in plan.candidates)
        bound = sqrt(plan.lower_bound / size) if plan.lower_bound > 0 else None
        prefix = "weighted " if any(part.weight != 1 for part in plan.workload.parts) else ""
        return Considered(f"{prefix}RMSE", errors, bound, tuple(c.ratio for c in plan.candidates))
    bound = sqrt(plan.max_lower_bound) if plan.max_lower_bound > 0 else None
    squares = [candidate.max_error for candidate in plan.candidates]
    return Considered(
        "worst error",
        tuple(None if square is None else sqrt(square) for square in squares),
        bound,
        tuple(None if square is None or bound is None else square / bound**2 for square in squares),
    )
