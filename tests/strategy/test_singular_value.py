from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings

from rowspace import ZCDP, PureDP
from rowspace import operators as op
from rowspace.exceptions import InvalidWorkload, TooLarge
from rowspace.strategy import SingularValue, singular_value_bound

from .matrices import brute_force_error, supports, workloads

UNIT = ZCDP(0.5)


@given(workloads())
@settings(max_examples=60, deadline=None)
def test_laws_on_random_workloads(W: np.ndarray) -> None:
    for privacy in (UNIT, PureDP(np.sqrt(2.0))):
        result = SingularValue().optimize(op.Dense(W), privacy)
        A = result.strategy.to_dense()
        assert supports(A, W)
        assert result.total_error == pytest.approx(brute_force_error(A, W, privacy.norm), rel=1e-7)
        assert result.lower_bound <= result.total_error * (1 + 1e-9)


@given(workloads())
@settings(max_examples=40, deadline=None)
def test_theorem_5_and_6(W: np.ndarray) -> None:
    """AᵗA = (WᵗW)^½, so E = ‖A‖²·Σσ, and tr(AᵗA)·tr((AᵗA)⁺WᵗW) = (Σσ)², n times the bound."""
    A = SingularValue().optimize(op.Dense(W), UNIT).strategy.to_dense()
    gram = A.T @ A
    np.testing.assert_allclose(gram @ gram, W.T @ W, atol=1e-8)
    sigma = np.linalg.svd(W, compute_uv=False).sum()
    bound = singular_value_bound(op.Dense(W))
    assert bound == pytest.approx(sigma**2 / W.shape[1], rel=1e-6)
    assert np.trace(gram) == pytest.approx(sigma, rel=1e-6)
    assert brute_force_error(A, W, 2) == pytest.approx(np.diagonal(gram).max() * sigma, rel=1e-6)


def test_laplace_takes_the_rotation_of_smaller_sensitivity() -> None:
    W = op.Ranges(16)
    gaussian = SingularValue().optimize(W, UNIT).strategy
    laplace = SingularValue().optimize(W, PureDP(1.0)).strategy
    np.testing.assert_allclose(gaussian.gram().to_dense(), laplace.gram().to_dense(), atol=1e-9)
    assert laplace.max_column_norm(1) < gaussian.max_column_norm(1)


def test_bad_input() -> None:
    with pytest.raises(InvalidWorkload):
        SingularValue().optimize(op.Dense(np.zeros((2, 2))), UNIT)
    with pytest.raises(TooLarge):
        SingularValue().optimize(op.Ranges(5000), UNIT)
