"""Is the noise calibrated to the exact sensitivity of every strategy that can be planned or optimized?

    python -m audits calibration

Exact, no statistics: a single wrong integer in a single column fails. Every optimizer that `rowspace.strategy` exports
is in `OPTIMIZERS` (tests/audit/test_calibration.py::test_every_optimizer_is_in_the_catalogue).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import product

import numpy as np

import rowspace as rs
from rowspace import operators as op
from rowspace import strategy
from rowspace.exceptions import IntegerOverflow, InvalidInput, TooLarge, UnsupportedWorkload
from rowspace.operators import Operator
from rowspace.planning.choosing import Effort, Objective
from rowspace.planning.taxonomies import taxonomy_trees
from rowspace.privacy import ApproxDPTheorem3, Neighbours, NoiseModel, Privacy
from rowspace.strategy import to_integers
from rowspace.tables import Marginals

from . import Row
from .exact import Verdict, judged

LEVELS = {"state": {"a": "x", "b": "y", "c": "x", "d": "y", "e": "z"}}
PLACES = rs.Domain(place=rs.Categorical(list("abcde"), levels=LEVELS))
PLANE = rs.Domain(age=rs.Numeric(0, 4, bins=4), sex=rs.Categorical(["F", "M"]), job=rs.Categorical([1, 2, 3]))

SMALL_PLANE = rs.Domain(age=rs.Numeric(0, 3, bins=3), sex=rs.Categorical(["F", "M"]))


def _line(n: int) -> rs.Domain:
    return rs.Domain(age=rs.Numeric(0, n, bins=n))


def workloads(long: bool) -> dict[str, rs.Workload]:
    """Small workloads of every family, alone and together, weighted, real and degenerate."""
    w = rs.workload
    found: dict[str, rs.Workload] = {}
    for n in (1, 2, 3, 8, 13) if long else (1, 3, 8):
        line = _line(n)
        found[f"ranges of {n}"] = w.ranges(line, "age")
        found[f"prefixes of {n}"] = w.prefixes(line, "age")
        found[f"cells of {n}"] = w.identity(line)
    real = np.random.default_rng(3).normal(size=(6, 7))
    found |= {
        "total": w.total(PLANE),
        "windows": w.widths(_line(9), "age", 3),
        "prefixes and a heavy total": w.prefixes(_line(8), "age") + 7.3 * w.total(_line(8)),
        "taxonomy": w.identity(PLACES) + 2.5 * w.marginal(PLACES, "state") + w.total(PLACES),
        "real matrix": w.matrix(real),
        "deficient real matrix": w.matrix(real[:2]),
        "matrix of very different sizes": w.matrix(np.diag([1e-6, 1.0, 1e3]) + 1e-4),
        "marginals up to 1": w.marginals(PLANE, up_to=1),
        "marginals up to 2": w.marginals(PLANE, up_to=2),
        "cube": w.cube(PLANE),
        "rectangles": w.product(PLANE, age="ranges", job="prefixes"),
        "ranges and marginals": w.ranges(PLANE, "age") + 0.3 * w.marginal(PLANE, "sex", "job"),
        "predicates": w.predicates(PLANE, ["age < 2 and sex = 'F'", "job = 1 or age >= 3", "sex = 'M'"]),
    }
    return found


def promises(many: bool) -> list[Privacy]:
    """Every notion with both kinds of neighbours, generous and strict; or a few of them."""
    if not many:
        replace_one = Neighbours.REPLACE_ONE
        return [
            rs.PureDP(1.0),
            rs.ZCDP(1e-4),
            rs.PureDP(0.1, replace_one),
            rs.ApproxDP(0.7, 1e-6, replace_one),
        ]
    found: list[Privacy] = []
    for neighbours in Neighbours:
        found += [
            rs.PureDP(1.0, neighbours),
            rs.PureDP(0.1, neighbours),  # no dyadic number: the scale must be rounded up
            rs.ZCDP(0.5, neighbours),
            rs.ZCDP(1e-4, neighbours),
            rs.ApproxDP(0.7, 1e-6, neighbours),
            ApproxDPTheorem3(1.0, 1e-5, neighbours),
        ]
    return found


def planned(long: bool) -> Iterator[tuple[str, Verdict]]:
    """Everything `rs.plan` returns over the catalogue."""
    ways: list[tuple[Effort, Objective, bool]] = [("fast", "total", long)]
    if long:
        ways += [("normal", "max", True), ("best", "total", False)]
    for effort, objective, many in ways:
        for (name, w), privacy in product(workloads(long).items(), promises(many)):
            if effort == "best" and w.domain.size > 5:
                continue  # minutes each; the optimizers it adds are in `OPTIMIZERS`
            try:
                plan = rs.plan(w, privacy, effort=effort, objective=objective, rng=np.random.default_rng(1))
            except IntegerOverflow:
                continue  # refused before any data: no strategy, nothing to calibrate
            yield f"{name}, {privacy}, {effort}, {objective}", judged(plan.strategy, plan.noise, privacy)
    if long:  # past the Gaussian optimizer's reach the planner turns to the spectral strategy
        for family, privacy in product((rs.workload.ranges, rs.workload.prefixes), promises(True)):
            if privacy.norm == 2 and privacy.neighbours is Neighbours.ADD_REMOVE:
                plan = rs.plan(family(_line(260), "age"), privacy, effort="fast")
                yield f"spectral, {privacy}", judged(plan.strategy, plan.noise, privacy)
    yield from planned_tables(long)


def planned_tables(long: bool) -> Iterator[tuple[str, Verdict]]:
    """Strategies of tables as the planner makes and rounds them, in integers of so many bits as products leave."""
    w = rs.workload
    for d in (2, 3) if long else (2,):
        space = rs.Domain({f"a{i}": rs.Numeric(0, 3 + i % 2, bins=3 + i % 2) for i in range(d)})
        asked = w.product(space, a0="prefixes", a1="ranges") + 0.3 * w.marginals(space, up_to=d)
        for name, queries in (("products", asked), ("marginals", w.marginals(space, up_to=d - 1))):
            for privacy, objective in product(promises(True), ("total", "max")):
                for result in strategy.Select(objective=objective).tables(queries.products(), privacy):
                    try:
                        integers, noise = to_integers(result.strategy, privacy)
                    except IntegerOverflow:
                        continue  # refused before any data
                    yield f"tables of {name}, {d}, {privacy}, {objective}", _judged(integers, noise, privacy)


def _known_tables(w: rs.Workload) -> strategy.Measured:
    """The counts of every attribute by itself, asked before."""
    sizes = w.products().sizes
    one_each = tuple((i,) for i in range(len(sizes)))
    return strategy.Measured(Marginals(sizes, one_each, (1.0,) * len(sizes)), 4.0, 0.0, 1.0)


def _known_total(w: rs.Workload) -> strategy.Facts:
    """The number of all records, which everybody knows."""
    return strategy.Facts(w.domain.shape, (strategy.Fact((), np.ones(()), 10.0),))


Builder = Callable[[rs.Workload], strategy.Optimizer]

OPTIMIZERS: dict[str, list[Builder]] = {
    "AgainstEvidence": [lambda w: strategy.AgainstEvidence(op.Identity(w.domain.size), max_steps=30)],
    "AgainstFacts": [lambda w: strategy.AgainstFacts(_known_total(w), max_steps=30)],
    "AgainstTables": [lambda w: strategy.AgainstTables([_known_tables(w)])],
    "Augment": [
        lambda w: strategy.Augment(strategy.SingularValue()),
        lambda w: strategy.Augment(strategy.Hierarchical()),
    ],
    "GaussianOptimal": [
        lambda w: strategy.GaussianOptimal(),
        lambda w: strategy.GaussianOptimal(objective="max"),
    ],
    "Hierarchical": [lambda w: strategy.Hierarchical(), lambda w: strategy.Hierarchical((3,))],
    "IdentityStrategy": [lambda w: strategy.IdentityStrategy()],
    "Marginals": [lambda w: strategy.Marginals(restarts=1)],
    "MinError": [lambda w: strategy.MinError(searches=4)],
    "MinErrorSDP": [lambda w: strategy.MinErrorSDP(starts=1, max_rounds=2)],
    "MinSensitivity": [lambda w: strategy.MinSensitivity(op.Hierarchy(w.domain.size), restarts=2)],
    "MinSensitivityProgram": [
        lambda w: strategy.MinSensitivityProgram(op.Prefix(w.domain.size), starts=1, max_rounds=2)
    ],
    "PIdentity": [lambda w: strategy.PIdentity(), lambda w: strategy.PIdentity(p=2, restarts=2)],
    "Product": [lambda w: strategy.Product()],
    "RegularizedGaussian": [lambda w: strategy.RegularizedGaussian()],
    "Residual": [lambda w: strategy.Residual(), lambda w: strategy.Residual(objective="max")],
    "RowSpaceOptimal": [lambda w: strategy.RowSpaceOptimal()],
    "Select": [lambda w: strategy.Select(effort="fast")],
    "SingularValue": [lambda w: strategy.SingularValue()],
    "Spectral": [lambda w: strategy.Spectral()],
    "Taxonomy": [lambda w: strategy.Taxonomy(taxonomy_trees(w.domain)[0])],
    "Union": [lambda w: strategy.Union()],
    "Wavelet": [lambda w: strategy.Wavelet()],
    "WorkloadItself": [lambda w: strategy.WorkloadItself()],
}
"""How to configure every optimizer of `rowspace.strategy` for a workload."""


def exported_optimizers() -> set[str]:
    """The names in `rowspace.strategy.__all__` of classes that optimize."""
    named = {name: getattr(strategy, name) for name in strategy.__all__}
    return {
        name
        for name, kind in named.items()
        if isinstance(kind, type) and hasattr(kind, "optimize") and kind is not strategy.Optimizer
    }


def subjects() -> dict[str, rs.Workload]:
    """Workloads small enough for every optimizer, such that each has one it can take."""
    w = rs.workload
    return {
        "ranges of 4": w.ranges(_line(4), "age"),
        "prefixes of 5": w.prefixes(_line(5), "age"),
        "taxonomy": w.identity(PLACES) + w.marginal(PLACES, "state"),
        "real matrix": w.matrix(np.random.default_rng(4).normal(size=(3, 4))),
        "marginals": w.marginals(SMALL_PLANE, up_to=1),
        "products and marginals": w.product(SMALL_PLANE, age="ranges")
        + 0.7 * w.marginals(SMALL_PLANE, up_to=2),
    }


def optimized(name: str, long: bool) -> Iterator[tuple[str, Verdict]]:
    """One optimizer on every workload it can take, rounded as the planner rounds."""
    for build, (subject, w), privacy in product(OPTIMIZERS[name], subjects().items(), promises(long)):
        try:
            result = build(w).optimize(w.weighted_operator(), privacy, np.random.default_rng(2))
        except (InvalidInput, TooLarge, UnsupportedWorkload, KeyError):
            continue  # out of its reach, as in the planner; KeyError: an attribute without a taxonomy
        yield f"{subject}, {privacy}", _judged(*to_integers(result.strategy, privacy), privacy)


def _judged(integers: Operator, noise: NoiseModel, privacy: Privacy) -> Verdict:
    """The verdict; where pairs of columns are bounded, not compared, the noise may be more than the exact one."""
    verdict = judged(integers, noise, privacy)
    compared = 2 * privacy.norm * integers.integer_norm(privacy.norm) < 2**53
    if privacy.neighbours is Neighbours.REPLACE_ONE and not compared:
        return replace(verdict, equal=True)
    return verdict


def derived(long: bool) -> Iterator[tuple[str, Verdict]]:
    """The functions of `rowspace.strategy` that turn a strategy into another."""
    matrices: list[Operator] = [
        op.Hierarchy(4),
        op.Prefix(5),
        op.Dense(np.random.default_rng(6).normal(size=(3, 4))),
    ]
    for A, privacy in product(matrices, promises(long)):
        for B in (strategy.augment(A, privacy), strategy.least_sensitivity(A, restarts=2).strategy):
            yield f"{A}, {privacy}", judged(*to_integers(B, privacy), privacy)


def run(long: bool) -> list[Row]:
    """One row for the planner, one for every optimizer."""
    rows = [_row("every plan", list(planned(long)))]
    rows += [_row(name, list(optimized(name, long))) for name in OPTIMIZERS]
    return [*rows, _row("augment, least_sensitivity", list(derived(long)))]


def _row(name: str, found: list[tuple[str, Verdict]]) -> Row:
    wrong = [f"{case} ({verdict})" for case, verdict in found if not verdict.ok]
    figure = f"{len(found) - len(wrong):,} of {len(found):,} exact" + (
        f"; first: {wrong[0]}" if wrong else ""
    )
    return Row(name, figure, "noise of the exact sensitivity, all", bool(found) and not wrong)
