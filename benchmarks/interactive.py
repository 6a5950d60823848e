"""Streams of questions on one budget, against what others would pay: `python -m benchmarks.interactive`.

    ranges      200 random ranges of 64 cells, each to a standard error of 10
    dashboard   the sample's 200 SQL statements in random order, each as precise as one plan for all of them makes it
    covid       questions over positive × gender × age × ethnicity (128 cells) to 5 % of the records with probability
                0.999: all 34,425 products of non-empty subsets in random order, as in the artifact of Turbo (SOSP 2023)

What is paid is compared with asking each question by itself; with asking it beside all earlier answers; with a cache
of the very same questions; with all cells, once; and with one who knows all questions beforehand.
"""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import reduce
from itertools import product
from math import log
from pathlib import Path
from typing import Any

import numpy as np
import scipy

import rowspace as rs
from rowspace import operators as op
from rowspace import strategy
from rowspace.sample import people_path
from rowspace.study import Study

TARGET = Path(__file__).parent.parent / "docs" / "figures" / "interactive.png"

Z = float(scipy.stats.norm.ppf(0.975))


@dataclass(frozen=True)
class Spending:
    """What was spent after each question, by everyone who was asked them; `best`: what is paid knowing all of them."""

    title: str
    unit: str
    spent: dict[str, list[float]]
    best: float | None

    @property
    def ratio(self) -> float:
        """What the session paid over what one pays who knows all questions beforehand."""
        assert self.best is not None
        return self.spent["session"][-1] / self.best


def _stream(
    domain: rs.Domain,
    source: object,
    budget: rs.privacy.Privacy,
    expecting: rs.Workload,
    questions: Sequence[tuple[rs.Workload | str, Any]],
    level: float,
    objective: str = "max",
) -> list[float]:
    """What a session has spent after each question."""
    with tempfile.TemporaryDirectory() as folder:
        ledger = rs.Ledger(Path(folder) / "budget.db")
        ledger.create("people", budget)
        session = rs.Session(domain, source, ledger=ledger, expecting=expecting, objective=objective)
        spent = [0.0]
        for question, within in questions:
            spent.append(spent[-1] + session.ask(question, within=within, level=level).cost)
    return spent[1:]


def ranges(count: int = 200) -> Spending:
    """Random ranges: FRONTIER's stream."""
    n, error = 64, 10.0
    domain = rs.Domain(age=rs.Numeric(0, n, bins=n, integer=True, outside="drop"))
    rng = np.random.default_rng(1)
    ends = [sorted(rng.integers(0, n, 2).tolist()) for _ in range(count)]
    questions = [(f"age >= {a} and age <= {b}", Z * error) for a, b in ends]
    counts = np.full(n, 100)
    session = _stream(domain, counts, rs.ZCDP(10.0), rs.workload.ranges(domain, "age"), questions, 0.95)
    W = np.array([(np.arange(n) >= a) & (np.arange(n) <= b) for a, b in ends], dtype=float)
    one = 1 / (2 * error**2)
    best = strategy.GaussianOptimal(objective="max", gap=1e-3).optimize(op.Dense(W), rs.ZCDP(0.5))
    assert isinstance(best, strategy.WorstQueryResult)
    seen: set[tuple[int, ...]] = set()
    cache = [0.0]
    for a, b in ends:
        cache.append(cache[-1] + (0.0 if (a, b) in seen else one))
        seen.add((a, b))
    cells = max(b - a + 1 for a, b in ends) * one
    return Spending(
        f"{count} ranges of {n} cells, standard error {error:g}",
        "ρ",
        {
            "session": session,
            "each by itself": [one * (k + 1) for k in range(count)],
            "reuse only": _reusing([op.Dense(w[None]) for w in W], [error] * count),
            "exact-match cache": cache[1:],
            "all cells, once": [cells] * count,
        },
        best.max_lower_bound * one,
    )


