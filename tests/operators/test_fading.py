"""A triangle over very many periods, which remembers older ones in longer blocks."""

from __future__ import annotations

import numpy as np
import pytest

from rowspace import operators as op
from rowspace.exceptions import InvalidInput, TooLarge
from rowspace.operators.fading import LARGEST_WEIGHT
from rowspace.operators.fading_memory import blocks_before, condensed, counted, remembered

SIZES = (1, 2, 3, 7, 33, 100, 257)


def some(n, bits=20, seed=0):
    """A triangle with weights of so many bits."""
    weights = np.random.default_rng(seed).integers(2 ** (bits - 1), 2**bits, n)
    return op.Fading(n + 3, weights)


def entries(C):
    """Its matrix, entry by entry from what each row sees, in Python integers."""
    n = C.shape[0]
    dense = np.zeros((n, n), dtype=object)
    for t in range(n):
        row = [int(c) for c in C.seen(np.array([t]), 1)[0][0]]
        for a, h in blocks_before(t):
            alpha, beta = row.pop(0), row.pop(0) if h > 1 else 0
            dense[t, a : a + h] = [alpha + beta * (2 * j - (h - 1)) for j in range(h)]
        assert row == [C.weights[t]]
        dense[t, t] = row[0]
    return dense


@pytest.mark.parametrize("n", SIZES)
def test_exact(n):
    """Products with integers, norms and the bound of entries, beside the matrix written out."""
    C = some(n, bits=29)
    dense = entries(C)
    x = np.random.default_rng(1).integers(0, 2**20, n)
    assert (C @ x).tolist() == (dense @ x.astype(object)).tolist()
    assert np.array_equal(C.integer_matrix(), dense.astype(np.int64))
    assert (C.T @ (x % 2**6)).tolist() == (dense.T @ (x % 2**6).astype(object)).tolist()
    assert C._exact_column_sums(2) == (dense**2).sum(axis=0).tolist()
    assert C.integer_norm(2) == max((dense**2).sum(axis=0))
    assert np.abs(dense).max() <= C.largest_entry()
    half = -(-n // 2)
    assert np.array_equal(C.until(half).integer_matrix(), dense[:half, :half].astype(np.int64))


@pytest.mark.parametrize("n", SIZES)
def test_memory(n):
    """Rows from what is remembered: 2 log₂ n numbers, one period after the other."""
    C, x = some(n), np.random.default_rng(2).integers(0, 1000, (n, 2))
    exact, memory = np.asarray(C @ x), x[:0]
    for t in range(n):
        memory = condensed(memory, t)
        assert len(memory) <= 2 * max(1, np.log2(max(1, t))) + 1
        assert np.array_equal(memory, remembered(x[:t]))
        assert np.array_equal(counted(memory, t), x[:t].sum(axis=0))
        assert np.array_equal(C.until(t + 1).past(memory) + C.weights[t] * x[t], exact[t])
        memory = np.concatenate([memory, x[[t]]])


def test_the_same_everywhere():
    """Entries are part of what plan files mean: they come from sums, products, quotients and square roots alone."""
    C = op.Fading(10**6, np.full(5000, 2**28))
    assert C.squared_norms[[0, 1, 2, 777, 4998]].tolist() == [
        436818424446845382, 425215323310529374, 418054007047592756, 300140732398414033, 90099510434608337,
    ]  # fmt: skip
    assert C.seen(np.array([4999]), 1)[0][0][:6].tolist() == [3120518, 68, 3543751, 248, 4411541, 660]


def test_blocks_cover_the_past():
    for t in range(1, 600):
        for step in (1, 2, 4, 32):
            if t % step == 0:
                ends = [(a, a + h) for a, h in blocks_before(t, step)]
                assert [a for a, _ in ends] == [0, *(end for _, end in ends[:-1])]
                assert ends[-1][1] == t
    assert max(sum(min(2, h) for _, h in blocks_before(t)) for t in range(2**20 - 2**12, 2**20)) <= 39


@pytest.mark.parametrize("n", SIZES)
def test_inverse_and_variances(n):
    C = some(n)
    inverse = np.linalg.inv(C.integer_matrix().astype(float))
    y = np.random.default_rng(3).normal(size=(n, 3))
    scale = np.abs(inverse).max()
    assert np.asarray(C.pinv() @ y) == pytest.approx(inverse @ y, abs=1e-8 * scale)
    assert np.asarray(C.pinv().T @ y) == pytest.approx(inverse.T @ y, abs=1e-8 * scale)
    for W in (op.Prefix(n), op.Identity(n), op.Total(n)):
        truth = np.square(np.asarray(W @ inverse)).sum(axis=1)
        assert C.row_variances(W) == pytest.approx(truth, rel=1e-8)
        assert C.profile_trace(W) == pytest.approx(truth.sum(), rel=1e-8)
        first = C.until(-(-n // 2))
        own = np.square(np.tril(np.ones((n, n))) @ inverse).sum(axis=1)
        assert first.row_variances(op.Prefix(first.shape[0])) == pytest.approx(
            own[: first.shape[0]], rel=1e-8
        )
    window = op.WidthRanges(n, min(n, 5))
    truth = np.square(np.asarray(window @ inverse)).sum()
    assert C.profile_trace(window) == pytest.approx(truth, rel=1e-8)


def test_what_is_refused():
    for horizon, weights in ((2, [1, 1, 1]), (3, []), (3, [1, 0]), (3, [LARGEST_WEIGHT + 1]), (2**31, [1])):
        with pytest.raises(InvalidInput, match=r"weight|horizon"):
            op.Fading(horizon, np.array(weights, dtype=np.int64))
    with pytest.raises(InvalidInput, match="64 bits"):  # not a norm that wrapped around
        op.Fading(5000, np.full(5000, LARGEST_WEIGHT)).integer_norm(2)
    with pytest.raises(TooLarge, match="periods"):
        op.Fading(2**15, np.ones(2**15, dtype=np.int64)).profile_trace(op.WidthRanges(2**15, 7))
