"""A small domain, its cells as records, and predicates evaluated on them one by one: the truth for the tests."""

from __future__ import annotations

import itertools
import operator
from collections.abc import Iterator
from typing import Any

from rowspace.domain import Categorical, Domain, Numeric
from rowspace.workload.predicate.syntax import And, Condition, Not, Or, Test

STATES = {"Alameda": "CA", "Kern": "CA", "Clark": "NV"}
COASTS = {"CA": True, "NV": False}

DOMAIN = Domain(
    age=Numeric(0, 12, bins=4, integer=True),
    sex=Categorical(["F", "M"], other="unknown"),
    height=Numeric(0, 1, bins=4),
    county=Categorical(list(STATES), levels={"state": STATES, "coastal": COASTS}),
    rooms=Categorical([1, 2, 5]),
    owner=Categorical([True, False]),
)

COMPARE = {
    "=": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}


def values_of_cell(name: str, cell: int) -> list[Any]:
    """Values that a record in this cell may have: all integers of a bin, or a few of its numbers."""
    attribute = DOMAIN[name]
    if cell == attribute.size:
        return [None]
    if isinstance(attribute, Categorical):
        return [attribute.cell_labels[cell]]
    low, high = float(attribute.edges[cell]), float(attribute.edges[cell + 1])
    if attribute.integer:
        return list(range(int(low), int(high)))
    return [low, (low + high) / 2, high - 1e-9]


def cells(names: tuple[str, ...]) -> Iterator[tuple[int, ...]]:
    """All joint cells of some attributes in C order, the last of each for missing values where it has such."""
    return itertools.product(*(range(DOMAIN[name].size + DOMAIN[name].keeps_missing) for name in names))


def record_with_levels(record: dict[str, Any]) -> dict[str, Any]:
    """Add the taxonomy levels to a record."""
    if "county" in record:
        state = STATES.get(record["county"])
        return {**record, "state": state, "coastal": COASTS.get(state)}
    return record


def evaluate(condition: Condition, record: dict[str, Any]) -> bool | None:
    """Evaluate a condition on one record, the slow and obvious way; None is SQL's unknown."""
    match condition:
        case Test(name, _, _) if record[name] is None:
            return None
        case Test(name, "between", (low, high)):
            return low <= record[name] <= high
        case Test(name, "in", values):
            return any(record[name] == value for value in values)
        case Test(name, comparison, (value,)):
            return COMPARE[comparison](record[name], value)
        case Not(inner):
            found = evaluate(inner, record)
            return None if found is None else not found
        case And(parts):
            values = [evaluate(part, record) for part in parts]
            return False if False in values else None if None in values else True
        case Or(parts):
            values = [evaluate(part, record) for part in parts]
            return True if True in values else None if None in values else False
    raise AssertionError(condition)


def truth(condition: Condition, names: tuple[str, ...]) -> list[bool]:
    """Evaluate a condition on every joint cell; every record of a cell must agree."""
    found = []
    for cell in cells(names):
        choices = [values_of_cell(name, index) for name, index in zip(names, cell, strict=True)]
        answers = {
            evaluate(condition, record_with_levels(dict(zip(names, values, strict=True))))
            for values in itertools.product(*choices)
        }
        assert len(answers) == 1, f"{condition} is not constant on {cell}"
        found.append(answers.pop() is True)
    return found