def _reusing(
    questions: Sequence[op.Operator], errors: Sequence[np.ndarray | float], laplace: bool = False
) -> list[float]:
    """Ask each question by itself, and use all earlier answers: the least ρ (or ε) that is still missing.

    K is the covariance of the cells, or of what all questions would be answered where these are fewer, from next to
    nothing known; an answer to qᵗx with some variance leaves K − kkᵗ/(qᵗk + variance), k = Kq. A record pays for the
    answers of one question that it is in.
    """
    W = op.Stack(*questions)
    few = W.shape[0] < W.shape[1]
    K = 1e9 * (op.Composed(W, W.T).to_dense() if few else np.eye(W.shape[1]))
    asked = iter(np.eye(len(K)) if few else W.to_dense())
    spent = [0.0]
    for own, error in zip(questions, errors, strict=True):
        missing = np.zeros(own.shape[0])
        for number, each in enumerate(np.broadcast_to(error, own.shape[0])):
            q = next(asked)
            k = K @ q
            known = max(float(q @ k), 1e-12)
            missing[number] = max(0.0, 1 / each**2 - 1 / known)
            if missing[number] > 0:
                K -= np.outer(k, k) / (known + 1 / missing[number])
        paid = np.sqrt(2 * missing) if laplace else missing / 2
        spent.append(spent[-1] + float(np.max(own.T @ paid)))
    return spent[1:]


def dashboard() -> Spending:
    """The statements one by one, in random order, each as precise as the plan for all of them makes it."""
    folder = people_path().parent
    study = Study.load(folder / "people.toml")
    text = (folder / "dashboard.sql").read_text()
    workload = rs.workload.sql(study.domain, text).reduced()
    joint = rs.plan(workload, rs.ZCDP(0.1))
    parts = list(workload.parts)
    np.random.default_rng(2).shuffle(parts)
    questions, alone, rows = [], [0.0], []
    for part in parts:
        own = rs.Workload(workload.domain, [part])
        half = joint.error_bars(0.95, own)[1]
        questions.append((own, half))
        # Its counts as they are: what they cost a record that is in all of them.
        asked = own.over(workload.domain.with_places()).operator()
        alone.append(alone[-1] + float(np.max(asked.T @ (Z / half) ** 2)) / 2)
        rows.append(asked)
    session = _stream(workload.domain, people_path(), rs.ZCDP(10.0), workload, questions, 0.95, "total")
    errors = [np.asarray(half) / Z for _, half in questions]
    # Every cell as precisely as the question needs that has most cells for what it may err.
    cells = max(
        float(np.max(W @ np.ones(W.shape[1]) / error**2)) / 2 for W, error in zip(rows, errors, strict=True)
    )
    return Spending(
        "the sample's dashboard, each as in one plan",
        "ρ",
        {
            "session": session,
            "each by itself": alone[1:],
            "exact-match cache": alone[1:],
            "reuse only": _reusing(rows, errors),
            "all cells, once": [cells] * len(session),
        },
        0.1,
    )


