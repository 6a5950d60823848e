"""The axes that a figure is drawn on, and the few things all figures share."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from rowspace.exceptions import InvalidInput

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.axis import Axis

BAR = "#5a8fd8"
LINE = "#1d5bb8"
MARK = "#0f2f63"
BOUND = "#b4500b"


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


def plain(ax: Axes, *, grid: str) -> None:
    """No box, a light grid along one axis behind everything."""
    ax.spines[["top", "right"]].set_visible(False)
    ax.set_axisbelow(True)
    ax.grid(axis="x" if grid == "x" else "y", color="0.9", linewidth=0.8)


def literal(text: str) -> str:
    """A label as it is: a dollar sign would begin a formula."""
    return text.replace("$", r"\$")


def fits(ax: Axes, labels: Sequence[str]) -> bool:
    """Whether labels fit side by side below the axes, at about six points to a character."""
    room = ax.get_window_extent().width / ax.figure.dpi * 72 / 6
    return sum(len(label) + 1 for label in labels) <= room


def thousands(axis: Axis) -> None:
    """Figures with their thousands apart."""
    from matplotlib.ticker import StrMethodFormatter

    axis.set_major_formatter(StrMethodFormatter("{x:,.10g}"))
