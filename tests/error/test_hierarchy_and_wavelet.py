"""Section 6 of the paper: eigenvalues, the ½–2 ratio, and the errata that hold instead of the text."""

import numpy as np
import pytest

from rowspace import error
from rowspace import operators as op
from rowspace.privacy import PureDP


@pytest.mark.parametrize("k", range(1, 7))
def test_eigenvalue_tables(k):
    n = 2**k
    hierarchy = sorted(np.rint(np.linalg.eigvalsh(op.Hierarchy(n).gram().to_dense())).astype(int))
    wavelet = sorted(np.rint(np.linalg.eigvalsh(op.Haar(n).gram().to_dense())).astype(int))
    assert hierarchy == sorted(
        [2**j - 1 for j in range(1, k + 1) for _ in range(2 ** (k - j))] + [2 ** (k + 1) - 1]
    )
    assert wavelet == sorted([2**j for j in range(1, k + 1) for _ in range(2 ** (k - j))] + [2**k])


@pytest.mark.parametrize("n", [2, 8, 64])
def test_ratio_of_the_two_errors_is_between_half_and_two(n):
    rng = np.random.default_rng(n)
    queries = op.Dense(
        np.concatenate(
            [rng.normal(size=(300, n)), rng.integers(0, 2, (200, n)), np.eye(n), np.tril(np.ones((n, n)))]
        )
    )
    h = error.query_variances(op.Hierarchy(n), queries)
    y = error.query_variances(op.Haar(n), queries)
    ratio = h[y > 0] / y[y > 0]
    assert ratio.min() >= 0.5 - 1e-9
    assert ratio.max() <= 2 + 1e-9


def test_both_ends_of_the_ratio_are_attained():
    """2 by [1, −1, 0, …]; ½ by 1ₙ in the limit: the ratio there is n/(2n − 1)."""
    for n in (4, 64, 1024):
        pair = op.Dense([[1, -1] + [0] * (n - 2)])
        assert _ratio(n, pair) == pytest.approx(2)
        assert _ratio(n, op.Total(n)) == pytest.approx(n / (2 * n - 1))


def _ratio(n, query):
    return error.query_variances(op.Hierarchy(n), query)[0] / error.query_variances(op.Haar(n), query)[0]


@pytest.mark.parametrize("k", [3, 6, 10])
def test_sensitivity_of_the_decompositions(k):
    """Errata: D_A P_Aᵗ has sensitivity Σ√(1−2⁻ʲ) + √(2−2⁻ᵏ) for Hₙ and log n + √2 − 1 for Yₙ.

    Haar vectors, scaled to length one, are eigenvectors of both; the two eigenvalue-n ones of Yₙ may be
    rotated within their plane, to [√2, 0, …]-like columns, which is where √2 comes from.
    """
    n = 2**k
    unit = op.Haar(n).to_dense()
    unit /= np.linalg.norm(unit, axis=1, keepdims=True)
    decomposed = {}
    for name, A in (("H", op.Hierarchy(n)), ("Y", op.Haar(n))):
        eigenvalues = np.einsum("ij,jk,ik->i", unit, A.gram().to_dense(), unit)
        decomposed[name] = np.sqrt(eigenvalues)[:, None] * unit
    assert np.abs(decomposed["H"]).sum(axis=0).max() == pytest.approx(
        sum(np.sqrt(1 - 2.0**-j) for j in range(1, k + 1)) + np.sqrt(2 - 2.0**-k)
    )
    first_two = decomposed["Y"][:2].copy()
    decomposed["Y"][:2] = np.array([[1, 1], [1, -1]]) @ first_two / np.sqrt(2)
    assert error.profile_equivalent(op.Dense(decomposed["Y"]), op.Haar(n))
    assert np.abs(decomposed["Y"]).sum(axis=0).max() == pytest.approx(k + np.sqrt(2) - 1)


def test_smallest_eigenvalues_are_one_and_two():
    assert np.linalg.eigvalsh(op.Hierarchy(8).gram().to_dense())[0] == pytest.approx(1)
    assert np.linalg.eigvalsh(op.Haar(8).gram().to_dense())[0] == pytest.approx(2)


def test_wavelet_as_published_is_ours():
    """Xiao et al.: averages with noise scaled per level; rows of Yₙ scaled by 1/W(c) with unequal noise."""
    n = 8
    Y = op.Haar(n)
    support = np.array([n, n, n / 2, n / 2] + [n / 4] * 4)
    published = op.Weighted(1 / support, Y)
    unequal = np.linalg.inv(published.to_dense()) * (1 / support)
    np.testing.assert_allclose(unequal, np.linalg.inv(Y.to_dense()), atol=1e-12)


def test_identity_on_all_ranges_and_all_predicates():
    assert error.total_error(op.Identity(64), op.Ranges(64), PureDP(1.0)) == pytest.approx(2 * 45_760)
    n = 10
    assert error.total_error(op.Identity(n), op.AllPredicates(n), PureDP(1.0)) == pytest.approx(
        2 * n * 2 ** (n - 1)
    )
