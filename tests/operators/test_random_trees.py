"""The core laws on random nests of operators, against dense matrices built beside them."""

import json
from dataclasses import dataclass

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from rowspace import operators as op
from rowspace.exceptions import UnsupportedWorkload

from . import naive
from .test_laws import close

# Small dyadic numbers: products of a few stay exact, so a wrong answer cannot hide behind rounding.
NUMBERS = st.sampled_from([-2.0, -1.0, -0.5, 0.0, 0.25, 1.0, 1.5, 3.0])
WEIGHTS = st.sampled_from([0.0, 0.5, 1.0, 1.0, 2.0, 3.0])


@dataclass(frozen=True)
class Pair:
    """An operator and its matrix."""

    operator: op.Operator
    dense: np.ndarray


@st.composite
def hierarchies(draw, most=12):
    n, branching = draw(st.integers(1, most)), draw(st.integers(2, 5))
    depth = op.Hierarchy(n, branching).depth
    weights = draw(st.none() | st.lists(WEIGHTS, min_size=depth, max_size=depth).filter(any))
    return Pair(op.Hierarchy(n, branching, weights), naive.hierarchy(n, branching, weights))


@st.composite
def trees(draw):
    """Partitions cut ever finer at random, down to the cells."""
    n = draw(st.integers(1, 9))
    levels, cuts = [tuple(range(n + 1))], set(range(1, n))
    for _ in range(draw(st.integers(0, 3))):
        cuts = {cut for cut in cuts if draw(st.booleans())}
        levels.insert(0, (0, *sorted(cuts), n))
    weights = draw(st.lists(WEIGHTS, min_size=len(levels), max_size=len(levels)).filter(any))
    return Pair(op.Tree(tuple(levels), weights), naive.tree(levels, weights))


@st.composite
def wavelets(draw):
    n = 2 ** draw(st.integers(0, 3))
    weights = draw(
        st.none() | st.lists(WEIGHTS, min_size=n.bit_length(), max_size=n.bit_length()).filter(any)
    )
    return Pair(op.Haar(n, weights), naive.haar(n, weights))


@st.composite
def matrices(draw, most=4):
    m, n = draw(st.integers(1, most)), draw(st.integers(1, most))
    array = np.array(draw(st.lists(NUMBERS, min_size=m * n, max_size=m * n))).reshape(m, n)
    return Pair(draw(st.sampled_from([op.Dense, op.Sparse]))(array), array)


SIZED = {
    op.Identity: naive.identity,
    op.Total: naive.total,
    op.Prefix: naive.prefix,
    op.Ranges: naive.ranges,
    op.Difference: naive.difference,
    op.AllPredicates: naive.all_predicates,
}


@st.composite
def sized(draw):
    cls, n = draw(st.sampled_from(list(SIZED))), draw(st.integers(1, 4))
    return Pair(cls(n), SIZED[cls](n))


@st.composite
def windows(draw):
    n = draw(st.integers(1, 8))
    width = draw(st.integers(1, n))
    return Pair(op.WidthRanges(n, width), naive.width_ranges(n, width))


LEAVES = st.one_of(sized(), matrices(), hierarchies(most=5), wavelets(), windows())


def nest(children):
    """One more layer around smaller operators, as long as the result stays small."""
    layers = [
        st.tuples(children, children).map(
            lambda ab: Pair(
                op.Kronecker(ab[0].operator, ab[1].operator), naive.kronecker(ab[0].dense, ab[1].dense)
            )
        ),
        children.flatmap(stacked),
        st.tuples(NUMBERS, children).map(lambda ca: Pair(ca[0] * ca[1].operator, ca[0] * ca[1].dense)),
        children.flatmap(weighted),
        children.map(lambda a: Pair(a.operator.T, a.dense.T)),
        children.flatmap(permuted),
    ]
    return st.one_of(layers).filter(lambda pair: pair.dense.size <= 600)


