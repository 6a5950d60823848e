"""A horizon in a ledger: charged with its first instalment, continued for nothing, by the same plan only."""

from __future__ import annotations

import pytest

import rowspace as rs
from rowspace.exceptions import LedgerError, Superseded
from rowspace.ledger import Request
from rowspace.sample import small_release


def test_a_horizon_is_charged_once(tmp_path):
    ledger = rs.Ledger(tmp_path / "b.db")
    ledger.create("people", rs.PureDP(600))
    release, other = small_release(), small_release(100.0)
    with pytest.raises(LedgerError, match="instalment before"):
        ledger.charge(release.plan, b"1", request=Request("1", ""), continues="0")
    ledger.keep_request(Request("free", ""))
    with pytest.raises(LedgerError, match="instalment before"):
        ledger.charge(release.plan, b"1", request=Request("1", ""), continues="free")
    ledger.charge(release.plan, b"0", request=Request("0", ""))
    with pytest.raises(LedgerError, match="instalment before"):
        ledger.charge(other.plan, b"1", request=Request("1", ""), continues="0")
    ledger.charge(release.plan, b"1", request=Request("1", ""), continues="0")
    with pytest.raises(Superseded):
        ledger.charge(release.plan, b"2", request=Request("1", ""), continues="0")
    assert float(ledger.budget().spent) == 200
    assert ledger.budget().charges == 2
