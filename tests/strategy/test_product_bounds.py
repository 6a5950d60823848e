"""The bound on unions of products: whatever weights it is taken at, how near it is, and that the search raises it."""

from dataclasses import replace
from functools import reduce

import numpy as np
import pytest
import scipy
from hypothesis import given, settings
from hypothesis import strategies as st

from rowspace import operators as op
from rowspace.privacy import ZCDP
from rowspace.strategy import GaussianOptimal, Residual, unit_lower_bound
from rowspace.strategy.attribute_bound import (
    AttributePoint,
    Tangent,
    gram_root,
    level_and_resolution,
    standing_for_total,
)
from rowspace.strategy.even_bound import even_bound
from rowspace.strategy.product_bounds import Choice, _always_asked, products_bound, searched
from rowspace.tables import Piece, gather

from .product_workloads import as_operator, products_up_to, random_products

UNIT, REPLACING = ZCDP(0.5), ZCDP(0.5, "replace-one")


def at_random(choice, rng):
    """Any weights, any directions."""
    attributes = []
    for attribute in choice.attributes:
        if attribute.point is not None:
            n = len(attribute.point.weights)
            directions = [rng.normal(size=len(e)) for e in attribute.point.directions]
            point = AttributePoint(
                rng.dirichlet(np.ones(n)), tuple(e / np.linalg.norm(e) for e in directions)
            )
            attribute = replace(attribute, point=point)
        attributes.append(attribute)
    return replace(choice, attributes=tuple(attributes))


def joint_weights(choice):
    own = [
        np.full(n, 1 / n) if a.point is None else a.point.weights
        for a, n in zip(choice.attributes, choice.workload.sizes, strict=True)
    ]
    return reduce(np.kron, own)


@given(random_products(), st.booleans(), st.sampled_from([2.0**28, 30.0, 0.0]), st.integers(0, 2**32 - 1))
@settings(max_examples=120, deadline=None)
def test_any_weights_and_directions_give_a_bound(W, replacing, work, seed):
    """At most the sum of singular values of W D^½, of which every square is a bound; also where blocks are cut."""
    rng = np.random.default_rng(seed)
    always = _always_asked(W) if not replacing and rng.random() < 0.5 else []
    choice = at_random(Choice.even(W, replacing, False, always), rng)
    u = joint_weights(choice)
    h = np.sqrt(u)
    M = as_operator(W).to_dense() * h
    limit = scipy.linalg.svdvals(M).sum() ** 2
    if replacing and len(u) > 1:

        def at(share):
            along = np.sqrt(1 - share) * np.outer(M @ h, h)
            rest = np.sqrt(1 - share + 2 * share / (1 - np.sum(u**2))) * (M - np.outer(M @ h, h))
            return float(scipy.linalg.svdvals(along + rest).sum() ** 2)

        shares = np.linspace(0, 1, 41)
        best = int(np.argmax([at(share) for share in shares]))
        # The best share is between two of those tried: near it the square is flat.
        around = np.linspace(shares[max(0, best - 1)], shares[min(40, best + 1)], 161)
        limit = max(limit, *map(at, around))
    assert choice.bound <= limit * (1 + (1e-4 if replacing else 1e-9)) + 1e-12
    if all(attribute.split for attribute in choice.attributes):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr("rowspace.strategy.coupled_bound.MOST_WORK", work)
            assert choice.coupled_bound <= limit * (1 + 1e-9) + 1e-12


@given(st.integers(0, 2**32 - 1))
@settings(max_examples=60, deadline=None)
def test_replacing_a_record_costs_as_much_as_is_stated(seed):
    """Any strategy of all cells and some queries, by brute force over its columns and their pairs."""
    rng = np.random.default_rng(seed)
    W = products_up_to([op.Prefix(3), op.Ranges(2)], 2)
    A = np.concatenate((np.eye(6), rng.normal(size=(3, 6)), rng.choice([0, 0.3, 1]) * np.ones((1, 6))))
    squared = max(np.sum((a - b) ** 2) for a in A.T for b in [*A.T, 0 * A[:, 0]])
    error = squared * np.sum((as_operator(W).to_dense() @ np.linalg.pinv(A)) ** 2)
    assert products_bound(W, REPLACING) <= error


