"""The p-Identity optimizer: its loss by brute force, its gradient, its figures, and what it refuses."""

from functools import cache

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from rowspace import operators as op
from rowspace.error import total_error
from rowspace.exceptions import InvalidInput, InvalidWorkload, TooLarge
from rowspace.privacy import ApproxDP, Neighbours, PureDP
from rowspace.strategy import Hierarchical, PIdentity, p_identity_starts
from rowspace.strategy.effort import effort_named
from rowspace.strategy.p_identity_loss import PIdentityLoss, Support
from rowspace.strategy.p_identity_starts import levels, random_start, starts, tents

UNIT = PureDP(2**0.5)
"""Unit variance: total errors are E itself."""

WORKLOADS = {
    "ranges": op.Ranges(12),
    "windows and total": op.Stack(3.0 * op.WidthRanges(12, 4), op.Total(12)),
    "product": op.Kronecker(op.Prefix(3), op.Ranges(4)),
    "union of products": op.Stack(
        op.Kronecker(op.Identity(3), op.Total(4)), op.Kronecker(op.Total(3), op.Prefix(4))
    ),
    "dense": op.Dense(np.random.default_rng(1).normal(size=(30, 12))),
    "sparse": op.Sparse(np.eye(12)[::2] - np.eye(12)[1::2]),
}

every_workload = pytest.mark.parametrize("W", WORKLOADS.values(), ids=WORKLOADS)


def windowed(p, n):
    """Rows with windows of different places and sizes, over blocks that do not divide the cells."""
    peaks = np.linspace(0, n, p)
    return Support.of_windows(peaks - n / 3, peaks + n / 5, n, 5)


@every_workload
@pytest.mark.parametrize("support", [Support.full(3, 12), windowed(3, 12)], ids=["full", "windowed"])
def test_loss_by_brute_force(W, support):
    x = np.random.default_rng(2).random(support.entries)
    loss = PIdentityLoss(W, support)
    theta = np.zeros((3, 12))
    for block, rows, (a, b) in zip(support.blocks(x), support.active, support.spans, strict=True):
        theta[rows, a:b] = block
    A = np.vstack([np.eye(12), theta]) / (1 + theta.sum(axis=0))
    V = W.to_dense().T @ W.to_dense()
    assert loss(x)[0] * loss.unit == pytest.approx(np.trace(np.linalg.inv(A.T @ A) @ V), rel=1e-10)
    assert loss(np.zeros(support.entries))[0] == pytest.approx(1.0)


@every_workload
@pytest.mark.parametrize("support", [Support.full(3, 12), windowed(3, 12)], ids=["full", "windowed"])
def test_gradient_by_central_differences(W, support):
    x = np.random.default_rng(3).random(support.entries)
    loss, step = PIdentityLoss(W, support), 1e-5
    numeric = [(loss(x + e)[0] - loss(x - e)[0]) / (2 * step) for e in step * np.eye(support.entries)]
    assert loss(x)[1] == pytest.approx(np.array(numeric), abs=1e-8)


def test_support_matrix_leaves_out_empty_rows():
    support = windowed(4, 12)
    x = np.random.default_rng(4).random(support.entries)
    for block, rows in zip(support.blocks(x), support.active, strict=True):
        block[rows == 2] = 0.0
    assert support.matrix(x).shape == (3, 12)
    assert support.matrix(x).sum() == pytest.approx(x.sum())


def test_starts_are_better_than_the_identity_on_ranges():
    for start in starts(op.Ranges(300), None):
        assert start.loss(start.entries)[0] < 1


@pytest.mark.parametrize("rows", [1, 2, 16, 17, 40, 290, 5000])
def test_levels_add_up(rows):
    assert sum(levels(rows)) == rows
    assert sorted(levels(rows), reverse=True) == list(levels(rows))


@pytest.mark.parametrize(("n", "layout"), [(1, (1,)), (5, (9,)), (7, (3, 1)), (40, (12, 2))])
def test_tents_reach_every_cell(n, layout):
    support, shapes, level = tents(n, layout)
    assert support.rows == sum(layout)
    assert support.cells == n
    assert set(level) <= set(range(len(layout)))
    reached = [(block > 0).any(axis=0).all() for block in support.blocks(shapes)]
    assert all(reached)


def dense_error(A, W):
    """E by numpy alone."""
    matrix, V = A.to_dense(), W.to_dense().T @ W.to_dense()
    return np.abs(matrix).sum(axis=0).max() ** 2 * np.trace(np.linalg.inv(matrix.T @ matrix) @ V)


