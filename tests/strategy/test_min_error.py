"""Least error by local search: honest errors, known figures, any rank, any number of rows."""

import numpy as np
import pytest
from hypothesis import given, settings

from rowspace import operators as op
from rowspace import strategy
from rowspace.error import total_error
from rowspace.exceptions import InvalidInput, InvalidWorkload, TooLarge
from rowspace.privacy import ZCDP, PureDP
from rowspace.strategy import column_balls, min_error

from .least_errors import COUNTS_AND_TOTAL, FIGURES, TRACES, UNIT, unit_error, workloads


@pytest.mark.parametrize(("W", "rows", "figure"), FIGURES, ids=str)
def test_figures(W, rows, figure):
    result = strategy.MinError(rows=rows).optimize(W, UNIT)
    assert result.total_error <= figure * (1 + 1e-4)
    assert result.strategy.shape[0] <= (rows or W.shape[1])
    assert result.total_error >= result.lower_bound * (1 - 1e-9)


@pytest.mark.parametrize("privacy", [PureDP(0.5), PureDP(0.5, "replace-one")], ids=str)
def test_error_by_brute_force(privacy):
    W = COUNTS_AND_TOTAL
    result = strategy.MinError(searches=8).optimize(W, privacy)
    assert result.total_error == pytest.approx(total_error(result.strategy, W, privacy))
    assert result.total_error <= total_error(op.Identity(6), W, privacy) * (1 + 1e-12)
    if privacy == PureDP(0.5):
        assert result.total_error == pytest.approx(8 * unit_error(result.strategy, W), rel=1e-9)


@given(workloads())
@settings(max_examples=20, deadline=None)
def test_laws_on_random_workloads(W):
    result = strategy.MinError(searches=6).optimize(W, UNIT)
    assert result.total_error <= W.squared_frobenius() * (1 + 1e-9)
    assert result.total_error >= result.lower_bound * (1 - 1e-7)
    assert result.total_error == pytest.approx(unit_error(result.strategy, W), rel=1e-6)


@pytest.mark.parametrize(("m", "n", "r"), [(3, 3, 3), (5, 4, 2), (2, 4, 2)])
def test_gradient_of_the_local_search(m, n, r):
    rng = np.random.default_rng(m)
    x, L = rng.uniform(0.1, 1.0, 2 * m * n + n), rng.standard_normal((n, r))
    _, gradient = column_balls.loss(x, m, L, 1e-2)
    h = 1e-6
    for i in range(len(x)):
        step = h * (np.arange(len(x)) == i)
        ahead, behind = (column_balls.loss(x + s, m, L, 1e-2)[0] for s in (step, -step))
        assert (ahead - behind) / (2 * h) == pytest.approx(gradient[i], rel=1e-5, abs=1e-6)


def test_planning_uses_it_on_few_cells():
    """Prefixes of 8 cells: the identity has 36, as has every other candidate."""
    best = strategy.select(op.Prefix(8), UNIT, effort="best")
    assert best.name.startswith("least error")
    assert best.total_error < 35.4


def test_same_generator_same_result():
    first, second = (
        strategy.MinError(searches=4).optimize(COUNTS_AND_TOTAL, UNIT, np.random.default_rng(3))
        for _ in range(2)
    )
    assert first.strategy == second.strategy


def test_interruption_returns_the_best_so_far(monkeypatch):
    def interrupted(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(min_error, "descend", interrupted)
    result = strategy.MinError().optimize(op.Prefix(4), UNIT)
    assert "interrupted; best so far" in result.status
    assert result.total_error == pytest.approx(10.0)
    with pytest.raises(KeyboardInterrupt):
        strategy.MinError(rows=1).optimize(op.Total(4), UNIT)


def test_bad_input():
    with pytest.raises(InvalidInput, match="GaussianOptimal"):
        strategy.MinError().optimize(op.Prefix(4), ZCDP(0.5))
    with pytest.raises(TooLarge, match="PIdentity"):
        strategy.MinError().optimize(op.Prefix(17), UNIT)
    with pytest.raises(TooLarge, match="rows"):
        strategy.MinError(rows=1000).optimize(op.Prefix(4), UNIT)
    with pytest.raises(InvalidInput, match="the workload's rank"):
        strategy.MinError(rows=3).optimize(op.Prefix(4), UNIT)
    with pytest.raises(InvalidWorkload, match="only zeros"):
        strategy.MinError().optimize(op.Dense(np.zeros((2, 3))), UNIT)
    for wrong in ({"rows": 0}, {"searches": 0}):
        with pytest.raises(InvalidInput):
            strategy.MinError(**wrong)


def test_traces_of_what_nobody_asks_are_removed():
    result = strategy.MinError(searches=12).optimize(TRACES, UNIT)
    assert result.lower_bound <= result.total_error <= 15.1


def test_a_line_search_that_breaks_down_is_survived():
    """On this workload of rank three SciPy hands over variables that are no numbers."""
    W = op.Dense([[-1.0, 1, 0, -1, 1], [-1, 2, 2, 0, 2], [1, 1, 1, 1, 1]])
    found = strategy.MinError().optimize(W, PureDP(1.0), np.random.default_rng(0))
    assert found.lower_bound <= found.total_error <= 30


def test_few_cells_are_searched_from_the_best_and_at_random():
    """Prefixes of one attribute beside cells of another: tables have 5 % more, which is a local minimum."""
    factors = (op.Total(4), op.Identity(3)), (op.Prefix(4), op.Total(3)), (op.Total(4), op.Total(3))
    W = op.Stack(*(op.Kronecker(a, b) for a, b in factors))
    assert strategy.Select(effort="fast").optimize(W, UNIT).total_error <= 37.94
    marginals = strategy.Marginals().optimize(W, UNIT)
    started = strategy.MinError(searches=1, starts=[marginals.strategy]).optimize(W, UNIT)
    assert started.total_error <= marginals.total_error * (1 + 1e-6)
