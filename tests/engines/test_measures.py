"""Records in parts on every engine: the parts that plain Python gives, record by record."""

from __future__ import annotations

from fractions import Fraction
from itertools import accumulate, product
from math import floor, inf, isfinite, nan

import numpy as np
import pytest

from rowspace.domain import Categorical, Domain, Measure
from rowspace.privacy import PrivacyUnit
from rowspace.sources import count_cells, count_marginals
from tests.engines.engines import Engine

VALUES = [None, nan, inf, -inf, -1e300, -3.0, 0.0, 0.24, 0.25, 0.26, 1.9, 2.0, 2.0**62, 5e-324]
HOURS = [None, -4, 0, 3, 8, 2**40]
RECORDS = [
    (x, "FMx"[number % 3], hours)
    for number, (x, hours) in enumerate(product(VALUES, HOURS))
    for _ in range(2)
]


def masses(share: Fraction, squares: bool) -> list[Fraction]:
    """How much of a record is in each cell, from its value's share of the way between the bounds."""
    if not squares:
        return [1 - share, share]
    s = 2 * share - 1
    first, third = (s**2, (1 + s) ** 2 / 2) if s < 0 else (Fraction(0), 1 - s**2 - (1 - s) ** 2 / 2)
    last = s**2 if s > 0 else Fraction(0)
    return [first, 1 - first - third - last, third, last]


def ends_of(value: float | None, measure: Measure, parts: int) -> list[int]:
    """Where the parts of each cell end: the last ones are in the upper cells."""
    if value is None or not isfinite(value):
        return [0] * measure.size
    clipped = min(max(float(value), measure.low), measure.high)
    steps = floor((clipped - measure.low) / measure.step + 0.5)
    own = [parts * mass for mass in masses(Fraction(steps, measure.steps), measure.squares)]
    assert all(mass >= 0 and mass.denominator == 1 for mass in own)
    return list(accumulate(map(int, own)))


def expected(domain: Domain) -> np.ndarray:
    counts = np.zeros(domain.shape, dtype=np.int64)
    x, hours = domain.measures
    for value, sex, time in RECORDS:
        at = {"F": 0, "M": 1}.get(sex, 2)
        ends = ends_of(value, x, domain.parts), ends_of(time, hours, domain.parts)
        for part in range(domain.parts):
            counts[at, *(sum(part >= end for end in own) for own in ends)] += 1
    return counts


@pytest.mark.parametrize(("squares", "more"), [(False, False), (True, False), (True, True)])
def test_every_engine_counts_the_same_parts(engine: Engine, squares: bool, more: bool) -> None:
    name = f"measured{squares + more}"
    engine.fill(name, {"x": "number", "sex": "text", "hours": "integer"}, RECORDS)
    domain = Domain(
        sex=Categorical(["F", "M"]),
        measures=[
            Measure("x", 0, 2, step=0.5, squares=squares),
            Measure("hours", 0, 8, step=8 / 3 if more else 4, squares=more),
        ],
    ).with_places()
    counts = expected(domain)
    assert counts.sum() == domain.parts * len(RECORDS)
    np.testing.assert_array_equal(count_cells(engine.source, domain, table=name), counts)
    sets = [(0, 1), (0, 2), (1, 2), (0,), (2,), ()]
    tables = count_marginals(engine.source, domain, sets, table=name)
    for own in sets:
        rest = tuple(i for i in range(3) if i not in own)
        np.testing.assert_array_equal(tables.table(own), counts.sum(axis=rest))


@pytest.mark.parametrize("how", ["sum", "mean"])
def test_every_engine_knows_the_values_of_units(engine: Engine, how: str) -> None:
    """Of every unit the sum or the mean of its values in a cell, in steps of the grid, by plain Python."""
    rows = [(number % 7, value, "FMx"[number % 3]) for number, value in enumerate(3 * VALUES)]
    engine.fill(f"of_units_{how}", {"who": "integer", "x": "number", "sex": "text"}, rows)
    measure = Measure("x", 0, 2, step=0.5, per_unit=how)
    domain = Domain(sex=Categorical(["F", "M"]), measures=[measure]).with_places()
    cells: dict[tuple[int, int], list[int]] = {}
    for who, value, sex in rows:
        steps = ends_of(value, measure, measure.steps)
        own = cells.setdefault((who, {"F": 0, "M": 1}.get(sex, 2)), [])
        if steps[-1]:
            own.append(measure.steps - steps[0])
    expected = np.zeros(domain.shape, dtype=np.int64)
    for (_, at), values in cells.items():
        if not values:
            expected[at, 2] += domain.parts
            continue
        high = (
            min(sum(values), 4)
            if how == "sum"
            else floor(Fraction(sum(values), len(values)) + Fraction(1, 2))
        )
        expected[at, :2] += [domain.parts - high, high]
    unit = PrivacyUnit("who", 9, distinct=True)
    source = {"table": f"of_units_{how}", "unit": unit}
    np.testing.assert_array_equal(count_cells(engine.source, domain, **source), expected)
    tables = count_marginals(engine.source, domain, [(0, 1), (1,)], **source)
    np.testing.assert_array_equal(tables.table((0, 1)), expected)
    np.testing.assert_array_equal(tables.table((1,)), expected.sum(axis=0))
