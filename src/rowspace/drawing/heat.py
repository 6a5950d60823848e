"""A table of two attributes as a map of colours."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from .axes import axes_or_new, fits, literal, thousands

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_MOST_LABELS = 24


def heat_map(
    values: npt.ArrayLike, rows: Sequence[str], columns: Sequence[str], *, ax: Axes | None = None
) -> Axes:
    """`values` is rows × columns; a bar of colours stands beside the axes."""
    ax = axes_or_new(ax)
    table = np.asarray(values, dtype=float)
    image = ax.imshow(table, aspect="auto", cmap="Blues", interpolation="nearest", vmin=min(0.0, table.min()))
    _label(ax.set_yticks, rows, turned=False)
    # The bar of colours takes its room first.
    thousands(ax.figure.colorbar(image, ax=ax).ax.yaxis)
    _label(ax.set_xticks, columns, turned=not fits(ax, columns[:: _every(columns)]))
    return ax


def _label(place: Any, labels: Sequence[str], *, turned: bool) -> None:
    """At most so many labels along an axis."""
    every = _every(labels)
    words = [literal(label) for label in labels[::every]]
    if turned:
        place(range(0, len(labels), every), words, rotation=45, ha="right")
    else:
        place(range(0, len(labels), every), words)


def _every(labels: Sequence[str]) -> int:
    """Which labels are written: every one, every second …"""
    return -(-len(labels) // _MOST_LABELS)
