"""Units: k rows move the answers k times as far, whatever the neighbours, and the noise follows."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import array_shapes, arrays

import rowspace as rs
from rowspace import operators as op
from rowspace.exceptions import InvalidPrivacy
from rowspace.privacy import (
    ZCDP,
    ApproxDP,
    ApproxDPTheorem3,
    Neighbours,
    Privacy,
    PrivacyUnit,
    PureDP,
    integer_norm,
    privacy_from_dict,
)

UNIT = PrivacyUnit("user_id", rows=3)
ALL = [
    PureDP(0.5),
    ZCDP(0.25),
    ApproxDP(1.0, 1e-6),
    ApproxDPTheorem3(1.0, 1e-6),
    PureDP(0.5, Neighbours.REPLACE_ONE),
    ZCDP(0.25, Neighbours.REPLACE_ONE),
]


def with_unit(privacy: Privacy, unit: PrivacyUnit = UNIT) -> Privacy:
    return privacy_from_dict({**privacy.to_dict(), "unit": unit.to_dict()})


def largest_change(matrix: np.ndarray, p: int, rows: int, replace_one: bool) -> int:
    """By brute force over all multisets of at most so many rows that a unit may have, and its replacement."""
    n = matrix.shape[1]
    units = [
        np.bincount(cells, minlength=n)
        for m in range(rows + 1)
        for cells in itertools.combinations_with_replacement(range(n), m)
        if m
    ]
    units.append(np.zeros(n, dtype=np.int64))
    changes = (
        (one - other for one, other in itertools.product(units, repeat=2)) if replace_one else iter(units)
    )
    return max(sum(abs(int(c)) ** p for c in matrix @ change) for change in changes)


@given(
    arrays(
        np.int64,
        array_shapes(min_dims=2, max_dims=2, min_side=1, max_side=3),
        elements=st.integers(-9, 9),
    ),
    st.integers(1, 3),
)
def test_step_norm_against_brute_force(matrix: np.ndarray, rows: int) -> None:
    for privacy in ALL:
        bounded = with_unit(privacy, PrivacyUnit("user_id", rows))
        exact = largest_change(matrix, privacy.norm, rows, privacy.neighbours is Neighbours.REPLACE_ONE)
        assert bounded.step_norm(integer_norm(op.Dense(matrix), bounded)) == exact


@pytest.mark.parametrize("privacy", ALL, ids=str)
def test_noise_and_variance_grow_with_the_rows(privacy: Privacy) -> None:
    bounded = with_unit(privacy)
    assert bounded.unit_variance == pytest.approx(9 * privacy.unit_variance, rel=1e-12)
    assert bounded.noise(5) == privacy.noise(5 * 3**privacy.norm)
    assert with_unit(privacy, PrivacyUnit("user_id", 1)).noise(5) == privacy.noise(5)


def test_one_by_hand() -> None:
    assert PureDP(1.0, unit=UNIT).noise(2).scale == Fraction(6)
    assert ZCDP(0.5, unit=UNIT).noise(2).sigma_squared == Fraction(18)


@pytest.mark.parametrize("privacy", ALL, ids=str)
def test_plans_promise_for_units(privacy: Privacy) -> None:
    """Errors, bounds and certificates of a plan scale with the rows; the strategy does not change."""
    workload = rs.workload.ranges(rs.Domain(age=rs.Numeric(0, 8, bins=8)), "age")
    plain, bounded = rs.plan(workload, privacy), rs.plan(workload, with_unit(privacy))
    assert bounded.strategy == plain.strategy
    assert math.sqrt(bounded.total_error / plain.total_error) == pytest.approx(3, rel=0.02)
    assert bounded.ratio == pytest.approx(plain.ratio, rel=0.02)


def test_units_are_said_saved_and_compared() -> None:
    privacy = PureDP(1.0, unit=UNIT)
    assert "add or remove one 'user_id', of which at most 3 rows are counted" in str(privacy)
    replaced = PureDP(1.0, Neighbours.REPLACE_ONE, PrivacyUnit("u", 1))
    assert "replace one 'u', of which at most 1 row is counted" in str(replaced)
    for kind in ALL:
        assert privacy_from_dict(with_unit(kind).to_dict()) == with_unit(kind) != kind
        assert "unit" not in kind.to_dict(), "files without units are as they were"
        assert privacy_from_dict(kind.to_dict()) == kind


@pytest.mark.parametrize("rows", [0, -1, 1.5, True, "3", None, pytest.param(10**400, id="enormous")])
def test_bad_rows(rows: object) -> None:
    with pytest.raises(InvalidPrivacy):
        PrivacyUnit("user_id", rows)  # type: ignore[arg-type]


@pytest.mark.parametrize("column", ["", "a\nb", "x" * 201, 7, None])
def test_bad_columns(column: object) -> None:
    with pytest.raises(InvalidPrivacy):
        PrivacyUnit(column, 3)  # type: ignore[arg-type]


@pytest.mark.parametrize("unit", ["user_id", 3, {"column": "u"}, {"column": "u", "rows": 0}, []])
def test_bad_units(unit: object) -> None:
    with pytest.raises(InvalidPrivacy):
        PureDP(1.0, unit=unit)  # type: ignore[arg-type]
