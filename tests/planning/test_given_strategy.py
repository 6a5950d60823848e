"""plan(strategy=…): a strategy of one's own is asked, with the noise it needs, and judged by the same bound."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pytest
import scipy

import rowspace as rs
from rowspace import error, tables
from rowspace import operators as op
from rowspace.exceptions import InvalidInput, UnsupportedWorkload
from rowspace.planning import Plan
from rowspace.strategy import calibrated_noise

DOMAIN = rs.Domain(
    age=rs.Numeric(0, 8, bins=8, outside="drop"),
    sex=rs.Categorical(["F", "M"], outside="drop"),
    place=rs.Categorical(["a", "b"], outside="drop"),
)
QUERIES = rs.workload.prefixes(DOMAIN, "age") + rs.workload.marginal(DOMAIN, "age", "sex")
CELLS = 16  # place is not asked about
RANDOM = np.random.default_rng(0).normal(size=(20, CELLS))
STRATEGIES = {
    "array": RANDOM,
    "lists": np.eye(CELLS).tolist(),
    "sparse": scipy.sparse.eye_array(CELLS, format="csr"),
    "product": op.Kronecker(op.Hierarchy(8), op.Identity(2)),
    "union": op.Stack(op.Identity(CELLS), op.Kronecker(op.Prefix(8), op.Total(2))),
    "tables": tables.Marginals((8, 2), ((0, 1), (0,)), (1, 2)),
}
PROMISES = [rs.PureDP(0.1), rs.ZCDP(0.01), rs.PureDP(0.1, neighbours=rs.Neighbours.REPLACE_ONE)]


@pytest.mark.parametrize("privacy", PROMISES, ids=str)
@pytest.mark.parametrize("name", STRATEGIES)
def test_noise_is_for_what_is_asked(name, privacy):
    plan = rs.plan(QUERIES, privacy, strategy=STRATEGIES[name])
    asked = plan.strategy.to_dense()
    assert (asked == np.rint(asked)).all()
    assert plan.noise == calibrated_noise(plan.strategy, privacy)
    given = STRATEGIES[name]
    expected = error.total_error(given, plan.workload.weighted_operator(), privacy)
    assert plan.total_error == pytest.approx(expected, rel=1e-3)


def test_it_is_judged_by_the_bound_of_every_plan():
    best = rs.plan(QUERIES, rs.ZCDP(0.5))
    plan = rs.plan(QUERIES, rs.ZCDP(0.5), strategy=op.Identity(CELLS))
    assert [c.name for c in plan.candidates] == ["your strategy"]
    assert plan.ratio == pytest.approx(plan.candidates[0].ratio)
    assert plan.total_error > best.total_error >= plan.lower_bound > 0.99 * best.total_error


def test_it_is_released_and_saved(tmp_path):
    counts = np.arange(CELLS)
    plan = rs.plan(QUERIES, rs.PureDP(50.0), strategy=STRATEGIES["union"])
    plan.save(tmp_path / "own.plan")
    loaded = Plan.load(tmp_path / "own.plan")
    assert loaded.noise == plan.noise
    answers = rs.release(loaded, counts).answers()["answer"]
    np.testing.assert_allclose(answers, plan.workload.weighted_operator() @ counts, atol=20)


@dataclass(frozen=True, eq=False)
class Understated(op.Identity):
    """Says that it is less sensitive than it is."""

    def _max_column_sum(self, p):
        return 0.5


@pytest.mark.parametrize("hide", [lambda A: A, lambda A: op.Stack(op.Identity(CELLS), A), lambda A: 2 * A])
def test_own_operators_are_refused(hide):
    with pytest.raises(InvalidInput, match="to_dense"):
        rs.plan(QUERIES, rs.PureDP(1.0), strategy=hide(Understated(CELLS)))


@pytest.mark.parametrize(
    ("strategy", "words"),
    [
        (np.eye(8), "16 cells of age × sex .the last attribute changes fastest., got 8 columns"),
        (tables.Marginals((2, 8), ((0, 1),), (1,)), "16 cells of age × sex"),
        (np.eye(CELLS) * np.nan, "finite"),
        (np.eye(CELLS) * 1e300, "entries from 1e-100 to 1e.100"),
        (np.eye(CELLS) * 5e-324, "entries from 1e-100 to 1e.100"),
        (np.ones(CELLS), "two-dimensional"),
        ([[1, 2], [3]], "rectangular"),
        ("identity", "real numbers"),
        (7, "two-dimensional"),
    ],
)
def test_what_is_no_strategy(strategy, words):
    with pytest.raises(InvalidInput, match=words):
        rs.plan(QUERIES, rs.PureDP(1.0), strategy=strategy)


@pytest.mark.parametrize("strategy", [np.ones((1, CELLS)), RANDOM[:5], op.Total(CELLS)])
def test_too_little_is_asked(strategy):
    """Real matrices too, of which rounding would make one that supports everything, with enormous errors."""
    with pytest.raises(UnsupportedWorkload):
        rs.plan(QUERIES, rs.PureDP(1.0), strategy=strategy)
