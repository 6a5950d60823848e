"""Program 1: honest errors, the paper's own constraint as an oracle, any rank, any number of rows."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rowspace import operators as op
from rowspace import strategy
from rowspace.error import total_error
from rowspace.exceptions import InvalidInput, InvalidWorkload, TooLarge
from rowspace.privacy import ZCDP, PureDP
from rowspace.strategy import column_balls, min_error_sdp, rank_constrained

UNIT = PureDP(2**0.5)
COUNTS_AND_TOTAL = op.Stack(op.Identity(6), 3 * op.Total(6))


def unit_error(A, W):
    """E(A, W) from dense matrices alone."""
    A, V = A.to_dense(), W.gram().to_dense()
    return np.abs(A).sum(axis=0).max() ** 2 * np.trace(np.linalg.pinv(A.T @ A) @ V)


def the_papers_program(W, m):
    """Program 1 word for word: one block with W⁻¹ for each query, u_i at least twice its error."""
    import cvxpy as cp

    n = len(W)
    inverse, e = np.linalg.inv(W), np.eye(n)
    A, Z, u = cp.Variable((m, n)), cp.Variable((n, n), symmetric=True), cp.Variable(n)
    C = cp.Variable((m, n))
    blocks = [
        cp.bmat(
            [
                [2 * np.eye(m), -A @ inverse, np.zeros((m, 1))],
                [-(A @ inverse).T, inverse.T @ Z @ inverse, e[:, [i]]],
                [np.zeros((1, m)), e[[i]], cp.reshape(u[i], (1, 1), order="C")],
            ]
        )
        >> 0
        for i in range(n)
    ]
    limits = [C >= A, C >= -A, cp.sum(C, axis=0) <= 1]
    return rank_constrained.RankConstrained(A, Z, cp.sum(u), blocks + limits)


def fixed_value(program, A):
    """The program's optimum over everything but A and Z = AᵗA; the penalty vanishes there."""
    import cvxpy as cp

    program.direction.value = np.zeros(program.direction.shape)
    # A little above AᵗA, so that the solver has an interior.
    Z = A.T @ A + 1e-7 * np.eye(A.shape[1])
    fixed = [program.A == A, program.Z == Z]
    problem = cp.Problem(program.problem.objective, program.problem.constraints[1:] + fixed)
    return problem.solve(solver=cp.CLARABEL)


def test_one_block_says_what_the_papers_blocks_say():
    """At Z = AᵗA both objectives are the error: tr T = Σu/2 = tr(W(AᵗA)⁻¹Wᵗ)."""
    rng = np.random.default_rng(0)
    W = np.tril(np.ones((3, 3))) + 0.1 * rng.standard_normal((3, 3))
    A = np.eye(3) + 0.2 * rng.standard_normal((3, 3))
    A /= np.abs(A).sum(axis=0).max()
    error = np.trace(W @ np.linalg.inv(A.T @ A) @ W.T)
    assert fixed_value(min_error_sdp.least_error_program(W.T, 3), A) == pytest.approx(error, rel=1e-4)
    assert fixed_value(the_papers_program(W, 3), A) == pytest.approx(2 * error, rel=1e-4)


def test_the_papers_program_and_ours_agree_on_ranges():
    V = op.Ranges(4).gram().to_dense() / 5
    W = np.linalg.cholesky(V).T
    start = np.eye(4)
    ours = min_error_sdp.least_error_program(W.T, 4).settle(start, 1.0, 2.0, 1e-6, 12)
    theirs = the_papers_program(W, 4).settle(start, 2.0, 2.0, 1e-6, 12)
    for settled in (ours, theirs):
        assert settled.defect < 1e-5
        assert column_balls.unit_error(settled.A, W.T) == pytest.approx(4.0, abs=0.01)


@pytest.mark.parametrize(
    ("W", "rows", "figure"),
    [
        (op.Ranges(4), None, 20.0),
        (op.Prefix(4), None, 10.0),
        (op.Prefix(8), None, 35.4),
        (op.Total(4), None, 1.0),
        (op.Total(4), 1, 1.0),
        (op.WidthRanges(6, 4), 3, 8.6565),
        (COUNTS_AND_TOTAL, 7, 51.3653),
    ],
    ids=str,
)
def test_figures(W, rows, figure):
    result = strategy.MinErrorSDP(rows=rows).optimize(W, UNIT)
    assert result.total_error <= figure * (1 + 1e-4)
    assert result.strategy.shape[0] <= (rows or W.shape[1])
    assert result.total_error >= result.lower_bound * (1 - 1e-9)


def test_more_rows_are_no_worse_than_fewer():
    square, wide = (
        strategy.MinErrorSDP(rows, 2).optimize(COUNTS_AND_TOTAL, UNIT).total_error for rows in (6, 7)
    )
    assert wide < square < 60


@pytest.mark.parametrize("privacy", [PureDP(0.5), PureDP(0.5, "replace-one")], ids=str)
def test_error_by_brute_force(privacy):
    W = COUNTS_AND_TOTAL
    result = strategy.MinErrorSDP(starts=1).optimize(W, privacy)
    assert result.total_error == pytest.approx(total_error(result.strategy, W, privacy))
    assert result.total_error <= total_error(op.Identity(6), W, privacy) * (1 + 1e-12)
    if privacy == PureDP(0.5):
        assert result.total_error == pytest.approx(8 * unit_error(result.strategy, W), rel=1e-9)


