"""Sums and means: errors of joint plans, means beside OpenDP's, coverage, and counting beside plain GROUP BYs.

python -m benchmarks.sums                # plans, and means of the sample over 500 runs
python -m benchmarks.sums --regions      # the table of docs/howto/sums.md: one release of each, and errors over 300
python -m benchmarks.sums --coverage     # 95 % intervals over 2,000 releases
python -m benchmarks.sums --large        # 10 million rows, 5 attributes: SUM and COUNT end to end
"""

from __future__ import annotations

import sys
import tempfile
import time
from collections.abc import Callable
from functools import partial
from itertools import product
from pathlib import Path

import numpy as np
import pandas as pd

import rowspace as rs
from rowspace import sample
from rowspace.measure import measure
from rowspace.mechanism import counts_for

HIGH, STEP = 200_000, 1_000


def plans() -> None:
    """Counts, sums and both totals of twenty groups; sums and counts of all ranges of a hundred ages."""
    groups = rs.Domain(
        g=rs.Categorical(range(20), outside="drop"), measures=[rs.Measure("v", -1, 1, step=0.01)]
    )
    ages = rs.Domain(age=rs.Numeric(0, 100, bins=100), measures=[rs.Measure("v", 0, 1, step=0.01)])
    cases = {
        "twenty groups": rs.workload.mean(groups, "v", by="g") + rs.workload.mean(groups, "v"),
        "all ranges of ages": rs.workload.sum(ages, "v", age="ranges") + rs.workload.ranges(ages, "age"),
    }
    for name, workload in cases.items():
        for privacy in (rs.PureDP(1.0), rs.ZCDP(0.5)):
            started = time.process_time()
            plan = rs.plan(workload, privacy)
            print(
                f"{name:20} {type(privacy).__name__:7} {plan.total_error:12.2f}, certified {plan.ratio:.4f}  "
                f"{time.process_time() - started:5.1f} CPU s"
            )


def means(runs: int = 500) -> None:
    """Mean income by region and sex of the sample at ε = 1, beside OpenDP's sum and count at their best split."""
    import opendp.prelude as dp

    dp.enable_features("contrib")
    people = pd.read_parquet(sample.people_path())
    domain = rs.Domain(
        region=rs.Categorical(sample.REGIONS),
        sex=rs.Categorical(sample.SEXES),
        measures=[rs.Measure("income", 0, HIGH, step=STEP)],
    )
    plan = rs.plan(rs.workload.mean(domain, "income", by=("region", "sex")), rs.PureDP(1.0))
    grouped = people.assign(income=people["income"].clip(0, HIGH)).groupby(["region", "sex"])["income"]
    order = [(region, sex) for region in sample.REGIONS for sex in sample.SEXES]
    truth = grouped.mean().reindex(order).to_numpy()
    sums, counts = grouped.sum().reindex(order).astype(int), grouped.count().reindex(order).astype(int)
    own = counts_for(plan, people, None)
    ours = []
    for _ in range(runs):
        noisy = measure(plan.strategy, plan.noise, own, parts=plan.domain.parts)
        found = rs.Release(plan, noisy.answers).mean("income", "region", "sex")["answer"].to_numpy()
        ours.append(np.mean((found - truth) ** 2))
    space = dp.atom_domain(T=int), dp.absolute_distance(T=int)
    theirs = {}
    for share in (0.5, 0.6, 0.65, 0.7, 0.75, 0.8, 0.9):
        add, count = (dp.m.make_laplace(*space, scale=scale) for scale in (HIGH / share, 1 / (1 - share)))
        errors = []
        for _ in range(runs):
            found = np.array([add(int(a)) / max(1, count(int(b))) for a, b in zip(sums, counts, strict=True)])
            errors.append(np.mean((found - truth) ** 2))
        theirs[share] = float(np.mean(errors))
    best = min(theirs, key=theirs.__getitem__)
    mine = float(np.mean(ours))
    print(
        f"means of income, ε = 1: {mine:,.1f}; OpenDP {theirs[best]:,.1f} with {best:.0%} for sums, "
        f"{theirs[best] / mine:.2f} times; with halves {theirs[0.5] / mine:.2f} times"
    )


