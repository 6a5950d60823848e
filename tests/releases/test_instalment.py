"""Files of instalments are trusted in nothing."""

from __future__ import annotations

import numpy as np
import pytest

import rowspace as rs
from rowspace.exceptions import FileError, RowspaceError
from rowspace.releases.instalment import decoded

DOMAIN = rs.Domain(month=rs.Dates("2024-01-01", "2025-01-01", every="month"))


def test_a_damaged_instalment_is_refused():
    plan = rs.plan(rs.workload.prefixes(DOMAIN, "month"), rs.ZCDP(0.5), over="month")
    made = rs.instalment(plan, [1] * 12, period="2024-01")
    body, arrays = plan.encode()
    assert decoded(body | {"period": "2024-01"}, arrays, made.noisy_answers).to_bytes() == made.to_bytes()
    for period in ("2024-02", "2025-01", 7, None, ["2024-01"]):
        with pytest.raises(FileError):
            decoded(body | {"period": period}, arrays, made.noisy_answers)
    with pytest.raises(FileError):
        decoded(body | {"period": "2024-01"}, arrays, np.zeros(2, dtype=np.int64))
    weakened = {**body["noise"], **{k: v / 2 for k, v in body["noise"].items() if isinstance(v, float | int)}}
    with pytest.raises(RowspaceError):
        decoded(body | {"period": "2024-01", "noise": weakened}, arrays, made.noisy_answers)
    plain, own = rs.plan(rs.workload.prefixes(DOMAIN, "month"), rs.ZCDP(0.5)).encode()
    with pytest.raises(FileError):
        decoded(plain | {"period": "2024-01"}, own, made.noisy_answers)


def test_answers_stay():
    plan = rs.plan(rs.workload.ranges(DOMAIN, "month"), rs.ZCDP(0.5), over="month")
    first = rs.instalment(plan, [50] * 12, period="2024-01")
    second = rs.instalment(plan, [50] * 12, period="2024-02", before=first)
    january = second.ask("month = '2024-01'")["answer"][0]
    assert january == pytest.approx(first.answers()["answer"][0], abs=1e-9)
