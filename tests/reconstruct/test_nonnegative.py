"""Non-negative least squares against scipy's, and the projections it is made of."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy.optimize import nnls

from rowspace import operators as op
from rowspace import tables
from rowspace.reconstruct import nonnegative
from rowspace.reconstruct.joint_tables import Measurement, joint_estimate, merged, whitened
from rowspace.reconstruct.nonnegative import nearest_counts, nonnegative_cells

NUMBERS = st.floats(-100, 100, allow_nan=False, width=32)


def exact(measurements: list[Measurement], total: float) -> np.ndarray:
    """By scipy, the total forced by a row of large weight."""
    A, y = whitened(measurements)
    heavy = 1e4
    rows = np.vstack([A.to_dense(), np.full((1, A.shape[1]), heavy)])
    return nnls(rows, np.append(y, heavy * total))[0]


def measured(strategy: op.Operator, seed: int, deviation: float = 3.0) -> Measurement:
    rng = np.random.default_rng(seed)
    x = rng.poisson(rng.gamma(0.3, 5.0, strategy.shape[1]))
    y = strategy @ x.astype(float) + rng.normal(0, deviation, strategy.shape[0])
    return Measurement(strategy, deviation**2, 0.0, 1.0, y)


STRATEGIES = [
    op.Identity(8),
    op.Hierarchy(8),
    op.Prefix(8),
    op.Dense(np.random.default_rng(5).normal(size=(20, 8))),
    tables.Marginals((2, 4), ((0,), (1,)), (1, 1)),
    op.Stack(op.Total(8), 3 * op.Identity(8)),
]


@pytest.mark.parametrize("strategy", STRATEGIES, ids=lambda s: type(s).__name__)
@pytest.mark.parametrize("seed", [1, 2, 3])
def test_against_scipy(strategy, seed):
    own = [measured(strategy, seed)]
    start = joint_estimate(own)
    total = max(1.0, float(start.sum()))
    found = nonnegative_cells(own, start, total, 1e-5)
    # Cells may not be determined; the fit to the answers is.
    np.testing.assert_allclose(strategy @ found.counts, strategy @ exact(own, total), atol=1e-2)
    assert found.counts.min() >= 0
    assert found.counts.sum() == pytest.approx(total)


def test_several_measurements_against_scipy():
    own = [measured(op.Identity(8), 1), measured(op.Hierarchy(8), 1, 1.5)]
    found = nonnegative_cells(own, joint_estimate(own), 20.0, 1e-5)
    np.testing.assert_allclose(found.counts, exact(own, 20.0), atol=1e-2)


def test_the_stated_distance_holds():
    """Stopped early, the fit is within the stated distance of the exact one."""
    own = [measured(op.Hierarchy(64), 4, 5.0)]
    found = nonnegative_cells(own, joint_estimate(own), 150.0)
    A, _ = whitened(own)
    apart = np.linalg.norm(A @ (found.counts - exact(own, 150.0))) / np.sqrt(64)
    assert apart <= found.distance + 1e-4
    assert found.distance <= nonnegative.ACCURACY


def test_no_records():
    own = [measured(op.Hierarchy(8), 1)]
    assert not nonnegative_cells(own, joint_estimate(own), -3.0).counts.any()
    one = [Measurement(op.Identity(1), 1.0, 0.0, 1.0, np.array([4.0]))]
    assert nonnegative_cells(one, np.array([4.0]), 4.0).counts.tolist() == [4.0]


@given(arrays(np.float64, st.integers(1, 12), elements=NUMBERS), st.floats(0.1, 100))
def test_projection(values, total):
    """The nearest point: in the set, and no corner of it lies further along from there towards the values."""
    found = nearest_counts(values, total)
    assert found.min() >= 0
    assert found.sum() == pytest.approx(total)
    slope = found - values
    assert slope @ found <= total * slope.min() + 1e-6 * (1 + total) * (1 + np.abs(slope).max())


def test_projection_of_stacks():
    rows = np.random.default_rng(0).normal(0, 5, (6, 7))
    together = nearest_counts(rows, 4.0)
    np.testing.assert_allclose(together, [nearest_counts(row, 4.0) for row in rows])
    assert not nearest_counts(rows, 0.0).any()
    # Values so large that rounding leaves nothing above the shift.
    assert nearest_counts(np.array([1e17, 1e17]), 1.0).min() >= 0


def test_merged_measurements():
    """Equal strategies are averaged by precision; the noise of the average has the right moments."""
    A = op.Identity(2)
    one = Measurement(A, 1.0, 3.0, 1.0, np.array([1.0, 2.0]))
    two = Measurement(op.Identity(2), 3.0, 0.0, 1.0, np.array([4.0, 8.0]))
    other = Measurement(op.Total(2), 3.0, 0.0, 1.0, np.array([4.0]))
    first, second = merged([one, other, two])
    assert second is other
    np.testing.assert_allclose(first.values, [1.75, 3.5])
    assert first.variance == pytest.approx(0.75)
    assert first.excess_kurtosis == pytest.approx(0.75**4 * 3.0 / 0.75**2)
    assert first.step == 0.0
    (twice,) = merged([one, one])
    assert (twice.variance, twice.excess_kurtosis, twice.step) == (0.5, 1.5, 0.5)


def test_work_is_bounded_where_cells_are_many(monkeypatch):
    monkeypatch.setattr(nonnegative, "MOST_WORK", 64 * 12)
    measurement = measured(op.Prefix(64), 0)
    found = nonnegative_cells([measurement], joint_estimate([measurement]), 500.0)
    assert found.steps == 12
    assert found.counts.min() >= 0
    assert found.counts.sum() == pytest.approx(500.0)