@given(random_products())
@settings(max_examples=40, deadline=None)
def test_the_search_only_raises_it(W):
    for replacing in (False, True):
        for alone in (False, True):
            start = Choice.even(W, replacing, alone)
            assert searched(start).bound >= start.bound


def lowered(W, share):
    """The level and resolution of an earlier bound: α·11ᵗ/n + R ⪯ WᵗW with R·1 = 0."""
    n = W.shape[1]
    V = W.gram().to_dense()
    if n == 1:
        return np.array([V[0, 0], 0.0])
    complement = scipy.linalg.null_space(np.ones((1, n)))
    g, b = V.sum() / n, complement.T @ V.sum(axis=1) / np.sqrt(n)
    G = complement.T @ V @ complement
    least = b @ np.linalg.lstsq(G, b, rcond=1e-10)[0]
    t = least + share * (g - least)
    if t >= g * (1 - 1e-9):
        return np.zeros(2)
    if t <= 1e-12 * g:
        return np.array([g, np.sqrt(np.clip(np.linalg.eigvalsh(G), 0, None)).sum() ** 2]) / n
    values = np.clip(np.linalg.eigvalsh(G - np.outer(b, b) / t), 0.0, None)
    values[values < 1e-9 * values.max()] = 0.0
    return np.array([g - t, np.sqrt(values).sum() ** 2]) / n


@given(random_products())
@settings(max_examples=40, deadline=None)
def test_never_below_lowered_gram_matrices(W):
    """Lowering every attribute's Gram matrix to one that 1 is an eigenvector of gives less, for every share."""
    for share in (0.0, 0.1, 0.6):
        roots = np.sqrt(W.summed([lowered(piece.operator, share) for piece in W.pieces]))
        assert products_bound(W, UNIT) >= roots.sum() ** 2 * (1 - 1e-6)
        assert products_bound(W, REPLACING) >= 2 * roots[1:].sum() ** 2 * (1 - 1e-6)


@pytest.mark.parametrize(
    ("kind", "d", "figure"),
    [(op.Prefix, 10, 1.028), (op.Prefix, 30, 1.143), (op.Ranges, 10, 1.008), (op.Ranges, 30, 1.042)],
    ids=["prefixes, 10", "prefixes, 30", "ranges, 10", "ranges, 30"],
)
def test_how_near(kind, d, figure):
    """Up to three of d attributes of ten cells: error over bound."""
    assert Residual().optimize(products_up_to([kind(10)] * d, 3), UNIT).ratio <= figure


@pytest.mark.parametrize(
    "kinds",
    [(op.Prefix(4), op.Identity(4), op.Ranges(4)), (op.Prefix(6),) * 3, (op.Ranges(6),) * 3],
    ids=["mixed", "prefixes", "ranges"],
)
def test_near_the_dense_optimum(kinds):
    """Within two percent of the optimum over all strategies."""
    W = products_up_to(kinds, 2)
    best = GaussianOptimal(gap=1e-5).optimize(as_operator(W), UNIT).total_error
    assert best <= 1.02 * products_bound(W, UNIT)


def test_what_ties_attributes_together_is_nearly_all():
    """Two states of every attribute reach nine tenths of the way from one to the sum of singular values itself."""
    choice = searched(Choice.even(products_up_to([op.Prefix(5)] * 3, 3), False, True))
    M = as_operator(choice.workload).to_dense() * np.sqrt(joint_weights(choice))
    limit = scipy.linalg.svdvals(M).sum() ** 2
    assert limit - choice.coupled_bound < 0.1 * (limit - choice.bound)


@pytest.mark.parametrize(("n", "d", "figure"), [(3, 20, 1.02), (11, 5, 1.001), (301, 3, 1.01)])
def test_a_cell_that_only_totals_see(n, d, figure):
    """Tables that leave the last cell out: at weights of zero for it the bound for flags was half of the error."""
    W = products_up_to([op.Padded.right(op.Identity(n - 1), n)] * d, 2)
    assert Residual().optimize(W, UNIT).ratio < figure


def test_one_product_and_an_attribute_that_is_always_asked():
    """Where nothing is summed out nothing is lost, but for the steps of the search."""
    W = gather((5, 6), [(1.0, (Piece((0,), op.Prefix(5)), Piece((1,), op.Ranges(6))))])
    best = GaussianOptimal(gap=1e-7).optimize(as_operator(W), UNIT).total_error
    assert searched(Choice.even(W, False, False, [True, True])).bound == pytest.approx(best, rel=1e-3)


