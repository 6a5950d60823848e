"""The spectral strategy: close to the optimum, error exact, measured with the error that was predicted."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import rowspace as rs
from rowspace import error, strategy
from rowspace import operators as op
from rowspace.exceptions import InvalidInput, InvalidWorkload
from rowspace.measure import measure
from rowspace.noise import InsecureSeededRandom
from rowspace.planning import Candidate, Plan
from rowspace.privacy import ZCDP, ApproxDP, ApproxDPTheorem3, PureDP
from rowspace.strategy import Spectral, dropped_bits, to_integers

GAUSSIAN = [ZCDP(0.5), ApproxDP(1.0, 1e-6), ApproxDPTheorem3(0.5, 1e-5)]
BOTH = [op.Ranges, op.Prefix]

OPTIMUM = {
    (op.Ranges, 64): 11024.4,
    (op.Ranges, 256): 276929,
    (op.Ranges, 1024): 6.48433e6,
    (op.Prefix, 64): 282.201,
    (op.Prefix, 256): 1631.40,
    (op.Prefix, 1024): 8944.33,
}


@pytest.mark.parametrize(("kind", "n"), OPTIMUM)
def test_close_to_the_optimum(kind, n):
    """Within 0.1 % for ranges and 0.5 % for prefixes, in reals and in the integers that are asked."""
    W, privacy = kind(n), ZCDP(0.5)
    limit = 1.001 if kind is op.Ranges else 1.005
    result = Spectral().optimize(W, privacy)
    assert OPTIMUM[kind, n] * (1 - 1e-5) <= result.total_error <= limit * OPTIMUM[kind, n]
    B = result.strategy.to_integers(20)[0]
    assert float(B.integer_norm(2)) * B.profile_trace(W) <= limit * OPTIMUM[kind, n]


@given(st.integers(1, 70), st.sampled_from(BOTH), st.sampled_from(GAUSSIAN), st.floats(0.1, 10))
@settings(max_examples=60, deadline=None)
def test_error_by_brute_force(n, kind, privacy, factor):
    """Any size: unit columns, the dense error, between the bound and the identity."""
    W = factor * kind(n)
    result = Spectral().optimize(W, privacy)
    A = result.strategy.to_dense()
    np.testing.assert_allclose(np.linalg.norm(A, axis=0), 1.0)
    dense = privacy.unit_variance * np.trace(np.linalg.inv(A.T @ A) @ W.gram().to_dense())
    assert result.total_error == pytest.approx(dense, rel=1e-8)
    identity = error.total_error(op.Identity(n), W, privacy)
    assert result.lower_bound * (1 - 1e-9) <= result.total_error <= identity * (1 + 1e-9)


def test_replace_one_is_judged_by_its_own_bound():
    result = Spectral().optimize(op.Ranges(32), ZCDP(0.5, "replace-one"))
    assert result.total_error == pytest.approx(
        error.total_error(result.strategy, op.Ranges(32), ZCDP(0.5, "replace-one"))
    )
    assert result.total_error >= result.lower_bound


@pytest.mark.parametrize("kind", BOTH)
@pytest.mark.parametrize("privacy", GAUSSIAN, ids=str)
@pytest.mark.parametrize("n", [1025, 2003, 4096])
def test_noise_is_calibrated_to_the_exact_integers(kind, privacy, n):
    """The planned integers cost at most 10⁻⁴ more than the real strategy, rounding of the noisy answers included."""
    W = kind(n)
    result = Spectral().optimize(W, privacy)
    B, noise = to_integers(result.strategy, privacy)
    assert isinstance(B, op.SpectralIntegers)
    assert noise == privacy.noise(B.integer_norm(2))
    rounded = noise.variance + 4.0 ** dropped_bits(B) / 12
    assert rounded * B.profile_trace(W) <= result.total_error * (1 + 2e-4)


@pytest.mark.parametrize("kind", BOTH)
def test_measured_error_is_the_predicted_one(kind):
    """Total squared error over the workload from 24 releases of 1500 cells, against the prediction.

    It is a sum of squares of normal variables with known weights (the noise is normal to 10⁻⁹ at this scale), whose
    tails Laurent and Massart's inequality bounds: false-alarm rate 2e⁻¹⁵ < 10⁻⁶.
    """
    n, privacy = 1500, ZCDP(0.5)
    W = kind(n)
    B, noise = to_integers(Spectral().optimize(W, privacy).strategy, privacy)
    x = np.random.default_rng(0).integers(0, 10**6, n)
    V, random, releases = W.gram(), InsecureSeededRandom(7), 24
    total = 0.0
    for _ in range(releases):
        wrong = estimated(B, measure(B, noise, x, random).answers) - x
        total += float(wrong @ (V @ wrong))
    predicted = noise.variance * B.profile_trace(W)
    inverse = B.pinv().to_dense()
    costs = noise.variance * np.linalg.eigvalsh(inverse.T @ V.to_dense() @ inverse) / releases
    # P(Σ c(χ² − 1) > 2‖c‖√t + 2 max(c) t) ≤ e^−t for either side, over `releases` copies of each cost; t = 15.
    tail = 2 * np.linalg.norm(costs) * np.sqrt(releases * 15) + 2 * costs.max() * 15
    assert abs(total / releases - predicted) <= tail
    assert tail < predicted


def test_large_tables_near_the_record_limit():
    """2¹⁶ cells and 2⁴⁰ records: the estimate is as far off as with no records at all."""
    n, privacy = 2**16, ZCDP(0.5)
    B, noise = to_integers(Spectral().optimize(op.Prefix(n), privacy).strategy, privacy)
    errors = []
    for x in (np.zeros(n, np.int64), np.full(n, 2**24), np.eye(1, n, 77, dtype=np.int64)[0] * 2**40):
        noisy = measure(B, noise, x, InsecureSeededRandom(3)).answers
        errors.append(estimated(B, noisy) - x)
    for other in errors[1:]:
        np.testing.assert_allclose(other, errors[0], atol=1e-2)


@pytest.mark.parametrize("kind", ["ranges", "prefixes"])
def test_saved_plans_reload_bit_for_bit(kind, tmp_path):
    domain = rs.Domain(income=rs.Numeric(0, 1500, bins=1500))
    workload, privacy = getattr(rs.workload, kind)(domain, "income"), ZCDP(0.1)
    result = Spectral().optimize(workload.weighted_operator(), privacy)
    B, noise = to_integers(result.strategy, privacy)
    made = Plan(workload, privacy, B, noise, result.lower_bound, (Candidate("spectral", 1.0, 1.0, 0.0),))
    made.save(tmp_path / "spectral.plan")
    loaded = Plan.load(tmp_path / "spectral.plan")
    assert loaded.strategy == B
    assert loaded.noise == noise
    x = np.arange(1500)
    first = measure(B, noise, x, InsecureSeededRandom(1)).answers
    assert np.array_equal(first, measure(loaded.strategy, loaded.noise, x, InsecureSeededRandom(1)).answers)
    assert loaded.total_error == made.total_error


def test_a_generous_budget_is_not_rounded_away():
    """With hardly any noise the integers are coarser, so that rounding the answers still adds nothing."""
    privacy = ZCDP(1e8)
    B, noise = to_integers(Spectral().optimize(op.Ranges(1100), privacy).strategy, privacy)
    assert dropped_bits(B) == 0
    assert noise == privacy.noise(B.integer_norm(2))


def test_a_tiny_budget_gets_fewer_bits():
    """Noise past 2⁴⁵ grid steps cannot be drawn: the grid is made coarser rather than the plan refused."""
    privacy, W = ApproxDP(1e-3, 1e-12), op.Ranges(1100)
    result = Spectral().optimize(W, privacy)
    B, noise = to_integers(result.strategy, privacy)
    assert noise == privacy.noise(B.integer_norm(2))
    assert noise.variance * B.profile_trace(W) <= result.total_error * 1.001


def test_error_bars_are_those_of_normal_noise():
    """Coefficients are tiny beside one, and no lattice is mistaken for one on which answers would move."""
    domain = rs.Domain(income=rs.Numeric(0, 1100, bins=1100))
    workload, privacy = rs.workload.prefixes(domain, "income"), ZCDP(0.1)
    B, noise = to_integers(Spectral().optimize(workload.weighted_operator(), privacy).strategy, privacy)
    std, half_width = Plan(workload, privacy, B, noise, 1.0, ()).error_bars(0.95)
    np.testing.assert_allclose(half_width, 1.959964 * std, rtol=1e-3)


def test_bad_input():
    with pytest.raises(InvalidInput, match="Gaussian noise"):
        Spectral().optimize(op.Ranges(8), PureDP(1.0))
    with pytest.raises(InvalidWorkload, match="all ranges or all prefixes, got Identity"):
        Spectral().optimize(op.Identity(8), ZCDP(0.5))
    with pytest.raises(InvalidWorkload, match="all ranges"):
        Spectral().optimize(0 * op.Ranges(8), ZCDP(0.5))


def test_a_million_cells():
    """2²⁰ cells in memory for a few vectors; the certificate stays within a quarter of a percent."""
    for kind, limit in ((op.Ranges, 1.0001), (op.Prefix, 1.0026)):
        result = Spectral().optimize(kind(2**20), ZCDP(0.5))
        assert 1 <= result.ratio < limit
    assert strategy.Spectral is Spectral


def estimated(B, answers):
    """The count of every cell, from noisy answers."""
    return strategy.Strategy.of(B).estimate(strategy.noisy_values(B, answers)).cells()
