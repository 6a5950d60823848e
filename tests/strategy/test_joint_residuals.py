"""Residuals with joint matrices: queries that tie attributes together, their strategies and the bound."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import rowspace as rs
from rowspace import operators as op
from rowspace.error import noise_level, profile_trace
from rowspace.privacy import ZCDP
from rowspace.strategy import GaussianOptimal, Residual, Strategy, to_integers
from rowspace.strategy import joint_bound as bounds
from rowspace.strategy.joint_parts import Frame, subsets
from rowspace.strategy.joint_residuals import Joint
from rowspace.tables import Piece, Residuals, gather

UNIT = ZCDP(0.5)
SEEDS = st.integers(0, 2**32 - 1)


def sums(sizes, most=None):
    """x + y + … ≤ c for all c."""
    total = np.indices(sizes).sum(axis=0).ravel()
    return op.Dense([total <= c for c in range(int(total.max()) + 1 if most is None else most)])


@st.composite
def tied_workloads(draw):
    """Matrices over one to three attributes, tied or not, of few or many rows, integers or not."""
    rng = np.random.default_rng(draw(SEEDS))
    sizes = tuple(int(n) for n in rng.integers(1, 5, size=int(rng.integers(2, 5))))
    parts = []
    for number in range(int(rng.integers(1, 5))):
        axes = sorted(rng.permutation(len(sizes))[: int(rng.integers(2 if number == 0 else 1, 4))].tolist())
        shape = [sizes[i] for i in axes]
        cells = int(np.prod(shape))
        rows = rng.integers(-1, 2, (int(rng.integers(1, 2 * cells + 1)), cells)).astype(float)
        rows[0, 0] = 1
        if rng.random() < 0.3:
            rows *= 0.37
        pieces = (Piece(tuple(axes), op.Dense(rows)),)
        if number and rng.random() < 0.5:
            pieces = tuple(Piece((i,), op.Ranges(sizes[i])) for i in axes)
        parts.append((float(rng.choice([0.5, 1.0, 3.0])), pieces))
    return gather(sizes, parts)


@given(tied_workloads(), SEEDS, st.sampled_from([1, 4, 2000]))
@settings(max_examples=60, deadline=None)
def test_no_strategy_goes_below_the_joint_bound(W, seed, heads):
    """Whatever the weights, and however much is cut off: below the certified optimum over the cells."""
    rng = np.random.default_rng(seed)
    weights = {i: rng.dirichlet(np.ones(n)) * 0.99 + 0.01 / n for i, n in enumerate(W.sizes)}
    optimum = GaussianOptimal(gap=1e-5).optimize(W.weighted_operator(), UNIT).total_error
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(bounds, "MOST_HEADS", heads)
        assert bounds.joint_bound(W, weights) <= optimum * (1 + 1e-9)
        assert bounds.joint_bound(W, {}) <= optimum * (1 + 1e-9)


@given(tied_workloads(), SEEDS)
@settings(max_examples=40, deadline=None)
def test_with_all_heads_the_bound_is_that_of_the_weights(W, seed):
    """‖W D^½‖₁², from the matrix over all cells."""
    rng = np.random.default_rng(seed)
    weights = {i: rng.dirichlet(np.full(n, 3.0)) + 1e-9 for i, n in enumerate(W.sizes)}
    weights = {i: own / own.sum() for i, own in weights.items()}
    D = np.ones(1)
    for i in range(len(W.sizes)):
        D = np.multiply.outer(D, weights[i]).ravel()
    truth = np.linalg.svd(W.weighted_operator().to_dense() * np.sqrt(D), compute_uv=False).sum() ** 2
    assert bounds.joint_bound(W, weights) == pytest.approx(truth, rel=1e-5)


@given(tied_workloads())
@settings(max_examples=40, deadline=None)
def test_strategies_for_tied_queries(W):
    """In integers as they are asked: answers all queries, has the error that is stated, never below the bound."""
    result = Residual().optimize(W, UNIT)
    integers, _ = to_integers(result.strategy, UNIT)
    dense = integers.to_dense()
    queries = W.weighted_operator()
    error = noise_level(op.Dense(dense), UNIT) * np.sum(
        (queries.to_dense() @ np.linalg.pinv(dense, rcond=1e-12)) ** 2
    )
    assert error == pytest.approx(result.total_error, rel=1e-3)
    assert result.lower_bound <= result.total_error * (1 + 1e-9)
    optimum = GaussianOptimal(gap=1e-4).optimize(queries, UNIT)
    assert result.lower_bound <= optimum.total_error * (1 + 1e-9)
    assert optimum.lower_bound <= result.total_error * (1 + 1e-6)
    x = np.random.default_rng(0).integers(0, 20, integers.shape[1])
    answers = Strategy.of(integers).estimate((integers @ x).astype(float)).answers(W)
    np.testing.assert_allclose(answers, W.operator() @ x, atol=1e-6 * max(1, np.abs(answers).max()))


def joint_of(W):
    tied = {own for part in W.parts for own in subsets(sorted(W.axes_of(part)))}
    return Joint(W, tied, {})


def test_the_search_follows_its_gradient():
    W = gather(
        (3, 4, 3), [(1.0, (Piece((0, 1), sums((3, 4))),)), (2.0, (Piece((0, 1, 2), sums((3, 4, 3))),))]
    )
    joint = joint_of(W)
    rng = np.random.default_rng(0)
    at = 0.1 * rng.normal(size=max(where.stop for where in joint.places.values()))
    direction = rng.normal(size=len(at))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("rowspace.strategy.joint_residuals.COARSE", (1e-9, 12))
        _, gradient = joint.descent(at, 1.0)
        ends = [joint.descent(at + step * direction, 1.0)[0] for step in (-1e-3, 1e-3)]
    assert (ends[1] - ends[0]) / 2e-3 == pytest.approx(gradient @ direction, rel=1e-3)


def test_functions_are_orthonormal_under_their_weights():
    weights = np.array([0.1, 0.2, 0.3, 0.4])
    frame = Frame(weights)
    np.testing.assert_allclose((frame.functions * weights) @ frame.functions.T, np.eye(4), atol=1e-12)
    np.testing.assert_allclose(frame.functions[0], 1)
    np.testing.assert_allclose(frame.F, weights[:, None] * frame.functions.T)


@pytest.mark.parametrize(
    ("one", "number", "most"),
    [(op.Ranges(10), 5, 55 * 5 * 4.40**2 + 190 * 4.40**2), (op.Prefix(10), 4, 2265)],
)
def test_figures_of_sums_of_pairs(one, number, most):
    """1-way ranges or prefixes and x + y ≤ c of all pairs, 10 cells each: below QuerySmasher, certified to 10 %."""
    pair = sums((10, 10))
    parts = [(1.0, (Piece((i,), one),)) for i in range(number)]
    parts += [(1.0, (Piece(pair_of, pair),)) for pair_of in combinations(range(number), 2)]
    result = Residual().optimize(gather((10,) * number, parts), UNIT)
    assert result.total_error <= most
    assert result.ratio <= 1.1


def test_random_matrices_on_pairs_beat_a_matrix_for_every_residual_alone():
    """N = 0 is the closed form with equal shares, which QuerySmasher comes to."""
    rng = np.random.default_rng(0)
    parts = [
        (1.0, (Piece(own, op.Dense(rng.integers(0, 2, (20, 25)))),)) for own in combinations(range(4), 2)
    ]
    W = gather((5,) * 4, parts)
    found = Residual().optimize(W, UNIT)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("rowspace.strategy.joint_residuals.MOST_STEPS", 0)
        plain = Residual().optimize(W, UNIT)
    assert found.total_error < 0.95 * plain.total_error


def test_tables_outside_the_tied_sets_stay_products():
    """Ties of two attributes among many: their sets have joint matrices, the others contrasts; errors are dense."""
    cells = [Piece((i,), op.Identity(3)) for i in range(4)]
    parts = [(1.0, (cells[i], cells[j])) for i, j in combinations(range(4), 2)]
    W = gather((3,) * 4, [*parts, (1.0, (Piece((0, 1), sums((3, 3))),)), (1.0, (Piece((3,), op.Ranges(3)),))])
    result = Residual().optimize(W, UNIT)
    A = result.strategy
    assert isinstance(A, Residuals)
    joint = {own for own, J in zip(A.sets, A.joint, strict=True) if J is not None}
    assert joint == {(), (0,), (1,), (0, 1)}
    dense = noise_level(A, UNIT) * profile_trace(op.Dense(A.to_dense()), W.weighted_operator())
    assert result.total_error == pytest.approx(dense, rel=1e-6)
    assert result.ratio < 1.05


def domain(number, n):
    return rs.Domain(
        **{f"a{i}": rs.Numeric(0, n, bins=n, integer=True, outside="drop") for i in range(number)}
    )


@pytest.mark.long
def test_end_to_end_over_more_cells_than_fit():
    """10²⁰ cells: predicates, a matrix and tables in one plan; at tiny noise the true counts, also from a file."""
    pandas = pytest.importorskip("pandas")
    D = domain(20, 10)
    levels = (3, 7, 12)
    W = rs.workload.predicates(D, [f"a{i} + a{i + 10} <= {c}" for i in range(10) for c in levels])
    queries = np.random.default_rng(1).integers(0, 2, (5, 100))
    W = (
        W
        + rs.workload.matrix(queries, D, "a19", "a3")
        + rs.workload.marginals(D, sets=[["a0"], ["a1", "a2"]])
    )
    assert 1 <= rs.plan(W, rs.ZCDP(0.5)).ratio < 1.5
    plan = rs.plan(W, rs.ZCDP(1e6))
    rng = np.random.default_rng(2)
    rows = pandas.DataFrame({f"a{i}": rng.integers(0, 10, 300) for i in range(20)})
    release = rs.release(plan, rows)
    table = np.zeros((10, 10))
    np.add.at(table, (rows.a19, rows.a3), 1)
    truth = [(rows[f"a{i}"] + rows[f"a{i + 10}"] <= c).sum() for i in range(10) for c in levels]
    answers = release.answers()["answer"].to_numpy()
    np.testing.assert_allclose(answers[:35], [*truth, *(queries @ table.ravel())], atol=0.2)
    np.testing.assert_allclose(answers[35:45], np.bincount(rows.a0, minlength=10), atol=0.2)
    found = release.ask("a0 + a10 <= 7")["answer"].iloc[0]
    assert found == pytest.approx((rows.a0 + rows.a10 <= 7).sum(), abs=0.2)
    with pytest.raises(rs.RowspaceError, match="a0, a10"):
        release.ask("a0 + a10 <= 8")


def test_releases_with_joint_matrices_keep_in_files(tmp_path):
    D = domain(9, 10)
    W = rs.workload.predicates(D, [f"a{i} + a{i + 1} <= 7" for i in range(8)])
    release = rs.release(rs.plan(W, rs.ZCDP(0.5)), _rows(9))
    assert release.plan.strategy.has_joint
    release.save(tmp_path / "release.rowspace")
    again = rs.Release.load(tmp_path / "release.rowspace")
    assert again.plan.strategy == release.plan.strategy
    np.testing.assert_array_equal(again.answers()["answer"], release.answers()["answer"])


def _rows(number):
    pandas = pytest.importorskip("pandas")
    rng = np.random.default_rng(2)
    return pandas.DataFrame({f"a{i}": rng.integers(0, 10, 300) for i in range(number)})


def test_the_predicted_error_is_the_sample_variance():
    D = domain(3, 4)
    W = rs.workload.predicates(D, [f"a{i} + a{j} <= {c}" for i, j in ((0, 1), (1, 2)) for c in range(7)])
    plan = rs.plan(W, rs.ZCDP(0.1), strategy=Residual().optimize(W.products(), UNIT).strategy)
    rng = np.random.default_rng(3)
    counts = rng.integers(0, 30, (4, 4, 4))
    truth = W.operator() @ counts.ravel()
    errors = [rs.release(plan, counts).answers()["answer"].to_numpy() - truth for _ in range(400)]
    # A mean of 400 sums of about ten squares: a relative standard deviation of about 3 %.
    assert np.mean(np.sum(np.square(errors), axis=1)) == pytest.approx(plan.total_error, rel=0.2)
    np.testing.assert_allclose(np.mean(errors, axis=0), 0, atol=6 * np.sqrt(plan.total_error / 400))
