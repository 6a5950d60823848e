"""Program 1: honest errors, the paper's own constraint as an oracle, any rank, any number of rows."""

import cvxpy as cp
import numpy as np
import pytest
from hypothesis import given, settings

from rowspace import operators as op
from rowspace import strategy
from rowspace.error import total_error
from rowspace.exceptions import InvalidInput, InvalidWorkload, TooLarge
from rowspace.privacy import ZCDP, PureDP
from rowspace.strategy import column_balls
from rowspace_paper.optimizers import min_error_sdp, rank_constrained
from tests.strategy.least_errors import COUNTS_AND_TOTAL, FIGURES, TRACES, UNIT, unit_error, workloads


def the_papers_program(W, m):
    """Program 1 word for word: one block with W⁻¹ for each query, u_i at least twice its error."""
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


@pytest.mark.parametrize(("W", "rows", "figure"), FIGURES, ids=str)
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


@given(workloads())
@settings(max_examples=12, deadline=None)
def test_laws_on_random_workloads(W):
    result = strategy.MinErrorSDP(starts=1, max_rounds=4).optimize(W, UNIT)
    assert result.total_error <= W.squared_frobenius() * (1 + 1e-9)
    assert result.total_error >= result.lower_bound * (1 - 1e-7)
    assert result.total_error == pytest.approx(unit_error(result.strategy, W), rel=1e-6)


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
    result = strategy.MinErrorSDP(starts=1, max_rounds=4).optimize(TRACES, UNIT)
    assert result.lower_bound <= result.total_error <= 15.1


@pytest.mark.parametrize("W", [op.Total(4), op.Prefix(8), COUNTS_AND_TOTAL], ids=str)
def test_local_searches_alone_reach_as_much(W):
    """Why planning needs no semidefinite programs."""
    program, search = (kind().optimize(W, UNIT) for kind in (strategy.MinErrorSDP, strategy.MinError))
    assert search.total_error <= 1.01 * program.total_error
