"""The quantities that predict error: segment energies, row quadratics and the profile trace."""

import tracemalloc
from itertools import pairwise

import numpy as np
import pytest

from rowspace import operators as op
from rowspace.exceptions import InvalidInput, UnsupportedWorkload
from rowspace.operators.stack import lean_gram

from . import naive
from .catalogue import CASES, every_case
from .test_laws import close


def segments(n, random):
    """Bounds 0 = b₀ < b₁ < … = n: none cut, some cut, all cut."""
    yield np.array([0, n])
    yield np.arange(n + 1)
    yield np.concatenate(([0], 1 + np.flatnonzero(random.random(n - 1) < 0.5), [n]))


@every_case
def test_segment_energy(case):
    n, random = case.dense.shape[1], np.random.default_rng(3)
    for bounds in segments(n, random):
        for density in (np.ones(n), random.normal(size=n), random.random(n) * (random.random(n) < 0.7)):
            expected = [
                sum(value**2 for value in case.dense[:, start:stop] @ density[start:stop])
                for start, stop in pairwise(bounds)
            ]
            close(case.operator.segment_energy(density, bounds), expected)


@pytest.mark.parametrize(("n", "width"), [(1, 1), (9, 2), (9, 5), (9, 8), (9, 9), (40, 7), (40, 33)])
def test_segment_energy_of_windows(n, width):
    random = np.random.default_rng(4)
    dense = naive.width_ranges(n, width)
    for _ in range(5):
        for bounds in segments(n, random):
            density = random.normal(size=n)
            expected = [np.sum((dense[:, a:b] @ density[a:b]) ** 2) for a, b in pairwise(bounds)]
            close(op.WidthRanges(n, width).segment_energy(density, bounds), expected)


@every_case
def test_row_quadratic(case):
    n = case.dense.shape[1]
    M = np.random.default_rng(5).normal(size=(n, n))
    M = M + M.T
    close(case.operator.row_quadratic(M), np.diag(case.dense @ M @ case.dense.T))


def supported_workloads(case):
    """Workloads inside the row space: random combinations of rows, the strategy itself, then structured ones."""
    m, n = case.dense.shape
    combinations = np.random.default_rng(6).normal(size=(3, m)) @ case.dense
    yield op.Dense(combinations), combinations
    yield case.operator, case.dense
    if np.linalg.matrix_rank(case.dense) == n:
        yield op.Ranges(n), naive.ranges(n)
        yield op.Prefix(n), naive.prefix(n)
        yield op.Identity(n), naive.identity(n)
        yield op.WidthRanges(n, (n + 1) // 2), naive.width_ranges(n, (n + 1) // 2)
        yield (
            0.5 * op.Stack(op.Total(n), op.Haar(n) if n & (n - 1) == 0 else op.Hierarchy(n)),
            0.5 * naive.stack(naive.total(n), naive.haar(n) if n & (n - 1) == 0 else naive.hierarchy(n)),
        )
        if n <= 8:
            yield op.AllPredicates(n), naive.all_predicates(n)


@every_case
def test_profile_trace_of_supported_workloads(case):
    M = np.linalg.pinv(case.dense.T @ case.dense, rcond=1e-12, hermitian=True)
    for W, dense in supported_workloads(case):
        expected = np.trace(M @ dense.T @ dense)
        assert case.operator.profile_trace(W) == pytest.approx(expected, rel=1e-8, abs=1e-10)


@every_case
def test_profile_trace_of_an_unsupported_workload_is_refused(case):
    n = case.dense.shape[1]
    _, singular, V = np.linalg.svd(case.dense)
    rank = int(np.sum(singular > 1e-9 * max(1.0, singular[0])))
    if rank == n:
        pytest.skip("supports everything")
    outside = V[rank:][:1]
    inside = V[:rank].sum(axis=0, keepdims=True) if rank else outside
    for query in (outside, inside + 1e-4 * outside):
        with pytest.raises(UnsupportedWorkload, match="row space"):
            case.operator.profile_trace(op.Dense(query))
    with pytest.raises(UnsupportedWorkload, match="row space"):
        case.operator.profile_trace(op.Identity(n))


@every_case
def test_profile_trace_wants_a_workload_over_the_same_cells(case):
    with pytest.raises(InvalidInput, match="cells"):
        case.operator.profile_trace(op.Identity(case.dense.shape[1] + 1))
    with pytest.raises(InvalidInput, match="operator"):
        case.operator.profile_trace(np.eye(case.dense.shape[1]))


def test_catalogue_has_both_kinds_of_rank():
    full = [np.linalg.matrix_rank(case.dense) == case.dense.shape[1] for case in CASES]
    assert 20 < sum(full) < len(full) - 20


def test_windows_cost_no_more_for_being_wide():
    """A tree asks for the energy of every leaf: that must not lay out every window of every leaf."""
    n = 2**16
    W, bounds, density = op.WidthRanges(n, n // 2), np.arange(n + 1), np.ones(n)
    tracemalloc.start()
    energy = W.segment_energy(density, bounds)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert np.array_equal(energy, W.column_norms(1))
    assert peak < 40 * 8 * n


@pytest.mark.parametrize("entries", [0.03, 0.5])
@pytest.mark.parametrize("rows", [7, 400])
def test_gram_of_given_entries_is_computed_once(rows, entries):
    """Kept where it is no larger than the matrix; the dense and the sparse way agree with brute force."""
    random = np.random.default_rng(rows)
    array = random.integers(-3, 4, (rows, 20)) * (random.random((rows, 20)) < entries)
    array[0] = 1
    x = random.normal(size=20)
    for A in (op.Dense(array), op.Sparse(array)):
        close(A.gram().to_dense(), array.T @ array)
        close(lean_gram(A) @ x, array.T @ (array @ x))
        if array.size >= 400 and (isinstance(A, op.Dense) or A.has_small_gram):
            assert A.gram() is A.gram()
            assert lean_gram(A) is A.gram()


def test_column_sums_of_a_large_dense_matrix_are_exact():
    A = op.Dense([[2**40 + 1, -3], [2**52, 5]])
    np.testing.assert_array_equal(A.column_norms(1), [2**52 + 2**40 + 1, 8])
