"""The least budget that meets a goal, where little can be read off small amounts."""

from __future__ import annotations

from typing import Any

import pytest

import rowspace as rs
from rowspace.exceptions import TooLarge
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