def regions(runs: int = 300) -> None:
    """Mean income by region at ε = 1: ours, OpenDP's sum over count at its best split, noise drawn with numpy."""
    import opendp.prelude as dp

    dp.enable_features("contrib")
    people = pd.read_parquet(sample.people_path())
    measures = [rs.Measure("income", 0, HIGH, step=STEP)]
    domain = rs.Domain(region=rs.Categorical(sample.REGIONS), measures=measures)
    plan = rs.plan(rs.workload.mean(domain, "income", by="region"), rs.PureDP(1.0))
    grouped = people["income"].clip(0, HIGH).groupby(people["region"])
    order = list(sample.REGIONS)
    sums, counts, truth = (grouped.agg(how).reindex(order).to_numpy() for how in ("sum", "count", "mean"))
    table, random = counts_for(plan, people, None), np.random.default_rng()
    space = dp.atom_domain(T=int), dp.absolute_distance(T=int)

    def ours() -> pd.DataFrame:
        noisy = measure(plan.strategy, plan.noise, table, parts=plan.domain.parts)
        return rs.Release(plan, noisy.answers).mean("income", "region")

    def opendp(share: float) -> np.ndarray:
        add, count = (dp.m.make_laplace(*space, scale=scale) for scale in (HIGH / share, 1 / (1 - share)))
        return np.array([add(int(a)) / count(int(b)) for a, b in zip(sums, counts, strict=True)])

    def numpy() -> np.ndarray:
        noise = random.laplace(scale=2.0, size=(2, len(order)))
        return np.asarray((sums + HIGH * noise[0]) / (counts + noise[1]))

    def error(answers: Callable[[], np.ndarray]) -> float:
        return float(np.sqrt(np.mean([(answers() - truth) ** 2 for _ in range(runs)])))

    errors = {share: error(partial(opendp, share)) for share in (0.5, 0.65, 0.75, 0.8, 0.85)}
    best = min(errors, key=errors.__getitem__)
    once = ours().assign(records=counts, truth=truth, opendp=opendp(best), numpy=numpy())
    print(once.drop(columns=["std_error", "method"]).round(0).to_string(index=False))
    print(
        f"root mean square errors: {error(lambda: ours()['answer'].to_numpy()):.0f}, OpenDP {errors[best]:.0f} with "
        f"{best:.0%} for sums and {errors[0.5]:.0f} with halves, numpy {error(numpy):.0f}"
    )


def coverage(runs: int = 2000) -> None:
    """How many of the 95 % intervals cover, by group: 400, 30 and 6 records."""
    frame = pd.DataFrame({"g": ["a"] * 400 + ["b"] * 30 + ["c"] * 6, "x": np.tile([3.0, 8.0], 218)})
    values = rs.Measure("x", 0, 10, step=1, squares=True)
    domain = rs.Domain(g=rs.Categorical(["a", "b", "c"]), measures=[values])
    plain = rs.Domain(g=rs.Categorical(["a", "b", "c"]), measures=[rs.Measure("x", 0, 10, step=1)])
    grouped = frame.groupby("g")["x"]
    cases = {
        "means": (rs.workload.mean(plain, "x", by="g"), grouped.mean()),
        "variances": (rs.workload.variance(domain, "x", by="g"), grouped.var(ddof=0)),
        "deviations of samples": (
            rs.workload.standard_deviation(domain, "x", by="g", sample=True),
            grouped.std(),
        ),
    }
    for (name, (workload, last)), privacy in product(cases.items(), (rs.PureDP(0.7), rs.ZCDP(0.1))):
        squares = [] if name == "means" else [((frame["x"] - 5) ** 2).groupby(frame["g"]).sum()]
        truth = np.concatenate([grouped.sum(), grouped.count(), *squares, last])
        covered, answered = _covered(rs.plan(workload, privacy), frame, truth, runs)
        silent = runs - answered
        shown = [
            ", ".join(f"{100 * share / runs:.1f}" for share in group)
            for group in (covered + silent).reshape(-1, 3)
        ]
        tiny = covered[-1] / max(1, answered[-1])
        kinds = "sums, numbers, " + "squares, " * len(squares) + name
        print(
            f"{type(privacy).__name__:7} {kinds} of 400, 30, 6 records: {'; '.join(shown)} %; 6 records have an "
            f"answer in {100 * answered[-1] / runs:.0f} %, of which {100 * tiny:.1f} % cover",
            flush=True,
        )


