"""Units that are counted once in a cell and in several cells: how far they move answers, and plans for them."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import rowspace as rs
from rowspace import ZCDP, PrivacyUnit, PureDP
from rowspace import operators as op
from rowspace.sources import count_cells
from rowspace.strategy import calibrated_noise, participation, spread_bound, spread_optimum, step_over
from rowspace.tables import Residuals


def people(k: int, neighbours: str = "add-remove", rho: float = 0.5) -> ZCDP:
    return ZCDP(rho, neighbours, PrivacyUnit("who", k, distinct=True))


def farthest(A: np.ndarray, privacy: ZCDP) -> int:
    """The largest squared change, by trying all sets of cells, and all pairs of them."""
    n, most = A.shape[1], privacy.unit.rows
    units = np.array(
        [np.isin(np.arange(n), own) for size in range(most + 1) for own in combinations(range(n), size)]
    )
    moved = units.astype(int) @ A.T
    if privacy.neighbours.value == "replace-one":
        moved = (moved[:, None] - moved).reshape(-1, len(A))
    return int((moved**2).sum(axis=1).max())


@given(
    st.integers(1, 6),
    st.integers(2, 5),
    st.sampled_from([0, -4]),
    st.sampled_from(["add-remove", "replace-one"]),
    st.integers(0, 2**32 - 1),
)
@settings(max_examples=150, deadline=None)
def test_no_unit_moves_answers_further(cells, most, least, neighbours, seed):
    rng = np.random.default_rng(seed)
    entries = rng.integers(least, 5, (int(rng.integers(1, 7)), cells))
    entries[0, 0] = 1
    factor = int(rng.integers(1, 4))
    privacy = people(most, neighbours)
    A = factor * op.Dense(entries.astype(float))
    brute, step = farthest(factor * entries, privacy), step_over(A, privacy, None)
    assert brute <= step <= privacy.step_norm(rs.privacy.integer_norm(A, privacy))
    if neighbours == "add-remove":
        assert step == brute or step == 1  # one unit of change is kept where nothing can change


def test_more_sets_than_are_looked_at_are_bounded(monkeypatch):
    rng = np.random.default_rng(3)
    A = rng.integers(-2, 4, (9, 9))
    exact = farthest(A, people(4))
    monkeypatch.setattr(participation, "SEARCHED", 40)
    assert exact <= step_over(op.Dense(A.astype(float)), people(4), None)
    monkeypatch.setattr(participation, "SPREAD_ENTRIES", 1)
    assert step_over(op.Dense(A.astype(float)), people(4), None) == 16 * int((A**2).sum(axis=0).max())


@given(
    st.lists(st.integers(2, 4), min_size=1, max_size=3),
    st.integers(2, 4),
    st.sampled_from(["add-remove", "replace-one"]),
    st.booleans(),
    st.integers(0, 2**32 - 1),
)
@settings(max_examples=100, deadline=None)
def test_pairs_of_cells_bound_tables_of_any_size(sizes, most, neighbours, places, seed):
    """Without writing the strategy out, and exactly where units stay within one attribute."""
    rng = np.random.default_rng(seed)
    sizes = tuple(sizes) if np.prod(sizes) <= 12 else tuple(sizes[:1])
    sets = [own for size in range(len(sizes) + 1) for own in combinations(range(len(sizes)), size)]
    sets = [own for own in sets if rng.random() < 0.7] or [()]
    A = Residuals(sizes, tuple(sets), tuple(int(w) for w in rng.integers(1, 9, len(sets))))
    if places:
        A = op.Extended(A, tuple(n + (i == 0) for i, n in enumerate(sizes)), sizes, int(rng.integers(1, 9)))
    privacy = people(most, neighbours)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(participation, "SPREAD_CELLS", 0)
        step = step_over(3 * A, privacy, None)
    dense = 3 * A.to_dense().astype(np.int64)
    if dense.shape[1] <= 12:
        assert farthest(dense, privacy) <= step
    X, most = dense.T @ dense, min(most, dense.shape[1])
    beside = X[~np.eye(len(X), dtype=bool)]
    if neighbours == "add-remove":
        pairs = most * (int(X.max()) + (most - 1) * max(0, int(beside.max(initial=0))))
        assert step == min(pairs, most**2 * int(np.diagonal(X).max()))


@pytest.mark.parametrize("ways", [1, 2])
def test_no_strategy_goes_below_the_bound_of_tables(ways):
    rng = np.random.default_rng(1)
    queries = rs.workload.marginals(DOMAIN, up_to=ways).over(DOMAIN.without_places())
    for most in (2, 4, 20):
        bound = spread_bound(queries.products(), people(most))
        W = queries.weighted_operator().to_dense()
        assert bound > 0
        for A in (np.eye(12), *(np.abs(rng.normal(size=(12, 12))) + 3 * np.eye(12) for _ in range(20))):
            norm = farthest_real(A, min(most, 12))
            assert norm * np.trace(W @ np.linalg.pinv(A.T @ A) @ W.T) > bound * (1 - 1e-9)
    cells = rs.workload.identity(DOMAIN).over(DOMAIN.without_places()).products()
    assert spread_bound(cells, people(4)) == pytest.approx(12 * 4 * 8 / 11)


def test_plans_over_many_cells_need_the_root_of_the_noise():
    domain = rs.Domain(a=rs.Categorical(range(40)), b=rs.Categorical(range(40)))
    plan = rs.plan(rs.workload.marginals(domain, up_to=2), people(4))
    rows = rs.plan(rs.workload.marginals(domain, up_to=2), ZCDP(0.5, unit=PrivacyUnit("who", 4)))
    assert plan.total_error < 0.4 * rows.total_error
    assert 1 <= plan.ratio < 1.5
    assert plan.noise == calibrated_noise(plan.strategy, plan.privacy)


def test_whom_it_is_for():
    A = op.Identity(8)
    assert step_over(A, people(4), None) == 4
    assert step_over(A, people(4, "replace-one"), None) == 8
    assert step_over(A, ZCDP(0.5, unit=PrivacyUnit("who", 4)), None) == 16  # rows may be in one cell
    assert step_over(A, PureDP(0.5, unit=PrivacyUnit("who", 4, distinct=True)), None) == 4
    many = participation.SPREAD_CELLS + 1
    assert step_over(op.Identity(many), people(4), None) == 4
    assert step_over(op.Identity(many), people(4, "replace-one"), None) == 8
    assert (
        step_over(op.Prefix(many), people(4), None) == 16 * many
    )  # of others only pairs within a cell are known
    assert step_over(op.Total(8), people(4), None) == 16


@pytest.mark.parametrize("neighbours", ["add-remove", "replace-one"])
def test_no_strategy_beats_the_bound(neighbours):
    rng = np.random.default_rng(5)
    for n, most in ((4, 2), (5, 3), (6, 2)):
        W = op.Dense(rng.integers(-1, 3, (4, n)).astype(float))
        found, bound = spread_optimum(W, people(most, neighbours))
        assert bound > 0
        tried = [found.strategy.to_dense(), np.eye(n), *(rng.normal(size=(n, n)) for _ in range(200))]
        for A in tried:
            norm = farthest_real(A, most)
            assert norm * np.trace(W.to_dense() @ np.linalg.pinv(A.T @ A) @ W.to_dense().T) > bound * (
                1 - 1e-9
            )


def farthest_real(A: np.ndarray, most: int, values: int = 1, p: int = 2) -> float:
    """Squared. values: so many cells in a row are of one cell of the table, and a unit has one of them."""
    n = A.shape[1]
    sets = [list(own) for size in range(1, most + 1) for own in combinations(range(n), size)]
    sets = [own for own in sets if len({i // values for i in own}) == len(own)]
    return max(float(np.linalg.norm(A[:, own].sum(axis=1), p) ** 2) for own in sets)


@pytest.mark.parametrize("squares", [False, True])
@pytest.mark.parametrize("of_all", [False, True])
def test_a_unit_has_one_value_in_a_cell(squares, of_all):
    """With measures the bound holds for the sets of cells that can be, those with two values in no cell."""
    rng = np.random.default_rng(3)
    for categories, most in ((1, 4), (2, 4), (3, 2)):
        measure = rs.Measure("v", 0, 10, step=5, per_unit="sum", squares=squares)
        cells = rs.Categorical([*"xyz"][:categories], outside="drop")
        domain = rs.Domain(a=cells, measures=[measure])
        workload = rs.workload.mean(domain, "v", by="a")
        workload += (
            rs.workload.total(domain)
            if of_all
            else rs.workload.variance(domain, "v", by="a")
            if squares
            else workload
        )
        plan = rs.plan(workload, people(most, rho=0.005), effort="fast")
        counted = plan.workload.over(plan.domain)
        W = counted.weighted_operator().to_dense()
        values = W.shape[1] // categories
        own = plan.strategy.to_dense()
        tried = [own, *(own * np.exp(rng.normal(size=(len(own), 1)) / 4) for _ in range(30))]
        alone = rs.plan(workload, people(1, rho=0.005), effort="fast").strategy.to_dense()
        for A in [*tried, *([alone] if alone.shape == own.shape else [])]:
            error = 100 * np.trace(W @ np.linalg.pinv(A.T @ A) @ W.T)
            assert farthest_real(A, most, values) * error > plan.lower_bound * (1 - 1e-9)


def test_what_no_query_tells_apart_can_be_planned_for_units_in_all_cells():
    """It ended in a singular matrix."""
    cells = rs.Domain(
        a=rs.Categorical(["x"], outside="drop"), measures=[rs.Measure("v", 0, 10, per_unit="sum")]
    )
    workload = rs.workload.marginal(cells, "a") + rs.workload.sum(cells, "v", by="a")
    assert rs.plan(workload, people(4)).ratio >= 1


def test_laplace_certificates_hold_for_units_in_several_cells():
    """k times the longest column is more than k columns of different length add up to."""
    rng = np.random.default_rng(4)
    cells = rs.Domain(a=rs.Categorical(list("abcdef"), outside="drop"))
    for weights in (np.array([1, 0.1, 0.1, 0.1, 0.1, 0.1]), np.ones(6)):
        for most in (2, 4):
            privacy = PureDP(0.1, unit=PrivacyUnit("who", most, distinct=True))
            plan = rs.plan(rs.workload.matrix(np.diag(weights), cells), privacy)
            signed = [np.diag(weights**0.5) @ (np.eye(6) + rng.normal(size=(6, 6)) / 5) for _ in range(50)]
            for A in [np.eye(6), np.diag(weights**0.5), np.diag(weights ** (2 / 3)), *signed]:
                error = 200 * np.trace(np.diag(weights**2) @ np.linalg.inv(A.T @ A))
                assert farthest_real(A, most, p=1) * error > plan.lower_bound * (1 - 1e-9)
            assert plan.total_error <= 1.01 * most**2 * plan.lower_bound


DOMAIN = rs.Domain(a=rs.Categorical(list("abcdef")), b=rs.Categorical(["x", "y"]))


def test_plans_need_the_root_of_the_noise():
    """All tables at ρ = 0.5: a third of the error of four rows in one cell, and certified."""
    workload = rs.workload.marginals(DOMAIN, up_to=2)
    plan = rs.plan(workload, people(4))
    rows = rs.plan(workload, ZCDP(0.5, unit=PrivacyUnit("who", 4)))
    assert plan.total_error < 0.5 * rows.total_error
    assert 1 <= plan.ratio < 1.2
    assert plan.noise == calibrated_noise(plan.strategy, plan.privacy)
    cells = rs.workload.identity(DOMAIN)
    assert rs.plan(cells, people(4)).total_error == pytest.approx(
        4 * rs.plan(cells, people(1)).total_error, rel=0.01
    )


def test_what_units_move_is_covered_by_the_noise(monkeypatch):
    """From a table to answers, with measures and missing values: without a unit they are no farther than that."""
    from rowspace.sources import contributions

    monkeypatch.setattr(contributions.secrets, "token_hex", lambda size: "key")
    rng = np.random.default_rng(7)
    frame = pd.DataFrame(
        {
            "who": rng.integers(0, 9, 120),
            "a": rng.choice(np.array([*"abcdef", None], dtype=object), 120),
            "b": rng.choice(["x", "y", "z"], 120),
            "v": rng.integers(-2, 12, 120).astype(float),
        }
    )
    measures = rs.Domain(DOMAIN.attributes, measures=[rs.Measure("v", 0, 10, step=5, per_unit="sum")])
    workloads = (
        rs.workload.mean(measures, "v", by="a") + rs.workload.marginal(measures, "b"),
        rs.workload.marginal(DOMAIN, "a", "b"),
    )
    for workload in workloads:
        plan = rs.plan(workload, people(3), effort="fast")
        step = step_over(plan.strategy, plan.privacy, None)
        parts = plan.domain.parts

        def answers(table, plan=plan, parts=parts):
            counts = count_cells(table, plan.domain, unit=plan.privacy.unit).reshape(-1)
            return plan.strategy @ (counts / parts)

        whole = answers(frame)
        moved = [((whole - answers(frame[frame.who != who])) ** 2).sum() for who in range(3)]
        assert 0 < max(moved) <= step * (1 + 1e-12)
