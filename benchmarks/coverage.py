"""Do 95 % intervals cover 95 %? Ranges, marginals, quantiles and ratios over 2,000 releases of invented people.

    python -m benchmarks.coverage [releases]

Every release draws fresh noise; the truth is that of the counts. With 2,000 releases the share that covers has a
standard error of 0.5 percentage points, so 95 ± 1 % is two standard errors for one query; families are averaged.
"""

from __future__ import annotations

import sys
from collections import defaultdict

import numpy as np

import rowspace as rs
from rowspace.releases import derived, derived_quantiles

QUANTILES = (0.1, 0.25, 0.5, 0.75, 0.9)
DOMAIN = rs.Domain(
    age=rs.Numeric(0, 64, bins=64, outside="drop"), sex=rs.Categorical(["F", "M"], outside="drop")
)
RATIOS = (("age < 16", "age < 64"), ("age >= 48 and sex = 'F'", "age >= 48"), ("sex = 'F'", "sex = 'M'"))


def invented_counts() -> np.ndarray:
    """A smooth, skewed population of about 6,000."""
    age = np.arange(64)
    shape = 60 + 40 * np.exp(-(((age - 20) / 12) ** 2)) - 0.8 * age
    return np.column_stack([shape, 0.9 * shape]).round().astype(np.int64)


def quantile_of(counts: np.ndarray, q: float) -> float:
    """The quantile of the records themselves: ages in whole years."""
    return float(np.quantile(np.repeat(np.arange(len(counts)), counts), q))


def coverage(privacy: rs.privacy.Privacy, releases: int) -> dict[str, float]:
    """The share of intervals that hold the truth, by family."""
    counts = invented_counts()
    queries = rs.workload.ranges(DOMAIN, "age") + rs.workload.marginal(DOMAIN, "age", "sex")
    plan = rs.plan(queries, privacy, effort="fast")
    truth = queries.operator() @ counts.ravel().astype(float)
    true_quantiles = [quantile_of(counts.sum(axis=1), q) for q in QUANTILES]
    true_ratios = [_count(a, counts) / _count(b, counts) for a, b in RATIOS]
    held: dict[str, list[float]] = defaultdict(list)
    for _ in range(releases):
        release = rs.release(plan, counts.ravel())
        answers = release.answers()
        inside = (answers["low"].to_numpy() <= truth + 1e-6) & (truth - 1e-6 <= answers["high"].to_numpy())
        ranges = len(truth) - counts.size
        held["range"].append(inside[:ranges].mean())
        held["marginal"].append(inside[ranges:].mean())
        found = derived_quantiles.quantiles(release, "age", QUANTILES)
        for true, low, high in zip(true_quantiles, found["low"], found["high"], strict=True):
            held["quantile"].append(low <= true <= high)
        for (a, b), true in zip(RATIOS, true_ratios, strict=True):
            estimate = derived.ratio(release, a, b)
            held["ratio"].append(estimate.low <= true <= estimate.high)
    return {family: float(np.mean(values)) for family, values in held.items()}


def _count(text: str, counts: np.ndarray) -> float:
    row = rs.workload.predicates(DOMAIN, [text]).operator().to_dense()[0]
    return float(row @ counts.ravel())


def main() -> None:
    releases = int(sys.argv[1]) if len(sys.argv) > 1 else 2000
    for privacy in (rs.PureDP(1.0), rs.ZCDP(0.1)):
        print(f"{releases:,} releases under {privacy}")
        for family, share in coverage(privacy, releases).items():
            print(f"  {family:<10} {100 * share:.2f} % of the 95 % intervals hold the truth")


if __name__ == "__main__":
    main()
