"""The columns of a table of answers: labels, then figures."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


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
