"""Tables beside tables: the closed form is the dense optimum, errors by brute force, a bound that nothing beats."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import rowspace as rs
from rowspace import operators as op
from rowspace import tables
from rowspace.error import noise_level
from rowspace.exceptions import InvalidInput, UnsupportedWorkload
from rowspace.strategy import AgainstEvidence, AgainstTables, Measured, Pooled, Residual, same_rows, stacked
from rowspace.strategy import pooled as pooled_module
from rowspace.strategy.evidence_tables import water_filled

SIZES = (2, 3, 4)
SETS = [(), (0,), (1,), (2,), (0, 1), (0, 2), (1, 2), (0, 1, 2)]


def products(domain_sizes=SIZES, **asked):
    domain = rs.Domain(
        {f"a{i}": rs.Numeric(0, n, bins=n, integer=True, outside="drop") for i, n in enumerate(domain_sizes)}
    )
    if asked:
        return rs.workload.product(domain, **asked).products()
    return rs.workload.marginals(domain, up_to=len(domain_sizes)).products()


def error_by_brute_force(A, evidence, W, privacy):
    P, V = stacked(evidence).gram().to_dense(), W.weighted_operator().gram().to_dense()
    X = A.gram().to_dense() / noise_level(A, privacy)
    return float(np.trace(V @ np.linalg.pinv(P + X, hermitian=True, rcond=1e-12)))


def marginals(weights, variance, bases=()):
    sets = [(own, w) for own, w in zip(SETS, weights, strict=True) if w > 0]
    return Measured(tables.Marginals(SIZES, *zip(*sets, strict=True), bases), variance, 3.0, 1.0)


EVIDENCE = {
    "one table": [marginals([0, 0, 0, 0, 1, 0, 0, 0], 5.0)],
    "laplace and gaussian": [
        marginals([0, 0, 1, 0, 0, 2, 0, 0], 7.0),
        Measured(tables.Residuals(SIZES, ((), (1,), (1, 2)), (1, 1, 1)), 90.0, 0.0, 1.0),
    ],
    "all cells": [marginals([0, 0, 0, 0, 0, 0, 0, 1], 2.0)],
    "far more than is bought": [marginals([0, 0, 0, 0, 1, 1, 0, 0], 1e-3)],
    "hardly any": [marginals([1, 0, 0, 0, 0, 0, 0, 0], 1e6)],
}


@pytest.mark.parametrize("name", EVIDENCE)
def test_tables_are_as_good_as_the_dense_solver(name):
    privacy, W, evidence = rs.ZCDP(0.3), products(), EVIDENCE[name]
    found = AgainstTables(evidence).optimize(W, privacy)
    dense = AgainstEvidence(stacked(evidence), gap=1e-10, max_steps=5000).optimize(
        W.weighted_operator(), privacy
    )
    assert found.total_error == pytest.approx(dense.total_error, rel=1e-9)
    assert found.total_error == pytest.approx(
        error_by_brute_force(found.strategy, evidence, W, privacy), rel=1e-9
    )
    assert found.ratio == pytest.approx(1, abs=1e-9)


@given(
    seed=st.integers(0, 2**32 - 1),
    budget=st.floats(1e-3, 10.0),
    amount=st.floats(-3, 3),
    asked=st.sampled_from([{}, {"a2": "ranges", "a1": "identity"}, {"a0": "identity", "a2": "prefixes"}]),
    gaussian=st.booleans(),
)
@settings(max_examples=60, deadline=None)
def test_no_strategy_beats_the_bound_beside_tables(seed, budget, amount, asked, gaussian):
    """Whatever tables are known and however well; whatever is asked, also where cells are not alike."""
    rng = np.random.default_rng(seed)
    privacy, W = rs.ZCDP(budget), products(**asked)
    if gaussian and asked:
        A = Residual().optimize(W, privacy).strategy
        evidence = [Measured(A, noise_level(A, privacy) * 10**amount, 0.0, 1.0)]
    else:
        evidence = [marginals(rng.integers(0, 2, 8) * rng.random(8) + 1e-3, 10**amount)]
    found = AgainstTables(evidence).optimize(W, privacy)
    # Where faint evidence stands beside much budget, the inverse by brute force keeps six digits.
    assert found.total_error == pytest.approx(
        error_by_brute_force(found.strategy, evidence, W, privacy), rel=1e-5
    )
    n = int(np.prod(SIZES))
    tried = [op.Identity(n), W.weighted_operator(), *(op.Dense(rng.normal(size=(n, n))) for _ in range(3))]
    least = min(error_by_brute_force(op.Stack(A, 1e-4 * op.Identity(n)), evidence, W, privacy) for A in tried)
    assert found.lower_bound <= least * (1 + 1e-6)
    assert found.lower_bound <= found.total_error
    dense = AgainstEvidence(stacked(evidence), max_steps=60).optimize(W.weighted_operator(), privacy)
    assert found.lower_bound <= dense.total_error * (1 + 1e-9)


@given(
    st.lists(
        st.tuples(st.floats(0, 10), st.floats(0.01, 10), st.floats(0, 10)), min_size=1, max_size=8
    ).filter(lambda rows: any(row[0] > 0.01 for row in rows)),
    st.floats(1e-3, 100),
)
@settings(max_examples=100, deadline=None)
def test_water_filling_by_brute_force(rows, c):
    worth, price, known = np.array(rows).T
    x, value = water_filled(worth, price, known, c)
    assert (x >= 0).all()
    assert price @ x == pytest.approx(c)
    # Moving a little of the budget anywhere else does not help: the slopes say so.
    slope = worth / np.maximum(known + x, 1e-100) ** 2 / price
    used = x > 1e-9 * x.max()
    assert slope.max() <= slope[used].min() * (1 + 1e-6)
    assert value == pytest.approx(np.sum(worth[worth > 0] / (known + x)[worth > 0]))


def test_tables_that_are_alike_stay_tables(monkeypatch):
    """The errors and intervals of many cells without the cells: as those of all strategies stacked."""
    own = EVIDENCE["laplace and gaussian"]
    W = products().only([4, 5])
    cells = Pooled.of([*own, marginals([0, 0, 0, 0, 1, 1, 1, 0], 4.0)])
    expected = cells.strategy.variances(W)
    monkeypatch.setattr(pooled_module, "CELLS_AT_ONCE", 0)
    without = Pooled.of(cells.measured)
    assert without.strategy.tables is not None
    assert cells.strategy.tables is None
    np.testing.assert_allclose(without.strategy.variances(W), expected)
    assert (without.error_bars(W, 0.95)[1] >= cells.error_bars(W, 0.95)[1] * (1 - 1e-9)).all()


def test_bases_that_take_attributes_apart_alike(monkeypatch):
    """Prefixes of one attribute, asked twice as loud the second time."""
    bases = [(op.Identity(2), op.Identity(3), factor * op.Prefix(4)) for factor in (1.0, 2.0)]
    own = [marginals([0, 0, 0, 1, 0, 1, 0, 0], 3.0 + k, bases[k]) for k in range(2)]
    W = products(a2="ranges")
    expected = Pooled.of(own).strategy.variances(W)
    monkeypatch.setattr(pooled_module, "CELLS_AT_ONCE", 0)
    pooled = Pooled.of(own).strategy
    assert pooled.tables is not None
    np.testing.assert_allclose(pooled.variances(W), expected)


JOINT = [[1, 1, 0, 1, 0, 0], [1, 0, 0, 0, 0, 0]]


def tied(weights, joint=JOINT):
    """Some residuals, the pair by a matrix over its joint cells."""
    sets = ((), (0,), (1,), (0, 1))
    kept = [(own, w, J) for own, w, J in zip(sets, weights, (None, None, None, op.Dense(joint)), strict=True)]
    kept = [one for one in kept if one[1]]
    own, w, J = zip(*kept, strict=True)
    return tables.Residuals((2, 3), own, w, joint=J)


def test_the_same_rows_over_joint_cells_add_up():
    one, other = tied((1, 2, 1, 3)), tied((0, 1, 0, 1))
    assert same_rows(one, other)
    assert same_rows(other, one)
    assert not same_rows(one, tied((1, 1, 1, 1), [[1, 1, 0, 1, 0, 0], [0, 1, 0, 0, 0, 0]]))
    measured = [Measured(one, 4.0, 0.0, 1.0), Measured(other, 2.0, 0.0, 1.0)]
    (united,) = Pooled.of(measured).measured
    np.testing.assert_allclose(
        united.strategy.gram().to_dense() / united.variance, stacked(measured).gram().to_dense(), rtol=1e-12
    )


def test_filling_up_rows_over_joint_cells_by_brute_force():
    privacy = rs.ZCDP(0.2)
    W = tables.gather(
        (2, 3),
        [
            (1.0, (tables.Piece((0, 1), op.Dense([[1, 1, 0, 1, 0, 0], [1, 0, 0, 0, 0, 0]])),)),
            (0.5, (tables.Piece((1,), op.Identity(3)),)),
        ],
    )
    evidence = [Measured(tied((1, 2, 1, 3)), 40.0, 0.0, 1.0), Measured(tied((0, 1, 0, 1)), 20.0, 0.0, 1.0)]
    found = AgainstTables(Pooled.of(evidence).measured).optimize(W, privacy)
    assert found.total_error == pytest.approx(
        error_by_brute_force(found.strategy, evidence, W, privacy), rel=1e-9
    )
    dense = AgainstEvidence(stacked(evidence)).optimize(W.weighted_operator(), privacy)
    assert found.lower_bound <= dense.lower_bound * 1.002 <= found.total_error * 1.002


def test_what_cannot_be_filled_up():
    one = marginals([0, 0, 0, 1, 0, 0, 0, 0], 1.0)
    ranges = marginals(
        [0, 0, 0, 1, 0, 0, 0, 0], 1.0, (op.Identity(2), op.Identity(3), op.Dense(np.triu(np.ones((4, 4)))))
    )
    with pytest.raises(UnsupportedWorkload, match="do not split their attributes alike"):
        AgainstTables([one, ranges]).optimize(products(), rs.ZCDP(0.1))
    with pytest.raises(InvalidInput, match="Gaussian noise"):
        AgainstTables([one]).optimize(products(), rs.PureDP(0.1))
    with pytest.raises(InvalidInput, match="attributes of the workload"):
        AgainstTables([one]).optimize(products((2, 3)), rs.ZCDP(0.1))
