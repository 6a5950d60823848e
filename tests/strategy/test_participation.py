"""People who come back in several periods: how far they can move the answers, and the best strategy for them."""

from __future__ import annotations

from itertools import combinations, combinations_with_replacement, pairwise, product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rowspace import ZCDP, PrivacyUnit, PureDP
from rowspace import operators as op
from rowspace.strategy import participation
from rowspace.strategy.causal import in_integers, over_time
from rowspace.strategy.causal_search import recurring_bound
from rowspace.strategy.participation import Horizon, best_sum, most_moved, step_over
from rowspace.strategy.recurring import recurring_optimum


def sets_of(n, most, apart):
    """All sets of at most so many places, each at least `apart` after the one before."""
    return [
        own
        for size in range(1, most + 1)
        for own in combinations(range(n), size)
        if all(b - a >= apart for a, b in pairwise(own))
    ]


def farthest(A, horizon, privacy):
    """The largest change between neighbours, by trying all units and pairs of them."""
    unit, shape = privacy.unit, horizon.sizes
    periods = shape[horizon.axis]
    cells = np.moveaxis(np.arange(int(np.prod(shape))).reshape(shape), horizon.axis, 0).reshape(periods, -1)
    rows = [
        own
        for r in range(1, unit.rows + 1)
        for own in combinations_with_replacement(range(cells.shape[1]), r)
    ]
    changes = [np.zeros(A.shape[1])]
    for own in sets_of(periods, unit.periods, unit.apart):
        for each in product(rows, repeat=len(own)):
            x = np.zeros(A.shape[1])
            for t, kept in zip(own, each, strict=True):
                np.add.at(x, cells[t, list(kept)], 1)
            changes.append(x)
    moved = np.unique(np.array(changes), axis=0) @ A.to_dense().T
    if privacy.neighbours.value == "replace-one":
        moved = (moved[:, None] - moved).reshape(-1, A.shape[0])
    return int((np.abs(moved) if privacy.norm == 1 else moved**2).sum(axis=1).max())


@st.composite
def strategies_over_time(draw):
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    periods, cells = draw(st.integers(1, 4)), draw(st.integers(1, 2))
    least = draw(st.sampled_from([0, -4]))
    kind = draw(st.sampled_from(["product", "triangle", "scaled", "identity"]))
    axis = draw(st.integers(0, 1))
    sizes = (periods, cells) if axis == 0 else (cells, periods)

    def triangle(n):
        return op.Dense(
            np.tril(rng.integers(least, 5, (n, n)), -1) + np.diag(rng.integers(1, 5, n)).astype(float)
        )

    if kind == "triangle":
        return over_time(triangle(periods * cells), sizes, axis), Horizon(sizes, axis)
    time = op.Identity(periods) if kind == "identity" else triangle(periods)
    other = op.Dense(rng.integers(least, 5, (cells + 1, cells)).astype(float))
    A = op.Kronecker(*((time, other) if axis == 0 else (other, time)))
    return (3 * A if kind == "scaled" else A), Horizon(sizes, axis)


@given(
    strategies_over_time(),
    st.integers(1, 2),
    st.integers(1, 4),
    st.integers(1, 3),
    st.sampled_from(["add-remove", "replace-one"]),
    st.sampled_from([PureDP, ZCDP]),
)
@settings(max_examples=150, deadline=None)
def test_no_unit_moves_answers_further(found, rows, periods, apart, neighbours, kind):
    A, horizon = found
    if neighbours == "replace-one":
        rows, periods = 1, min(periods, 2)
    privacy = kind(0.5, neighbours, PrivacyUnit("who", rows, periods=periods, apart=apart))
    found = step_over(A, privacy, horizon)
    assert max(1, farthest(A, horizon, privacy)) <= found <= privacy.step_norm(max(1, _norm(A, privacy)))


def _norm(A, privacy):
    from rowspace.privacy import integer_norm

    return integer_norm(A, privacy)


