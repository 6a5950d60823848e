"""Answers ready to be drawn: plain columns taken from a table of answers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ..numbers import counts

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True)
class Estimates:
    """Some answers with their intervals, under the labels they are drawn with."""

    labels: tuple[str, ...]
    answer: tuple[float, ...]
    std_error: tuple[float, ...]
    low: tuple[float, ...]
    high: tuple[float, ...]

    def __len__(self) -> int:
        return len(self.labels)

    @property
    def half_width(self) -> list[float]:
        """Half the width of each interval: what a ± means on the page."""
        return [(high - low) / 2 for low, high in zip(self.low, self.high, strict=True)]

    def part(self, start: int, stop: int) -> Estimates:
        """The estimates ``start`` to ``stop - 1``."""
        return Estimates(*(column[start:stop] for column in vars(self).values()))

    def sentences(self) -> list[str]:
        """Each answer in words: ``18: 512.3, 95 % between …`` without the level, which the caption states."""
        answer, low, high = (counts(values, self.std_error) for values in (self.answer, self.low, self.high))
        return [
            f"{label}: {middle} ({bottom} to {top})"
            for label, middle, bottom, top in zip(self.labels, answer, low, high, strict=True)
        ]


def estimates(labels: Sequence[str], answers: pd.DataFrame) -> Estimates:
    """The columns of a table of answers."""
    columns = (tuple(answers[name].tolist()) for name in ("answer", "std_error", "low", "high"))
    return Estimates(tuple(labels), *columns)
