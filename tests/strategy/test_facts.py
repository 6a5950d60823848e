"""Answers beside public facts: against least squares under constraints, written out."""

from __future__ import annotations

import numpy as np
import pytest
import scipy
from hypothesis import given, settings
from hypothesis import strategies as st

import rowspace as rs
from rowspace.error import noise_level
from rowspace.exceptions import InvalidInput, TooLarge, UnsupportedWorkload
from rowspace.operators import Dense, Identity, Kronecker, Prefix
from rowspace.strategy import AgainstFacts, Fact, Facts, Residual, Strategy, facts_bound, public_tables
from rowspace.strategy.corrected import Corrected, informed
from rowspace.strategy.open_cells import OpenCells
from rowspace.tables import Marginals, ProductWorkload

SIZES = (3, 4, 2)
CELLS = 24
DOMAIN = rs.Domain(
    a=rs.Categorical(list("xyz"), outside="drop"),
    b=rs.Numeric(0, 4, bins=4, outside="drop"),
    c=rs.Categorical(["F", "M"], outside="drop"),
)
WORKLOAD = rs.workload.marginals(DOMAIN, up_to=2) + rs.workload.prefixes(DOMAIN, "b")


def some_facts(seed: int, known: int = 4, empty: int = 1) -> Facts:
    """Conditions on one or two attributes, with the counts of some table."""
    rng = np.random.default_rng(seed)
    x = rng.integers(0, 30, SIZES).astype(float)
    empties = []
    for _ in range(empty):
        i, j = sorted(rng.choice(3, 2, replace=False).tolist())
        table = np.zeros((SIZES[i], SIZES[j]))
        table[rng.integers(SIZES[i]), rng.integers(SIZES[j])] = 1.0
        empties.append(Fact((i, j), table))
        x[np.broadcast_to(spread(table, (i, j)) > 0, SIZES)] = 0
    facts = [Fact((), np.ones(()), x.sum())]
    for _ in range(known - 1):
        own = tuple(sorted(rng.choice(3, rng.integers(1, 3), replace=False).tolist()))
        table = (rng.random([SIZES[i] for i in own]) < 0.5).astype(float)
        facts.append(Fact(own, table, float((x * spread(table, own)).sum())))
    return Facts(SIZES, tuple(facts), tuple(empties))


def spread(table: np.ndarray, own: tuple[int, ...]) -> np.ndarray:
    return table.reshape([n if i in own else 1 for i, n in enumerate(SIZES)])


def written_out(facts: Facts) -> tuple[np.ndarray, np.ndarray]:
    """All facts as a dense matrix, empty cells one by one, and their values."""
    rows = [np.broadcast_to(spread(f.table, f.axes), SIZES).ravel() for f in facts.known]
    rows += list(np.eye(CELLS)[np.setdiff1d(np.arange(CELLS), facts.possible_cells())])
    return np.array(rows), np.concatenate([facts.values, np.zeros(len(rows) - len(facts.known))])


