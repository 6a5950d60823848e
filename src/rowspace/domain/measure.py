"""Measures: numbers that are added up, such as incomes, rather than counted by."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from rowspace.exceptions import InvalidDomain

#: Most steps of a measure's grid, and of the grid that all measures of a plan share: totals must fit 64 bits.
MAX_STEPS = 2**22
#: Steps of a grid that nobody declared.
_STEPS = 1000
#: A range counts as whole steps when it is so to this relative accuracy.
_WHOLE = 1e-9
#: Largest size of a bound: squares of sums must stay numbers.
_LARGEST = 1e30


@dataclass(frozen=True, init=False, repr=False)
class Measure:
    """A number of every record with public bounds, whose sums and means are asked for.

    A value is clipped to the bounds and rounded to the nearest step of the grid (upwards halfway), in the engine: what
    is summed, and what intervals cover, are those values. NULL, NaN and infinite values are missing: such a record is
    in no sum and no mean, and in all counts.

    A record with k of K steps is taken for k/K of a record at the upper bound and the rest of one at the lower bound
    (docs/design/018-measures.md). So a measure is one more attribute, of two cells, and a sum a query about it.

    name: of the column. low, high: the bounds; they come from a code book, or from `rs.bounds`, never from the data.
    step: of the grid, a whole part of the range; a thousandth of it unless given.

    >>> Measure("income", 0, 200_000, step=1_000)
    Measure('income', 0, 200000, step=1000)
    """

    name: str
    low: float
    high: float
    steps: int

    def __init__(self, name: str, low: float, high: float, *, step: float | None = None) -> None:
        if not isinstance(name, str):
            raise InvalidDomain(
                f'expected the name of a measure first, as in rs.Measure("income", 0, 200_000), got '
                f"{type(name).__name__}"
            )
        lowest, highest = _number(name, "the lower bound", low), _number(name, "the upper bound", high)
        if not lowest < highest:
            raise InvalidDomain(
                f"measure {name!r} needs a lower bound below its upper one, got {lowest:g} and {highest:g}"
            )
        for field, value in (
            ("name", name),
            ("low", lowest),
            ("high", highest),
            ("steps", _STEPS if step is None else _steps(name, lowest, highest, step)),
        ):
            object.__setattr__(self, field, value)

    size = 2
    """Its cells: the two bounds."""

    keeps_missing = True
    drops = False

    @property
    def step(self) -> float:
        """From one value of the grid to the next."""
        return (self.high - self.low) / self.steps

    @property
    def bounds(self) -> str:
        """Both bounds as people write them."""
        return f"[{self.label(0)}, {self.label(1)}]"

    @property
    def largest(self) -> float:
        """The largest size of a value."""
        return max(abs(self.low), abs(self.high))

    def label(self, index: int) -> str:
        """Return the value of a cell as text. index: 0 for the lower bound, 1 for the upper one.

        >>> Measure("income", 0, 200_000).label(1)
        '200000'
        """
        return f"{(self.low, self.high)[index]:.12g}"

    def __str__(self) -> str:
        return f"a number in {self.bounds}, in steps of {self.step:.12g}"

    def __repr__(self) -> str:
        return f"Measure({self.name!r}, {self.label(0)}, {self.label(1)}, step={self.step:.12g})"

    def to_dict(self) -> dict[str, Any]:
        """Return the JSON-safe form.

        >>> measure = Measure("income", 0, 200_000, step=1_000)
        >>> Measure.from_dict({"name": "income", **measure.to_dict()}) == measure
        True
        """
        return {"kind": "measure", "low": self.low, "high": self.high, "steps": self.steps}

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Measure:
        """Rebuild from `to_dict`, with its name, checking everything. data: what `to_dict` returned.

        >>> Measure.from_dict({"name": "age", "kind": "measure", "low": 0, "high": 120, "steps": 120}).step
        1.0
        """
        match data:
            case {"name": str(name), "low": low, "high": high, "steps": int(steps)} if (
                type(steps) is int and 1 <= steps <= MAX_STEPS
            ):
                found = cls(name, low, high)
                object.__setattr__(found, "steps", steps)
                return found
        raise InvalidDomain("a saved measure needs a name, two bounds and a number of steps")


def shared_steps(measures: Sequence[Measure]) -> int:
    """The steps of the coarsest grid that holds those of all measures; 1 where there is none."""
    steps = math.lcm(*(measure.steps for measure in measures))
    if steps > MAX_STEPS:
        raise InvalidDomain(
            f"{', '.join(measure.name for measure in measures)} need a common grid of {steps:,} steps, the limit is "
            f"{MAX_STEPS:,}; choose steps so that the numbers of steps divide one another"
        )
    return steps


def _number(name: str, what: str, value: object) -> float:
    if isinstance(value, bool | str) or not hasattr(value, "__float__"):
        raise InvalidDomain(f"{what} of measure {name!r} must be a number, got {type(value).__name__}")
    number = float(value)
    if not abs(number) <= _LARGEST:
        raise InvalidDomain(f"{what} of measure {name!r} must be finite, below {_LARGEST:g}, got {number:g}")
    return number


def _steps(name: str, low: float, high: float, step: object) -> int:
    width = _number(name, "the step", step)
    if not width > 0:
        raise InvalidDomain(f"the step of measure {name!r} must be above zero, got {width:g}")
    exact = (high - low) / width
    if not 0.5 <= exact <= MAX_STEPS:
        raise InvalidDomain(
            f"measure {name!r} needs between 1 and {MAX_STEPS:,} steps between its bounds, got {exact:g}"
        )
    steps = round(exact)
    if abs(exact - steps) > _WHOLE * exact:
        raise InvalidDomain(
            f"the step {width:g} does not divide the range of measure {name!r}, {low:g} to {high:g}: choose one that "
            "does"
        )
    return steps
