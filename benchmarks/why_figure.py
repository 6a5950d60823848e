"""The README's figure: error of all range queries by method. Writes docs/figures/why.png and prints its numbers.

python -m benchmarks.why_figure
"""

from math import sqrt
from pathlib import Path
from typing import Any

import matplotlib as mpl

mpl.use("Agg")

import matplotlib.pyplot as plt

from rowspace import PureDP, error, strategy
from rowspace import operators as op

SIZES = [16, 32, 64, 128, 256, 512, 1024]
PRIVACY = PureDP(1.0)
TARGET = Path(__file__).parent.parent / "docs" / "figures" / "why.png"

INK, ACCENT, GREY = "#1f2933", "#c2410c", "#8794a1"


def rmse(total_error: float, n: int) -> float:
    """Root mean squared error of one range."""
    return sqrt(total_error / op.Ranges(n).shape[0])


def curves() -> dict[str, list[float]]:
    """RMSE per method and size, at ε = 1."""
    table: dict[str, list[float]] = {
        "noise on every answer": [],
        "noise on every cell (identity)": [],
        "Haar wavelet, as published": [],
        "binary tree, as published": [],
        "rowspace": [],
        "no strategy can go below": [],
    }
    for n in SIZES:
        W = op.Ranges(n)
        chosen = strategy.select(W, PRIVACY)
        values = [
            PRIVACY.unit_variance * W.max_column_norm(1) ** 2 * W.shape[0],
            error.total_error(op.Identity(n), W, PRIVACY),
            error.total_error(op.Haar(n), W, PRIVACY),
            error.total_error(op.Hierarchy(n), W, PRIVACY),
            chosen.total_error,
            chosen.lower_bound,
        ]
        for column, value in zip(table.values(), values, strict=True):
            column.append(rmse(value, n))
    return table


def draw(table: dict[str, list[float]]) -> None:
    plt.rcParams.update({"font.family": "DejaVu Sans", "font.size": 10, "axes.edgecolor": GREY})
    figure, axes = plt.subplots(figsize=(7.6, 4.2), dpi=160)
    styles: list[dict[str, Any]] = [
        {"color": GREY, "linewidth": 1.6},
        {"color": GREY, "linewidth": 1.6, "linestyle": (0, (5, 2))},
        {"color": "#3b6ea5", "linewidth": 1.6},
        {"color": "#5b8f63", "linewidth": 1.6},
        {"color": ACCENT, "linewidth": 2.6, "marker": "o", "markersize": 4.5},
        {"color": INK, "linewidth": 1.2, "linestyle": (0, (1, 2))},
    ]
    shift = [0, 3, -7, 5, 0, 0]
    for (name, values), style, dy in list(zip(table.items(), styles, shift, strict=True))[1:]:
        axes.plot(SIZES, values, **style)
        weight = "bold" if name == "rowspace" else "normal"
        axes.annotate(
            name,
            (SIZES[-1], values[-1]),
            xytext=(8, dy),
            textcoords="offset points",
            color=style["color"],
            va="center",
            fontweight=weight,
        )
    axes.set_xscale("log", base=2)
    axes.set_ylim(0, 28)
    every_answer = table["noise on every answer"]
    axes.text(
        SIZES[0] * 1.06,
        26.4,
        f"off the chart: noise on every answer by itself, {every_answer[0]:,.0f} to {every_answer[-1]:,.0f}",
        color=GREY,
        fontsize=9,
    )
    axes.set_xticks(SIZES, [str(n) for n in SIZES])
    axes.minorticks_off()
    axes.set_xlim(SIZES[0], SIZES[-1])
    axes.set_xlabel("cells (for example years of age)", color=INK)
    axes.set_title(
        "Typical error of a range count, all ranges answered at once, ε = 1",
        loc="left",
        color=INK,
        fontsize=11,
    )
    axes.grid(axis="y", color="#e4e7eb", linewidth=0.8)
    axes.spines[["top", "right"]].set_visible(False)
    axes.tick_params(colors=INK, length=0)
    figure.subplots_adjust(left=0.075, right=0.66, top=0.9, bottom=0.13)
    TARGET.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(TARGET)
    plt.close(figure)


def main() -> None:
    table = curves()
    print(f"{'cells':32}" + "".join(f"{n:>9}" for n in SIZES))
    for name, values in table.items():
        print(f"{name:32}" + "".join(f"{v:9.1f}" for v in values))
    draw(table)
    print(f"written: {TARGET.relative_to(TARGET.parent.parent.parent)}")


if __name__ == "__main__":
    main()
