"""Columns computed in the engine step by step, for all attributes at the same time.

What one step needs of another must be a column of a subquery of its own, or engines and compilers write it
out wherever it is used. One subquery per step *and attribute* would make the text of the query, and the time
to write it, cubic in the number of attributes. So step k of every attribute goes into the same subquery, and
joins of the same step into one chain: the query nests as deep as the longest recipe, whatever their number.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import zip_longest
from typing import Any

__all__ = ["Compute", "Join", "Recipe", "follow"]


@dataclass(frozen=True)
class Compute:
    """A new column, from those that the rows have before this step."""

    column: str
    expression: Callable[[Any], Any]


@dataclass(frozen=True)
class Join:
    """New columns from a lookup table; `join` takes the rows and gives them with those columns, none fewer."""

    join: Callable[[Any], Any]


Recipe = Sequence[Compute | Join]


def follow(rows: Any, recipes: Sequence[Recipe]) -> Any:
    """The rows with the columns of all recipes, each of which uses its own columns only."""
    for layer in zip_longest(*recipes):
        computed = {step.column: step.expression(rows) for step in layer if isinstance(step, Compute)}
        if computed:
            rows = rows.mutate(**computed)
        for step in layer:
            if isinstance(step, Join):
                rows = step.join(rows)
    return rows