def people(runs: int = 2000) -> None:
    """The same of numbers of people, by group and in both, who have several rows in one cell or in two."""
    once = pd.DataFrame({"g": ["a"] * 400 + ["b"] * 30 + ["c"] * 6, "who": range(436)})
    frame = pd.concat([once, once, once.head(3).assign(g="c")])
    domain = rs.Domain(g=rs.Categorical(["a", "b", "c"]))
    workload = rs.workload.marginal(domain, "g") + rs.workload.predicates(domain, ["g in ('a', 'b')"])
    for kind, amount in ((rs.PureDP, 0.1), (rs.ZCDP, 0.1)):
        privacy = kind(amount, unit=rs.PrivacyUnit("who", rows=2, distinct=True))
        truth = np.array([400.0, 30, 9, 430])
        covered, _ = _covered(rs.plan(workload, privacy), frame, truth, runs)
        shares = ", ".join(f"{100 * share / runs:.1f}" for share in covered)
        print(f"{kind.__name__:7} 400, 30, 9 and 430 people: {shares} %", flush=True)


def _covered(
    plan: rs.Plan, frame: pd.DataFrame, truth: np.ndarray, runs: int
) -> tuple[np.ndarray, np.ndarray]:
    """In how many of so many releases the interval of each answer covers, and in how many there is an answer."""
    counts = counts_for(plan, frame, None)
    covered, answered = np.zeros(truth.size), np.zeros(truth.size)
    for _ in range(runs):
        noisy = measure(plan.strategy, plan.noise, counts, parts=plan.domain.parts)
        found = rs.Release(plan, noisy.answers).answers()
        covered += ((found["low"] <= truth) & (truth <= found["high"])).to_numpy()
        answered += found["answer"].notna().to_numpy()
    return covered, answered


def counting(rows: int = 10_000_000) -> None:
    """All tables of two of five attributes with sums, from a Parquet file, beside the bare GROUP BYs."""
    import duckdb

    rng = np.random.default_rng(0)
    names = [f"a{i}" for i in range(5)]
    frame = pd.DataFrame({name: rng.integers(0, 10, rows).astype(np.int8) for name in names})
    frame["x"] = rng.gamma(2, 30_000, rows).round()
    attributes = {name: rs.Categorical(range(10), outside="drop") for name in names}
    domain = rs.Domain(attributes, measures=[rs.Measure("x", 0, HIGH, step=STEP)])
    pairs = [(a, b) for i, a in enumerate(names) for b in names[i + 1 :]]
    workload = sum(
        (rs.workload.mean(domain, "x", by=pair) for pair in pairs[1:]),
        rs.workload.mean(domain, "x", by=pairs[0]),
    )
    plan = rs.plan(workload, rs.ZCDP(0.5))
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "rows.parquet"
        frame.to_parquet(path, index=False)
        rs.release(plan, frame.head(10)).answers()  # what is loaded once is no part of it
        connection = duckdb.connect()
        started = _clocks()
        for a, b in pairs:
            clipped = f"SUM(LEAST(GREATEST(x, 0), {HIGH}))"
            query = f"SELECT {a}, {b}, COUNT(*), {clipped} FROM '{path}' GROUP BY ALL"
            connection.sql(query).fetchall()
        bare = _clocks() - started
        started = _clocks()
        rs.release(plan, path).answers()
        ours = _clocks() - started
    times, by_cpu = ours / bare
    print(
        f"{rows:,} rows, {len(pairs)} tables with sums: {ours[0]:.2f} s end to end, {times:.2f} times the GROUP BYs; "
        f"{by_cpu:.2f} times in CPU seconds"
    )


def _clocks() -> np.ndarray:
    """Seconds that have passed, and CPU seconds."""
    return np.array([time.perf_counter(), time.process_time()])


if __name__ == "__main__":
    if "--coverage" in sys.argv:
        coverage()
        people()
    elif "--regions" in sys.argv:
        regions()
    elif "--large" in sys.argv:
        counting()
    else:
        plans()
        means()
