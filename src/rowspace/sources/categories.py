"""The code of a category, computed in the engine."""

from __future__ import annotations

from typing import Any

import ibis
import numpy as np
import pyarrow as pa

from rowspace.domain import Categorical
from rowspace.sources.steps import Compute, Join, Recipe

__all__ = ["MAX_INLINE_CATEGORIES", "code_recipe", "has_code"]

#: Up to this many categories are written into the query, so that a small domain creates nothing in a foreign
#: database, not even a temporary table; more are joined, which takes the same time however many there are.
MAX_INLINE_CATEGORIES = 32


def has_code(values: Any, attribute: Categorical) -> Any:
    """Whether a value has a cell; said by membership alone, as an independent check of `code_recipe`."""
    if attribute.other is not None:
        return ibis.literal(True)
    if attribute.size <= MAX_INLINE_CATEGORIES:
        return values.isin(list(attribute.values))
    return values.isin(_lookup(values, attribute, "category", "code").category)


def code_recipe(attribute: Categorical, value: str, code: str) -> Recipe:
    """Steps to one more column `code`: the position of column `value` among the categories.

    Values that are no category, and NULL, get the position of the `other` bucket, else NULL.
    """
    other = None if attribute.other is None else len(attribute.values)
    if attribute.size <= MAX_INLINE_CATEGORIES:
        branches = [(category, position) for position, category in enumerate(attribute.values)]
        return [Compute(code, lambda rows: rows[value].cases(*branches, else_=other))]
    category, position = f"{code}_category", f"{code}_position"

    def join(rows: Any) -> Any:
        lookup = _lookup(rows[value], attribute, category, position)
        return rows.left_join(lookup, rows[value] == lookup[category])

    def found(rows: Any) -> Any:
        return rows[position] if other is None else rows[position].fill_null(other)

    return [Join(join), Compute(code, found)]


def _lookup(values: Any, attribute: Categorical, category: str, position: str) -> Any:
    """A table of the categories, in the type of the values, with their positions."""
    categories = pa.array(attribute.values, type=values.type().to_pyarrow())
    return ibis.memtable(pa.table({category: categories, position: np.arange(len(attribute.values))}))
