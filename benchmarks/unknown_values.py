"""Keys found in a table whose keys nobody knows, beside OpenDP's threshold: `python -m benchmarks.unknown_values`.

A million records, each of another person, over 100,000 keys with Zipf frequencies; (ε, δ) = (1, 1e-8), and smaller ε.
OpenDP draws Laplace noise at the least scale. Its map (0.16.0) leaves the threshold itself out of δ, though a count
that is equal to it is shown (its issue 2922): so it stands here twice, at the threshold that its map accepts and at the
one at which its noise has the δ that is stated. 40 runs of each, on the same counts.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

import rowspace as rs
from rowspace.measure import measure_keys
from rowspace.privacy import threshold

KEYS, RECORDS, RUNS = 100_000, 10**6, 40
EPSILON, DELTA = 1.0, 1e-8

Counts = npt.NDArray[np.int64]


def zipf(keys: int = KEYS, records: int = RECORDS, exponent: float = 1.0) -> npt.NDArray[np.int64]:
    """The key of every record."""
    weights = 1.0 / np.arange(1, keys + 1) ** exponent
    return np.random.default_rng(1).choice(keys, size=records, p=weights / weights.sum())


def ours(counts: Counts, epsilon: float = EPSILON, delta: float = DELTA) -> tuple[int, Callable[[], int]]:
    """Our threshold, and a run that says how many keys it finds."""
    own = threshold(rs.ApproxDP(epsilon, delta))
    return own.least, lambda: len(measure_keys(own, own.least, counts)[0])


def opendp(
    counts: Counts, epsilon: float = EPSILON, delta: float = DELTA, *, by_its_map: bool = False
) -> tuple[int, Callable[[], int]]:
    """OpenDP's threshold, and a run: the least that its map accepts, or that 1 + noise reaches with probability δ."""
    import opendp.prelude as dp

    dp.enable_features("contrib")
    space = (
        dp.map_domain(dp.atom_domain(T="i32"), dp.atom_domain(T="i64")),
        dp.l01inf_distance(dp.absolute_distance(T="i64")),
    )

    def made(least: int) -> Any:
        return dp.m.make_laplace_threshold(*space, scale=1.0 / epsilon, threshold=least)

    def is_private(least: int) -> bool:
        spent = made(least).map((1, 1, 1))
        return bool(spent[0] <= epsilon and spent[1] <= delta)

    def reached(least: int) -> float:
        return math.exp(-epsilon * (least - 1)) / (1 + math.exp(-epsilon))

    test: Any = is_private if by_its_map else lambda t: reached(t) <= delta
    least = int(dp.binary_search(test, bounds=(1, 10_000)))
    mechanism = made(least)
    table = dict(enumerate(counts.tolist()))
    return least, lambda: len(mechanism(table))


CONTENDERS: dict[str, Callable[[Counts, float, float], tuple[int, Callable[[], int]]]] = {
    "rowspace": ours,
    "OpenDP": opendp,
    "OpenDP, as its map says": partial(opendp, by_its_map=True),
}


def main() -> None:
    """Print both, at several ε, and the time of the whole of `rs.discover`."""
    records = zipf()
    counts = np.bincount(records)
    counts = counts[counts > 0]
    print(f"{RECORDS:,} records, {len(counts):,} keys that anybody has, delta {DELTA:g}, {RUNS} runs")
    for epsilon in (EPSILON, 0.3, 0.1):
        for name, make in CONTENDERS.items():
            least, run = make(counts, epsilon, DELTA)
            start = time.process_time()
            mean = np.mean([run() for _ in range(RUNS)])
            seconds = (time.process_time() - start) / RUNS
            print(
                f"  epsilon {epsilon:g}, {name}: from {least} on, {mean:,.1f} keys, {seconds:.3f} CPU s a run"
            )
    table = pa.table({"key": [f"key {k}" for k in records], "person": np.arange(len(records))})
    for unit in (None, "person"):
        start = time.perf_counter()
        size = len(rs.discover(table, "key", privacy=rs.ApproxDP(EPSILON, DELTA), unit=unit))
        seconds = time.perf_counter() - start
        print(f"  rs.discover on the records as text, unit {unit}: {size:,} keys in {seconds:.2f} s")


if __name__ == "__main__":
    main()
