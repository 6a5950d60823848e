"""Do the values that are found tell whether somebody's own was among them? Healthy, and four planted faults.

    python -m audits discovery

The attacks of `audits.attacks`, on tables of a few keys that differ in one unit: one brings a key into being, one joins
others, one of two keys, one is replaced. δ is chosen just above what the threshold makes use of, so that a fault of one
count shows. The healthy mechanism must never be caught (false-alarm rate 2e-9 for each that is attacked), every planted
fault must be.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

import rowspace as rs
from rowspace.measure import measure_keys
from rowspace.noise import SecureRandom, discrete_laplace, truncated_laplace
from rowspace.planning import DiscoveryPlan
from rowspace.privacy import ApproxDP, PrivacyUnit, TruncatedLaplace

from . import Row
from .attacks import Counts, Finding, Mechanism, Outputs, Tables, attacked

SIZE = {False: 20_000, True: 80_000}
PLANTED = 160_000
RUNS = {False: 1, True: 5}
RELEASES = {False: 20, True: 200}


@dataclass(frozen=True)
class Case:
    """A plan, and two tables of units by keys that its promise is about."""

    name: str
    plan: DiscoveryPlan
    tables: Tables


def _case(name: str, privacy: ApproxDP, first: list[int], second: list[int]) -> Case:
    """The third table, which an attacker knows, is the second."""
    one, two = np.array(first), np.array(second)
    return Case(name, DiscoveryPlan(("key",), privacy), Tables(one, two, two))


def cases() -> list[Case]:
    """Neighbours of every kind."""
    one = ApproxDP(0.3, 0.00775)
    two = ApproxDP(1.0, 0.05, unit=PrivacyUnit("unit", 2))
    many = ApproxDP(2.0, 0.02, unit=PrivacyUnit("unit", 9))
    least = DiscoveryPlan(("key",), one).least
    return [
        _case("a key that only one unit has", one, [0], [1]),
        _case("a key at the threshold", one, [least], [least + 1]),
        _case("two keys of one unit", two, [0, 3], [1, 4]),
        _case("nine keys of one unit, Gaussian noise", many, [0] * 9, [1] * 9),
        _case("a unit is replaced", ApproxDP(1.0, 0.05, "replace-one"), [1, 0], [0, 1]),
    ]


def healthy(plan: DiscoveryPlan) -> Mechanism:
    """What `rs.discover` does with counts, many times at once: keys that nobody has are not looked at."""
    return _shown(lambda counts: measure_keys(plan.threshold, plan.least, counts))


def through_discover(plan: DiscoveryPlan) -> Mechanism:
    """`rs.discover` itself, on records."""

    def sample(counts: Counts, size: int) -> Outputs:
        found = np.zeros((size, len(counts)), dtype=np.int64)
        frame = pd.DataFrame({"key": np.repeat(np.arange(len(counts)), counts)})
        for run in found:
            own = rs.discover(frame, "key", privacy=plan.privacy)
            run[list(own.values[0])] = own.noisy_counts
        return found

    return sample


def lower_threshold(plan: DiscoveryPlan) -> Mechanism:
    """Shown from one count less on."""
    noise = plan.threshold
    assert isinstance(noise, TruncatedLaplace)
    scale, reach = noise.scale, noise.reach
    return _from(plan.least - 1, lambda size: truncated_laplace(scale, reach, size, SecureRandom()))


def not_truncated(plan: DiscoveryPlan) -> Mechanism:
    """Plain Laplace noise at our threshold: as if a count that is equal to it were not shown."""
    noise = plan.threshold
    assert isinstance(noise, TruncatedLaplace)
    scale = noise.scale
    return _from(plan.least, lambda size: discrete_laplace(scale, size, SecureRandom()))


def half_the_noise(plan: DiscoveryPlan) -> Mechanism:
    """Noise for half the sensitivity, at the same threshold."""
    noise = plan.threshold
    assert isinstance(noise, TruncatedLaplace)
    half = TruncatedLaplace(noise.scale / 2, noise.reach)
    return _shown(lambda counts: measure_keys(half, plan.least, counts))


def unbounded_unit(plan: DiscoveryPlan) -> Mechanism:
    """Every unit counts in three times as many keys as the noise is for."""
    own = healthy(plan)
    return lambda counts, size: np.hstack([own(counts, size) for _ in range(3)])


FAULTS = {
    "a threshold one too low": (lower_threshold, cases()[0]),
    "noise that is not truncated": (not_truncated, cases()[0]),
    "half the noise": (half_the_noise, cases()[1]),
    "units in too many keys": (unbounded_unit, cases()[1]),
}


def _from(least: int, draw: Callable[[int], Counts]) -> Mechanism:
    """Some noise, at some threshold."""

    def passing(counts: Counts) -> tuple[Any, Any]:
        noisy = counts + draw(len(counts))
        where = np.flatnonzero(noisy >= least)
        return where, noisy[where]

    return _shown(passing)


def _shown(passing: Callable[[Counts], tuple[Any, Any]]) -> Mechanism:
    """Tables of what is shown, 0 where nothing is."""

    def sample(counts: Counts, size: int) -> Outputs:
        every = np.tile(np.asarray(counts, dtype=np.int64), size)
        there = np.flatnonzero(every)
        where, noisy = passing(every[there])
        found = np.zeros(len(every), dtype=np.int64)
        found[there[where]] = noisy
        return found.reshape(size, len(counts))

    return sample


def run(long: bool) -> list[Row]:
    """The healthy mechanism on every case, and every fault on those it is about."""
    rows = []
    for case in cases():
        found = [
            attacked(healthy(case.plan), case.tables, case.plan.privacy, SIZE[long])
            for _ in range(RUNS[long])
        ]
        rows.append(_healthy(f"healthy: {case.name}", found))
    first = cases()[0]
    mechanism = through_discover(first.plan)
    through = attacked(mechanism, first.tables, first.plan.privacy, RELEASES[long])
    rows.append(_healthy(f"healthy, through rs.discover: {first.name}", [through]))
    for name, (fault, case) in FAULTS.items():
        own = attacked(fault(case.plan), case.tables, case.plan.privacy, PLANTED)
        figure = f"caught by {own.attack}" if own.caught else "not caught"
        rows.append(
            Row(f"planted: {name}", f"{figure}; proved at least {own.loss:.3f}", "caught", own.caught)
        )
    return rows


def _healthy(name: str, found: list[Finding]) -> Row:
    alarms = sum(own.caught for own in found)
    proved, promised = max(own.loss for own in found), found[0].promised
    figure = f"{alarms} alarms in {len(found)} runs; proved at least {proved:.3f}"
    return Row(name, figure, f"no alarm: at most {promised:g}", alarms == 0)
