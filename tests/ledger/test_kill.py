from __future__ import annotations

import random
from pathlib import Path

import rowspace as rs
from tests.ledger.examples import new_ledger
from tests.ledger.processes import check_after_kills, kill_at_random

KILLS = 60


def test_killed_at_any_instant(tmp_path: Path) -> None:
    """Whatever instant a releasing process is killed at: no file without its charge, no torn file, all resumable.

    The suite kills 60 times; `make audit` 1,000.
    """
    new_ledger(tmp_path, rs.PureDP(1000.0))
    kill_at_random(tmp_path, KILLS, random.Random(4))
    charges, files = check_after_kills(tmp_path)
    assert charges - KILLS <= files <= charges
    assert charges >= KILLS / 4, "the kills came too early to show anything"