@example(np.array([[1.0, -1.0, -1.0, -1.0]]), 3, Neighbours.ADD_REMOVE)  # needs no cell by itself
@example(np.ones((1, 2)), 3, Neighbours.ADD_REMOVE)
@settings(max_examples=40, deadline=None)
@given(
    st.tuples(st.integers(1, 6), st.integers(1, 9)).flatmap(
        lambda shape: arrays(np.float64, shape, elements=st.sampled_from([0.0, 0.0, 1.0, 1.0, -1.0, 0.5]))
    ),
    st.sampled_from([None, 1, 3]),
    st.sampled_from(list(Neighbours)),
)
def test_laws_on_random_workloads(rows, p, neighbours):
    """Rank-deficient, repeated and zero rows included."""
    if not rows.any():
        rows[0, 0] = 1.0
    W, privacy = op.Dense(np.vstack([rows, rows[:1]])), PureDP(2**0.5, neighbours)
    result = PIdentity(p, restarts=1, max_steps=30).optimize(W, privacy)
    A = result.strategy
    assert A.column_norms(1) == pytest.approx(np.ones(W.shape[1]), abs=1e-12)
    assert A.nonnegative
    assert W.to_dense() @ A.pinv().to_dense() @ A.to_dense() == pytest.approx(W.to_dense(), abs=1e-8)
    assert result.total_error == pytest.approx(total_error(A, W, privacy), rel=1e-9)
    assert result.total_error <= total_error(op.Identity(W.shape[1]), W, privacy) * (1 + 1e-12)
    assert result.lower_bound <= result.total_error * (1 + 1e-9)
    if neighbours is Neighbours.ADD_REMOVE:
        assert result.total_error == pytest.approx(dense_error(A, W), rel=1e-7)


@cache
def optimum(family, n):
    return PIdentity().optimize(family(n), UNIT)


@pytest.mark.parametrize(
    ("family", "n", "figure"),
    [(op.Ranges, 64, 32_100), (op.Ranges, 256, 1.0675e6), (op.Prefix, 64, 906.6), (op.Prefix, 256, 6_880)],
)
def test_figures(family, n, figure):
    result = optimum(family, n)
    assert result.total_error <= figure
    assert result.lower_bound <= result.total_error
    assert result.status.startswith("converged")


def test_identity_and_total():
    """By symmetry one row θ·1 is best, and E = (1+θ)²·(2n − n(n+1)θ²/(1+nθ²)); many rows get stuck at 2n."""
    n, theta = 256, np.linspace(0, 2, 20_001)
    W = op.Stack(op.Identity(n), op.Total(n))
    best = ((1 + theta) ** 2 * (2 * n - n * (n + 1) * theta**2 / (1 + n * theta**2))).min()
    assert PIdentity().optimize(W, UNIT).total_error <= min(386.9, best * (1 + 1e-6))


def test_columns_sum_to_one():
    for family in (op.Ranges, op.Prefix):
        A = optimum(family, 256).strategy
        assert A.column_norms(1) == pytest.approx(np.ones(256), abs=1e-14)
        integers, _ = A.integer_form(20)
        assert len(set(integers._exact_column_sums(1))) == 1


def test_rounded_strategy_costs_next_to_nothing():
    A = optimum(op.Ranges, 256).strategy
    integers, _ = A.integer_form(20)
    rounded = total_error(integers, op.Ranges(256), UNIT)
    assert rounded == pytest.approx(total_error(A, op.Ranges(256), UNIT), rel=1e-5)


@pytest.mark.parametrize("family", [op.Ranges, op.Prefix])
def test_better_than_any_tree(family):
    tree = Hierarchical().optimize(family(256), UNIT).total_error
    assert optimum(family, 256).total_error < 0.9 * tree


def test_given_number_of_rows():
    A = PIdentity(p=5, restarts=0).optimize(op.Ranges(64), UNIT).strategy
    assert A.shape == (69, 64)


def test_identity_is_the_answer_for_single_cells():
    result = PIdentity().optimize(op.Identity(20), UNIT)
    assert result.strategy == op.Identity(20)
    assert result.total_error == pytest.approx(result.lower_bound)


def test_same_generator_state_same_strategy():
    W = WORKLOADS["dense"]
    first, again = (
        PIdentity(restarts=2).optimize(W, UNIT, np.random.default_rng(7)).strategy for _ in range(2)
    )
    assert first == again


def test_restarts_help_where_the_order_of_cells_means_nothing():
    order = np.random.default_rng(5).permutation(64)
    W = op.Permuted(op.Ranges(64), order)
    without = PIdentity(restarts=0).optimize(W, UNIT).total_error
    assert PIdentity(restarts=2).optimize(W, UNIT).total_error < 0.9 * without


