"""Cells that no query tells apart are one: found exactly, planned as the small problem, asked of all cells."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import rowspace as rs
from rowspace import error
from rowspace import operators as op
from rowspace.exceptions import UnsupportedWorkload
from rowspace.privacy import ZCDP, PureDP, integer_norm, sensitivity
from rowspace.strategy import GaussianOptimal, select
from rowspace.strategy.merging import MOST_GROUPS, merged_cells

UNIT = ZCDP(0.5)
small_integers = st.integers(-2, 2)


@given(st.data())
@settings(max_examples=60, deadline=None)
def test_groups_are_the_equal_columns(data):
    queries, kinds = data.draw(st.integers(1, 4)), data.draw(st.integers(1, 4))
    columns = np.array(
        data.draw(
            st.lists(
                st.lists(small_integers, min_size=queries, max_size=queries), min_size=kinds, max_size=kinds
            )
        )
    )
    cells = np.array(data.draw(st.permutations(list(range(kinds)) * 3)))
    W = columns[cells].T
    groups = merged_cells(op.Dense(W))
    distinct = np.unique(W, axis=1).shape[1]
    assert groups is not None
    assert groups.workload.shape[1] == distinct
    np.testing.assert_array_equal(groups.workload.to_dense()[:, groups.of_cells], W)


@pytest.mark.parametrize(
    "W",
    [
        op.Stack(op.Kronecker(op.Total(6), op.Identity(3)), 2.5 * op.Kronecker(op.Total(6), op.Prefix(3))),
        op.Weighted([0.5, 1.5], op.Dense([[1, 1, 0, 0, 0, 0], [0, 0, 1, 1, 1, 1]])),
        op.Sparse([[1, 1, 0, 0], [0, 0, 3, 3]]),
        op.Total(7),
        op.Dense([[0.5, 0.5, 0.0, -0.0]]),
    ],
    ids=["union with weights", "weighted rows", "sparse", "total", "no integers"],
)
def test_structures_are_merged(W):
    groups = merged_cells(W)
    np.testing.assert_allclose(groups.workload.to_dense()[:, groups.of_cells], W.to_dense())


@pytest.mark.parametrize("seed", range(20))
def test_columns_of_other_signs_are_others(seed):
    """Their bits differ in one place, which even weights do not see."""
    rows = np.random.default_rng(seed).choice([-0.5, 0.5], (3, 9))
    groups = merged_cells(op.Dense(rows), single=True)
    np.testing.assert_array_equal(groups.workload.to_dense()[:, groups.of_cells], rows)


def test_unseen_cells_are_one_where_records_are_replaced():
    """Cells and how many they hold, beside cells that no query sees: each of them would be counted among all."""
    W = op.Dense(np.concatenate((np.eye(12, 20), np.ones((1, 20)) * (np.arange(20) < 12))))
    privacy = PureDP(1.0, "replace-one")
    A = np.concatenate((np.eye(13)[:, np.minimum(np.arange(20), 12)], np.ones((1, 20))))
    by_hand = error.total_error(op.Dense(A), W, privacy)
    assert select(W, privacy, effort="fast").total_error <= by_hand * (1 + 1e-9)


@pytest.mark.parametrize(
    "W",
    [
        op.Prefix(20),
        op.Identity(2 * MOST_GROUPS + 2),
        op.Kronecker(op.Ranges(3000), op.Ranges(3000)),
        op.Total(2**30),
    ],
    ids=["all distinct", "too many", "too many queries", "too many cells"],
)
def test_what_is_left_alone(W):
    assert merged_cells(W) is None


def predicates(cells=60):
    """Four queries that cut many cells into a few groups."""
    i = np.arange(cells)
    return op.Sparse(
        np.array([i >= cells // 2, i % 4 == 0, (i % 4 == 0) | (i < 9), i < cells // 3], dtype=int)
    )


@pytest.mark.parametrize("neighbours", ["add-remove", "replace-one"])
def test_the_small_problem_has_the_same_optimum(neighbours):
    privacy = ZCDP(0.5, neighbours)
    whole = GaussianOptimal(gap=1e-6).optimize(predicates(), privacy)
    best = select(predicates(), privacy)
    assert "merged cells" in best.name
    assert best.total_error <= whole.total_error * (1 + 1e-5)
    assert whole.lower_bound <= best.total_error * (1 + 1e-5)
    assert best.lower_bound <= whole.total_error * (1 + 1e-5)


@pytest.mark.parametrize("privacy", [UNIT, PureDP(1.0), PureDP(1.0, "replace-one")], ids=str)
def test_stated_errors_are_dense_errors(privacy):
    W = predicates()
    best = select(W, privacy)
    A = best.strategy.to_dense()
    C = W.to_dense() @ np.linalg.pinv(A)
    np.testing.assert_allclose(C @ A, W.to_dense(), atol=1e-8)
    assert best.total_error == pytest.approx(
        error.noise_level(best.strategy, privacy) * np.sum(C**2), rel=1e-7
    )


@pytest.mark.parametrize("neighbours", ["add-remove", "replace-one"])
@pytest.mark.parametrize("norm", [1, 2])
def test_sensitivity_is_that_of_every_column_and_pair(neighbours, norm):
    privacy = (PureDP if norm == 1 else ZCDP)(1.0, neighbours)
    random = np.random.default_rng(norm)
    for _ in range(20):
        B = random.integers(-5, 6, (4, 5))
        groups = random.permutation(np.concatenate([np.arange(5), random.integers(0, 5, 9)]))
        columns = B[:, groups].T
        steps = np.concatenate(
            [columns, *([columns - other for other in columns] if neighbours == "replace-one" else [])]
        )
        worst = int((np.abs(steps) ** norm).sum(axis=1).max())
        for A, scale in ((op.Merged(op.Dense(B), groups), 1), (3 * op.Merged(op.Dense(B), groups), 3)):
            assert integer_norm(A, privacy) == worst * scale**norm
            assert sensitivity(A, privacy) == pytest.approx(scale * worst ** (1 / norm))


def test_a_query_that_tells_cells_apart_is_refused():
    A = op.Merged(op.Identity(2), [0, 0, 1, 1])
    with pytest.raises(UnsupportedWorkload):
        error.profile_trace(A, op.Identity(4))
    large_beside_small = op.Dense([[1e6, 1e6, 0, 0], [1, 0, 0, 0]])
    with pytest.raises(UnsupportedWorkload):
        error.profile_trace(A, large_beside_small)


DOMAIN = rs.Domain(
    age=rs.Numeric(0, 100, bins=100),
    income=rs.Numeric(0, 400, bins=400, integer=True),
    sex=rs.Categorical(["F", "M"]),
)
TEXTS = ["age >= 65 or income < 20", "income >= 100 and sex = 'F' or age < 18", "sex = 'F' or income > 300"]


@pytest.mark.parametrize("privacy", [UNIT, PureDP(1.0), ZCDP(0.5, "replace-one")], ids=str)
def test_a_few_predicates_over_many_cells(privacy, tmp_path):
    """Never worse than asking each query by itself, as it was by far; and the answers have the error that is stated."""
    W = rs.workload.predicates(DOMAIN, TEXTS)
    plan = rs.plan(W, privacy)
    matrix = W.weighted_operator()
    distinct = op.Dense(np.unique(matrix.to_dense(), axis=1))
    assert plan.total_error <= error.total_error(distinct, distinct, privacy) * 1.001
    plan.save(tmp_path / "a.plan")
    assert rs.Plan.load(tmp_path / "a.plan").strategy == plan.strategy
    counts = np.random.default_rng(0).integers(0, 5, DOMAIN.shape)
    release = rs.release(plan, counts)
    answers = release.answers()
    z = (answers["answer"].to_numpy() - matrix @ counts.ravel()) / answers["std_error"].to_numpy()
    assert np.abs(z).max() < 7  # false alarms: below 1e-10
    assert np.sum(answers["std_error"] ** 2) == pytest.approx(plan.total_error, rel=1e-6)


@pytest.mark.parametrize("weight", [1e4, 1e6, 1e8])
def test_weights_of_very_different_sizes(weight):
    """A faint query may be lost among digits in some candidates; the plan answers it all the same."""
    W = rs.workload.predicates(DOMAIN, TEXTS[:2]) + weight * rs.workload.predicates(DOMAIN, TEXTS[2:])
    for privacy in (UNIT, PureDP(1.0)):
        errors, _ = rs.plan(W, privacy).error_bars()
        assert np.isfinite(errors).all()
        assert (errors > 0).all()
