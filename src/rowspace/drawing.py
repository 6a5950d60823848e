"""Figures from plain numbers, with matplotlib: axes in, axes out. Knows nothing of plans and releases.

Each room draws its own values with it (`planning.plots`, `releases.chart_data`), so that no
layer has to know a higher one. matplotlib is an extra, imported when something is drawn.

Colours of pages and figures, for light and for dark screens. Texts have a contrast of at least 4.5 : 1, marks of
3 : 1 (tests/report/html/test_palette.py).
"""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from datetime import datetime
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from .exceptions import InvalidInput

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.axis import Axis


LIGHT = MappingProxyType(
    {
        "page": "#f4f6f9",
        "surface": "#ffffff",
        "raised": "#eef2f7",
        "ink": "#17212e",
        "muted": "#51606f",
        "line": "#dce2ea",
        "accent": "#1d5bb8",
        "bar": "#5a8fd8",
        "mark": "#0f2f63",
        "good": "#1c6b43",
        "heat": "#86b3ef",
        "series1": "#1d5bb8",
        "series2": "#b4500b",
        "series3": "#25764b",
        "series4": "#8a3a8f",
    }
)

DARK = MappingProxyType(
    {
        "page": "#0e131a",
        "surface": "#161d27",
        "raised": "#1f2935",
        "ink": "#e6ecf3",
        "muted": "#a5b2c1",
        "line": "#2c3745",
        "accent": "#86b6ff",
        "bar": "#4a80cb",
        "mark": "#d5e4fb",
        "good": "#74cf9d",
        "heat": "#22599f",
        "series1": "#7fb0fb",
        "series2": "#f0a05c",
        "series3": "#70c797",
        "series4": "#d79add",
    }
)


_MOST_LABELS = 24
_MOST_GAPS = 40
_LINE = 30


def axes_or_new(ax: Axes | None, *, size: tuple[float, float] = (6.4, 3.6)) -> Axes:
    """The given axes, or those of a new pyplot figure."""
    try:
        from matplotlib.axes import Axes
    except ModuleNotFoundError:
        raise InvalidInput(
            "plots need matplotlib, which is not installed; install it with: pip install 'rowspace[plots]'"
        ) from None
    if ax is None:
        import matplotlib.pyplot as plt

        _, new = plt.subplots(figsize=size, layout="constrained")
        return new
    if not isinstance(ax, Axes):
        raise InvalidInput(
            f"expected matplotlib axes or None, got {type(ax).__name__}: take ax from plt.subplots()"
        )
    return ax


def bars(
    labels: Sequence[str],
    values: Sequence[float],
    *,
    bound: float | None = None,
    bound_name: str = "no strategy can go below",
    ax: Axes | None = None,
) -> Axes:
    """Horizontal bars, the first on top; `bound` is a dashed line across all of them."""
    ax = axes_or_new(ax, size=(6.4, 1.2 + 0.34 * len(labels)))
    places = range(len(labels))
    drawn = ax.barh(places, values, color=LIGHT["bar"], height=0.6)
    ax.bar_label(drawn, fmt="%.3g", padding=4, fontsize="small")
    ax.set_yticks(places, [_literal(_folded(label)) for label in labels])
    ax.invert_yaxis()
    if bound is not None:
        ax.axvline(bound, color=LIGHT["series2"], linestyle="--", label=bound_name)
        ax.legend(frameon=False, loc="lower left", bbox_to_anchor=(0.0, 1.0), borderaxespad=0.0)
    ax.margins(x=0.12)
    _plain(ax, grid="x")
    return ax


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
    ax.bar(places, middle, width=widths, color=LIGHT["bar"])
    ax.vlines(places, bottom, top, color=LIGHT["mark"], linewidth=1.2)
    if edges is None:
        _label(ax, ax.set_xticks, labels, along=True)
    _thousands(ax.yaxis)
    _plain(ax, grid="y")
    return ax


