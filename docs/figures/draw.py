"""The pictures of docs/idea.md, drawn from the library's own figures: python docs/figures/draw.py

Each is an SVG with a light ground of its own, so that it reads the same on a dark page.
"""

from __future__ import annotations

import sys
from math import sqrt
from pathlib import Path

import matplotlib as mpl

mpl.use("Agg")

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes
from matplotlib.patches import FancyBboxPatch

from rowspace import ZCDP, PureDP, error, strategy
from rowspace import operators as op

HERE = Path(__file__).parent
INK, ACCENT, GREY, PALE, BLUE, GREEN = "#1f2933", "#c2410c", "#8794a1", "#e4e7eb", "#3b6ea5", "#5b8f63"
STYLE = {
    "font.family": "DejaVu Sans",
    "font.size": 10,
    "svg.hashsalt": "rowspace",
    "axes.edgecolor": GREY,
    "axes.labelcolor": INK,
    "text.color": INK,
    "xtick.color": INK,
    "ytick.color": INK,
}
PRIVACY, GAUSSIAN = PureDP(1.0), ZCDP(0.5)


def bare(ax: Axes) -> None:
    """No frame, no ticks."""
    ax.set_xticks([])
    ax.set_yticks([])
    ax.spines[:].set_visible(False)


def overlapping_ranges() -> None:
    """One person is in many ranges, so noise on every range must cover for all of them."""
    cells, person = 8, 3
    figure, (left, right) = plt.subplots(
        1, 2, figsize=(9.2, 3.9), width_ratios=[1.25, 1], layout="constrained"
    )
    ranges = [(i, j) for i in range(cells) for j in range(i, cells)]
    ranges.sort(key=lambda r: (r[1] - r[0], r[0]))
    touched = 0
    for row, (i, j) in enumerate(ranges):
        holds = i <= person <= j
        touched += holds
        left.plot(
            [i + 0.12, j + 0.88],
            [row, row],
            color=ACCENT if holds else "#cbd2d9",
            linewidth=2.6,
            solid_capstyle="round",
        )
    left.axvspan(person, person + 1, color=ACCENT, alpha=0.07)
    bare(left)
    left.set_xlim(-0.1, cells + 0.1)
    left.set_ylim(-1.5, len(ranges) + 0.5)
    left.set_title(f"One person is in {touched} of the {len(ranges)} ranges", loc="left", fontsize=11)
    left.set_xlabel("eight ages; every line is a range that is counted")

    W = op.Ranges(cells)
    noises = [
        ("noise on every range", sqrt(PRIVACY.unit_variance) * W.max_column_norm(1)),
        (
            "noise on every age,\nranges added up",
            sqrt(error.total_error(op.Identity(cells), W, PRIVACY) / W.shape[0]),
        ),
    ]
    colours = [GREY, ACCENT]
    right.barh([name for name, _ in noises], [size for _, size in noises], color=colours, height=0.55)
    for at, (_, size) in enumerate(noises):
        right.text(size + 0.4, at, f"±{size:.1f}", va="center")
    right.invert_yaxis()
    right.set_xlim(0, 1.2 * noises[0][1])
    right.set_xticks([])
    right.tick_params(length=0)
    right.spines[["top", "right", "bottom"]].set_visible(False)
    right.set_title("Typical error of a range, the same privacy", loc="left", fontsize=11)
    save(figure, "overlap")


