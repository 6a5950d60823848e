"""Descent over Θ that remembers the best point it has seen, so that stopping it at any time loses nothing."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
import scipy

from rowspace.operators import Vector

from .p_identity_starts import Start

PATIENCE = 20
"""Steps over which the tolerance is measured: single steps of L-BFGS are uneven."""


LARGEST = 1e2
"""Largest entry of Θ. A workload that depends on no single cell pushes the cells' own weights to zero, and with them
the digits of Woodbury's difference; at this bound the error is within 2 % of that limit and has nine digits."""


@dataclass
class Descent:
    """L-BFGS-B from any number of starts; `best` is the least value met in all of them, and where.

    report: called after every step with the number of steps so far and the least value.
    """

    tolerance: float
    report: Callable[[int, float], None]
    best: Start | None = None
    value: float = np.inf
    steps: int = 0

    def run(self, start: Start, max_steps: int) -> tuple[Start, float, bool]:
        """(where it got to, its value, whether it converged): stops after max_steps or below the tolerance."""
        history: list[float] = []

        def evaluate(x: Vector) -> tuple[float, Vector]:
            value, gradient = start.loss(x)
            if value < self.value:
                self.value, self.best = value, replace(start, entries=x.copy())
            return value, gradient

        # scipy knows what to pass by the parameter's name.
        def after_step(intermediate_result: scipy.optimize.OptimizeResult) -> None:
            self.steps += 1
            history.append(float(intermediate_result.fun))
            self.report(self.steps, self.value)
            if (
                history[-PATIENCE - 1 : -PATIENCE]
                and history[-PATIENCE - 1] - history[-1] < self.tolerance * history[-1]
            ):
                raise StopIteration

        end = scipy.optimize.minimize(
            evaluate,
            start.entries,
            jac=True,
            method="L-BFGS-B",
            bounds=scipy.optimize.Bounds(0.0, LARGEST),
            callback=after_step,
            options={
                "maxiter": max_steps,
                "maxfun": 20 * max_steps,
                # Single steps say nothing, the first one after a restart least of all: `after_step` decides.
                "ftol": 0.0,
                "gtol": 0.0,
            },
        )
        return replace(start, entries=end.x), float(end.fun), len(history) < max_steps
