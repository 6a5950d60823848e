"""Weighted marginals: the loss by brute force, covers that cover, and the figures."""

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import optimize

from rowspace import error, tables
from rowspace import operators as op
from rowspace.exceptions import InvalidInput, InvalidWorkload
from rowspace.privacy import ZCDP, PureDP
from rowspace.strategy import Marginals, Residual
from rowspace.strategy.covers import covers_by_size, maximal
from rowspace.strategy.marginal_loss import MarginalLoss
from rowspace.strategy.table_demand import TableDemand, read_products
from rowspace.strategy.table_unions import best_union, without_some
from rowspace.tables import mask_of

from .marginal_workloads import all_marginals, random_workloads

UNIT = PureDP(2**0.5)


@given(random_workloads(), st.sampled_from([1, 2]), st.integers(0, 100))
@settings(max_examples=40, deadline=None)
def test_loss_and_gradient(W, norm, seed):
    """E by dense algebra, its logarithm's gradient by central differences."""
    workload = TableDemand(read_products(W))
    whole = [
        mask for mask in range(2 ** len(workload.sizes)) if mask & ~mask_of(_varying(workload.sizes)) == 0
    ]
    weights = np.random.default_rng(seed).uniform(0.2, 1, len(whole))
    loss = MarginalLoss(workload, tuple(whole), norm)
    sets = tuple(tuple(i for i in range(len(workload.sizes)) if mask >> i & 1) for mask in whole)
    A = tables.Marginals(workload.sizes, sets, tuple(weights)).to_dense()
    dense = np.linalg.norm(A, norm, axis=0).max() ** 2 * np.trace(
        np.linalg.inv(A.T @ A) @ W.gram().to_dense()
    )
    assert loss.value(weights) == pytest.approx(dense, rel=1e-9)
    numeric = optimize.approx_fprime(weights, lambda w: loss(w)[0], 1e-7)
    np.testing.assert_allclose(loss(weights)[1], numeric, atol=1e-5)


def _varying(sizes):
    return [i for i, n in enumerate(sizes) if n > 1]


@given(random_workloads(), st.sampled_from([UNIT, ZCDP(0.5), PureDP(1.0, "replace-one")]))
@settings(max_examples=12, deadline=None)
def test_between_the_bound_and_the_identity(W, privacy):
    result = Marginals(restarts=1, max_steps=100).optimize(W, privacy)
    assert result.total_error == pytest.approx(error.total_error(result.strategy, W, privacy))
    identity = error.total_error(op.Identity(W.shape[1]), W, privacy)
    assert result.lower_bound * (1 - 1e-9) <= result.total_error
    if privacy.neighbours is UNIT.neighbours:
        assert result.total_error <= identity * (1 + 1e-6)


def test_no_weights_on_three_attributes_do_better():
    """Small enough to search the weights of all eight tables from many random starts."""
    W = all_marginals((2, 3, 5), range(2, 3))
    loss = MarginalLoss(TableDemand(read_products(W)), tuple(range(8)), 1)
    rng = np.random.default_rng(1)
    starts = (rng.random(8) ** rng.choice([1, 4]) for _ in range(40))
    found = min(
        optimize.minimize(loss, s, jac=True, method="L-BFGS-B", bounds=[(0, None)] * 8).fun for s in starts
    )
    assert Marginals().optimize(W, UNIT).total_error <= np.exp(found) * (1 + 1e-6)


@pytest.mark.parametrize(
    ("sizes", "ways", "figure"),
    [((10,) * 5, range(3), 98_360), ((10,) * 8, range(3), 1.9211e6), ((10,) * 8, range(3, 4), 8.94e7)],
    ids=["up to 2-way of 10^5", "up to 2-way of 10^8", "3-way of 10^8"],
)
def test_figures(sizes, ways, figure):
    result = Marginals().optimize(all_marginals(sizes, ways), UNIT)
    assert result.total_error <= figure
    B, _ = result.strategy.integer_form(20)
    assert B.integer_norm(1) ** 2 * B.profile_trace(all_marginals(sizes, ways)) <= figure


def test_triples_of_eight_are_covered_by_the_steiner_system():
    result = Marginals(restarts=0).optimize(all_marginals((10,) * 8, range(3, 4)), UNIT)
    assert sorted(len(s) for s in result.strategy.sets) == [4] * 14


@pytest.mark.parametrize(
    ("points", "wanted", "size", "blocks"),
    [
        (7, 2, 3, 7),
        (8, 3, 4, 14),
        (9, 2, 3, 12),
        (10, 3, 4, 30),
        (13, 2, 4, 13),
        (13, 2, 3, 26),
        (21, 2, 5, 21),
        (31, 2, 6, 31),
    ],
)
def test_known_designs_are_found(points, wanted, size, blocks):
    sets = [mask_of(s) for s in combinations(range(points), wanted)]
    cover = min(covers_by_size(sets, size, np.random.default_rng(0), 1), key=len)
    assert len(cover) == blocks
    assert all(block.bit_count() == size for block in cover)


@given(st.lists(st.integers(0, 2**9 - 1), min_size=1, max_size=12), st.integers(1, 9), st.integers(0, 5))
@settings(max_examples=60, deadline=None)
def test_covers_cover(masks, size, seed):
    wanted = maximal(masks)
    size = max(size, wanted[0].bit_count())
    for cover in covers_by_size(wanted, size, np.random.default_rng(seed), 2):
        assert all(any(mask & ~block == 0 for block in cover) for mask in masks)


