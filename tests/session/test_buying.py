"""The least budget that meets a goal, where little can be read off small amounts."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import rowspace as rs
from rowspace.exceptions import IntegerOverflow, TooLarge
from rowspace.operators import AllPredicates
from rowspace.planning import recalibrated
from rowspace.planning.whatif import budget
from rowspace.session import buying

DOMAIN = rs.Domain(age=rs.Numeric(0, 4, bins=4, integer=True, outside="drop"))
PLAN = rs.plan(rs.workload.total(DOMAIN), rs.PureDP(1e-3))


class Rounded:
    """A goal of which nearly all is known, and whose widths are rounded: little that is bought looks like nothing."""

    def ratio(self, knowledge: Any, more: Any = None) -> float:
        gained = 0.0 if more is None else round(1e-3 * budget(more.privacy) ** 2, 7)
        rounding = 0.0 if more is None else 1e-12
        return float((0.9999 + gained + rounding) ** -0.5)


@pytest.mark.parametrize("largest", [1e9, 50.0])
def test_rounding_is_not_taken_for_a_gain(monkeypatch: pytest.MonkeyPatch, largest: float) -> None:
    def limited(plan: rs.Plan, privacy: Any) -> rs.Plan:
        if budget(privacy) > largest:
            raise TooLarge("no noise is made for this")
        return recalibrated(plan, privacy)

    monkeypatch.setattr(buying, "recalibrated", limited)
    found = buying.least(PLAN, Rounded(), None)  # type: ignore[arg-type]
    assert found is not None
    assert budget(found.privacy) <= 0.45  # 1e-4 of all that is known more than is missing, at most


def test_what_no_budget_meets_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    class Never(Rounded):
        def ratio(self, knowledge: Any, more: Any = None) -> float:
            return 2.0

    assert buying.least(PLAN, Never(), None) is None  # type: ignore[arg-type]


@pytest.mark.parametrize("jump", [0.05, 0.095, -0.3])
def test_a_change_of_shape_does_not_stop_the_search(jump: float) -> None:
    """Beside what is known intervals have another shape, however little is bought; refused before."""

    class Jumps:
        def ratio(self, knowledge: Any, more: Any = None) -> float:
            return float((0.9 if more is None else 0.9 + jump + budget(more.privacy) ** 2) ** -0.5)

    found = buying.least(PLAN, Jumps(), None)  # type: ignore[arg-type]
    assert found is not None
    assert 1 <= budget(found.privacy) / (0.1 - jump) ** 0.5 <= 1.004


def test_too_large_amounts_are_not_taken_for_too_small_ones(monkeypatch: pytest.MonkeyPatch) -> None:
    """Noise of either size may not fit 64 bits."""

    def limited(plan: rs.Plan, privacy: Any) -> rs.Plan:
        if budget(privacy) > 50:
            raise IntegerOverflow("noise on so fine a grid does not fit")
        return recalibrated(plan, privacy)

    class Falls:
        def ratio(self, knowledge: Any, more: Any = None) -> float:
            return 0.9 if more is not None and budget(more.privacy) >= 7 else 2.0

    monkeypatch.setattr(buying, "recalibrated", limited)
    found = buying.least(PLAN, Falls(), None)  # type: ignore[arg-type]
    assert found is not None
    assert 7 <= budget(found.privacy) <= 7.05


def test_under_laplace_noise_the_first_question_pays_for_all_that_are_expected(tmp_path: Path) -> None:
    """Whichever comes first: the worst expected question is not that of the largest variance, but of longer tails."""
    domain = rs.Domain({name: rs.Categorical(range(n), outside="drop") for name, n in (("a", 4), ("b", 8))})
    expected = rs.workload.product(domain, a=AllPredicates(4), b=AllPredicates(8))
    paid = []
    for number, first in enumerate(("a in (0, 1)", "a in (0, 1, 2, 3)", "a = 0 and b = 0", "b in (0, 1, 2)")):
        ledger = rs.Ledger(tmp_path / f"{number}.db")
        ledger.create("people", rs.PureDP(10.0))
        session = rs.Session(domain, np.full((4, 8), 100), ledger=ledger, expecting=expected)
        paid.append(session.ask(first, within=100, level=0.999).cost)
        assert session.price(expected, within=100, level=0.999).free
    assert max(paid) <= 1.01 * min(paid)