def by_hand(A: np.ndarray, facts: Facts, y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """(estimate, covariance) of least squares under the facts, in the null space of all of them."""
    C, f = written_out(facts)
    N = scipy.linalg.null_space(C, rcond=1e-10)
    start = np.linalg.pinv(C, rcond=1e-10) @ f
    inverse = np.linalg.pinv(A @ N, rcond=1e-10)
    return start + N @ (inverse @ (y - A @ start)), N @ inverse @ inverse.T @ N.T


def strategies() -> list:
    tables = Marginals(SIZES, ((0, 1), (0, 2), (1, 2)), (2, 1, 1))
    pr = rs.ZCDP(0.5)
    return [Identity(CELLS), Kronecker(Identity(3), Prefix(4), Identity(2)), tables,
            Residual().propose(WORKLOAD.products(), pr)]  # fmt: skip


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("kind", range(4))
@pytest.mark.parametrize("few", [True, False])
def test_answers_under_facts_by_brute_force(kind: int, seed: int, few: bool) -> None:
    A, facts, queries = strategies()[kind], some_facts(seed), WORKLOAD.products()
    sets = [tuple(sorted(queries.axes_of(part))) for part in queries.parts]
    spelled = facts.spelled_out(sets)
    own = OpenCells.beside(Strategy.of(A), facts) if few else Corrected.beside(Strategy.of(A), spelled)
    y = np.random.default_rng(seed).normal(size=A.shape[0]) * 5 + A @ np.arange(CELLS)
    # Over many cells the empty cells of the tables asked for are known, not all cells below them.
    x, S = by_hand(A.to_dense(), facts if few else spelled, y)
    W = queries.operator().to_dense()
    np.testing.assert_allclose(own.estimate(y).answers(queries), W @ x, atol=1e-7)
    variances = np.einsum("ij,jk,ik->i", W, S, W)
    np.testing.assert_allclose(own.variances(queries), variances, rtol=1e-6, atol=1e-8)
    np.testing.assert_allclose(own.moments(queries).second, variances, rtol=1e-6, atol=1e-8)
    np.testing.assert_allclose(own.trace(queries), queries_power(queries) @ variances, rtol=1e-6)
    ends = np.cumsum([0, *queries.sizes_of_parts])
    np.testing.assert_allclose(
        own.totals(queries), np.add.reduceat(variances, ends[:-1]), rtol=1e-6, atol=1e-8
    )
    known = variances < 1e-9
    assert (own.variances(queries)[known] == 0).all()
    assert known.any()


def queries_power(queries: ProductWorkload) -> np.ndarray:
    return np.repeat(queries.powers, queries.sizes_of_parts)


def test_facts_are_exact_to_the_last_digit() -> None:
    total = Fact((), np.ones(()), 331_449_281.0)
    own = OpenCells.beside(Strategy.of(Identity(CELLS)), Facts(SIZES, (total,)))
    found = own.estimate(np.full(CELLS, 13_810_000.25))
    assert found.answers(rs.workload.total(DOMAIN).over(DOMAIN).products()).tolist() == [331_449_281.0]
    assert found.cells().sum() == pytest.approx(331_449_281, abs=1e-6)


@settings(deadline=None, max_examples=25)
@given(seed=st.integers(0, 10**6), rho=st.sampled_from([0.01, 0.5, 5.0]))
def test_no_strategy_beats_the_bound_beside_facts(seed: int, rho: float) -> None:
    rng = np.random.default_rng(seed)
    facts, queries, privacy = (
        some_facts(seed, rng.integers(1, 5), rng.integers(0, 2)),
        WORKLOAD.products(),
        rs.ZCDP(rho),
    )
    result = AgainstFacts(facts).optimize(queries, privacy)
    assert result.ratio < 1.01
    least = max(result.lower_bound, privacy.unit_variance * facts_bound(queries, facts, privacy))
    others = [*strategies(), Dense(rng.normal(size=(30, CELLS))), result.strategy]
    for A in others:
        error = noise_level(A, privacy) * OpenCells.beside(Strategy.of(A), facts).trace(queries)
        assert error >= least * (1 - 1e-9)


def test_error_under_facts_by_brute_force() -> None:
    facts, queries, privacy = some_facts(3), WORKLOAD.products(), rs.ZCDP(0.5)
    result = AgainstFacts(facts).optimize(queries, privacy)
    A = result.strategy.to_dense()
    _, S = by_hand(A, facts, np.zeros(len(A)))
    V = queries.weighted_operator().gram().to_dense()
    assert result.total_error == pytest.approx(
        noise_level(result.strategy, privacy) * np.sum(S * V), rel=1e-6
    )


@pytest.mark.parametrize("privacy", [rs.PureDP(1.0), rs.PureDP(0.1)])
def test_laplace_beside_facts(privacy: rs.PureDP) -> None:
    facts, queries = some_facts(1), WORKLOAD.products()
    result = AgainstFacts(facts, max_steps=60).optimize(queries, privacy)
    error = noise_level(Identity(CELLS), privacy) * OpenCells.beside(
        Strategy.of(Identity(CELLS)), facts
    ).trace(queries)
    assert result.lower_bound <= result.total_error <= error * (1 + 1e-9)


def test_public_tables() -> None:
    each = tuple(Fact((0,), row, 1.0) for row in np.eye(3))
    assert public_tables(Facts(SIZES, each)) == {(), (0,)}
    assert public_tables(Facts(SIZES, each[:2])) == frozenset()
    assert public_tables(Facts(SIZES, (*each[:2], Fact((), np.ones(()), 3.0)))) == {(), (0,)}


def test_what_is_not_measured_cannot_be_corrected() -> None:
    table = Strategy.of(Marginals(SIZES, ((0,),), (1,)))
    with pytest.raises(UnsupportedWorkload):
        Corrected.beside(table, Facts(SIZES, (Fact((1,), np.array([1.0, 0, 0, 0]), 3.0),)))


def test_what_is_not_measured_has_no_answer() -> None:
    measured = Strategy.of(Marginals(SIZES, ((0,), (1,)), (1000, 1)))
    own = OpenCells.beside(measured, Facts(SIZES, (Fact((), np.ones(()), 3.0),)))
    own.moments(rs.workload.marginal(DOMAIN, "b").products())
    for queries in (rs.workload.marginal(DOMAIN, "c"), rs.workload.marginal(DOMAIN, "a", "b")):
        for verb in (own.moments, own.variances, own.trace):
            with pytest.raises(UnsupportedWorkload):
                verb((1e6 * rs.workload.marginal(DOMAIN, "a") + queries).products())


def test_too_many_facts() -> None:
    everything = Fact((0, 1), np.ones((50, 50)))
    with pytest.raises(TooLarge, match="known or impossible"):
        informed(Strategy.of(Identity(2500)), Facts((50, 50), (), (everything,)), [(0, 1)])
    with pytest.raises(InvalidInput, match="nothing open"):
        OpenCells.beside(
            Strategy.of(Identity(2)), Facts((2,), tuple(Fact((0,), row, 1.0) for row in np.eye(2)))
        )
