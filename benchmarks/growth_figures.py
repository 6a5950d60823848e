"""One figure for each topic: time by size on logarithmic scales, a panel for each case, the floor dotted."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from .harness import Case
from .records import OURS, Record

INK, GREY = "#1f2933", "#8794a1"
COLOURS = ("#3b6ea5", "#5b8f63", "#a06aa0", "#b08a2e")
OUR_COLOUR = "#c2410c"


def draw(cases: Sequence[Case], records: Sequence[Record], path: Path) -> None:
    """Write the figure as SVG; equal records give equal bytes."""
    import matplotlib as mpl

    mpl.use("Agg")
    import matplotlib.pyplot as plt

    style: dict[Any, Any] = {
        "font.size": 9,
        "svg.hashsalt": "rowspace",
        "svg.fonttype": "none",
        "axes.edgecolor": GREY,
    }
    with mpl.rc_context(style):
        columns = min(2, len(cases))
        rows = -(-len(cases) // columns)
        figure, panels = plt.subplots(rows, columns, figsize=(5.2 * columns, 3.6 * rows), squeeze=False)
        for panel, case in zip(panels.flat, cases, strict=False):
            _panel(panel, case, [r for r in records if r.case == case.name and r.cpu is not None])
        for unused in panels.flat[len(cases) :]:
            unused.set_axis_off()
        figure.tight_layout()
        path.parent.mkdir(parents=True, exist_ok=True)
        figure.savefig(path, metadata={"Date": None})
        plt.close(figure)


def _panel(panel: Any, case: Case, records: Sequence[Record]) -> None:
    if not records:
        panel.set_axis_off()
        return
    others = iter(COLOURS)
    for contender in case.contenders:
        own = sorted((r for r in records if r.contender == contender.name), key=lambda r: r.size)
        # What has nothing to do has no place on a logarithmic scale.
        own = [r for r in own if r.cpu and r.cpu > 1e-6]
        if own:
            look = (
                {"color": OUR_COLOUR, "linewidth": 2.4} if contender.name == OURS else {"color": next(others)}
            )
            panel.plot(
                [r.size for r in own],
                [r.cpu for r in own],
                marker="o",
                markersize=3.5,
                label=contender.name,
                **look,
            )
    floors: dict[int, float] = {}
    for r in records:
        if r.floor_cpu:
            floors[r.size] = min(r.floor_cpu, floors.get(r.size, r.floor_cpu))
    sizes = sorted(floors)
    panel.plot(sizes, [floors[n] for n in sizes], color=INK, linestyle=":", label=f"floor: {case.floor.name}")
    panel.set_xscale("log")
    panel.set_yscale("log")
    panel.set_title(_wrapped(case.name), loc="left", fontsize=9, color=INK)
    panel.set_xlabel(case.size_of, color=INK)
    panel.set_ylabel("CPU seconds", color=INK)
    panel.set_xticks(sizes, [f"{n:,}" for n in sizes])
    panel.minorticks_off()
    panel.grid(color="#e4e7eb", linewidth=0.6)
    panel.spines[["top", "right"]].set_visible(False)
    panel.tick_params(colors=INK, length=0, labelsize=8)
    panel.legend(fontsize=7, frameon=False)


def _wrapped(title: str) -> str:
    """Two lines at most, broken after the comma nearest to the middle."""
    if len(title) < 50:
        return title
    commas = [i + 1 for i, letter in enumerate(title) if letter in ",:"]
    middle = min(commas, key=lambda i: abs(i - len(title) // 2), default=len(title))
    return f"{title[:middle]}\n{title[middle:].strip()}"
