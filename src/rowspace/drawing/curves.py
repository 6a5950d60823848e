"""Curves: error against a parameter, spending over time."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import TYPE_CHECKING

import numpy.typing as npt

from .axes import BOUND, LINE, axes_or_new, plain

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def curve(x: npt.ArrayLike, y: npt.ArrayLike, *, here: tuple[float, float], ax: Axes | None = None) -> Axes:
    """A curve on two logarithmic axes, with a point `here` on it."""
    ax = axes_or_new(ax)
    ax.loglog(x, y, color=LINE)
    ax.plot(*here, "o", color=BOUND)
    ax.spines[["top", "right"]].set_visible(False)
    ax.grid(which="both", color="0.9", linewidth=0.8)
    return ax


def staircase(
    times: Sequence[datetime], totals: Sequence[float], *, limit: float, ax: Axes | None = None
) -> Axes:
    """What was spent after each moment, and a dashed line at the limit."""
    ax = axes_or_new(ax)
    ax.step(times, totals, where="post", color=LINE, marker="o", markersize=4)  # type: ignore[arg-type]
    ax.axhline(limit, color=BOUND, linestyle="--")
    ax.set_ylim(bottom=0.0)
    plain(ax, grid="y")
    return ax
