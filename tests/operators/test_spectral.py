"""Spectral strategies: exact integer products and norms, traces against brute force, refusal of what is not proved."""

import numpy as np
import pytest
import scipy
from hypothesis import given, settings
from hypothesis import strategies as st

from rowspace import operators as op
from rowspace.exceptions import IntegerOverflow, InvalidInput
from rowspace.operators.exact_convolution import ExactConvolution
from rowspace.operators.semiseparable import green_factors, green_trace

WAVES = [op.Sines, op.Cosines]
MAX_RECORDS = 2**40


def near_optimal(waves):
    """The strategy `strategy.Spectral` uses."""
    return op.Spectral.with_unit_columns(waves, 1 / np.sqrt(2 * np.sin(waves.angles / 2)))


def integers_of(kind, n):
    return near_optimal(kind(n)).to_integers(20)[0]


def exact_product(B, x):
    """B·x in Python integers from the definition of its entries."""
    kernel, n = B.waves.unfolded(B.kernel).tolist(), B.waves.n
    z = [int(s) * int(v) for s, v in zip(B.scales, x, strict=True)]
    return [
        sum((kernel[abs(i - j)] + B.waves.mirror * kernel[i + j + 1]) * z[j] for j in range(n) if z[j])
        for i in range(n)
    ]


