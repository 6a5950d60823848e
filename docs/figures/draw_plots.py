"""The picture of docs/howto/plots.md, of the bundled sample: python docs/figures/draw_plots.py"""

from __future__ import annotations

import sys
from pathlib import Path

import matplotlib as mpl

mpl.use("Agg")

import matplotlib.pyplot as plt

import rowspace as rs
from rowspace.noise import InsecureSeededRandom
from rowspace.sample import REGIONS, people_path

TARGET = Path(__file__).with_name("plots.svg")


def main() -> None:
    """A plan above, a release below; the same bytes every time, which noise with a seed is good for."""
    domain = rs.Domain(
        age=rs.Numeric(0, 100, bins=50, outside="clip"),
        sex=rs.Categorical(["F", "M"]),
        region=rs.Categorical(list(REGIONS)),
    )
    w = rs.workload
    queries = w.ranges(domain, "age") + w.marginal(domain, "age", "sex") + w.marginal(domain, "region", "sex")
    plan = rs.plan(queries, rs.PureDP(0.1))
    release = rs.release(plan, people_path(), random=InsecureSeededRandom(1))
    with plt.rc_context({"font.size": 9, "svg.hashsalt": "rowspace"}):
        figure, axes = plt.subplots(2, 3, figsize=(14, 7), layout="constrained")
        plan.plot(axes[0, 0])
        plan.plot_groups(axes[0, 1])
        plan.plot_what_if(ax=axes[0, 2])
        release.plot("age", ax=axes[1, 0])
        release.plot("region", ax=axes[1, 1])
        release.plot("region", "sex", ax=axes[1, 2])
        titles = ["plan.plot()", "plan.plot_groups()", "plan.plot_what_if()"]
        titles += ['release.plot("age")', 'release.plot("region")', 'release.plot("region", "sex")']
        for ax, title in zip(axes.flat, titles, strict=True):
            ax.set_title(title, family="monospace", fontsize=9, loc="right")
        figure.savefig(TARGET, facecolor="white", metadata={"Date": None})
    sys.stdout.write("written: docs/figures/plots.svg\n")


if __name__ == "__main__":
    main()
