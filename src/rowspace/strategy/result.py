"""What every optimizer takes and gives back: one protocol, one result type."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np

from rowspace.error import noise_level, profile_trace
from rowspace.notebook import one_line
from rowspace.operators import Operator
from rowspace.privacy import Privacy

from .bounds import unit_lower_bound


class Optimizer(Protocol):
    """A frozen configuration that finds a strategy for a workload."""

    def optimize(self, W: Operator, privacy: Privacy, rng: np.random.Generator | None = None) -> Result:
        """The best strategy this method finds."""
        ...


class Proposer(Optimizer, Protocol):
    """An optimizer cheap enough to be asked again and again, for parts of a workload."""

    def propose(self, W: Operator, privacy: Privacy) -> Operator:
        """The strategy alone, not judged."""
        ...


@dataclass(frozen=True)
class Result:
    """A strategy with its error and how it was found.

    `total_error` is the expected squared error summed over the workload, `lower_bound` a number no strategy can
    go below under the same privacy, both with continuous noise (a `Plan` has those of the integers that are drawn);
    `status` a sentence that says what happened and what to try next. `worst` is the largest expected squared error of a
    query, where strategies were compared by it.
    """

    name: str
    strategy: Operator
    total_error: float
    lower_bound: float
    status: str
    steps: int
    seconds: float
    worst: float | None = field(default=None, kw_only=True)

    @property
    def ratio(self) -> float:
        """total_error / lower_bound: 1 means proven optimal."""
        return self.total_error / self.lower_bound if self.lower_bound > 0 else float("inf")

    def to_dict(self) -> dict[str, Any]:
        """Everything but the strategy, for reports."""
        numbers = {k: getattr(self, k) for k in ("total_error", "lower_bound", "ratio", "steps", "seconds")}
        return {"name": self.name, "status": self.status, **numbers}

    def __repr__(self) -> str:
        return one_line(f"<Result {self.name!r}: total squared error {self.total_error:.6g}>")

    def __str__(self) -> str:
        return (
            f"{self.name}: total squared error {self.total_error:.6g}, {self.ratio:.4g} times the lower bound; "
            f"{self.status} ({self.steps} steps, {self.seconds:.2f} s)"
        )


def judged(
    name: str,
    A: Operator,
    W: Operator,
    privacy: Privacy,
    *,
    status: str,
    steps: int,
    seconds: float,
    unit_bound: float | None = None,
) -> Result:
    """A result whose error is computed from the strategy itself, not taken from the optimizer's own books.

    `unit_bound`: a lower bound the optimizer has proved, in the unit of E; the better of it and the default counts.
    """
    error = noise_level(A, privacy) * profile_trace(A, W)
    bound = privacy.unit_variance * max(unit_lower_bound(W, privacy), unit_bound or 0.0)
    return Result(name, A, error, bound, status, steps, seconds)
