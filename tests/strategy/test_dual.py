from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rowspace import operators as op
from rowspace.strategy.acceleration import Anderson
from rowspace.strategy.dual import FullRank, RowSpace, bound_at, certified_bound, inverse_of
from rowspace.strategy.dual_ascent import ascend, plain_step, start_weights
from rowspace.strategy.reflection import assemble, gather, is_mirrored, sectors
from rowspace.strategy.row_space import row_space_factor, workload_gram

from .matrices import brute_force_error, workloads


def root(V: np.ndarray) -> np.ndarray:
    eigenvalues, Q = np.linalg.eigh(V)
    return (Q * np.sqrt(np.maximum(eigenvalues, 0))) @ Q.T


def trace_of_root(V: np.ndarray, weights: np.ndarray) -> float:
    scale = np.sqrt(weights)
    return float(np.trace(root(V * np.outer(scale, scale))))


def random_gram(n: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    B = rng.normal(size=(n, n))
    weights = rng.uniform(0.2, 1.0, n)
    return B.T @ B, weights / weights.sum()


def test_half_of_x_is_the_gradient_of_the_trace() -> None:
    V, weights = random_gram(6, 1)
    x = FullRank.of(V).at(weights).diagonal
    for i in range(6):
        step = np.zeros(6)
        step[i] = 1e-6
        slope = (trace_of_root(V, weights + step) - trace_of_root(V, weights - step)) / 2e-6
        assert slope == pytest.approx(x[i] / 2, rel=1e-6)


def test_both_geometries_agree_with_the_formulas() -> None:
    V, weights = random_gram(5, 2)
    scale = np.sqrt(weights)
    X = root(V * np.outer(scale, scale)) / np.outer(scale, scale)
    unit = X / np.sqrt(np.outer(np.diagonal(X), np.diagonal(X)))
    for point in (FullRank.of(V).at(weights), RowSpace(np.linalg.cholesky(V)).at(weights)):
        np.testing.assert_allclose(point.diagonal, np.diagonal(X), rtol=1e-9)
        np.testing.assert_allclose(point.gram(), unit, rtol=1e-9)
        assert point.error == pytest.approx(np.trace(np.linalg.solve(unit, V)), rel=1e-9)
        assert bound_at(point) == pytest.approx(np.sum(weights * np.diagonal(X) ** 2), rel=1e-9)


@given(workloads(), st.integers(0, 1000))
@settings(max_examples=60, deadline=None)
def test_every_step_raises_the_bound(W: np.ndarray, seed: int) -> None:
    """The plain step's bound is at least the half step's before it, which is at least the trace's."""
    V = W.T @ W
    weights = np.random.default_rng(seed).uniform(0.1, 1.0, len(V))
    weights /= weights.sum()
    for _ in range(4):
        point = FullRank.of(V).at(weights)
        half = bound_at(point)
        assert trace_of_root(V, weights) ** 2 <= half * (1 + 1e-6)
        weights = plain_step(point)
        assert trace_of_root(V, weights) ** 2 >= half * (1 - 1e-9)


@given(workloads(), st.integers(0, 1000))
@settings(max_examples=60, deadline=None)
def test_no_strategy_beats_the_bound(W: np.ndarray, seed: int) -> None:
    rng = np.random.default_rng(seed)
    n = W.shape[1]
    A = np.concatenate((np.eye(n), rng.normal(size=(3, n))))
    bound = certified_bound(W.T @ W, rng.uniform(0.0, 1.0, n) + 1e-3)
    assert bound <= brute_force_error(A, W, 2) * (1 + 1e-9)
    assert bound <= brute_force_error(A, W, 1) * (1 + 1e-9)


def test_rounding_noise_does_not_raise_the_bound() -> None:
    """A singular Gram matrix has eigenvalues of rounding size, whose roots would add up."""
    ones = np.ones((400, 400))
    assert certified_bound(ones, np.ones(400)) <= 1.0
    assert certified_bound(ones, np.ones(400)) == pytest.approx(1.0, rel=1e-9)


@pytest.mark.parametrize("n", [32, 33, 50, 51])
def test_reflection_splits_and_joins(n: int) -> None:
    V = op.Ranges(n).gram().to_dense()
    parts = sectors(V)
    assert len(parts) == 2
    np.testing.assert_allclose(assemble(parts, [p.block for p in parts], n), V)
    np.testing.assert_allclose(
        gather(parts, [np.diagonal(p.block) for p in parts], n), np.diagonal(V), rtol=1e-12
    )
    split = np.sort(np.concatenate([np.linalg.eigvalsh(p.block) for p in parts]))
    np.testing.assert_allclose(split, np.linalg.eigvalsh(V), rtol=1e-9)


@pytest.mark.parametrize("n", [40, 41])
def test_splitting_changes_nothing(n: int) -> None:
    V = op.Ranges(n).gram().to_dense()
    whole = FullRank(parts=(sectors(np.eye(2))[0].__class__(np.arange(n), np.ones(n), V),), n=n)
    weights = start_weights(V)
    split = FullRank.of(V)
    assert len(split.parts) == 2
    assert len(whole.parts) == 1
    a, b = split.at(weights), whole.at(weights)
    np.testing.assert_allclose(a.gram(), b.gram(), atol=1e-10)
    assert a.error == pytest.approx(b.error, rel=1e-10)


def test_prefixes_have_no_reflection() -> None:
    assert not is_mirrored(op.Prefix(40).gram().to_dense())
    assert len(sectors(op.Prefix(40).gram().to_dense())) == 1


@given(workloads())
@settings(max_examples=60, deadline=None)
def test_row_space_factor(W: np.ndarray) -> None:
    L = row_space_factor(op.Dense(W), workload_gram(op.Dense(W)))
    assert L.shape[1] == np.linalg.matrix_rank(W)
    np.testing.assert_allclose(L @ L.T, W.T @ W, atol=1e-9)


def test_row_space_of_many_rows_comes_from_the_gram_matrix() -> None:
    W = np.random.default_rng(0).integers(0, 2, (60, 4)).astype(float)
    W = np.concatenate((W, W[:, :1] + W[:, 1:2]), axis=1)
    L = row_space_factor(op.Dense(W), workload_gram(op.Dense(W)))
    assert L.shape == (5, 4)
    np.testing.assert_allclose(L @ L.T, W.T @ W, atol=1e-9)


def test_faint_queries_are_kept_apart_from_rounding() -> None:
    W = op.Dense(np.array([[1.0, 1.0, 0.0], [1e-9, -1e-9, 0.0], [0.0, 0.0, 1e-12]]))
    assert row_space_factor(W, workload_gram(W)).shape == (3, 3)


def test_inverse_of_a_singular_matrix_is_its_pseudo_inverse() -> None:
    X = np.ones((3, 3))
    np.testing.assert_allclose(inverse_of(X), X / 9)
    np.testing.assert_allclose(inverse_of(2 * np.eye(3)), np.eye(3) / 2)


class Overshooting:
    """A geometry that tells how often it was asked, and lies once so that the accelerated step is turned down."""

    def __init__(self, V: np.ndarray, lie_at: int, interrupt_at: int = -1) -> None:
        self.honest, self.lie_at, self.interrupt_at = FullRank.of(V), lie_at, interrupt_at
        self.asked: list[np.ndarray] = []

    def at(self, weights: np.ndarray):
        self.asked.append(weights)
        if len(self.asked) == self.interrupt_at:
            raise KeyboardInterrupt
        if len(self.asked) == self.lie_at:
            weights = np.linspace(1e-6, 1, len(weights)) ** 8
            return self.honest.at(weights / weights.sum())
        return self.honest.at(weights)


def test_an_overshooting_step_is_replaced_by_the_plain_one() -> None:
    V = op.Prefix(24).gram().to_dense()
    geometry = Overshooting(V, lie_at=4)
    found = ascend(geometry, start_weights(V), 1e-6, 50)
    assert found.ending == "certified"
    third = geometry.honest.at(geometry.asked[2])
    np.testing.assert_allclose(geometry.asked[4], plain_step(third))


def test_interrupted() -> None:
    V = op.Prefix(24).gram().to_dense()
    found = ascend(Overshooting(V, -1, interrupt_at=3), start_weights(V), 1e-6, 50)
    assert found.ending == "interrupted; best so far"
    assert 0 < found.bound <= found.point.error
    with pytest.raises(KeyboardInterrupt):
        ascend(Overshooting(V, -1, interrupt_at=1), start_weights(V), 1e-6, 50)


def test_limits_are_said() -> None:
    V = op.Prefix(24).gram().to_dense()
    assert "raise max_steps" in ascend(FullRank.of(V), start_weights(V), 1e-6, 2).ending
    assert "rounding" in ascend(FullRank.of(V), start_weights(V), 1e-17, 500).ending


def test_anderson_solves_a_linear_map_in_as_many_steps_as_dimensions() -> None:
    M, b = np.diag([0.9, 0.5, -0.3]), np.array([1.0, 2.0, 3.0])
    acceleration, t = Anderson(), np.zeros(3)
    for _ in range(5):
        t = acceleration.propose(t, M @ t + b, np.ones(3))
    np.testing.assert_allclose(t, np.linalg.solve(np.eye(3) - M, b), rtol=1e-8)
