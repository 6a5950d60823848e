"""Can a value be told better than promised by what is summed? Healthy, and four planted faults of counting.

    python -m audits measures

The attacks of `audits.attacks`, on tables that differ in one record, whose value is an awkward one: outside the bounds,
NULL, halfway between two steps, at the ends of 64 bits. Healthy tables are counted by the engine as `rs.release` counts
them, from a data frame and from a Parquet file. The healthy mechanism must never be caught (false-alarm rate 2e-9 for
each that is attacked); each fault counts one of these values as code without that care would, and must be caught.
"""

from __future__ import annotations

import math
import tempfile
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd

import rowspace as rs
from rowspace.measure import draw
from rowspace.noise import SecureRandom
from rowspace.planning import Plan
from rowspace.sources import count_cells
from rowspace.strategy import asked_of_parts

from . import Row
from .attacks import Counts, Mechanism, Outputs, Tables, attacked

SIZE = 40_000
RUNS = {False: 1, True: 5}
STEPS, HIGH = 2, 10

VALUES: dict[str, object] = {
    "a value outside the bounds": 1e300,
    "a NULL value": None,
    "a value halfway between two steps": 7.5,
    "the largest 64-bit integer": 2**63 - 1,
    "the smallest 64-bit integer": -(2**63),
}
"""The value of the one record in which tables differ."""


def plan(squares: bool = False) -> Plan:
    """Sums and counts of two groups, on a grid of two steps from 0 to 10."""
    measure = rs.Measure("x", 0, HIGH, step=HIGH / STEPS, squares=squares)
    domain = rs.Domain(g=rs.Categorical(["a", "b"]), measures=[measure])
    workload = rs.workload.sum(domain, "x", by="g") + rs.workload.marginal(domain, "g")
    return rs.plan(workload, rs.PureDP(1.0), effort="fast")


def mechanism(own: Plan) -> Mechanism:
    """What `rs.release` does with a table in parts, many times at once."""
    asked = asked_of_parts(own.strategy, own.domain.parts)

    def sample(counts: Counts, size: int) -> Outputs:
        answers = np.asarray(asked @ counts)
        drawn = draw(own.noise, size * answers.size, SecureRandom())
        return np.asarray(answers + drawn.reshape(size, answers.size))

    return sample


def counted(own: Plan, value: object, *, parquet: bool = False) -> Counts:
    """The table of one record with this value, in parts, as the engine counts it."""
    kind = "Int64" if isinstance(value, int) else "Float64"
    frame = pd.DataFrame({"g": ["a"], "x": pd.Series([value], dtype=kind)})
    if not parquet:
        return count_cells(frame, own.domain).reshape(-1)
    with tempfile.TemporaryDirectory() as folder:
        frame.to_parquet(Path(folder) / "one.parquet")
        return count_cells(Path(folder) / "one.parquet", own.domain).reshape(-1)


def tables(record: Counts) -> Tables:
    """Nobody beside one record; an attacker may know the latter."""
    return Tables(np.zeros_like(record), record, record)


def distance(own: Plan, record: Counts) -> float:
    """How far one record moves the answers, in ε."""
    asked = asked_of_parts(own.strategy, own.domain.parts)
    scale = own.privacy.noise(1).scale  # type: ignore[attr-defined]
    return float(np.abs(asked @ record).sum() / (own.noise.scale / scale))  # type: ignore[attr-defined]


def _placed(own: Plan, upper: int, lower: int, missing: int = 0) -> Counts:
    """A record of group "a" with so many parts at each bound and in the place of missing values."""
    found = np.zeros(own.domain.shape, dtype=np.int64)
    found[0] = [lower, upper, missing]
    return found.reshape(-1)


def not_clipped(own: Plan) -> Counts:
    """A value beyond the upper bound, taken to the grid as it is: 35 beyond 10."""
    steps = math.floor(35 / HIGH * STEPS + 0.5)
    return _placed(own, steps, STEPS - steps)


def null_in_two_places(own: Plan) -> Counts:
    """NULL filled up with the lower bound for the sum, and counted as missing too."""
    return _placed(own, 0, STEPS, STEPS)


def rounded_apart(own: Plan) -> Counts:
    """Both shares of a value rounded, each upwards: more parts than a record has."""
    share = 7.5 / HIGH * STEPS
    return _placed(own, math.ceil(share), math.ceil(STEPS - share))


def wrapped(own: Plan) -> Counts:
    """The largest integer, its steps computed in 64 bits: the product wraps, and passes a test against the bound."""
    steps = int((np.array([2**63 - 1]) * STEPS // HIGH)[0])
    return _placed(own, min(steps, STEPS), STEPS - min(steps, STEPS))


FAULTS: dict[str, Callable[[Plan], Counts]] = {
    "a value outside the bounds is not clipped": not_clipped,
    "a NULL value has two places": null_in_two_places,
    "a grid that rounds the wrong way": rounded_apart,
    "an integer that wraps at 64 bits": wrapped,
}


def run(long: bool) -> list[Row]:
    """The healthy mechanism on every value, and every fault."""
    rows = []
    for squares in (False, True):
        own = plan(squares)
        for name, value in VALUES.items():
            records = {counted(own, value, parquet=parquet).tobytes() for parquet in (False, True)}
            found = [
                attacked(mechanism(own), tables(np.frombuffer(record, np.int64)), own.privacy, SIZE)
                for record in sorted(records)
                for _ in range(RUNS[long])
            ]
            alarms, proved = sum(each.caught for each in found), max(each.loss for each in found)
            figure = f"{alarms} alarms in {len(found)} runs; proved at least {proved:.3f}"
            what = f"{name}{', with squares' if squares else ''}"
            rows.append(
                Row(f"healthy: {what}", figure, f"no alarm: at most {found[0].promised:g}", not alarms)
            )
    own = plan()
    for name, fault in FAULTS.items():
        each = attacked(mechanism(own), tables(fault(own)), own.privacy, SIZE)
        figure = f"caught by {each.attack}; proved at least {each.loss:.3f}" if each.caught else "not caught"
        rows.append(Row(f"planted: {name}", figure, "caught", each.caught))
    return rows