def heat_map(
    values: npt.ArrayLike, rows: Sequence[str], columns: Sequence[str], *, ax: Axes | None = None
) -> Axes:
    """`values` is rows × columns; a bar of colours stands beside the axes."""
    ax = axes_or_new(ax)
    from matplotlib.colors import LinearSegmentedColormap

    table = np.asarray(values, dtype=float)
    ramp = LinearSegmentedColormap.from_list("rowspace", [LIGHT["surface"], LIGHT["series1"]])
    image = ax.imshow(table, aspect="auto", cmap=ramp, interpolation="nearest", vmin=min(0.0, table.min()))
    _label(ax, ax.set_yticks, rows, along=False)
    # The bar of colours takes its room first.
    _thousands(ax.figure.colorbar(image, ax=ax).ax.yaxis)
    _label(ax, ax.set_xticks, columns, along=True)
    return ax


def curve(x: npt.ArrayLike, y: npt.ArrayLike, *, here: tuple[float, float], ax: Axes | None = None) -> Axes:
    """A curve on two logarithmic axes, with a point `here` on it."""
    ax = axes_or_new(ax)
    ax.loglog(x, y, color=LIGHT["series1"])
    ax.plot(*here, "o", color=LIGHT["series2"])
    ax.spines[["top", "right"]].set_visible(False)
    ax.grid(which="both", color="0.9", linewidth=0.8)
    return ax


def staircase(
    times: Sequence[datetime], totals: Sequence[float], *, limit: float, ax: Axes | None = None
) -> Axes:
    """What was spent after each moment, and a dashed line at the limit."""
    ax = axes_or_new(ax)
    ax.step(times, totals, where="post", color=LIGHT["series1"], marker="o", markersize=4)  # type: ignore[arg-type]
    ax.axhline(limit, color=LIGHT["series2"], linestyle="--")
    ax.set_ylim(bottom=0.0)
    _plain(ax, grid="y")
    return ax


def ellipse(M: npt.ArrayLike, *, label: str | None = None, ax: Axes | None = None) -> Axes:
    """All points w with w M wᵗ = 1, for a positive definite 2 × 2 matrix; equal scales on both axes."""
    ax = axes_or_new(ax, size=(4.4, 4.4))
    values, vectors = np.linalg.eigh(np.asarray(M, dtype=float))
    angle = np.linspace(0, 2 * np.pi, 361)
    circle = np.stack([np.cos(angle), np.sin(angle)])
    x, y = vectors @ (circle / np.sqrt(values)[:, None])
    ax.plot(x, y, label=None if label is None else _literal(label))
    ax.axhline(0, color="0.8", linewidth=0.8, zorder=0)
    ax.axvline(0, color="0.8", linewidth=0.8, zorder=0)
    ax.set_aspect("equal", adjustable="datalim")
    if label is not None:
        ax.legend(frameon=False)
    return ax


def _plain(ax: Axes, *, grid: str) -> None:
    """No box, a light grid along one axis behind everything."""
    ax.spines[["top", "right"]].set_visible(False)
    ax.set_axisbelow(True)
    ax.grid(axis="x" if grid == "x" else "y", color="0.9", linewidth=0.8)


def _label(ax: Axes, place: Any, labels: Sequence[str], *, along: bool) -> None:
    """At most so many labels on an axis; those along the bottom are turned where they do not fit side by side."""
    if not labels:
        place([])
        return
    every = -(-len(labels) // _MOST_LABELS)
    words = [_literal(label) for label in labels[::every]]
    turned = along and not _fits(ax, labels[::every])
    place(range(0, len(labels), every), words, **({"rotation": 45, "ha": "right"} if turned else {}))


def _fits(ax: Axes, labels: Sequence[str]) -> bool:
    """Whether labels fit side by side below the axes, at about six points to a character."""
    room = ax.get_window_extent().width / ax.figure.dpi * 72 / 6
    return sum(len(label) + 1 for label in labels) <= room


def _literal(text: str) -> str:
    """A label as it is: a dollar sign would begin a formula."""
    return text.replace("$", r"\$")


def _folded(label: str) -> str:
    """A label on at most two lines: a long one would leave no room for its bar.

    >>> _folded("product: p-identity × identity × p-identity × p-identity × identity × haar").split("\\n")
    ['product: p-identity × identity', '× p-identity × p-identity × …']
    """
    return "\n".join(textwrap.wrap(label, _LINE, max_lines=2, placeholder=" …")) or label


def _thousands(axis: Axis) -> None:
    """Figures with their thousands apart."""
    from matplotlib.ticker import StrMethodFormatter

    axis.set_major_formatter(StrMethodFormatter("{x:,.10g}"))