@given(st.integers(0, 2**32 - 1), st.integers(1, 3), st.integers(1, 4), st.integers(1, 3))
@settings(max_examples=60, deadline=None)
def test_exact_where_it_is_said(seed, rows, periods, apart):
    """One cell in a period; products with CᵗC ≥ 0; L1 without negative entries."""
    rng = np.random.default_rng(seed)
    unit = PrivacyUnit("who", rows, periods=periods, apart=apart)
    signed = op.Dense(np.tril(rng.integers(-5, 6, (5, 5)), -1) + 6.0 * np.eye(5))
    plain = op.Dense(np.tril(rng.integers(0, 6, (4, 4)), -1) + 6.0 * np.eye(4))
    wide = op.Kronecker(plain, op.Dense(rng.integers(-3, 4, (2, 2)).astype(float)))
    small = ZCDP(0.5, unit=PrivacyUnit("who", 1, periods=periods, apart=apart))
    cases = [
        (signed, Horizon((5,), 0), ZCDP(0.5, unit=unit)),
        (plain, Horizon((4,), 0), PureDP(1.0, unit=unit)),
        (wide, Horizon((4, 2), 0), small),
    ]
    for A, horizon, privacy in cases:
        assert step_over(A, privacy, horizon) == max(1, farthest(A, horizon, privacy))


@given(st.integers(1, 7), st.integers(1, 7), st.integers(1, 4), st.integers(0, 2**32 - 1))
@settings(max_examples=150, deadline=None)
def test_the_search_finds_the_largest_and_never_less(n, most, apart, seed):
    rng = np.random.default_rng(seed)
    B = rng.integers(-4, 9, (n, n))
    Y = (B.T @ B).astype(np.int64)
    largest = max(int(Y[np.ix_(own, own)].sum()) for own in sets_of(n, most, apart))
    assert most_moved(Y, most, apart) == largest
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(participation, "_LARGEST", 2**9)  # sums that do not fit are rounded up
        assert largest <= most_moved(Y, most, apart)
    for limit in (1, n * n * most // 8 + 1):  # too many sets: a bound
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(participation, "SEARCHED", limit)
            assert largest <= most_moved(Y, most, apart)
    values = rng.integers(0, 9, n)
    assert best_sum(values, most, apart) == max(values[list(own)].sum() for own in sets_of(n, most, apart))


def test_what_is_not_over_time_has_the_general_bound():
    privacy = ZCDP(0.5, unit=PrivacyUnit("who", 2, periods=3))
    A = op.Hierarchy(4)
    assert step_over(A, privacy, Horizon((2, 2), 0)) == privacy.step_norm(A.integer_norm(2)) == 36 * 3
    assert step_over(op.Dense(np.eye(4)), privacy, None) == 36


@pytest.mark.parametrize(
    ("periods", "apart", "reached"), [(12, 1, 760), (3, 1, 172), (4, 3, 134.5), (1, 1, 31.1)]
)
def test_the_best_for_people_who_come_back(periods, apart, reached):
    """Prefixes of twelve months; the best for one record is above 1,595, 213 and 230, single counts above 936."""
    W = np.tril(np.ones((12, 12)))
    found = recurring_optimum(W.T @ W, periods, apart, signed=True)
    most = max(found.X[np.ix_(own, own)].sum() for own in sets_of(12, periods, apart))
    error = most * np.trace(np.linalg.solve(found.X, W.T @ W))
    assert found.bound <= error <= 1.02 * found.bound
    assert error < reached
    plain = recurring_optimum(W.T @ W, periods, apart, signed=False)
    most = max(np.maximum(plain.X, 0)[np.ix_(own, own)].sum() for own in sets_of(12, periods, apart))
    assert found.bound <= most * np.trace(np.linalg.solve(plain.X, W.T @ W))


@given(st.integers(0, 2**32 - 1), st.integers(2, 3), st.integers(1, 2), st.integers(1, 2))
@settings(max_examples=30, deadline=None)
def test_no_strategy_is_below_the_bound(seed, periods, apart, cells):
    rng = np.random.default_rng(seed)
    sizes = (4, cells)
    W = op.Dense(rng.integers(-1, 2, (6, 4 * cells)).astype(float) + np.eye(6, 4 * cells))
    privacy = ZCDP(0.5, unit=PrivacyUnit("who", 1, periods=periods, apart=apart))
    bound = recurring_bound(W, sizes, 0, privacy)
    for _ in range(5):
        A = in_integers(np.tril(rng.normal(size=(4 * cells,) * 2)) + 2 * np.eye(4 * cells))
        sensitivity = farthest(A, Horizon(sizes, 0), privacy)
        X = A.to_dense().T @ A.to_dense()
        error = sensitivity * np.trace(np.linalg.solve(X, W.to_dense().T @ W.to_dense()))
        assert bound <= error * (1 + 1e-9)
