"""A histogram with intervals."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from .axes import BAR, MARK, axes_or_new, fits, literal, plain, thousands

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_MOST_LABELS = 24
_MOST_GAPS = 40


def columns(
    answers: npt.ArrayLike,
    low: npt.ArrayLike,
    high: npt.ArrayLike,
    *,
    edges: npt.ArrayLike | None = None,
    labels: Sequence[str] = (),
    ax: Axes | None = None,
) -> Axes:
    """One column for each answer with a line from low to high: between `edges`, or above `labels`."""
    ax = axes_or_new(ax)
    middle, bottom, top = (np.asarray(values, dtype=float) for values in (answers, low, high))
    if edges is None:
        places, widths = np.arange(len(middle), dtype=float), np.full(len(middle), 0.84)
    else:
        bounds = np.asarray(edges, dtype=float)
        # Gaps of less than a pixel would come and go.
        share = 0.9 if len(middle) <= _MOST_GAPS else 1.0
        places, widths = (bounds[1:] + bounds[:-1]) / 2, share * np.diff(bounds)
    ax.bar(places, middle, width=widths, color=BAR)
    ax.vlines(places, bottom, top, color=MARK, linewidth=1.2)
    if edges is None:
        every = -(-len(labels) // _MOST_LABELS)
        shown = places[::every] if labels else places[:0]
        turned = not fits(ax, labels[::every])
        ax.set_xticks(
            shown,
            [literal(label) for label in labels[::every]],
            rotation=45 if turned else 0,
            ha="right" if turned else "center",
        )
    thousands(ax.yaxis)
    plain(ax, grid="y")
    return ax
