"""Local searches: judged exactly, and better than what is searched for under another sensitivity or objective."""

from __future__ import annotations

import numpy as np
import pytest
import scipy

from rowspace import error
from rowspace import operators as op
from rowspace.exceptions import TooLarge
from rowspace.privacy import ZCDP, Privacy, PureDP
from rowspace.strategy import select
from rowspace.strategy.local_search import LocalSearch, _Task

PRIVACIES = [make(2.0, neighbours) for make in (PureDP, ZCDP) for neighbours in ("add-remove", "replace-one")]
WORKLOADS = {
    "ranges": op.Ranges(4),
    "few queries": op.Dense([[1.0, 1.0, 0.0, 0.0, 1.0], [0.0, 0.3, 1.0, 1.0, -1.0]]),
    "one cell": op.Identity(1),
}


@pytest.mark.parametrize("W", WORKLOADS.values(), ids=WORKLOADS)
@pytest.mark.parametrize("objective", ["total", "max"])
@pytest.mark.parametrize("privacy", PRIVACIES, ids=str)
def test_searches_are_judged_exactly(privacy: Privacy, objective: str, W: op.Operator) -> None:
    found = LocalSearch((), objective).optimize(W, privacy)
    A, Q = found.strategy.to_dense(), W.to_dense()
    C = Q @ np.linalg.pinv(A, rcond=1e-6)
    np.testing.assert_allclose(C @ A, Q, atol=1e-6)
    steps = np.concatenate(
        (A.T, *([A.T - a for a in A.T] if privacy.neighbours.value == "replace-one" else []))
    )
    noise = privacy.unit_variance * (np.abs(steps) ** privacy.norm).sum(axis=1).max() ** (2 / privacy.norm)
    assert found.total_error == pytest.approx(noise * np.sum(C**2), rel=1e-6)
    assert found.total_error >= found.lower_bound * (1 - 1e-9)


@pytest.mark.parametrize("objective", ["total", "max"])
@pytest.mark.parametrize("privacy", PRIVACIES, ids=str)
def test_gradient(privacy: Privacy, objective: str) -> None:
    task = _Task.of(op.Ranges(5), privacy, objective)
    x = np.random.default_rng(0).standard_normal(35)
    off = scipy.optimize.check_grad(*(lambda x, at=at: task._loss(x, 30, 0.03, 1e-9)[at] for at in (0, 1)), x)
    assert off < 1e-4


@pytest.mark.parametrize(
    ("W", "privacy", "objective", "goal"),
    [
        # Cells, and cells beside their total: 20 and 20.
        (op.Ranges(3), PureDP(2**0.5, "replace-one"), "total", 19.4),
        # Cells: 16. The best strategy for the sum of squares: 16.
        (op.Ranges(16), PureDP(2**0.5), "max", 10.4),
        # The optimum for records that are added or removed, and the total beside it: 5.46.
        (op.Ranges(12), ZCDP(0.5, "replace-one"), "max", 4.7),
    ],
    ids=["replaced", "worst answer", "worst answer, replaced"],
)
def test_what_has_no_optimizer_is_searched_for(
    W: op.Operator, privacy: Privacy, objective: str, goal: float
) -> None:
    best = select(W, privacy, objective=objective, effort="fast")
    found = best.total_error if objective == "total" else error.max_error(best.strategy, W, privacy)
    assert found < goal


def test_too_much_work_is_refused() -> None:
    with pytest.raises(TooLarge, match="allow more"):
        LocalSearch().optimize(op.Ranges(2048), PureDP(1.0))


def test_starts_over_other_cells_are_left_out() -> None:
    """Strategies of tables count missing values, which the queries need not see."""
    found = LocalSearch([op.Identity(8), op.Identity(4)]).optimize(op.Ranges(4), PureDP(1.0, "replace-one"))
    assert found.strategy.shape[1] == 4
