"""The audit of measures: no value is told better than promised, every planted fault is caught."""

from __future__ import annotations

import pytest
from audits import measures


@pytest.mark.long
def test_healthy_is_never_caught_and_every_planted_fault_is() -> None:
    """False-alarm rate below 3e-8; no fault is near its limit."""
    rows = measures.run(long=False)
    assert [row.name for row in rows if not row.ok] == []
    assert sum(row.name.startswith("planted") for row in rows) == 4


@pytest.mark.parametrize("squares", [False, True])
@pytest.mark.parametrize("parquet", [False, True])
def test_no_awkward_value_moves_the_answers_too_far(squares: bool, parquet: bool) -> None:
    own = measures.plan(squares)
    for value in measures.VALUES.values():
        record = measures.counted(own, value, parquet=parquet)
        assert record.sum() == own.domain.parts
        assert measures.distance(own, record) <= 1


def test_every_fault_moves_them_too_far() -> None:
    own = measures.plan()
    assert all(measures.distance(own, fault(own)) > 1.2 for fault in measures.FAULTS.values())
