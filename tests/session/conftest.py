"""What sessions expect is planned once for all tests: most of them expect the same."""

from __future__ import annotations

import json

import pytest

from rowspace.planning import Plan
from rowspace.privacy import Privacy
from rowspace.session import buying
from rowspace.strategy import Select
from rowspace.workload import Workload

MADE: dict[object, Plan] = {}


@pytest.fixture(autouse=True)
def _plans_are_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    make = buying.plan_over

    def kept(workload: Workload, privacy: Privacy, select: Select) -> Plan:
        tree, arrays = workload.to_dict()
        contents = tuple((name, array.tobytes()) for name, array in sorted(arrays.items()))
        key = json.dumps(tree), contents, privacy, repr(select)
        return MADE[key] if key in MADE else MADE.setdefault(key, make(workload, privacy, select))

    monkeypatch.setattr(buying, "plan_over", kept)
