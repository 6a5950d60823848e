from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings

from rowspace import ZCDP, ApproxDP, PureDP
from rowspace import operators as op
from rowspace.error import total_error
from rowspace.exceptions import InvalidInput, InvalidWorkload, TooLarge
from rowspace.strategy import GaussianOptimal, RegularizedGaussian, SingularValue, gaussian_optimal

from .matrices import brute_force_error, supports, workloads
from .programs import program_2

UNIT = ZCDP(0.5)
LAPLACE = PureDP(np.sqrt(2.0))
"""Both have unit variance 1, so that errors read as E."""


@pytest.mark.parametrize(
    ("W", "optimum", "steps"),
    [
        (op.Ranges(64), 11024.4, 2),
        (op.Ranges(256), 276929.3, 2),
        (op.Prefix(64), 282.2015, 6),
        (op.Prefix(256), 1631.403, 7),
    ],
)
def test_figures(W: op.Operator, optimum: float, steps: int) -> None:
    result = GaussianOptimal().optimize(W, UNIT)
    assert result.total_error == pytest.approx(optimum, rel=3e-6)
    assert 1 <= result.ratio <= 1 + 1e-6
    assert result.steps <= steps
    assert "certified" in result.status


@pytest.mark.parametrize("W", [op.Ranges(256), op.Prefix(256)])
def test_three_eigendecompositions_certify_a_thousandth(W: op.Operator) -> None:
    result = GaussianOptimal(gap=1e-3).optimize(W, UNIT)
    assert result.steps <= 3
    assert result.ratio <= 1.001


@pytest.mark.parametrize(
    "W",
    [
        np.tril(np.ones((6, 6))),
        np.array([[1.0, 1, 0, 0], [0, 0, 1, 1], [1, 1, 1, 1]]),
        np.array([[1.0, 0, 2, 0, 1], [0, 0, 1, -1, 1]]),
        np.random.default_rng(0).integers(0, 2, (5, 7)).astype(float),
        np.random.default_rng(1).integers(-2, 3, (9, 6)).astype(float),
    ],
)
def test_program_2_as_written(W: np.ndarray) -> None:
    """A semidefinite solver, good to about 1e-5, finds the same optimum for full and deficient rank."""
    assert GaussianOptimal().optimize(op.Dense(W), UNIT).total_error == pytest.approx(program_2(W), rel=1e-4)


@given(workloads())
@settings(max_examples=80, deadline=None)
def test_laws_on_random_workloads(W: np.ndarray) -> None:
    for privacy in (UNIT, LAPLACE):
        result = GaussianOptimal().optimize(op.Dense(W), privacy)
        A = result.strategy.to_dense()
        assert supports(A, W)
        assert result.total_error == pytest.approx(brute_force_error(A, W, privacy.norm), rel=1e-6)
        assert result.lower_bound <= result.total_error <= np.sum(W**2) * (1 + 1e-9)
        if privacy.norm == 2:
            assert result.ratio <= 1 + 2e-6


def test_error_by_brute_force() -> None:
    W = op.Stack(op.Prefix(20), 3 * op.Hierarchy(20))
    result = GaussianOptimal().optimize(W, ApproxDP(1.0, 1e-6))
    brute = brute_force_error(result.strategy.to_dense(), W.to_dense(), 2)
    assert result.total_error == pytest.approx(ApproxDP(1.0, 1e-6).unit_variance * brute, rel=1e-9)
    assert result.total_error == pytest.approx(total_error(result.strategy, W, ApproxDP(1.0, 1e-6)), rel=1e-9)


def test_weights_count() -> None:
    """A weighted query is a scaled row, and a repeated one is a row weighted by √2."""
    twice = op.Stack(op.Prefix(12), op.Total(12))
    weights = np.ones(12)
    weights[-1] = np.sqrt(2.0)
    once = op.Weighted(weights, op.Prefix(12))
    optimum = GaussianOptimal().optimize(twice, UNIT).total_error
    assert GaussianOptimal().optimize(once, UNIT).total_error == pytest.approx(optimum, rel=2e-6)


def test_deterministic() -> None:
    a, b = (GaussianOptimal().optimize(op.Prefix(40), UNIT).strategy for _ in range(2))
    np.testing.assert_array_equal(a.to_dense(), b.to_dense())


def test_cells_nobody_asks_about() -> None:
    W = op.Dense(np.array([[0.0, 1.0, 1.0], [0.0, 1.0, 0.0]]))
    alone = GaussianOptimal().optimize(op.Dense([[1.0, 1.0], [1.0, 0.0]]), UNIT)
    assert GaussianOptimal().optimize(W, UNIT).total_error == pytest.approx(alone.total_error, rel=3e-6)


def test_optimum_of_a_product_is_the_product_of_optima() -> None:
    a, b = op.Prefix(5), op.Ranges(4)
    optima = [GaussianOptimal().optimize(W, UNIT).total_error for W in (a, b, op.Kronecker(a, b))]
    assert optima[2] == pytest.approx(optima[0] * optima[1], rel=3e-6)


