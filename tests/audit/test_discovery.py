"""The short audit of discovery: the healthy mechanism is never caught, every planted fault is."""

from __future__ import annotations

import pytest
from audits import discovery

from rowspace.privacy import GaussianThreshold


@pytest.mark.long
def test_healthy_is_never_caught_and_every_planted_fault_is() -> None:
    """False-alarm rate below 2e-8; no fault is near its limit."""
    rows = discovery.run(long=False)
    assert [row.name for row in rows if not row.ok] == []
    assert sum(row.name.startswith("planted") for row in rows) == 4


def test_both_kinds_of_noise_are_attacked() -> None:
    kinds = [isinstance(case.plan.threshold, GaussianThreshold) for case in discovery.cases()]
    assert True in kinds
    assert False in kinds
