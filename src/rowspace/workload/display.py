"""A workload in a notebook."""

from __future__ import annotations

from typing import TYPE_CHECKING

from markupsafe import Markup

from rowspace.notebook import notebook_table

if TYPE_CHECKING:
    from .union import Workload

_ROWS_SHOWN = 20


def workload_html(workload: Workload) -> str:
    """Every group with its number of queries and weight; the first twenty."""
    first = str(workload).splitlines()[0].removeprefix("Workload of ")
    rows = [[part.group, f"{part.size:,}", f"{part.weight:.6g}"] for part in workload.parts[:_ROWS_SHOWN]]
    left_out = len(workload.parts) - len(rows)
    return notebook_table(
        Markup("<strong>Workload</strong> of {}").format(first),
        ["group", "queries", "weight"],
        rows,
        f"… and {left_out:,} more groups" if left_out else "",
    )