def stacked(pair):
    n = pair.dense.shape[1]
    more = [Pair(op.Identity(n), naive.identity(n)), Pair(op.Total(n), naive.total(n)), pair]
    return st.sampled_from(more).map(
        lambda other: Pair(op.Stack(pair.operator, other.operator), naive.stack(pair.dense, other.dense))
    )


def weighted(pair):
    m = pair.dense.shape[0]
    return st.lists(NUMBERS, min_size=m, max_size=m).map(
        lambda weights: Pair(op.Weighted(weights, pair.operator), np.array(weights)[:, None] * pair.dense)
    )


def permuted(pair):
    return st.permutations(range(pair.dense.shape[1])).map(
        lambda order: Pair(op.Permuted(pair.operator, order), naive.permuted(pair.dense, order))
    )


NESTS = st.recursive(LEAVES, nest, max_leaves=3)

gently = settings(
    max_examples=60,
    deadline=None,
    derandomize=True,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much, HealthCheck.data_too_large],
)


def check_core_laws(pair):
    A, D = pair.operator, pair.dense
    m, n = D.shape
    random = np.random.default_rng(0)
    assert A.shape == D.shape
    close(A.to_dense(), D)
    x, y = random.normal(size=(n, 2)), random.normal(size=(m, 2))
    close(A @ x, D @ x)
    close(A.T @ y, D.T @ y)
    close(A.gram() @ x, D.T @ (D @ x))
    P = np.linalg.pinv(D, rcond=1e-12)
    close(A.pinv() @ y, P @ y, 1e-8)
    close(A.pinv().T @ x, P.T @ x, 1e-8)
    assert A.full_column_rank in (None, np.linalg.matrix_rank(D) == n)
    assert not A.nonnegative or (D >= 0).all()
    assert A.largest_entry() >= np.abs(D).max() * (1 - 1e-12)
    for p in (1, 2):
        close(A.column_norms(p), np.linalg.norm(D, p, axis=0))
        if A.integral:
            assert A.integer_norm(p) == max(naive.column_sums(D.astype(int), p))
    if A.integral:
        counts = random.integers(-99, 99, n)
        answers = A @ counts
        assert answers.dtype == np.int64
        assert np.array_equal(answers, D.astype(int) @ counts)
    close(A.rows_dense(m // 2, m), D[m // 2 :])
    tree, arrays = op.encode(A)
    assert op.decode(json.loads(json.dumps(tree)), arrays) == A


@given(NESTS)
@gently
def test_nests(pair):
    check_core_laws(pair)


@given(NESTS)
@gently
def test_nests_rounded_to_integers(pair):
    """Products inside a union share its bits, so three factors keep a third each: 2⁻¹² is safe of 40 bits."""
    integers, scale = pair.operator.integer_form(40)
    assert integers.integral
    assert scale > 0
    close(integers.to_dense() / scale, pair.dense, 2.0**-12)


@given(st.one_of(hierarchies(), trees(), wavelets()))
@gently
def test_trees_and_wavelets(pair):
    check_core_laws(pair)


@given(st.one_of(hierarchies(), trees(), wavelets()), st.integers(0, 2**32 - 1))
@gently
def test_error_of_trees_and_wavelets(pair, seed):
    """The linear-time trace equals the dense one, or the workload has a query outside the row space."""
    n, random = pair.dense.shape[1], np.random.default_rng(seed)
    inverse = np.linalg.pinv(pair.dense)
    projector = inverse @ pair.dense
    for W in (
        op.Ranges(n),
        op.Prefix(n),
        op.WidthRanges(n, (n + 1) // 2),
        op.Dense(random.normal(size=(3, n))),
    ):
        dense = W.to_dense()
        if np.allclose(dense @ projector, dense):
            expected = np.sum((dense @ inverse) ** 2)
            assert pair.operator.profile_trace(W) == pytest.approx(expected, rel=1e-9)
        else:
            with pytest.raises(UnsupportedWorkload):
                pair.operator.profile_trace(W)