def covid(records: int = 50_000) -> Spending:
    """Products of non-empty subsets; in units of what one question costs by itself under Laplace noise."""
    sizes = {"positive": 2, "gender": 2, "age": 4, "ethnicity": 8}
    domain = rs.Domain({name: rs.Categorical(range(n), outside="drop") for name, n in sizes.items()})
    alpha, beta = 0.05, 0.001
    within = alpha * records
    one = log(1 / beta) / within
    subsets = [[k for k in product((0, 1), repeat=n) if any(k)] for n in sizes.values()]
    asked = list(product(*subsets))
    np.random.default_rng(3).shuffle(asked)
    texts = [
        " and ".join(
            f"{name} in ({', '.join(str(v) for v, is_in in enumerate(own) if is_in)})"
            for name, own in zip(sizes, chosen, strict=True)
        )
        for chosen in asked
    ]
    rows = [
        op.Dense(reduce(np.kron, [np.array(own, dtype=float) for own in chosen])[None]) for chosen in asked
    ]
    expecting = rs.workload.product(domain, **{name: op.AllPredicates(n) for name, n in sizes.items()})
    counts = np.full(tuple(sizes.values()), records // 128)
    questions = [(text, within) for text in texts]
    spent = _stream(domain, counts, rs.PureDP(10.0), expecting, questions, 1 - beta)
    cells = _cells_by_laplace(128, within, beta)
    return Spending(
        "Covid questions within 5 %, 99.9 %",
        "single Laplace costs",
        {
            "session": [s / one for s in spent],
            "each by itself": [float(k + 1) for k in range(len(texts))],
            "exact-match cache": [float(k + 1) for k in range(len(texts))],  # each is asked once
            "reuse only": [s / one for s in _reusing(rows, [2**0.5 / one] * len(texts), laplace=True)],
            "all cells, once": [cells / one] * len(texts),
        },
        None,
    )


def _cells_by_laplace(cells: int, within: float, beta: float) -> float:
    """The ε at which the sum of all cells, asked one by one, is within reach: about normal."""
    return float(-scipy.stats.norm.ppf(beta / 2) * np.sqrt(2 * cells) / within)


STREAMS: dict[str, Callable[[], Spending]] = {"ranges": ranges, "dashboard": dashboard, "covid": covid}


def prices() -> tuple[float, ...]:
    """What sessions pay: over knowing all beforehand, and in single Laplace costs. Draws the picture."""
    found = [stream() for stream in STREAMS.values()]
    draw(found, TARGET)
    return found[0].ratio, found[1].ratio, found[2].spent["session"][-1]


INK, ACCENT, GREY = "#1f2933", "#c2410c", "#8794a1"

LOOKS: dict[str, dict[str, Any]] = {
    "each by itself": {"color": GREY, "linewidth": 1.6},
    "exact-match cache": {"color": "#9a7b4f", "linewidth": 1.6, "linestyle": (0, (5, 2))},
    "reuse only": {"color": "#3b6ea5", "linewidth": 1.6},
    "all cells, once": {"color": "#5b8f63", "linewidth": 1.6},
    "session": {"color": ACCENT, "linewidth": 2.8},
    "clairvoyant": {"color": INK, "linewidth": 1.3, "linestyle": (0, (1, 2))},
}
"""Everyone's line, from those who pay most to the one who knows all questions beforehand."""


def draw(found: Sequence[Spending], path: Path) -> None:
    """Budget spent against questions asked, one panel for every stream, names at the ends of the lines."""
    import matplotlib as mpl

    mpl.use("Agg")
    import matplotlib.pyplot as plt

    plt.rcParams.update({"font.family": "DejaVu Sans", "font.size": 9, "axes.edgecolor": GREY})
    figure, panels = plt.subplots(1, len(found), figsize=(4.6 * len(found), 4.0), dpi=160, squeeze=False)
    for ax, own in zip(panels[0], found, strict=True):
        lines = dict(own.spent)
        if own.best is not None:
            lines["clairvoyant"] = [own.best] * len(own.spent["session"])
        ends = []
        for name, look in LOOKS.items():
            if name in lines:
                spent = np.array(lines[name])
                ax.plot(np.arange(1, len(spent) + 1), np.where(spent > 0, spent, np.nan), **look)
                ends.append((np.log10(spent[-1]), name))
        ax.set(xlabel="questions asked", yscale="log")
        ax.set_title(own.title, fontsize=9.5, color=INK, loc="left", pad=14)
        ax.set_ylabel(f"spent, {own.unit}")
        ax.spines[["top", "right"]].set_visible(False)
        ax.tick_params(colors=INK)
        ax.grid(axis="y", color="#e5e9ed", linewidth=0.8)
        bottom, top = np.log10(ax.get_ylim())
        for name, at in _apart(ends, 0.06 * (top - bottom)):
            ax.annotate(
                name,
                (len(own.spent["session"]), 10**at),
                xytext=(6, 0),
                textcoords="offset points",
                va="center",
                color=LOOKS[name]["color"],
                fontweight="bold" if name == "session" else "normal",
                annotation_clip=False,
            )
    figure.subplots_adjust(left=0.05, right=0.905, bottom=0.13, top=0.87, wspace=0.72)
    figure.savefig(path)
    plt.close(figure)


def _apart(ends: Sequence[tuple[float, str]], least: float) -> list[tuple[str, float]]:
    """Where names stand so that none covers another: in their order, at least so far apart."""
    placed: list[tuple[str, float]] = []
    for at, name in sorted(ends):
        placed.append((name, at if not placed else max(at, placed[-1][1] + least)))
    return placed


if __name__ == "__main__":
    asked = [STREAMS[name]() for name in sys.argv[1:] or STREAMS]
    for own in asked:
        known = "" if own.best is None else f", {own.ratio:.4g} × knowing all beforehand"
        print(f"{own.title}: paid {own.spent['session'][-1]:.6g} {own.unit}{known}")
        for name, spent in own.spent.items():
            print(f"    {name}: {spent[-1]:.6g}")
    if len(asked) == len(STREAMS):
        draw(asked, TARGET)
