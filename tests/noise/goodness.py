"""Goodness of fit with a false-alarm rate small enough that a failure means a bug.

Every call has a false-alarm rate of 1e-9 (chi-square, cells of at least 200 expected counts, so that the tail of the
approximation is trustworthy). The folder makes fewer than 300 such calls: below 1e-6 in total.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy import stats

FALSE_ALARM = 1e-9
_SMALLEST_EXPECTED = 200.0


def assert_fits(observed: NDArray[np.int64], probabilities: NDArray[np.float64]) -> None:
    """Fail if counts per cell do not follow `probabilities` (which sum to one, tails included)."""
    assert abs(probabilities.sum() - 1) < 1e-9
    expected = probabilities * observed.sum()
    order = np.argsort(expected)[::-1]
    large = int((expected >= _SMALLEST_EXPECTED).sum())
    head = order[:large]
    observed_cells, expected_cells = list(observed[head]), list(expected[head])
    rest_observed, rest_expected = observed[order[large:]].sum(), expected[order[large:]].sum()
    if rest_expected >= _SMALLEST_EXPECTED:
        observed_cells.append(rest_observed)
        expected_cells.append(rest_expected)
    else:  # too small for a cell of its own: an exact Poisson bound, and the smallest cell takes it in
        assert stats.poisson.sf(rest_observed - 1, rest_expected) > FALSE_ALARM
        observed_cells[-1] += rest_observed
        expected_cells[-1] += rest_expected
    o, e = np.array(observed_cells, dtype=float), np.array(expected_cells)
    statistic = ((o - e) ** 2 / e).sum()
    assert statistic < stats.chi2.isf(FALSE_ALARM, max(len(o) - 1, 1)), (
        f"chi-square {statistic:.1f} on {len(o)} cells"
    )


def assert_same(first: NDArray[np.int64], second: NDArray[np.int64]) -> None:
    """Fail if two samples of integers do not come from one distribution."""
    low, high = int(min(first.min(), second.min())), int(max(first.max(), second.max()))
    counts = np.array([np.bincount(s - low, minlength=high - low + 1) for s in (first, second)])
    order = np.argsort(counts.sum(axis=0))[::-1]
    keep = order[counts.sum(axis=0)[order] >= 2 * _SMALLEST_EXPECTED]
    table = np.column_stack([counts[:, keep], counts.sum(axis=1) - counts[:, keep].sum(axis=1)])
    table = table[:, table.sum(axis=0) > 0]
    assert stats.chi2_contingency(table).pvalue > FALSE_ALARM


def count_cells(values: NDArray[np.int64], edges: NDArray[np.int64]) -> NDArray[np.int64]:
    """Count values below edges[0], in [edges[i], edges[i+1]), and from edges[-1] on."""
    return np.bincount(np.searchsorted(edges, values, side="right"), minlength=edges.size + 1)