def test_several_kinds_of_queries_about_one_attribute():
    n = 5
    pieces = [Piece((0,), op.Prefix(n)), Piece((0,), op.Ranges(n)), Piece((1,), op.Prefix(n))]
    W = gather((n, n), [(1.0, pieces[:1]), (2.0, pieces[1:]), (1.0, pieces[::2])])
    best = GaussianOptimal(gap=1e-5).optimize(as_operator(W), UNIT).total_error
    assert 1 <= best / products_bound(W, UNIT) < 1.1


def test_large_attributes_have_weights_without_a_search():
    W = products_up_to([op.Prefix(150), op.Ranges(130), op.Identity(3)], 2)
    assert Residual().optimize(W, UNIT).ratio < 1.06


def test_large_attributes_are_bounded_too():
    """One table each of attributes too large to decompose: less than one strategy for each alone adds up to."""
    kinds = [op.Ranges(3000), op.Ranges(2500), 2.0 * op.Ranges(2400), op.WidthRanges(2100, 3)]
    W = gather([k.shape[1] for k in kinds], [(1.0, (Piece((i,), k),)) for i, k in enumerate(kinds)])
    even = Choice.even(W, False, alone=True)
    assert even.bound > 1.05 * sum(unit_lower_bound(k, UNIT) for k in kinds)
    assert products_bound(W, REPLACING) == pytest.approx(2 * even.bound, rel=0.1)


@pytest.mark.parametrize("split", [True, False])
def test_gradient(split):
    rng = np.random.default_rng(0)
    roots = (gram_root(op.Prefix(5)), gram_root(op.Dense(rng.normal(size=(2, 5)))))
    tangent = Tangent(roots, split, [np.array([0.3, 0.5]), np.array([0.1, 0.2])])
    x = rng.normal(size=5 + (sum(map(len, roots)) if split else 0))
    _, gradient = tangent.descent(x)
    steps = 1e-6 * np.eye(len(x))
    slopes = [(tangent.descent(x + h)[0] - tangent.descent(x - h)[0]) / 2e-6 for h in steps]
    np.testing.assert_allclose(gradient, slopes, atol=1e-8)


@pytest.mark.parametrize("kind", [op.Prefix, op.Ranges])
@pytest.mark.parametrize("n", [2, 3, 10, 41])
def test_equal_weights_in_closed_form(kind, n, monkeypatch):
    R = gram_root(kind(n))
    for alone, e in enumerate(standing_for_total(R, np.full(n, 1 / n))):
        dense = level_and_resolution(R, np.full(n, 1 / n), e)
        np.testing.assert_allclose(even_bound(op.Dense(kind(n).to_dense()), bool(alone)), dense, rtol=1e-7)
    monkeypatch.setattr("rowspace.strategy.even_bound.DECOMPOSED_CELLS", 1)
    closed = even_bound(kind(n), True)
    assert closed[0] == pytest.approx(dense[0])
    assert closed[1] <= dense[1] * (1 + 1e-9)
    assert closed[1] >= dense[1] * (1 - 1e-9) or kind is op.Ranges
    fallback = even_bound(op.Dense(kind(n).to_dense()), False)
    assert (
        fallback
        <= level_and_resolution(R, np.full(n, 1 / n), standing_for_total(R, np.full(n, 1 / n))[0])
        * (1 + 1e-9)
    ).all()


def test_shares_are_derivatives():
    W = products_up_to([op.Prefix(3), op.Identity(2), op.Ranges(4)], 2)
    rng = np.random.default_rng(1)
    numbers = [rng.uniform(1, 2, size=2) for _ in W.pieces]
    weights = rng.uniform(size=W.lattice.size)
    for piece, shares in enumerate(W.shares(numbers, weights)):
        for k in range(2):
            moved = [
                own * np.exp(1e-6 * (np.arange(2) == k)) if p == piece else own
                for p, own in enumerate(numbers)
            ]
            slope = weights @ (W.summed(moved) - W.summed(numbers)) / 1e-6
            assert shares[k] == pytest.approx(slope, rel=1e-5)
