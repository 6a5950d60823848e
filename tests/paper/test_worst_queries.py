"""The recursions for the worst range and the worst predicate, against all of them."""

from __future__ import annotations

import numpy as np
import pytest

from rowspace import error
from rowspace import operators as op
from rowspace_paper.worst_queries import hierarchy, profile_term, wavelet, worst_predicate, worst_range

PAIRS = ((hierarchy, op.Hierarchy), (wavelet, op.Haar))


@pytest.mark.parametrize("k", range(1, 8))
@pytest.mark.parametrize(("spectrum", "strategy"), PAIRS, ids=["H", "Y"])
def test_worst_queries_by_brute_force(spectrum, strategy, k):
    n = 2**k
    ranges = error.query_variances(strategy(n), op.Ranges(n))
    assert worst_range(spectrum(k)) == pytest.approx(ranges.max(), rel=1e-9)
    if n <= 16:
        predicates = error.query_variances(strategy(n), op.AllPredicates(n))
        assert worst_predicate(spectrum(k)) == pytest.approx(predicates.max(), rel=1e-9)


@pytest.mark.parametrize(("spectrum", "strategy"), PAIRS, ids=["H", "Y"])
def test_profile_terms(spectrum, strategy):
    queries = np.random.default_rng(0).normal(size=(5, 32))
    expected = error.query_variances(strategy(32), op.Dense(queries))
    np.testing.assert_allclose([profile_term(spectrum(5), w) for w in queries], expected)


@pytest.mark.parametrize("spectrum", [hierarchy, wavelet])
def test_the_worst_range_grows_by_two_ninths_of_the_squared_sensitivity(spectrum):
    """Per doubling of n, in the limit: what makes the cube of log n."""
    assert worst_range(spectrum(14)) - worst_range(spectrum(12)) == pytest.approx(4 / 9, abs=1e-3)
