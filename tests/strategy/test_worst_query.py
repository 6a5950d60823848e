from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings

from rowspace import ZCDP, PureDP
from rowspace import operators as op
from rowspace.error import max_error
from rowspace.exceptions import TooLarge
from rowspace.strategy import GaussianOptimal, WorstQueryResult
from rowspace.strategy import worst_query as worst_query_module
from rowspace.strategy.weighted_gram import weighted_gram
from rowspace.strategy.worst_query import PrefixQueries, Queries

from .matrices import supports, workloads
from .programs import worst_query_program

UNIT = ZCDP(0.5)


def worst(W: op.Operator, privacy=UNIT, **keywords) -> WorstQueryResult:
    result = GaussianOptimal(objective="max", **keywords).optimize(W, privacy)
    assert isinstance(result, WorstQueryResult)
    return result


def test_prefixes_of_256_cells() -> None:
    result = worst(op.Prefix(256), gap=1e-4)
    assert result.max_error < 6.4155
    assert 1 <= result.max_ratio <= 1 + 1.1e-4
    assert result.to_dict()["max_error"] == result.max_error


def test_certified_to_the_default_gap() -> None:
    result = worst(op.Prefix(64))
    assert result.max_error == pytest.approx(4.45787, rel=1e-5)
    assert result.max_ratio <= 1 + 1.1e-6
    assert "certified" in result.status
    assert result.ratio > 1


@pytest.mark.parametrize(
    "W",
    [
        np.tril(np.ones((5, 5))),
        op.Ranges(4).to_dense(),
        np.array([[1.0, 1, 0, 0], [0, 0, 1, 1], [1, 1, 1, 1]]),
        np.random.default_rng(3).integers(0, 2, (8, 5)).astype(float),
    ],
)
def test_program_as_written(W: np.ndarray) -> None:
    """A semidefinite solver, good to about 1e-5, finds the same optimum."""
    W = W[W.any(axis=1)]
    assert worst(op.Dense(W)).max_error == pytest.approx(worst_query_program(W), rel=1e-4)


@given(workloads())
@settings(max_examples=40, deadline=None)
def test_laws_on_random_workloads(W: np.ndarray) -> None:
    for privacy in (UNIT, PureDP(np.sqrt(2.0))):
        result = worst(op.Dense(W), privacy, max_steps=60)
        A = result.strategy.to_dense()
        assert supports(A, W)
        sensitivity = np.abs(A).sum(axis=0).max() if privacy.norm == 1 else np.linalg.norm(A, axis=0).max()
        errors = sensitivity**2 * np.sum((W @ np.linalg.pinv(A, rcond=1e-10)) ** 2, axis=1)
        assert result.max_error == pytest.approx(errors.max(), rel=1e-6)
        assert result.max_lower_bound <= result.max_error <= np.sum(W**2, axis=1).max() * (1 + 1e-9)
        assert result.total_error == pytest.approx(errors.sum(), rel=1e-6)


def test_bound_holds_for_random_strategies() -> None:
    rng = np.random.default_rng(0)
    bound = worst(op.Ranges(8)).max_lower_bound
    for _ in range(20):
        A = op.Dense(np.concatenate((np.eye(8), rng.normal(size=(4, 8)))))
        assert max_error(A, op.Ranges(8), UNIT) >= bound


def test_total_optimum_is_a_valid_but_worse_choice() -> None:
    total = GaussianOptimal().optimize(op.Prefix(32), UNIT)
    assert worst(op.Prefix(32)).max_error < 0.95 * max_error(total.strategy, op.Prefix(32), UNIT)


def test_replacing_a_record_costs_at_least_as_much_as_removing_one() -> None:
    result = worst(op.Prefix(8), ZCDP(0.5, "replace-one"))
    assert 0 < result.max_lower_bound == worst(op.Prefix(8), ZCDP(0.5)).max_lower_bound
    assert 1 <= result.max_ratio < 2
    assert result.max_error == pytest.approx(
        max_error(result.strategy, op.Prefix(8), ZCDP(0.5, "replace-one"))
    )


def test_limits_are_said() -> None:
    with pytest.raises(TooLarge, match="total"):
        worst(op.AllPredicates(40))
    assert "raise max_steps" in worst(op.Ranges(16), max_steps=3).status


def test_ctrl_c_returns_the_best_so_far(monkeypatch: pytest.MonkeyPatch) -> None:
    honest, calls = Queries.at, []

    def interrupted(self, weights, importance):
        calls.append(0)
        if len(calls) == 4:
            raise KeyboardInterrupt
        return honest(self, weights, importance)

    monkeypatch.setattr(worst_query_module.Queries, "at", interrupted)
    result = worst(op.Prefix(16))
    assert result.status == "interrupted; best so far"
    assert 1 <= result.max_ratio < 1.1


@pytest.mark.parametrize(
    "W",
    [
        op.Identity(5),
        op.Prefix(5),
        op.Ranges(5),
        op.Stack(op.Ranges(4), 2 * op.Prefix(4), op.Total(4)),
        op.Kronecker(op.Prefix(2), op.Ranges(3)),
        op.Hierarchy(7),
    ],
)
def test_weighted_gram(W: op.Operator) -> None:
    importance = np.random.default_rng(0).uniform(size=W.shape[0])
    dense = W.to_dense()
    np.testing.assert_allclose(weighted_gram(W, importance), (dense.T * importance) @ dense, rtol=1e-12)


@pytest.mark.parametrize("n", [65, 100, 200])
def test_prefixes_by_three_diagonals_are_the_same(n: int) -> None:
    rng = np.random.default_rng(n)
    weights, importance = (w / w.sum() for w in rng.uniform(0.2, 1, (2, n)))
    fast, dense = PrefixQueries(op.Prefix(n), None), Queries(op.Prefix(n), None)
    a, b = fast.at(weights, importance), dense.at(weights, importance)
    assert a.trace == pytest.approx(b.trace, rel=1e-7)
    np.testing.assert_allclose(a.diagonal, b.diagonal, rtol=1e-7)
    np.testing.assert_allclose(a.variances, b.variances, rtol=1e-6)
    assert fast.certified(a) == pytest.approx(a.bound, rel=1e-9)
    assert fast.certified(a) <= dense.certified(b) * (1 + 1e-9)
    X = a.gram()
    assert np.diagonal(X).max() <= 1
    assert a.worst == pytest.approx(op.Prefix(n).row_quadratic(np.linalg.inv(X)).max(), rel=1e-8)


def test_prefixes_of_1024_cells_from_half_as_many() -> None:
    result = worst(op.Prefix(1024), gap=1e-3)
    assert result.max_error <= 8.80
    assert 8.75 < result.max_lower_bound <= result.max_error <= 1.0011 * result.max_lower_bound
    assert result.steps <= 6
    assert worst(3 * op.Prefix(100), gap=1e-3).max_error == pytest.approx(
        9 * worst(op.Prefix(100), gap=1e-3).max_error
    )


def test_ranges_from_half_as_many() -> None:
    result = worst(op.Ranges(131), gap=1e-3)
    assert 1 <= result.max_ratio <= 1.0011


def test_ctrl_c_on_the_way_to_more_cells(monkeypatch: pytest.MonkeyPatch) -> None:
    honest, calls = Queries.at, []

    def interrupted(self, weights, importance):
        calls.append(0)
        if len(calls) == 3:
            raise KeyboardInterrupt
        return honest(self, weights, importance)

    monkeypatch.setattr(worst_query_module.Queries, "at", interrupted)
    result = worst(op.Prefix(128))
    assert result.status == "interrupted; best so far"
    assert 1 <= result.max_ratio < 2
