"""Every optimizer keeps the laws of its kind; one that is not listed here fails."""

from __future__ import annotations

import numpy as np
import pytest

import rowspace as rs
from rowspace import operators as op
from rowspace import strategy, tables
from rowspace.error import noise_level
from rowspace.exceptions import InvalidInput

LAPLACE, GAUSSIAN = rs.PureDP(0.7), rs.ZCDP(0.3)
ONE = op.Ranges(6)
SEVERAL = op.Stack(op.Kronecker(op.Prefix(3), op.Total(2)), op.Kronecker(op.Total(3), op.Identity(2)))
BOTH = (LAPLACE, GAUSSIAN)
FAINT = strategy.Measured(tables.Marginals((3, 2), ((0, 1),), (1,)), 1e12, 0.0, 1.0)

# (optimizer, the workloads it is for, the noise it is for)
OPTIMIZERS = {
    "AgainstEvidence": (strategy.AgainstEvidence(1e-9 * op.Identity(6)), (ONE,), BOTH),
    "AgainstFacts": (strategy.AgainstFacts(strategy.Facts((6,), ())), (ONE,), BOTH),
    "AgainstTables": (strategy.AgainstTables([FAINT]), (SEVERAL,), (GAUSSIAN,)),
    "Augment": (strategy.Augment(strategy.WorkloadItself()), (ONE,), BOTH),
    "GaussianOptimal": (strategy.GaussianOptimal(), (ONE, SEVERAL), BOTH),
    "Hierarchical": (strategy.Hierarchical((2, 3)), (ONE,), BOTH),
    "IdentityStrategy": (strategy.IdentityStrategy(), (ONE, SEVERAL), BOTH),
    "Marginals": (strategy.Marginals(), (SEVERAL,), BOTH),
    "MinError": (strategy.MinError(), (ONE,), (LAPLACE,)),
    "PIdentity": (strategy.PIdentity(p=2), (ONE,), (LAPLACE,)),
    "Product": (strategy.Select().product([0, 1], LAPLACE), (SEVERAL,), (LAPLACE,)),
    "RegularizedGaussian": (strategy.RegularizedGaussian(), (ONE, SEVERAL), BOTH),
    "Residual": (strategy.Residual(), (SEVERAL,), (GAUSSIAN,)),
    "RowSpaceOptimal": (strategy.RowSpaceOptimal(), (ONE, SEVERAL), BOTH),
    "Select": (strategy.Select(effort="fast"), (ONE, SEVERAL), BOTH),
    "SingularValue": (strategy.SingularValue(), (ONE,), BOTH),
    "Spectral": (strategy.Spectral(), (ONE,), (GAUSSIAN,)),
    "Taxonomy": (strategy.Taxonomy(op.Tree(((0, 6), (0, 3, 6), tuple(range(7))), (1, 1, 1))), (ONE,), BOTH),
    "Union": (strategy.Select().union(LAPLACE), (SEVERAL,), (LAPLACE,)),
    "Wavelet": (strategy.Wavelet(), (op.Ranges(8),), BOTH),
    "WorkloadItself": (strategy.WorkloadItself(), (ONE, SEVERAL), BOTH),
}

# The paper's own, which need the second package; its tests compare them with the paper.
RESEARCH = {"MinErrorSDP", "MinSensitivity", "MinSensitivityProgram", "Rotated"}

every_case = pytest.mark.parametrize(
    ("name", "W", "privacy"),
    [(name, W, privacy) for name, (_, Ws, kinds) in OPTIMIZERS.items() for W in Ws for privacy in kinds],
)


def result_of(name, W, privacy):
    return OPTIMIZERS[name][0].optimize(W, privacy, np.random.default_rng(0))


def test_every_optimizer_is_here():
    public = {name: getattr(strategy, name) for name in strategy.__all__ if name not in RESEARCH}
    found = {name for name, thing in public.items() if isinstance(thing, type) and hasattr(thing, "optimize")}
    assert found - {"Optimizer"} == set(OPTIMIZERS)


@every_case
def test_the_error_is_that_of_the_strategy(name, W, privacy):
    """tr(V X⁺) times the noise, from the matrix itself: an optimizer that claims another error fails."""
    result = result_of(name, W, privacy)
    A, V = result.strategy.to_dense(), W.gram().to_dense()
    X = A.T @ A
    assert np.allclose(X @ np.linalg.pinv(X, rcond=1e-10) @ V, V, atol=1e-6), "the queries are supported"
    norm = np.abs(A).sum(axis=0).max() ** 2 if privacy.norm == 1 else (A**2).sum(axis=0).max()
    error = privacy.unit_variance * norm * np.trace(np.linalg.pinv(X, rcond=1e-10) @ V)
    assert noise_level(result.strategy, privacy) == pytest.approx(privacy.unit_variance * norm, rel=1e-9)
    assert result.total_error == pytest.approx(error, rel=1e-5)


@every_case
def test_nobody_goes_below_its_bound(name, W, privacy):
    bound = result_of(name, W, privacy).lower_bound
    assert bound >= 0
    for other, (_, Ws, kinds) in OPTIMIZERS.items():
        if any(W is own for own in Ws) and privacy in kinds:
            assert bound <= result_of(other, W, privacy).total_error * (1 + 1e-9), other


@every_case
def test_a_result_says_how_it_was_found(name, W, privacy):
    result = result_of(name, W, privacy)
    assert result.name
    assert result.status
    assert result.seconds >= 0
    assert result.ratio >= 1 - 1e-9 or result.lower_bound == 0
    assert set(result.to_dict()) >= {"name", "status", "total_error", "lower_bound", "ratio"}


def test_noise_that_an_optimizer_is_not_for():
    for name, (optimizer, Ws, kinds) in OPTIMIZERS.items():
        for privacy in BOTH:
            if privacy not in kinds and name in ("PIdentity", "MinError"):
                with pytest.raises(InvalidInput):
                    optimizer.optimize(Ws[0], privacy)
