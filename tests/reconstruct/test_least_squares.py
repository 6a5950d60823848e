"""Least squares by iteration."""

import numpy as np
import pytest

from rowspace import operators as op
from rowspace.strategy.least_squares import iterated


def test_a_badly_conditioned_strategy_is_solved_all_the_same():
    A = op.Dense(np.diag([1.0, 1e-9, 3.0]))
    assert iterated(A, A @ np.array([1.0, 2.0, 3.0])) == pytest.approx([1, 2, 3])
