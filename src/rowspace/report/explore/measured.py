"""The tables of a release's own workload, answered in advance: what is offered where it is too large for more."""

from __future__ import annotations

from typing import Any

import numpy as np

from rowspace.exceptions import TooLarge, UnsupportedWorkload
from rowspace.releases import Combined, Estimates, Release, answers_of
from rowspace.workload import Cells, LevelCells, Part

from .packing import Packer

MOST_ANSWERS = 2**17
"""Most answers of tables that a page holds: four numbers each."""
_MOST_IN_A_TABLE = 2**14


def measured_view(release: Release | Combined, level: float, pack: Packer) -> dict[str, Any]:
    """Tables of one or two attributes or levels, and the total, as far as there is room."""
    found: dict[tuple[str, ...], dict[str, Any]] = {}
    room, left_out = MOST_ANSWERS, 0
    for part in release.plan.workload.parts:
        names = tuple(name for factor in part.factors for name in factor.columns)
        if not _is_table(part) or names in found:
            continue
        data = _asked(release, part, level) if part.size <= min(room, _MOST_IN_A_TABLE) else None
        if data is None:
            left_out += 1
            continue
        room -= part.size
        found[names] = _table(part, data, pack)
    return {"kind": "measured", "tables": list(found.values()), "left_out": left_out}


def _is_table(part: Part) -> bool:
    return len(part.factors) <= 2 and all(isinstance(f, Cells | LevelCells) for f in part.factors)


def _asked(release: Release | Combined, part: Part, level: float) -> Estimates | None:
    """The answers; none where the release does not have them by itself."""
    try:
        return answers_of(release, [part], level)
    except (TooLarge, UnsupportedWorkload):
        return None


def _table(part: Part, data: Estimates, pack: Packer) -> dict[str, Any]:
    columns = [(factor.columns[0], factor.entries(np.arange(factor.size))) for factor in part.factors]
    figures = {"answer": data.answer, "error": data.std_error, "low": data.low, "high": data.high}
    return {
        "by": [{"name": name, "labels": labels} for name, labels in columns],
        **{name: pack.array(values) for name, values in figures.items()},
    }