def counts(n, how, rng):
    """Tables of up to MAX_RECORDS records that strain floating point in different ways."""
    if how == "one cell":
        return np.eye(n, dtype=np.int64)[rng.integers(n)] * MAX_RECORDS
    if how == "spread":
        return np.full(n, MAX_RECORDS // n)
    if how == "alternating":
        return np.where(np.arange(n) % 2, 2 * (MAX_RECORDS // (n + 1)), 0)
    return rng.multinomial(int(rng.integers(MAX_RECORDS)), rng.dirichlet(np.full(n, 0.1)))


HOW = ["one cell", "spread", "alternating", "random"]


@pytest.mark.parametrize("kind", WAVES)
@pytest.mark.parametrize("n", [1, 2, 13, 64, 127, 210, 338])
@pytest.mark.parametrize("how", HOW)
def test_products_are_exact(kind, n, how):
    """Against Python integers, past 64 bits, with lengths smooth and not."""
    B = integers_of(kind, n)
    x = counts(n, how, np.random.default_rng(n))
    for bits in (12, 15):
        quotient, remainder = B.divided(x, bits)
        assert remainder.min() >= 0
        assert remainder.max() < 2**bits
        joined = [int(q) * 2**bits + int(r) for q, r in zip(quotient, remainder, strict=True)]
        assert joined == exact_product(B, x)


@given(st.integers(1, 40), st.sampled_from(WAVES), st.integers(0, 2**32 - 1))
@settings(max_examples=60, deadline=None)
def test_products_with_any_kernel(n, kind, seed):
    """Any integer kernel that is accepted, signed vectors, quotients by any power of two."""
    rng = np.random.default_rng(seed)
    waves = kind(n)
    kernel = rng.integers(-(2**14), 2**14, waves.kernel_size)
    B = op.SpectralIntegers(waves, kernel, rng.integers(1, 2**21, n))
    x = rng.integers(-(2**40), 2**40, n)
    bits = int(rng.integers(25, 40))
    quotient, remainder = B.divided(x, bits)
    joined = [int(q) * 2**bits + int(r) for q, r in zip(quotient, remainder, strict=True)]
    assert joined == exact_product(B, x)


@pytest.mark.parametrize("kind", WAVES)
@pytest.mark.parametrize("n", [1000, 2**12, 5003])
def test_neighbours_differ_by_one_column(kind, n):
    """At sizes beyond brute force: the answers of neighbours, near the most records allowed, differ by a column whose
    squared norm is at most the integer norm, exactly."""
    B, rng = integers_of(kind, n), np.random.default_rng(1)
    norm = B.integer_norm(2)
    for how in HOW:
        x = counts(n, how, rng)
        for cell in [0, n // 2, n - 1, *rng.integers(n, size=3)]:
            neighbour = x.copy()
            neighbour[cell] += 1 if x[cell] == 0 else -1
            (q, r), (p, s) = B.divided(x, 12), B.divided(neighbour, 12)
            change = ((p - q) * 2**12 + (s - r)).tolist()
            assert sum(c * c for c in change) <= norm
            one = np.zeros(n, np.int64)
            one[cell] = neighbour[cell] - x[cell]
            assert change == (B @ one).tolist()


@pytest.mark.parametrize("kind", WAVES)
@pytest.mark.parametrize("n", [1, 2, 17, 64, 121, 300])
def test_integer_norm_is_exact(kind, n):
    B = integers_of(kind, n)
    columns = B.to_dense().astype(np.int64).T.tolist()
    sums = [sum(a * a for a in column) for column in columns]
    assert B.integer_norm(2) == max(sums)
    assert B._exact_column_sums(2) == sums
    assert B.integer_norm(1) == max(sum(abs(a) for a in column) for column in columns)


@pytest.mark.parametrize("kind", WAVES)
@pytest.mark.parametrize("n", [2**10, 1331, 2 * 3**8, 2003])
def test_error_of_transforms_is_far_below_its_bound(kind, n):
    """What floating point gives before it is rounded is a hundredth of the proven bound away from an integer."""
    B, rng = integers_of(kind, n), np.random.default_rng(3)
    convolution = ExactConvolution(B.waves, B.kernel)
    half = 2 ** (convolution.limb_bits - 1)
    for limb in (
        np.full(n, -half),
        rng.integers(-half, half, n),
        np.where(np.arange(n) % 2, half - 1, -half),
    ):
        x = np.zeros(convolution._length)
        x[:n] = limb
        product = convolution._long_waves.filtered(x, convolution._spectrum)
        bound = convolution._error_per_norm * np.linalg.norm(limb)
        assert np.abs(product - np.rint(product)).max() <= bound / 100
        assert bound < 0.5


@pytest.mark.parametrize("kind", WAVES)
def test_integers_round_finely(kind):
    """2¹² cells: entries to 10⁻⁴ of a column, column norms equal to 10⁻⁴ from below, error within 10⁻⁴."""
    A = near_optimal(kind(2**12))
    B, scale = A.integer_form(20)
    column = np.eye(2**12)[1000]
    np.testing.assert_allclose((B @ column) / scale, A @ column, atol=1e-4)
    norms = B.column_norms(2)
    assert norms.min() >= norms.max() * (1 - 1e-4)
    W = op.Prefix(2**12)
    assert norms.max() ** 2 * B.profile_trace(W) <= A.profile_trace(W) * (1 + 1e-4)


@given(st.integers(1, 90), st.sampled_from(WAVES), st.integers(0, 2**32 - 1))
@settings(max_examples=60, deadline=None)
def test_trace_against_brute_force(n, kind, seed):
    rng = np.random.default_rng(seed)
    waves = kind(n)
    u, h = rng.uniform(0.5, 2, n), waves.unfolded(rng.normal(size=waves.kernel_size))
    i = np.arange(n)
    M = np.outer(u, u) * (h[np.abs(i[:, None] - i)] + waves.mirror * h[i[:, None] + i + 1])
    for W in (op.Ranges(n), -2.5 * op.Prefix(n)):
        V = W.gram().to_dense()
        a, b = green_factors(W)
        expected = np.trace(M @ V)
        assert green_trace(a, b, u, h, waves.mirror) == pytest.approx(
            expected, abs=1e-9 * np.abs(M * V).sum()
        )


def test_trace_across_pieces(monkeypatch):
    """The pieces that keep to the cache add up to the whole, whatever their size."""
    from rowspace.operators import semiseparable

    A, W = near_optimal(op.Sines(1000)), op.Ranges(1000)
    whole = A.profile_trace(W)
    monkeypatch.setattr(semiseparable, "CACHED", 64)
    assert A.profile_trace(W) == pytest.approx(whole, rel=1e-10)


def test_trace_of_other_workloads():
    A = near_optimal(op.Sines(12))
    for W in (op.WidthRanges(12, 3), op.Stack(op.Identity(12), op.Total(12))):
        inverse = np.linalg.inv(A.gram().to_dense())
        assert A.profile_trace(W) == pytest.approx(np.trace(inverse @ W.gram().to_dense()))
    assert green_factors(op.Identity(3)) is None
    assert green_factors(2 * op.Identity(3)) is None


def test_saved_and_reloaded():
    B = integers_of(op.Sines, 50)
    again = op.decode(*op.encode(B))
    assert again == B
    assert again.integer_norm(2) == B.integer_norm(2)


def test_bad_input():
    sines, ones = op.Sines(4), np.ones(4)
    with pytest.raises(InvalidInput, match="Sines or Cosines"):
        op.Spectral(op.Identity(4), ones, ones)
    with pytest.raises(InvalidInput, match="4 finite numbers as spectrum"):
        op.Spectral(sines, [1, 2], ones)
    with pytest.raises(InvalidInput, match="finite"):
        op.Spectral(sines, ones, [1, np.nan, 1, 1])
    with pytest.raises(InvalidInput, match="positive"):
        op.Spectral(sines, ones, [1, 0, 1, 1])
    whole = np.ones(4, np.int64)
    with pytest.raises(InvalidInput, match="Sines or Cosines"):
        op.SpectralIntegers(op.Identity(4), whole, whole)
    with pytest.raises(InvalidInput, match="5 integers as kernel"):
        op.SpectralIntegers(sines, whole, whole)
    with pytest.raises(InvalidInput, match="from 1 to"):
        op.SpectralIntegers(op.Cosines(4), whole, 0 * whole)
    with pytest.raises(InvalidInput, match="from 1 to"):
        op.SpectralIntegers(op.Cosines(4), whole, 2**22 * whole)
    for size in (2**31, 2**30):
        with pytest.raises(InvalidInput, match="proved exact"):
            op.SpectralIntegers(op.Cosines(4), size * whole, whole)
    with pytest.raises(InvalidInput, match="64-bit integers"):
        integers_of(op.Sines, 4).divided(ones, 0)
    with pytest.raises(InvalidInput, match="integral operator"):
        op.Spectral(sines, ones, ones).divided(whole, 0)


def test_an_inaccurate_transform_is_an_error_not_an_answer(monkeypatch):
    """A library that breaks the proven bound must stop a measurement, never shift it."""
    B = op.SpectralIntegers(op.Cosines(3), np.array([5, 2, 1]), np.array([1, 2, 3]))
    exact = op.Cosines.filtered
    monkeypatch.setattr(op.Cosines, "filtered", lambda *arguments: exact(*arguments) + 0.3)
    with pytest.raises(IntegerOverflow, match="exactly"):
        B @ np.array([1, 1, 1])


class Careless:
    """A backend for scipy's transforms that keeps 8 digits, as one for graphics processors may."""

    __ua_domain__ = "numpy.scipy.fft"

    @staticmethod
    def __ua_function__(method, args, kwargs):
        with scipy.fft.skip_backend(Careless):
            return method(*args, **kwargs) * (1 + 1e-8)


@pytest.mark.parametrize("n", [8, 17])
@pytest.mark.parametrize("waves", [op.Sines, op.Cosines])
def test_integers_do_not_depend_on_a_chosen_backend(waves, n):
    kernel = np.arange(1, waves(n).kernel_size + 1) * 1000
    x = np.arange(n) * 2**30
    with scipy.fft.set_backend(Careless):
        B = op.SpectralIntegers(waves(n), kernel, np.ones(n, np.int64))
        norm, answers = B.integer_norm(2), B @ x
    matrix = B.integer_matrix().astype(object)
    assert norm == max((matrix**2).sum(axis=0))
    assert answers.tolist() == (matrix @ x).tolist()
