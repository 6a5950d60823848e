"""Every way to get a number out of a release. Each door says which public things it goes through.

A door is a function of a `Visit` (something to ask, and a question) that yields what it saw beside what it should have
seen. `test_catalogue` fails when a public way to a number is behind no door.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

import rowspace as rs
from rowspace.operators.base import Vector
from rowspace.tables import TableOperator

from .questions import Question
from .worlds import Reference, World

FIGURES = ("answer", "std_error", "low", "high")
CLOSE = 1e-9
"""Of one another, relative to the largest number about."""


@dataclass(frozen=True, eq=False)
class Asked:
    """A release, or several combined, with what plain linear algebra says of it."""

    world: World
    release: Any
    reference: Reference
    folder: Path
    quiet: bool
    kept: dict[object, Any] = field(default_factory=dict)

    def once(self, key: object, make: Callable[[], Any]) -> Any:
        """What is made once for all questions: files, pages, tables of all answers."""
        if key not in self.kept:
            self.kept[key] = make()
        return self.kept[key]

    @cached_property
    def wide_tables(self) -> bool:
        """Whether intervals are wider for some ways to write a query than for others, on purpose.

        Of Laplace noise on tables the shape is found only for products of single attributes; otherwise the widest is
        taken (`rowspace.error.moments`). Then ends of intervals are only about the same.
        """
        plan = self.release.plan
        strategy = getattr(plan, "strategy", None)
        return isinstance(strategy, TableOperator) and plan.noise.excess_kurtosis > 0

    @cached_property
    def scale(self) -> float:
        """What rounding errors are proportional to."""
        return max(1.0, float(np.abs(self.reference.estimate).max()) * len(self.reference.estimate))

    def figures(self, rows: np.ndarray) -> dict[str, Vector]:
        """The figures of queries given as rows over the cells; what every door has to show."""
        key = ("figures", rows.tobytes(), rows.shape)
        return self.once(key, lambda: self._figures(rows))

    def _figures(self, rows: np.ndarray) -> dict[str, Vector]:
        # A workload has no query of zeros; their answers are zero for certain.
        some = np.abs(rows).max(axis=1) > 0
        out = {name: np.zeros(len(rows)) for name in FIGURES}
        if some.any():
            found = self.release.ask(rs.workload.matrix(rows[some], self.world.domain))
            for name in FIGURES:
                out[name][some] = found[name]
        return out


@dataclass(frozen=True, eq=False)
class Visit:
    """A question to ask."""

    asked: Asked
    question: Question

    @property
    def release(self) -> Any:
        """What is asked."""
        return self.asked.release

    @property
    def world(self) -> World:
        """Where the data came from."""
        return self.asked.world


@dataclass(frozen=True)
class Seen:
    """Numbers that were seen, those that should have been, and how far apart they may be."""

    what: str
    found: Any
    expected: Any
    tolerance: Any

    @property
    def agrees(self) -> bool:
        """Whether they do."""
        found, expected = np.asarray(self.found, float), np.asarray(self.expected, float)
        return found.shape == expected.shape and bool(
            np.all((np.abs(found - expected) <= self.tolerance) | (found == expected))
        )


Door = Callable[[Visit], Iterator[Seen]]
DOORS: dict[str, Door] = {}
BEHIND: dict[str, set[str]] = {}


def door(*public: str) -> Callable[[Door], Door]:
    """Put a door in the catalogue with the public things it goes through."""

    def enter(function: Door) -> Door:
        DOORS[function.__name__] = function
        BEHIND[function.__name__] = set(public)
        return function

    return enter


def same_figures(
    visit: Visit, what: str, frame: Any, rows: np.ndarray, names: Sequence[str] = FIGURES
) -> Iterator[Seen]:
    """The figures of a table of answers to these rows."""
    expected = visit.asked.figures(rows)
    for name in names:
        yield Seen(f"{what}: {name}", frame[name], expected[name], near(visit, expected, name))


def near(visit: Visit, expected: dict[str, Vector], name: str) -> Any:
    """How far a figure may be from the expected one."""
    close = CLOSE * visit.asked.scale
    if name in ("low", "high") and visit.asked.wide_tables:
        # From a normal variable's 1.96 standard errors to all of it in one Laplace variable, and its steps.
        return close + 0.6 * (expected["high"] - expected["low"]) + 2.0
    return close


def own_rows(visit: Visit) -> np.ndarray:
    """The release's own workload as rows over the cells, by the oracle: those of the world's parts, in order."""
    own = np.vstack([question.cells for question in visit.world.parts])
    if len(visit.release.plan.workload.parts) > len(visit.world.parts):  # combined with every cell
        own = np.vstack([own, np.eye(own.shape[1])])
    return own


def column_of(frame: pd.DataFrame, name: str) -> str:
    """The column of an attribute in a table of answers: figures keep their names."""
    return f"attribute {name}" if f"attribute {name}" in frame.columns else name
