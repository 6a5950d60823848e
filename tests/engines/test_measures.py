"""Records in parts on every engine: the parts that plain Python gives, record by record."""

from __future__ import annotations

from itertools import product
from math import floor, inf, isfinite, nan

import numpy as np

from rowspace.domain import Categorical, Domain, Measure
from rowspace.sources import count_cells, count_marginals
from tests.engines.engines import Engine

VALUES = [None, nan, inf, -inf, -1e300, -3.0, 0.0, 0.24, 0.25, 0.26, 1.9, 2.0, 2.0**62, 5e-324]
HOURS = [None, -4, 0, 3, 8, 2**40]
DOMAIN = Domain(
    sex=Categorical(["F", "M"]), measures=[Measure("x", 0, 2, step=0.5), Measure("hours", 0, 8, step=4)]
).with_places()
RECORDS = [
    (x, "FMx"[number % 3], hours)
    for number, (x, hours) in enumerate(product(VALUES, HOURS))
    for _ in range(2)
]


def parts_of(value: float | None, measure: Measure) -> int | None:
    """How many of a record's parts are at the upper bound."""
    if value is None or not isfinite(value):
        return None
    clipped = min(max(float(value), measure.low), measure.high)
    steps = floor((clipped - measure.low) / measure.step + 0.5)
    return steps * (DOMAIN.parts // measure.steps)


def expected() -> np.ndarray:
    counts = np.zeros(DOMAIN.shape, dtype=np.int64)
    x, hours = DOMAIN.measures
    for value, sex, time in RECORDS:
        at = {"F": 0, "M": 1}.get(sex, 2)
        high = parts_of(value, x), parts_of(time, hours)
        for part in range(DOMAIN.parts):
            counts[at, *(2 if own is None else int(part < own) for own in high)] += 1
    return counts


def test_every_engine_counts_the_same_parts(engine: Engine) -> None:
    engine.fill("measured", {"x": "number", "sex": "text", "hours": "integer"}, RECORDS)
    counts = expected()
    assert counts.sum() == DOMAIN.parts * len(RECORDS)
    np.testing.assert_array_equal(count_cells(engine.source, DOMAIN, table="measured"), counts)
    sets = [(0, 1), (0, 2), (1, 2), (0,), (2,), ()]
    tables = count_marginals(engine.source, DOMAIN, sets, table="measured")
    for own in sets:
        rest = tuple(i for i in range(3) if i not in own)
        np.testing.assert_array_equal(tables.table(own), counts.sum(axis=rest))
