"""The columns of a table of answers: labels, then figures."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from rowspace.operators.base import Vector
from rowspace.workload import Workload

from .interval_ends import interval_ends
from .notes import Stated, with_notes

if TYPE_CHECKING:
    import pandas as pd


def answer_columns(labels: Mapping[str, Any], figures: Mapping[str, Any]) -> dict[str, Any]:
    """Labels beside figures. Figures keep their names; an attribute of such a name is told from them by a word.

    >>> answer_columns({"group": ["low"], "low": ["3"]}, {"low": [7.5]})
    {'group': ['low'], 'attribute low': ['3'], 'low': [7.5]}
    """
    columns: dict[str, Any] = {}
    for name, column in labels.items():
        while name in figures or name in columns:
            name = f"attribute {name}"
        columns[name] = column
    return columns | dict(figures)


def largest_value(queries: Workload) -> float:
    """What a record can add to an answer at most, where there are sums: rounding errors grow with it."""
    domain = queries.domain
    asked = (domain.measure(name) for name in queries.attributes if name in domain.measured)
    if not domain.measures:
        return 1.0
    return max((1.0, *(own.largest for own in asked), *(1 / part.unit for part in queries.parts)))


def answer_table(
    queries: Workload,
    columns: tuple[Vector, Vector, Vector],
    largest_count: float,
    stated: Stated,
    level: float,
    attributes: Sequence[str] | None = None,
) -> pd.DataFrame:
    """Labels, answer, std_error and the ends of intervals, from (answers, standard errors, half-widths)."""
    import pandas as pd

    answer, std_error, half_width = columns
    low, high = interval_ends(answer, half_width, largest_count)
    figures = {"answer": answer, "std_error": std_error, "low": low, "high": high}
    labels = queries.table(0, queries.size, attributes)
    return with_notes(pd.DataFrame(answer_columns(labels, figures)), stated, level)
