"""The columns of a table of answers: labels, then figures."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from rowspace.operators import Vector
from rowspace.workload import Workload

from .interval_ends import interval_ends
from .notes import Stated, notes_of

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
    return answer_rows(queries, columns, largest_count, stated, level).frame(attributes)


@dataclass(frozen=True, eq=False)
class AnswerRows:
    """Answers before they are a table: a service sends the figures, and never builds the frame around them.

    figures: answer, std_error, low and high of every query. notes: what goes with them.
    """

    queries: Workload
    figures: Mapping[str, Vector]
    notes: Mapping[str, Any]

    def frame(self, attributes: Sequence[str] | None = None) -> pd.DataFrame:
        """The table, with a column for each attribute that is used, or for those given."""
        import pandas as pd

        labels = self.queries.table(0, self.queries.size, attributes)
        found = pd.DataFrame(answer_columns(labels, self.figures))
        found.attrs.update(self.notes)
        return found


def answer_rows(
    queries: Workload,
    columns: tuple[Vector, Vector, Vector],
    largest_count: float,
    stated: Stated,
    level: float,
) -> AnswerRows:
    """Answers with the ends of intervals, from (answers, standard errors, half-widths)."""
    answer, std_error, half_width = columns
    low, high = interval_ends(answer, half_width, largest_count)
    figures = {"answer": answer, "std_error": std_error, "low": low, "high": high}
    return AnswerRows(queries, figures, notes_of(stated, level))