def tree_of_ranges() -> None:
    """A range from the nodes of a tree: few noisy numbers instead of many."""
    cells, start, stop = 16, 3, 13
    figure, ax = plt.subplots(figsize=(9.2, 3.3), layout="constrained")
    used = 0
    for depth, width in enumerate((16, 8, 4, 2, 1)):
        for node in range(cells // width):
            low, high = node * width, (node + 1) * width
            inside = start <= low and high <= stop
            parent = low - low % (2 * width)
            largest = inside and (width == cells or not (start <= parent and parent + 2 * width <= stop))
            used += largest
            box = FancyBboxPatch(
                (low + 0.07, -depth + 0.12),
                high - low - 0.14,
                0.66,
                boxstyle="round,pad=0,rounding_size=0.12",
                facecolor=ACCENT if largest else "#f1f3f5",
                edgecolor=ACCENT if largest else "#cbd2d9",
                linewidth=1,
            )
            ax.add_patch(box)
    ax.annotate(
        "", (start, -4.35), (stop, -4.35), arrowprops={"arrowstyle": "|-|", "color": BLUE, "linewidth": 1.6}
    )
    ax.text(
        (start + stop) / 2,
        -4.75,
        f"the range of {stop - start} ages that is asked for",
        ha="center",
        color=BLUE,
    )
    bare(ax)
    ax.set_xlim(-0.2, cells + 0.2)
    ax.set_ylim(-5.0, 1.0)
    ax.set_title(
        f"{used} noisy numbers (orange) add up to the range; age by age it would take {stop - start}",
        loc="left",
        fontsize=11,
    )
    save(figure, "tree")


def clouds() -> None:
    """The same privacy, two shapes of noise: a strategy chooses where the error goes."""
    figure, axes = plt.subplots(1, 2, figsize=(9.2, 4.3), sharex=True, sharey=True, layout="constrained")
    generator = np.random.default_rng(7)
    # All columns have length one: equal privacy under Gaussian noise.
    strategies = {
        "Asking each count": np.eye(2),
        "Asking mostly for the sum": np.sqrt([[0.9, 0.9], [0.1, 0.1]]) * [[1, 1], [1, -1]],
    }
    for ax, (title, A), colour in zip(axes, strategies.items(), (BLUE, ACCENT), strict=True):
        errors = generator.normal(0, sqrt(GAUSSIAN.unit_variance), size=(700, 2)) @ np.linalg.inv(A).T
        ax.scatter(*errors.T, s=7, color=colour, alpha=0.35, linewidths=0)
        values, axes_of = np.linalg.eigh(GAUSSIAN.unit_variance * error.profile(op.Dense(A)))
        circle = np.linspace(0, 2 * np.pi, 200)
        outline = axes_of @ (np.sqrt(values)[:, None] * np.array([np.cos(circle), np.sin(circle)]))
        ax.plot(*outline, color=INK, linewidth=1.3)
        spreads = np.sqrt(
            error.query_errors(op.Dense(A), op.Dense(np.array([[1.0, 1.0], [1.0, -1.0]])), GAUSSIAN)
        )
        ax.set_title(f"{title}\nsum ±{spreads[0]:.1f}, difference ±{spreads[1]:.1f}", loc="left", fontsize=11)
        ax.set_xlim(-7, 7)
        ax.set_ylim(-7, 7)
        ax.set_aspect("equal")
        ax.axhline(0, color=PALE, linewidth=0.8, zorder=0)
        ax.axvline(0, color=PALE, linewidth=0.8, zorder=0)
        ax.spines[:].set_visible(False)
        ax.tick_params(length=0)
        ax.set_xlabel("error of the first count")
    axes[0].set_ylabel("error of the second count")
    save(figure, "clouds")


def certificate() -> None:
    """What a certificate is: a wall that no strategy can pass, and how near to it one stands."""
    cells = 256
    W = op.Ranges(cells)
    chosen = strategy.select(W, PRIVACY)
    rows = W.shape[0]
    points = [
        ("tree, as published", error.total_error(op.Hierarchy(cells), W, PRIVACY), GREEN),
        ("wavelet, as published", error.total_error(op.Haar(cells), W, PRIVACY), BLUE),
        ("every cell", error.total_error(op.Identity(cells), W, PRIVACY), GREY),
        ("rowspace", chosen.total_error, ACCENT),
    ]
    figure, ax = plt.subplots(figsize=(9.2, 2.9), layout="constrained")
    wall = sqrt(chosen.lower_bound / rows)
    ax.axvspan(0, wall, color=INK, alpha=0.08, linewidth=0)
    ax.axvline(wall, color=INK, linewidth=1.4)
    ax.text(wall / 2, 1.5, "proven:\nno strategy\ncan be here", ha="center", va="center")
    for at, (name, total, colour) in enumerate(points):
        size = sqrt(total / rows)
        ax.plot([wall, size], [at, at], color=colour, linewidth=1.2)
        ax.plot(size, at, "o", color=colour, markersize=8)
        weight = "bold" if name == "rowspace" else "normal"
        ax.text(size + 0.25, at, f"{name}, ±{size:.1f}", va="center", color=colour, fontweight=weight)
    ax.set_ylim(-0.7, len(points) - 0.3)
    ax.set_xlim(0, 1.35 * sqrt(points[0][1] / rows))
    ax.set_yticks([])
    ax.spines[["top", "right", "left"]].set_visible(False)
    ax.tick_params(length=0)
    ax.set_xlabel(f"typical error of a range, all {rows:,} ranges of {cells} cells, ε = 1")
    save(figure, "certificate")


def save(figure: plt.Figure, name: str) -> None:
    """Write one picture, the same bytes every time."""
    figure.savefig(HERE / f"{name}.svg", facecolor="white", metadata={"Date": None})
    plt.close(figure)
    sys.stdout.write(f"written: docs/figures/{name}.svg\n")


def main() -> None:
    """Draw all four."""
    with plt.rc_context(STYLE):
        overlapping_ranges()
        tree_of_ranges()
        clouds()
        certificate()


if __name__ == "__main__":
    main()
