"""The matrices, pseudo-inverses and spectra printed in the paper."""

import numpy as np
import pytest

from rowspace import operators as op

H4 = [[1, 1, 1, 1], [1, 1, 0, 0], [0, 0, 1, 1], [1, 0, 0, 0], [0, 1, 0, 0], [0, 0, 1, 0], [0, 0, 0, 1]]
Y4 = [[1, 1, 1, 1], [1, 1, -1, -1], [1, -1, 0, 0], [0, 0, 1, -1]]


@pytest.mark.parametrize(
    ("operator", "entries", "sensitivity"),
    [(op.Identity(4), np.eye(4), 1), (op.Hierarchy(4), H4, 3), (op.Haar(4), Y4, 3)],
    ids=["I4", "H4", "Y4"],
)
def test_strategies(operator, entries, sensitivity):
    assert np.array_equal(operator.to_dense(), entries)
    assert operator.max_column_norm(1) == operator.integer_norm(1) == sensitivity


def test_pseudo_inverse_of_h4():
    expected = [
        [3, 5, -2, 13, -8, -1, -1],
        [3, 5, -2, -8, 13, -1, -1],
        [3, -2, 5, -1, -1, 13, -8],
        [3, -2, 5, -1, -1, -8, 13],
    ]
    np.testing.assert_allclose(21 * op.Hierarchy(4).pinv().to_dense(), expected, atol=1e-12)


def test_inverse_of_y4():
    expected = [[0.25, 0.25, 0.5, 0], [0.25, 0.25, -0.5, 0], [0.25, -0.25, 0, 0.5], [0.25, -0.25, 0, -0.5]]
    np.testing.assert_allclose(op.Haar(4).pinv().to_dense(), expected, atol=1e-15)


def test_error_profiles():
    h = [[13, -8, -1, -1], [-8, 13, -1, -1], [-1, -1, 13, -8], [-1, -1, -8, 13]]
    y = [[3, -1, 0, 0], [-1, 3, 0, 0], [0, 0, 3, -1], [0, 0, -1, 3]]
    for operator, profile in (
        (op.Identity(4), np.eye(4)),
        (op.Hierarchy(4), np.array(h) / 21),
        (op.Haar(4), np.array(y) / 8),
    ):
        np.testing.assert_allclose(np.linalg.inv(operator.gram().to_dense()), profile, atol=1e-12)
        np.testing.assert_allclose(operator.gram().pinv().to_dense(), profile, atol=1e-12)


def multiplicities(operator):
    eigenvalues = np.linalg.eigvalsh(operator.gram().to_dense())
    assert np.allclose(eigenvalues, np.rint(eigenvalues), atol=1e-9)
    values, counts = np.unique(np.rint(eigenvalues).astype(int), return_counts=True)
    return dict(zip(values.tolist(), counts.tolist(), strict=True))


def test_spectrum_of_h64():
    """2^(j+1) − 1 with multiplicity 2^(k−j−1) for j < k, and 2^(k+1) − 1 once."""
    assert multiplicities(op.Hierarchy(64)) == {1: 32, 3: 16, 7: 8, 15: 4, 31: 2, 63: 1, 127: 1}


def test_spectrum_of_y64():
    """2^j with multiplicity 2^(k−j), and the largest twice: the total and the first difference."""
    assert multiplicities(op.Haar(64)) == {2: 32, 4: 16, 8: 8, 16: 4, 32: 2, 64: 2}


@pytest.mark.parametrize("n", [1, 2, 7, 20])
def test_gram_of_all_ranges(n):
    rows = np.array(
        [[first <= j <= last for j in range(n)] for first in range(n) for last in range(first, n)], float
    )
    assert np.array_equal(op.Ranges(n).gram().to_dense(), rows.T @ rows)
    i, j = np.indices((n, n)) + 1
    assert np.array_equal(op.Ranges(n).gram().to_dense(), np.minimum(i, j) * (n + 1 - np.maximum(i, j)))


@pytest.mark.parametrize("n", [1, 2, 3, 9])
def test_gram_of_all_predicates(n):
    rows = np.array([[number >> cell & 1 for cell in range(n)] for number in range(2**n)], float)
    assert np.array_equal(op.AllPredicates(n).gram().to_dense(), rows.T @ rows)
    assert np.array_equal(op.AllPredicates(n).gram().to_dense(), 2.0 ** (n - 2) * (np.eye(n) + 1))


def test_total_error_of_all_ranges_under_the_identity():
    """n(n+1)(n+2)/6 cells in all ranges together."""
    for n in (1, 4, 64, 1000):
        assert op.Identity(n).profile_trace(op.Ranges(n)) == n * (n + 1) * (n + 2) / 6


def test_scalar_multiples_change_no_error():
    W = op.Ranges(8)
    for A in (op.Hierarchy(8), op.Haar(8)):
        error = A.max_column_norm(1) ** 2 * A.profile_trace(W)
        multiple = -7.5 * A
        assert multiple.max_column_norm(1) ** 2 * multiple.profile_trace(W) == pytest.approx(error, rel=1e-12)


def test_hierarchy_and_wavelet_are_within_a_factor_two():
    """½·Error_Y ≤ Error_H ≤ 2·Error_Y for every query; the upper end is attained by [1, −1, 0, …].

    Equal sensitivities, so profiles compare directly.
    """
    for n in (4, 64, 256):
        H, Y = (np.linalg.inv(A.gram().to_dense()) for A in (op.Hierarchy(n), op.Haar(n)))
        assert op.Hierarchy(n).max_column_norm(1) == op.Haar(n).max_column_norm(1)
        queries = np.vstack((op.Ranges(n).rows_dense(0, n), np.random.default_rng(0).normal(size=(50, n))))
        ratio = np.einsum("ij,ij->i", queries @ H, queries) / np.einsum("ij,ij->i", queries @ Y, queries)
        assert ((ratio >= 0.5) & (ratio <= 2)).all()
        neighbours = np.array([1.0, -1.0] + [0.0] * (n - 2))
        assert neighbours @ H @ neighbours == pytest.approx(2 * (neighbours @ Y @ neighbours))
        ones = np.ones(n)
        assert ones @ H @ ones == pytest.approx((ones @ Y @ ones) * n / (2 * n - 1))
