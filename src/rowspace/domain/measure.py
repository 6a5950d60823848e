"""Measures: numbers that are added up, such as incomes, rather than counted by."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from rowspace.exceptions import InvalidDomain

#: Most steps of a measure's grid, and of the grid that all measures of a plan share: totals must fit 64 bits.
MAX_STEPS = 2**22
#: Most steps of a measure with squares, if even: half their number, squared and doubled, is its number of parts.
MAX_STEPS_OF_SQUARES = 2896
#: Steps of a grid that nobody declared.
_STEPS = 1000
#: A range counts as whole steps when it is so to this relative accuracy.
_WHOLE = 1e-9
#: Largest size of a bound: squares of sums must stay numbers.
_LARGEST = 1e30


@dataclass(frozen=True, init=False, repr=False)
class Measure:
    """A number of every record with public bounds, whose sums, means and variances are asked for.

    A value is clipped to the bounds and rounded to the nearest step of the grid (upwards halfway), in the engine: what
    is summed, and what intervals cover, are those values. NULL, NaN and infinite values are missing: such a record is
    in no sum and no mean, and in all counts.

    A record with k of K steps is taken for k/K of a record at the upper bound and the rest of one at the lower bound
    (docs/design/018-measures.md). So a measure is one more attribute, of two cells, and a sum a query about it. With
    squares it is one of four, and the sum of squares, hence the variance, is a query as well.

    name: of the column. low, high: the bounds; they come from a code book, or from `rs.bounds`, never from the data.
    step: of the grid, a whole part of the range; a thousandth of it unless given.
    squares: whether variances and standard deviations are asked for too.
    per_unit: where people are counted rather than rows (`PrivacyUnit` with ``distinct=True``), what the value of a
    person in a cell is: the "sum" of its values there, which needs 0 as lower bound and is clipped again, or their
    "mean", rounded again.

    >>> Measure("income", 0, 200_000, step=1_000)
    Measure('income', 0, 200000, step=1000)
    """

    name: str
    low: float
    high: float
    steps: int
    squares: bool
    per_unit: str | None

    def __init__(
        self,
        name: str,
        low: float,
        high: float,
        *,
        step: float | None = None,
        squares: bool = False,
        per_unit: str | None = None,
    ) -> None:
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
        if not isinstance(squares, bool):
            raise InvalidDomain(
                f"squares of measure {name!r} must be true or false, got {type(squares).__name__}"
            )
        for field, value in (
            ("name", name),
            ("low", lowest),
            ("high", highest),
            ("steps", _STEPS if step is None else _steps(name, lowest, highest, step)),
            ("squares", squares),
            ("per_unit", _per_unit(name, lowest, per_unit)),
        ):
            object.__setattr__(self, field, value)
        self._check_parts()

    def _check_parts(self) -> None:
        """Raise where so fine a grid makes a record too many parts."""
        if self.parts > MAX_STEPS:
            raise InvalidDomain(
                f"measure {self.name!r} with squares needs at most {MAX_STEPS_OF_SQUARES:,} steps between its bounds, "
                f"or half as many where their number is odd, got {self.steps:,}"
            )

    @property
    def size(self) -> int:
        """Its cells: the two bounds, and with squares two between them."""
        return 4 if self.squares else 2

    @property
    def half_steps(self) -> int:
        """The steps from a bound to the middle, of the grid or of one twice as fine where those are odd."""
        return self.steps // 2 if self.steps % 2 == 0 else self.steps

    @property
    def parts(self) -> int:
        """Into how many equal parts a record is divided so that every value is a whole number of them in each cell."""
        return 2 * self.half_steps**2 if self.squares else self.steps

    @property
    def values(self) -> tuple[float, ...]:
        """What a record in each cell adds to the sum."""
        if not self.squares:
            return self.low, self.high
        quarter = (self.high - self.low) / 4
        return self.low, self.low + quarter, self.high - quarter, self.high

    @property
    def middle(self) -> float:
        """Halfway between the bounds."""
        return self.low / 2 + self.high / 2

    @property
    def reach(self) -> float:
        """From the middle to a bound."""
        return self.high / 2 - self.low / 2

    keeps_missing = True
    drops = False

    @property
    def step(self) -> float:
        """From one value of the grid to the next."""
        return (self.high - self.low) / self.steps

    @property
    def bounds(self) -> str:
        """Both bounds as people write them."""
        return f"[{self.label(0)}, {self.label(-1)}]"

    @property
    def largest(self) -> float:
        """The largest size of a value."""
        return max(abs(self.low), abs(self.high))

    def label(self, index: int) -> str:
        """Return the value of a cell as text. index: 0 for the lower bound, the last for the upper one.

        >>> Measure("income", 0, 200_000).label(1)
        '200000'
        """
        return f"{self.values[index]:.12g}"

    def __str__(self) -> str:
        return f"a number in {self.bounds}, in steps of {self.step:.12g}"

    def __repr__(self) -> str:
        more = ", squares=True" if self.squares else ""
        more += f", per_unit={self.per_unit!r}" if self.per_unit else ""
        return f"Measure({self.name!r}, {self.label(0)}, {self.label(-1)}, step={self.step:.12g}{more})"

    def to_dict(self) -> dict[str, Any]:
        """Return the JSON-safe form.

        >>> measure = Measure("income", 0, 200_000, step=1_000)
        >>> Measure.from_dict({"name": "income", **measure.to_dict()}) == measure
        True
        """
        more: dict[str, Any] = {"squares": True} if self.squares else {}
        more |= {"per_unit": self.per_unit} if self.per_unit else {}
        return {"kind": "measure", "low": self.low, "high": self.high, "steps": self.steps, **more}

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
                found = cls(
                    name, low, high, squares=data.get("squares", False), per_unit=data.get("per_unit")
                )
                object.__setattr__(found, "steps", steps)
                found._check_parts()
                return found
        raise InvalidDomain("a saved measure needs a name, two bounds and a number of steps")


def shared_parts(measures: Sequence[Measure]) -> int:
    """Into how few equal parts a record can be divided for all measures; 1 where there is none."""
    parts = math.lcm(*(measure.parts for measure in measures))
    if parts > MAX_STEPS:
        raise InvalidDomain(
            f"{', '.join(measure.name for measure in measures)} need a common grid of {parts:,} steps, the limit is "
            f"{MAX_STEPS:,}; choose steps so that the numbers of steps divide one another"
        )
    return parts


def _number(name: str, what: str, value: object) -> float:
    if isinstance(value, bool | str) or not hasattr(value, "__float__"):
        raise InvalidDomain(f"{what} of measure {name!r} must be a number, got {type(value).__name__}")
    number = float(value)
    if not abs(number) <= _LARGEST:
        raise InvalidDomain(f"{what} of measure {name!r} must be finite, below {_LARGEST:g}, got {number:g}")
    return number


def _per_unit(name: str, low: float, given: object) -> str | None:
    if given not in (None, "sum", "mean"):
        raise InvalidDomain(f'per_unit of measure {name!r} must be "sum" or "mean"')
    if given == "sum" and low != 0:
        raise InvalidDomain(
            f"the sum of a unit's values of {name!r} needs 0 as lower bound, got {low:g}: values below "
            "are clipped to it"
        )
    return None if given is None else str(given)


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