@st.composite
def workloads(draw):
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    rows, n = draw(st.integers(1, 6)), draw(st.integers(1, 4))
    W = rng.integers(-1, 3, (rows, n)).astype(float)
    W[0, 0] = 1.0
    if draw(st.booleans()):
        W = np.concatenate((W, W[:1], np.zeros((1, n))))
    if draw(st.booleans()):
        W[:, -1] = W[:, 0]
    return op.Dense(W)


@given(workloads())
@settings(max_examples=12, deadline=None)
def test_laws_on_random_workloads(W):
    result = strategy.MinErrorSDP(starts=1, max_rounds=4).optimize(W, UNIT)
    assert result.total_error <= W.squared_frobenius() * (1 + 1e-9)
    assert result.total_error >= result.lower_bound * (1 - 1e-7)
    assert result.total_error == pytest.approx(unit_error(result.strategy, W), rel=1e-6)


@pytest.mark.parametrize(("m", "n", "r"), [(3, 3, 3), (5, 4, 2), (2, 4, 2)])
def test_gradient_of_the_local_search(m, n, r):
    rng = np.random.default_rng(m)
    x, L = rng.uniform(0.1, 1.0, 2 * m * n + n), rng.standard_normal((n, r))
    _, gradient = column_balls.loss(x, m, L, 1e-2)
    h = 1e-6
    for i in range(len(x)):
        step = h * (np.arange(len(x)) == i)
        ahead, behind = (column_balls.loss(x + s, m, L, 1e-2)[0] for s in (step, -step))
        assert (ahead - behind) / (2 * h) == pytest.approx(gradient[i], rel=1e-5, abs=1e-6)


def test_directions_vanish_exactly_where_the_rank_constraint_holds():
    rng = np.random.default_rng(1)
    A = rng.standard_normal((5, 3))
    U = rank_constrained.smallest_directions(A, A.T @ A)

    def trace(Z):
        return np.sum(U * np.block([[np.eye(5), A], [A.T, Z]]))

    assert trace(A.T @ A) == pytest.approx(0.0, abs=1e-10)
    assert trace(A.T @ A + np.eye(3)) > 0.1


def test_completion_has_the_profile_asked_for():
    rng = np.random.default_rng(2)
    Z = np.cov(rng.standard_normal((3, 9)))
    B = rank_constrained.Settled(rng.standard_normal((4, 3)), Z, 1.0, 1).completed()
    np.testing.assert_allclose(B.T @ B, Z, atol=1e-12)


def test_same_generator_same_result():
    first, second = (
        strategy.MinErrorSDP(starts=1).optimize(COUNTS_AND_TOTAL, UNIT, np.random.default_rng(3))
        for _ in range(2)
    )
    assert first.strategy == second.strategy


def test_interruption_returns_the_best_so_far(monkeypatch):
    def interrupted(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(min_error_sdp, "descend", interrupted)
    result = strategy.MinErrorSDP().optimize(op.Prefix(4), UNIT)
    assert "interrupted; best so far" in result.status
    assert result.total_error == pytest.approx(10.0)
    with pytest.raises(KeyboardInterrupt):
        strategy.MinErrorSDP(rows=1).optimize(op.Total(4), UNIT)


def test_bad_input():
    with pytest.raises(InvalidInput, match="GaussianOptimal"):
        strategy.MinErrorSDP().optimize(op.Prefix(4), ZCDP(0.5))
    with pytest.raises(TooLarge, match="PIdentity"):
        strategy.MinErrorSDP().optimize(op.Prefix(17), UNIT)
    with pytest.raises(TooLarge, match="rows"):
        strategy.MinErrorSDP(rows=1000).optimize(op.Prefix(4), UNIT)
    with pytest.raises(InvalidInput, match="the workload's rank"):
        strategy.MinErrorSDP(rows=3).optimize(op.Prefix(4), UNIT)
    with pytest.raises(InvalidWorkload, match="only zeros"):
        strategy.MinErrorSDP().optimize(op.Dense(np.zeros((2, 3))), UNIT)
    for wrong in (
        {"rows": 0},
        {"starts": 0},
        {"max_rounds": 0},
        {"tolerance": 0.0},
        {"tolerance": float("nan")},
    ):
        with pytest.raises(InvalidInput):
            strategy.MinErrorSDP(**wrong)


def test_traces_of_what_nobody_asks_are_removed():
    """The search left a direction at 1e-7 that no query asks: enough to look like rank, too little to invert."""
    W = op.Dense(
        np.array(
            [[1, 1, -1, 1], [2, 0, 0, 2], [-1, 1, -1, -1], [1, 0, 1, 1], [1, 1, -1, 1], [0, 0, 0, 0]], float
        )
    )
    result = strategy.MinErrorSDP(starts=1, max_rounds=4).optimize(W, UNIT)
    assert result.lower_bound <= result.total_error <= 15.1