@pytest.mark.parametrize("W", [op.Total(9), op.WidthRanges(20, 4), op.Kronecker(op.Prefix(4), op.Total(3))])
def test_low_rank_strategies_are_multiples_of_workload_rows(W: op.Operator) -> None:
    """Rounding the left factor of such a strategy cannot leave the workload's row space."""
    A = GaussianOptimal().optimize(W, UNIT).strategy
    if isinstance(A, op.Composed):
        T, R = A.left.to_dense(), A.right.to_dense()
        rounded = np.rint(2**12 * T / np.abs(T).max()) @ R
        assert supports(rounded, W.to_dense())
    else:
        assert np.linalg.matrix_rank(A.to_dense()) == W.shape[1]


def test_rows_and_weights_of_very_different_size() -> None:
    W = op.Dense(np.array([[1.0, 1.0, 1.0], [1e-8, -1e-8, 0.0], [0.0, 1e-5, 0.0]]))
    result = GaussianOptimal().optimize(W, UNIT)
    assert result.ratio < 1 + 1e-5
    assert supports(1e3 * result.strategy.to_dense(), W.to_dense())


def test_replace_one_is_judged_by_its_own_sensitivity() -> None:
    privacy = ZCDP(0.5, "replace-one")
    result = GaussianOptimal().optimize(op.Prefix(16), privacy)
    assert result.total_error == pytest.approx(total_error(result.strategy, op.Prefix(16), privacy))
    assert 0 < result.lower_bound <= result.total_error


@given(workloads())
@settings(max_examples=30, deadline=None)
def test_regularized_is_close(W: np.ndarray) -> None:
    result = RegularizedGaussian().optimize(op.Dense(W), UNIT)
    best = GaussianOptimal().optimize(op.Dense(W), UNIT)
    assert supports(result.strategy.to_dense(), W)
    assert result.lower_bound <= result.total_error * (1 + 1e-12)
    assert best.total_error * (1 - 1e-5) <= result.total_error <= 1.02 * best.total_error


def test_regularized_approaches_the_optimum() -> None:
    W = op.WidthRanges(16, 4)
    errors = [RegularizedGaussian(delta).optimize(W, UNIT).total_error for delta in (1e-2, 1e-4, 1e-6)]
    assert errors[0] > errors[1] > errors[2] > GaussianOptimal().optimize(W, UNIT).total_error * (1 - 1e-6)


def test_never_worse_than_the_singular_value_strategy() -> None:
    for W in (op.Prefix(16), op.Hierarchy(13), op.WidthRanges(16, 3)):
        plain = SingularValue().optimize(W, UNIT)
        assert GaussianOptimal().optimize(W, UNIT).total_error <= plain.total_error * (1 + 1e-6)


@pytest.mark.parametrize("gap", [0.0, -1.0, float("nan"), float("inf"), "small"])
def test_bad_gap(gap: object) -> None:
    with pytest.raises(InvalidInput):
        GaussianOptimal(gap=gap)  # type: ignore[arg-type]
    with pytest.raises(InvalidInput):
        RegularizedGaussian(gap=gap)  # type: ignore[arg-type]


def test_bad_input() -> None:
    with pytest.raises(InvalidInput):
        GaussianOptimal(max_steps=0)
    with pytest.raises(InvalidInput, match="total"):
        GaussianOptimal(objective="median")  # type: ignore[arg-type]
    with pytest.raises(InvalidInput):
        RegularizedGaussian(relative_delta=0.0)
    with pytest.raises(InvalidWorkload, match="non-zero"):
        GaussianOptimal().optimize(op.Dense(np.zeros((2, 3))), UNIT)
    for factor in (1e90, 1e-90):
        with pytest.raises(InvalidWorkload, match="scale"):
            GaussianOptimal().optimize(factor * op.Prefix(3), UNIT)
    with pytest.raises(TooLarge, match="Spectral"):
        GaussianOptimal().optimize(op.Ranges(5000), UNIT)


def test_ctrl_c_returns_the_best_so_far(monkeypatch: pytest.MonkeyPatch) -> None:
    calls = []
    honest = gaussian_optimal.FullRank.at

    def interrupted(self, weights):
        calls.append(weights)
        if len(calls) == 3:
            raise KeyboardInterrupt
        return honest(self, weights)

    monkeypatch.setattr(gaussian_optimal.FullRank, "at", interrupted)
    result = GaussianOptimal().optimize(op.Prefix(64), UNIT)
    assert result.status == "interrupted; best so far"
    assert 1 <= result.ratio < 1.01


def test_a_factor_that_lost_sight_of_a_query():
    """Nearly singular, and cut where the queries still look: this was an error once."""
    W = op.Stack(
        op.Kronecker(op.Identity(8), op.Total(50)),
        op.Kronecker(op.Identity(8), op.Total(50)),
        op.Kronecker(op.Total(8), op.Ranges(50)),
    )
    result = GaussianOptimal().optimize(W, ZCDP(0.5))
    assert result.ratio < 1 + 2e-6
    assert result.total_error == pytest.approx(total_error(result.strategy, W, ZCDP(0.5)), rel=1e-6)
