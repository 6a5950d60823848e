"""What consistency did to the answers: measured, since bias depends on the counts and has no formula."""

from __future__ import annotations

from dataclasses import dataclass
from math import sqrt
from typing import TYPE_CHECKING

import numpy as np

from rowspace.operators import Vector

if TYPE_CHECKING:
    from .combined import Combined
    from .release import Release


@dataclass(frozen=True)
class Effect:
    """What consistency did to the answers of the workload: root mean squares over all of them.

    >>> print(Effect(0.5, 2.0, 0.0, 12))
    moved the answers by 0.5 (root mean square; their standard error is 2); 12 of them were negative
    >>> print(Effect(0.5, 2.0, 0.3, None))
    moved the answers by 0.5 (root mean square; ...), by 0.3 to be whole, which adds up to 1.1 % to it
    """

    change: float
    """From the unbiased answers."""

    std_error: float
    """Of the unbiased answers."""

    rounding: float
    """From the non-negative answers to the whole ones; zero where nothing was rounded."""

    negative: int | None
    """How many of the unbiased answers were negative; None when there are too many to look at."""

    @property
    def rounding_adds(self) -> float:
        """The share by which rounding raises the root mean square error, when it is independent of the noise."""
        return sqrt(1 + (self.rounding / self.std_error) ** 2) - 1 if self.std_error > 0 else 0.0

    @classmethod
    def measured(cls, release: Release | Combined, answers: Vector, rounding: float) -> Effect:
        """From the workload's consistent answers and the release's own."""
        own = release.answers()
        change = answers - own["answer"].to_numpy()
        return cls(
            float(np.sqrt(np.mean(change**2))),
            float(np.sqrt(np.mean(own["std_error"] ** 2))),
            rounding,
            int((own["answer"] < 0).sum()),
        )

    def __str__(self) -> str:
        rounding = (
            f", by {self.rounding:.3g} to be whole, which adds up to {100 * self.rounding_adds:.2g} % to it"
            if self.rounding
            else ""
        )
        negative = "" if self.negative is None else f"; {self.negative:,} of them were negative"
        return (
            f"moved the answers by {self.change:.3g} (root mean square; their standard error is "
            f"{self.std_error:.3g}){rounding}{negative}"
        )
