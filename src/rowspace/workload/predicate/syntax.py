"""The tree of a predicate, and how it is written back as text."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Literal

Value = str | bool | int | float
Comparison = Literal["=", "!=", "<", "<=", ">", ">=", "between", "in"]

KEYWORDS = frozenset({"and", "or", "not", "in", "between"})

_PLAIN_NAME = re.compile(r"[^\W\d]\w*")


@dataclass(frozen=True)
class Test:
    """One attribute (or level) against one value, or several for ``between`` and ``in``."""

    __test__ = False  # pytest collects classes by this name

    name: str
    comparison: Comparison
    values: tuple[Value, ...]
    position: int = field(default=0, compare=False)

    def __str__(self) -> str:
        name, values = name_text(self.name), [_value_text(value) for value in self.values]
        if self.comparison == "between":
            return f"{name} between {values[0]} and {values[1]}"
        if self.comparison == "in":
            return f"{name} in ({', '.join(values)})"
        return f"{name} {self.comparison} {values[0]}"


@dataclass(frozen=True)
class Not:
    """Every cell where the condition does not hold."""

    condition: Condition

    def __str__(self) -> str:
        inner = str(self.condition)
        return f"not ({inner})" if isinstance(self.condition, And | Or) else f"not {inner}"


@dataclass(frozen=True)
class And:
    """Every cell where all conditions hold."""

    conditions: tuple[Condition, ...]

    def __str__(self) -> str:
        return " and ".join(
            f"({part})" if isinstance(part, And | Or) else str(part) for part in self.conditions
        )


@dataclass(frozen=True)
class Or:
    """Every cell where some condition holds."""

    conditions: tuple[Condition, ...]

    def __str__(self) -> str:
        return " or ".join(f"({part})" if isinstance(part, Or) else str(part) for part in self.conditions)


Condition = Test | Not | And | Or


def tests(condition: Condition) -> Iterator[Test]:
    """Walk over the tests of a condition, left to right."""
    match condition:
        case Test():
            yield condition
        case Not(inner):
            yield from tests(inner)
        case And(parts) | Or(parts):
            for part in parts:
                yield from tests(part)


def conjuncts(condition: Condition) -> list[Condition]:
    """Split a condition into ones that must all hold; ``not (a or b)`` is ``not a and not b``."""
    match condition:
        case And(parts):
            return [piece for part in parts for piece in conjuncts(part)]
        case Not(Or(parts)):
            return [piece for part in parts for piece in conjuncts(Not(part))]
        case Not(Not(inner)):
            return conjuncts(inner)
        case _:
            return [condition]


def name_text(name: str) -> str:
    """Write a name so that it is read back as the same name."""
    is_word = _PLAIN_NAME.fullmatch(name) and name.lower() not in KEYWORDS | {"true", "false"}
    return name if is_word else "`" + name.replace("`", "``") + "`"


def _value_text(value: Value) -> str:
    """Write a value so that it is read back as the same value."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return "'" + value.replace("'", "''") + "'"
    return repr(value)
