"""Labelled figures, one to a row."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from typing import TYPE_CHECKING

from .axes import BAR, BOUND, axes_or_new, literal, plain

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_LINE = 30


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
    drawn = ax.barh(places, values, color=BAR, height=0.6)
    ax.bar_label(drawn, fmt="%.3g", padding=4, fontsize="small")
    ax.set_yticks(places, [literal(_folded(label)) for label in labels])
    ax.invert_yaxis()
    if bound is not None:
        ax.axvline(bound, color=BOUND, linestyle="--", label=bound_name)
        ax.legend(frameon=False, loc="lower left", bbox_to_anchor=(0.0, 1.0), borderaxespad=0.0)
    ax.margins(x=0.12)
    plain(ax, grid="x")
    return ax


def _folded(label: str) -> str:
    """A label on at most two lines: a long one would leave no room for its bar.

    >>> _folded("product: p-identity × identity × p-identity × p-identity × identity × haar").split("\\n")
    ['product: p-identity × identity', '× p-identity × p-identity × …']
    """
    return "\n".join(textwrap.wrap(label, _LINE, max_lines=2, placeholder=" …")) or label
