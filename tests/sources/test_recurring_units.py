"""Units that are counted in several periods: so many rows in each, in their first periods, far enough apart."""

from __future__ import annotations

import sqlite3
from collections import defaultdict

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import rowspace as rs
from rowspace.domain.periods import until_period
from rowspace.exceptions import InvalidInput
from rowspace.sources import count_cells

DOMAIN = rs.Domain(
    t=rs.Numeric(0, 5, bins=5, integer=True, outside="drop"), a=rs.Categorical(["x", "y"], outside="drop")
)
ROWS = st.lists(
    st.tuples(st.integers(0, 2), st.integers(-1, 5), st.sampled_from(["x", "y", "z", None])), max_size=16
)


def table(rows):
    frame = pd.DataFrame(rows, columns=["who", "t", "a"]).astype({"who": "int64", "t": "int64"})
    return frame.astype({"a": object})


def count(source, unit, periods=5, key="key", **more):
    domain = until_period(DOMAIN, "t", periods)
    return count_cells(source, domain, unit=unit, over="t", key=key, **more)


def kept_of(rows, unit):
    """[period]: how many rows are kept, by plain Python."""
    found = defaultdict(lambda: defaultdict(list))
    for who, t, a in rows:
        if 0 <= t < 5 and a in ("x", "y"):
            found[who][t].append(a)
    kept = np.zeros(5, dtype=int)
    for periods in found.values():
        times = sorted(periods)
        far = [t for i, t in enumerate(times) if i == 0 or t - times[i - 1] >= unit.apart]
        for t in far[: unit.periods]:
            kept[t] += min(unit.rows, len(set(periods[t]) if unit.distinct else periods[t]))
    return kept


UNITS = st.builds(
    lambda rows, distinct, periods, apart: rs.PrivacyUnit("who", rows, distinct, periods, apart),
    st.integers(1, 2),
    st.booleans(),
    st.integers(1, 4),
    st.integers(1, 3),
)


@given(ROWS, UNITS)
@settings(max_examples=20, deadline=None)
def test_counts_against_plain_python(rows, unit):
    assert count(table(rows), unit).sum(axis=1).tolist() == kept_of(rows, unit).tolist()


@given(ROWS, UNITS, st.randoms())
@settings(max_examples=4, deadline=None)
def test_what_was_counted_stays(rows, unit, shuffle):
    """As periods pass, in any order of rows, with other units there or not: each unit's rows are those they were."""
    whole = count(table(rows), unit)
    for periods in (1, 3, 4):
        now = [row for row in rows if row[1] < periods or shuffle.random() < 0.5]
        shuffle.shuffle(now)
        assert np.array_equal(count(table(now), unit, periods), whole[:periods])
    parts = [count(table([row for row in rows if row[0] == who]), unit) for who in range(3)]
    assert np.array_equal(sum(parts), whole)


def test_other_engines(tmp_path):
    rng = np.random.default_rng(3)
    rows = [(int(rng.integers(6)), int(rng.integers(5)), "xy"[rng.integers(2)]) for _ in range(60)]
    with sqlite3.connect(tmp_path / "a.sqlite") as connection:
        table(rows).to_sql("visits", connection, index=False)
    for unit in (rs.PrivacyUnit("who", 1, periods=3, apart=2), rs.PrivacyUnit("who", 2, True, 2)):
        found = count(tmp_path / "a.sqlite", unit, table="visits")
        assert np.array_equal(found, count(table(rows), unit))


def test_a_unit_with_periods_is_counted_over_periods_only():
    with pytest.raises(InvalidInput, match="over="):
        count_cells(table([(1, 1, "x")]), DOMAIN, unit=rs.PrivacyUnit("who", 1, periods=2))
