"""Can neighbouring tables be told apart better than promised? The healthy mechanism and four planted faults.

    python -m audits distinguishing

Every attack of `audits.attacks` on every case. The healthy mechanism must never be caught (false-alarm rate 2e-9 for
each attacked mechanism, below 1e-6 for a whole long audit), every planted fault must be.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import combinations

import numpy as np

import rowspace as rs
from rowspace.operators import Operator
from rowspace.planning import Plan
from rowspace.privacy import Neighbours, Privacy
from rowspace.strategy import (
    GaussianOptimal,
    Hierarchical,
    IdentityStrategy,
    Optimizer,
    PIdentity,
    Select,
    to_integers,
)

from . import Row
from .attacks import Finding, Mechanism, Tables, attacked
from .mechanisms import FAULTS, healthy, through_release

HEALTHY_RUNS = 20
SIZE = 40_000
RELEASES = {False: 300, True: 6_000}


@dataclass(frozen=True)
class Case:
    """A plan, the real strategy it was rounded from, and the pair of tables that its strategy separates most."""

    name: str
    plan: Plan
    real: Operator
    tables: Tables


def case(name: str, workload: rs.Workload, privacy: Privacy, optimizer: Optimizer) -> Case:
    """A plan with a given optimizer's strategy, made as `rs.plan` makes it."""
    reduced = workload.reduced()
    result = optimizer.optimize(reduced.weighted_operator(), privacy, np.random.default_rng(5))
    strategy, noise = to_integers(result.strategy, privacy)
    plan = Plan(reduced, privacy, strategy, noise, result.lower_bound, ())
    return Case(f"{name}, {_short(privacy)}", plan, result.strategy, worst_tables(strategy, privacy))


def _short(privacy: Privacy) -> str:
    """The promise in a few words."""
    values = privacy.to_dict()
    return " ".join(
        f"{name}={value}" for name, value in values.items() if name not in ("privacy", "neighbours")
    ) + (f" {privacy.neighbours.value}")


def worst_tables(strategy: Operator, privacy: Privacy) -> Tables:
    """Neighbours a full sensitivity apart, of one record at most (a full table hides low bits), and a table of ones."""
    columns = strategy.to_dense().T
    zero = np.zeros(len(columns), dtype=np.int64)

    def distance(x: np.ndarray, y: np.ndarray) -> float:
        return float((np.abs((x - y) @ columns) ** privacy.norm).sum())

    unit = np.eye(len(columns), dtype=np.int64)
    if privacy.neighbours is Neighbours.ADD_REMOVE:
        steps = [(zero, e) for e in unit]
    else:
        steps = [(unit[i], unit[j]) for i, j in combinations(range(len(unit)), 2)]
    first, second = max(steps, key=lambda pair: distance(*pair))
    return Tables(first, second, np.ones_like(zero))


LINE = rs.Domain(age=rs.Numeric(0, 8, bins=8))
LONG_LINE = rs.Domain(age=rs.Numeric(0, 24, bins=24))
PLANE = rs.Domain(age=rs.Numeric(0, 4, bins=4), sex=rs.Categorical(["F", "M", "X"]))
PREFIXES = rs.workload.prefixes(LONG_LINE, "age")
RANGES = rs.workload.ranges(LINE, "age")
MARGINALS = rs.workload.marginals(PLANE, up_to=1) + rs.workload.ranges(PLANE, "age")


def cases(long: bool) -> list[Case]:
    """Five kinds of strategies under all promises and both kinds of neighbours; a few of them for the short audit."""
    pure, replaced = rs.PureDP(1.0), rs.PureDP(1.0, Neighbours.REPLACE_ONE)
    zcdp, approximate = rs.ZCDP(0.5), rs.ApproxDP(1.0, 1e-3)
    union = Select().union
    cells = rs.workload.identity(LINE)
    few = [
        case("identity", cells, pure, IdentityStrategy()),
        case("hierarchy", RANGES, rs.ZCDP(0.5, Neighbours.REPLACE_ONE), Hierarchical()),
        case("p-identity", PREFIXES, replaced, PIdentity()),
        case("union", MARGINALS, approximate, union(approximate)),
    ]
    if not long:
        return few
    return [
        *few,
        case("identity", cells, replaced, IdentityStrategy()),
        case("identity", cells, zcdp, IdentityStrategy()),
        case("hierarchy", RANGES, pure, Hierarchical()),
        case("hierarchy", RANGES, replaced, Hierarchical()),
        case("hierarchy", RANGES, approximate, Hierarchical()),
        case("p-identity", PREFIXES, pure, PIdentity()),
        case("Gaussian optimum", RANGES, zcdp, GaussianOptimal()),
        case("Gaussian optimum", RANGES, rs.ApproxDP(1.0, 1e-3, Neighbours.REPLACE_ONE), GaussianOptimal()),
        case("union", MARGINALS, pure, union(pure)),
        case("union", MARGINALS, replaced, union(replaced)),
    ]


def faults_of(subject: Case) -> Iterable[tuple[str, Mechanism]]:
    """The faults that can be planted: a strategy of integers loses nothing when it is not rounded."""
    for name, plant in FAULTS.items():
        if name != "unrounded strategy" or not subject.real.integral:
            yield name, plant(subject.plan, subject.real)


def run(long: bool) -> list[Row]:
    """One row for every case that is healthy, and one for every fault over all cases."""
    subjects = cases(long)
    runs = HEALTHY_RUNS if long else 1
    rows = []
    for subject in subjects:
        mechanism = healthy(subject.plan)
        found = [attacked(mechanism, subject.tables, subject.plan.privacy, SIZE) for _ in range(runs)]
        rows.append(_healthy_row(f"healthy: {subject.name}", found))
    first = subjects[0]
    found = [attacked(through_release(first.plan), first.tables, first.plan.privacy, RELEASES[long])]
    rows.append(_healthy_row(f"healthy, through rs.release: {first.name}", found))
    planted: dict[str, list[Finding]] = {name: [] for name in FAULTS}
    for subject in subjects:
        for name, mechanism in faults_of(subject):
            planted[name].append(attacked(mechanism, subject.tables, subject.plan.privacy, SIZE))
    return rows + [_fault_row(name, found) for name, found in planted.items()]


def _healthy_row(name: str, found: list[Finding]) -> Row:
    alarms = sum(f.caught for f in found)
    figure = f"{alarms} alarms in {len(found)} runs; proved at least {max(f.loss for f in found):.3f}"
    return Row(name, figure, f"no alarm: at most {found[0].promised:g}", alarms == 0)


def _fault_row(name: str, found: list[Finding]) -> Row:
    caught = sum(f.caught for f in found)
    ratio = min(f.loss / f.promised for f in found)
    attacks = ", ".join(sorted({f.attack.split(",")[0] for f in found}))
    figure = f"caught in {caught} of {len(found)} cases, by {attacks}; at least {ratio:.2f} times the promise"
    return Row(f"planted: {name}", figure, "caught in every case", caught == len(found))
