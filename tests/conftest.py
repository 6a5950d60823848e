"""Settings of all tests, and plans that are made once.

`make test` draws the same examples every time, so that the same tree gives the same verdict on every machine;
`make fuzz` draws others, as many times as one likes. No test fails for its time: a busy machine is no defect.
"""

from __future__ import annotations

import gc
import json
import os
from typing import Any

import pytest
from hypothesis import HealthCheck, settings

from rowspace.planning import Plan, choosing
from rowspace.privacy import Privacy
from rowspace.strategy import Select
from rowspace.workload import Workload

untimed = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.register_profile("same", untimed, derandomize=True)
settings.register_profile("fuzz", untimed, print_blob=True)
settings.load_profile("fuzz" if os.environ.get("ROWSPACE_FUZZ") else "same")


def pytest_configure() -> None:
    """Nothing goes away while tests are collected: looking for what may takes a quarter of the time."""
    gc.disable()


def pytest_collection_finish() -> None:
    """Nor does what was collected, later on."""
    gc.freeze()
    gc.enable()


MADE: dict[object, tuple[tuple[Plan, ...], float]] = {}
"""What was planned from scratch in this process lately, by all that it depends on."""

MOST = 256
"""Plans that are kept: neighbours among the tests plan alike."""

plan_anew = choosing._planned


def plan_once(
    workload: Workload, privacy: Privacy, select: Select, rng: Any, **options: Any
) -> tuple[list[Plan], float]:
    """The plans of `choosing._planned`, as they were made before."""
    if rng is not None:
        return plan_anew(workload, privacy, select, rng, **options)
    tree, arrays = workload.to_dict()
    contents = tuple((name, a.shape, a.dtype.str, a.tobytes()) for name, a in sorted(arrays.items()))
    key = json.dumps(tree), contents, privacy, repr(privacy), repr(select), *sorted(options.items())
    if key not in MADE:
        plans, worst = plan_anew(workload, privacy, select, rng, **options)
        MADE[key] = tuple(plans), worst
        if len(MADE) > MOST:
            del MADE[next(iter(MADE))]
    plans, worst = MADE[key]
    return list(plans), worst


@pytest.fixture(autouse=True)
def _planned_once(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    if request.node.get_closest_marker("plans_anew") is None:
        monkeypatch.setattr(choosing, "_planned", plan_once)