def test_covers_of_many_attributes_cover():
    wanted = [mask_of(s) for s in combinations(range(20), 3)]
    for size in (3, 5):
        (cover,) = covers_by_size(wanted, size, np.random.default_rng(0), 1)
        assert all(block.bit_count() <= size for block in cover)
        assert all(any(mask & ~block == 0 for block in cover) for mask in wanted)


@pytest.mark.long
def test_thirty_attributes():
    W = all_marginals((2,) * 30, range(2, 3))
    result = Marginals(restarts=1).optimize(W, UNIT)
    alone = tables.Marginals((2,) * 30, tuple(combinations(range(30), 2)), (1,) * 435)
    assert result.total_error < error.total_error(alone, W, UNIT)


def test_gaussian_noise_is_better_served_by_residuals():
    W = all_marginals((3, 4, 5), range(3))
    privacy = ZCDP(0.5)
    assert Residual().optimize(W, privacy).total_error <= Marginals().optimize(W, privacy).total_error * (
        1 + 1e-9
    )


def test_same_generator_same_result():
    W = all_marginals((2, 3, 4, 5), range(2, 3))
    first, second = (Marginals().optimize(W, UNIT, np.random.default_rng(5)) for _ in range(2))
    assert first.strategy == second.strategy


def test_interruption_keeps_the_best(monkeypatch):
    W = all_marginals((2, 3, 4), range(2, 3))
    calls = iter(range(1000))

    def interrupting(self, weights, original=MarginalLoss.__call__):
        if next(calls) == 60:
            raise KeyboardInterrupt
        return original(self, weights)

    monkeypatch.setattr(MarginalLoss, "__call__", interrupting)
    result = Marginals().optimize(W, UNIT)
    assert result.status == "interrupted; best so far"
    assert result.total_error <= error.total_error(op.Identity(24), W, UNIT) * (1 + 1e-9)


def test_bad_input():
    for bad in ({"restarts": -1}, {"restarts": 1.5}, {"max_steps": 0}):
        with pytest.raises(InvalidInput, match="expected"):
            Marginals(**bad)
    with pytest.raises(InvalidWorkload, match="union of products"):
        Marginals().optimize(op.Ranges(3), UNIT)
    with pytest.raises(InvalidWorkload, match="non-zero"):
        Marginals().optimize(0 * op.Kronecker(op.Identity(3), op.Total(2)), UNIT)


@pytest.mark.parametrize(
    ("sizes", "figure"),
    [
        ((100, 100, 100, 99, 85, 42, 16, 15, 9, 7, 6, 5, 2, 2), 3.86e8),
        ((101, 101, 101, 101, 3, 8, 36, 6, 51, 4, 5, 15), 1.912e8),
    ],
)
def test_uneven_tables_are_united(sizes, figure):
    """Pairs of attributes of real data: 4.123e8 and 1.996e8 without unions."""
    result = Marginals().optimize(_up_to_two(sizes), UNIT)
    assert result.total_error <= figure


@given(
    st.lists(st.integers(2, 6), min_size=3, max_size=5),
    st.sampled_from([1, 2]),
    st.sampled_from([None, 0, 1]),
)
@settings(max_examples=40, deadline=None)
def test_a_union_has_the_error_it_promises_and_answers_everything(sizes, norm, seed):
    """What `best_union` gains by its shortcut is gained by the loss, and no wanted table is lost."""
    workload = TableDemand(_up_to_two(sizes))
    weights = {mask: 0.5 + mask % 3 for mask in maximal(list(workload.wanted))}
    rng = None if seed is None else np.random.default_rng(seed)
    while (united := best_union(workload, weights, norm, rng)) is not None:
        assert _value(workload, united, norm) < _value(workload, weights, norm)
        weights = united
    again = without_some(workload, weights, np.random.default_rng(0))
    for tables_asked in (weights, again):
        assert all(any(mask & ~table == 0 for table in tables_asked) for mask in workload.wanted)


def test_the_best_union_of_small_tables_is_the_best_by_brute_force():
    """Two binary attributes beside a large one: every pair is tried with the true loss, at the weight it is given."""
    workload = TableDemand(_up_to_two((50, 2, 2)))
    weights = dict.fromkeys(maximal(list(workload.wanted)), 1.0)
    united = best_union(workload, weights, 1)
    assert united is not None
    assert 0b111 in united
    trials = [
        _value(
            workload,
            {t: w for t, w in weights.items() if t & ~(a | b)} | {a | b: scale},
            1,
        )
        for a, b in combinations(weights, 2)
        for scale in np.linspace(0.5, 4, 50)
    ]
    assert _value(workload, united, 1) <= 1.1 * min(trials)


def _value(workload, weights, norm):
    return MarginalLoss(workload, tuple(weights), norm).value(np.array(list(weights.values())))


def _up_to_two(sizes):
    """All tables of at most two attributes."""
    axes = [axes for k in range(3) for axes in combinations(range(len(sizes)), k)]
    return tables.gather(
        tuple(sizes),
        [(1.0, tuple(tables.Piece((i,), op.Identity(sizes[i])) for i in own)) for own in axes],
    )
