"""Sensitivities against brute force over neighbours."""

import itertools
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import array_shapes, arrays

from rowspace import operators as op
from rowspace.exceptions import InvalidInput
from rowspace.privacy import ZCDP, PureDP, integer_norm, sensitivity
from rowspace.privacy.sensitivities import PAIR_CELLS

ADD_REMOVE = [PureDP(1.0), ZCDP(1.0)]
REPLACE_ONE = [PureDP(1.0, "replace-one"), ZCDP(1.0, "replace-one")]  # type: ignore[arg-type]
shapes = array_shapes(min_dims=2, max_dims=2, min_side=1, max_side=7)
integer_matrices = arrays(np.int64, shapes, elements=st.integers(-(10**4), 10**4))


def steps(n: int, replace_one: bool) -> list[np.ndarray]:
    """Every difference x − x' between neighbours, up to sign; a replaced record may have been outside the domain."""
    unit = np.eye(n, dtype=np.int64)
    if replace_one:
        return [*unit, *(unit[j] - unit[k] for j, k in itertools.combinations(range(n), 2))]
    return list(unit)


def brute_force(matrix: np.ndarray, p: int, replace_one: bool) -> int:
    changes = [matrix @ step for step in steps(matrix.shape[1], replace_one)]
    return max((sum(abs(int(c)) ** p for c in change) for change in changes), default=0)


@given(integer_matrices)
def test_integer_norm_against_brute_force(matrix: np.ndarray) -> None:
    A = op.Dense(matrix)
    for privacy in ADD_REMOVE + REPLACE_ONE:
        exact = brute_force(matrix, privacy.norm, privacy in REPLACE_ONE)
        assert integer_norm(A, privacy) == exact
        assert sensitivity(A, privacy) == pytest.approx(
            exact if privacy.norm == 1 else math.sqrt(exact), rel=1e-12
        )


@given(arrays(np.float64, shapes, elements=st.floats(-10, 10)))
def test_sensitivity_of_real_matrices(matrix: np.ndarray) -> None:
    A = op.Dense(matrix)
    for privacy in ADD_REMOVE + REPLACE_ONE:
        changes = [matrix @ step for step in steps(matrix.shape[1], privacy in REPLACE_ONE)]
        exact = max((float(np.linalg.norm(change, privacy.norm)) for change in changes), default=0.0)
        assert sensitivity(A, privacy) == pytest.approx(exact, rel=1e-7, abs=1e-6)


STRUCTURES = [
    op.Identity(5),
    op.Total(5),
    op.Prefix(6),
    op.Ranges(5),
    op.Hierarchy(8),
    op.Hierarchy(9, branching=3),
    op.Haar(8),
    op.Kronecker(op.Prefix(3), op.Identity(2)),
    op.Stack(op.Identity(4), op.Total(4)),
    op.Identity(1),
]


@pytest.mark.parametrize("A", STRUCTURES, ids=repr)
def test_structured_strategies(A: op.Operator) -> None:
    matrix = A.to_dense().astype(np.int64)
    for privacy in ADD_REMOVE + REPLACE_ONE:
        assert integer_norm(A, privacy) == brute_force(matrix, privacy.norm, privacy in REPLACE_ONE)


def test_a_total_changes_when_a_record_outside_the_domain_is_replaced() -> None:
    for privacy in REPLACE_ONE:
        assert integer_norm(op.Total(7), privacy) == 1
        assert sensitivity(op.Total(7), privacy) == 1.0
        assert sensitivity(0.5 * op.Total(7), privacy) == 0.5


@pytest.mark.parametrize("A", STRUCTURES, ids=repr)
def test_bounds_hold_when_pairs_are_too_many(A: op.Operator, monkeypatch: pytest.MonkeyPatch) -> None:
    exact = [integer_norm(A, privacy) for privacy in REPLACE_ONE]
    monkeypatch.setattr("rowspace.privacy.sensitivities.PAIR_CELLS", 0)
    bounds = [integer_norm(A, privacy) for privacy in REPLACE_ONE]
    assert all(e <= b for e, b in zip(exact, bounds, strict=True))
    assert bounds[0] == 2 * A.integer_norm(1)
    assert bounds[1] == (2 if A.nonnegative else 4) * A.integer_norm(2)


def test_large_domains_take_the_bound_without_building_the_matrix() -> None:
    A = op.Hierarchy(2**20)
    assert integer_norm(A, REPLACE_ONE[0]) == 2 * 21
    assert integer_norm(A, REPLACE_ONE[1]) == 2 * 21
    assert sensitivity(0.5 * A, REPLACE_ONE[0]) == 21.0
    assert sensitivity(0.5 * A, REPLACE_ONE[1]) == pytest.approx(math.sqrt(2 * 21) / 2)


def test_all_pairs_of_the_largest_domain_allowed() -> None:
    assert integer_norm(op.Identity(PAIR_CELLS), REPLACE_ONE[1]) == 2


def test_entries_past_exact_floating_point_take_the_bound() -> None:
    """Columns 2²⁶·(1, 0), 2²⁶·(1, 1): exact distances would need sums of 2⁵⁵."""
    A = op.Dense(np.array([[2**26, 2**26], [0, 2**26]]))
    assert integer_norm(A, REPLACE_ONE[1]) >= 2**52
    assert integer_norm(A, REPLACE_ONE[1]) <= 4 * A.integer_norm(2)


def test_real_strategies_have_no_integer_norm() -> None:
    with pytest.raises(InvalidInput, match="integral"):
        integer_norm(0.5 * op.Identity(3), PureDP(1.0))