def test_few_steps_say_so():
    result = PIdentity(max_steps=3, restarts=0).optimize(op.Prefix(64), UNIT)
    assert "raise max_steps" in result.status


def test_progress_falls():
    seen = []
    result = PIdentity(progress=lambda step, error: seen.append((step, error))).optimize(op.Ranges(40), UNIT)
    steps, errors = zip(*seen, strict=True)
    assert steps == tuple(range(1, result.steps + 1))
    assert all(np.diff(errors) <= 0)
    assert errors[-1] == pytest.approx(result.total_error, rel=1e-9)


def test_interrupted_search_returns_the_best_so_far():
    def interrupt(step, error):
        if step == 12:
            raise KeyboardInterrupt

    result = PIdentity(progress=interrupt).optimize(op.Ranges(64), UNIT)
    assert result.status == "interrupted; best so far"
    assert result.steps == 12
    assert result.total_error < 45_760


def test_interrupted_before_anything_was_found(monkeypatch):
    def interrupt(self, x):
        raise KeyboardInterrupt

    monkeypatch.setattr(PIdentityLoss, "__call__", interrupt)
    with pytest.raises(KeyboardInterrupt):
        PIdentity().optimize(op.Ranges(8), UNIT)


@pytest.mark.parametrize(
    "arguments",
    [
        {"p": 0},
        {"p": 2.5},
        {"restarts": -1},
        {"max_steps": 0},
        {"tolerance": 0.0},
        {"tolerance": -1e-3},
        {"tolerance": float("nan")},
    ],
)
def test_bad_configuration(arguments):
    with pytest.raises(InvalidInput):
        PIdentity(**arguments)


def test_gaussian_noise_is_refused_with_the_alternative():
    with pytest.raises(InvalidInput, match="GaussianOptimal"):
        PIdentity().optimize(op.Ranges(8), ApproxDP(1.0, 1e-6))


def test_nothing_asked():
    with pytest.raises(InvalidWorkload):
        PIdentity().optimize(op.Dense(np.zeros((2, 4))), UNIT)


def test_too_large_says_what_to_use():
    with pytest.raises(TooLarge, match="Hierarchical"):
        PIdentity().optimize(op.Ranges(2**17), UNIT)


def test_no_matrix_over_all_pairs_of_cells():
    """A large domain with few rows: n × n would be 8 GiB."""
    result = PIdentity(p=3, max_steps=4, restarts=0).optimize(op.Prefix(2**15), UNIT)
    assert result.total_error < 0.5 * op.Prefix(2**15).squared_frobenius()


@pytest.mark.parametrize("widths", [(7, 20), (30, 40)], ids=["narrow", "wide"])
def test_windows_of_few_widths_get_other_spacings(widths):
    W = op.Stack(*(op.WidthRanges(128, width) for width in widths))
    tree = Hierarchical().optimize(W, UNIT).total_error
    assert PIdentity().optimize(W, UNIT).total_error < tree


def test_random_start_covers_everything():
    start = random_start(op.Ranges(10), 2, np.random.default_rng(0))
    assert start.loss.support.entries == 20


@pytest.mark.parametrize(("p", "words"), [(1, "p-identity, 1 row"), (2, "p-identity, 2 rows")])
def test_its_name_counts_its_rows(p, words):
    assert PIdentity(p=p).optimize(op.Ranges(64), UNIT).name == words


@pytest.mark.parametrize("W", [op.Ranges(256), op.Prefix(256), op.Stack(op.Identity(256), op.Total(256))])
def test_many_cells_go_on_from_the_start_of_least_error(W, monkeypatch):
    """Past a number of cells one start is left, as good as the best of all that are tried first."""
    few = p_identity_starts.starts(W, None)
    monkeypatch.setattr(p_identity_starts, "MANY_CELLS", 128)
    (only,) = p_identity_starts.starts(W, None)
    assert only.value <= 1.02 * min(start.value for start in few)
    assert PIdentity().optimize(W, UNIT).total_error < W.squared_frobenius()


def test_no_cliff_at_4096_cells():
    """The planner searches past 4,096 cells at normal effort, with fewer steps where each takes longer."""
    normal = effort_named("normal")
    assert normal.p_identity_cells == 16_384
    assert normal.p_identity_steps_over(8192) == normal.p_identity_steps
    assert 20 <= normal.p_identity_steps_over(16_384) < normal.p_identity_steps
