"""Sessions in several processes on one ledger."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

import rowspace as rs

# Rowspace is imported once; then so many processes are forked, which open a session each and start together.
ASKERS = """
import os, sys
import numpy as np
import rowspace as rs

ledger, number, *texts = sys.argv[1:]
domain = rs.Domain(age=rs.Numeric(0, 16, bins=16, integer=True, outside="drop"))
expecting = rs.workload.ranges(domain, "age")
rs.Session, rs.Ledger
ready, go = os.pipe(), os.pipe()


def ask():
    session = rs.Session(domain, np.arange(16) * 10, ledger=ledger, expecting=expecting)
    os.write(ready[1], b".")
    os.read(go[0], 1)
    for text in texts:
        found = session.ask(text, within=40)
        assert found.interval[1] - found.interval[0] <= 80.001
        os.write(1, f"{found.cost}\\n".encode())


children = []
for _ in range(int(number)):
    child = os.fork()
    if child == 0:
        try:
            ask()
        except BaseException as error:
            os.write(2, repr(error).encode())
            os._exit(1)
        os._exit(0)
    children.append(child)
for _ in children:
    os.read(ready[0], 1)
os.write(go[1], b"." * len(children))
sys.exit(any(os.waitpid(child, 0)[1] for child in children))
"""


def costs(folder: Path, number: int, *texts: str) -> list[float]:
    """What each question cost, to so many processes at once."""
    arguments = [sys.executable, "-c", ASKERS, str(folder / "budget.db"), str(number), *texts]
    done = subprocess.run(arguments, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stderr
    return [float(line) for line in done.stdout.split()]


@pytest.mark.parametrize("askers", [4, pytest.param(20, marks=pytest.mark.long)])
def test_a_race_buys_once(tmp_path, askers):
    """Many at once ask the same: one pays, the others wait and see its evidence."""
    ledger = rs.Ledger(tmp_path / "budget.db")
    ledger.create("people", rs.ZCDP(1.0))
    paid = [cost for cost in costs(tmp_path, askers, "age between 2 and 12", "age < 9") if cost > 0]
    assert len(paid) == ledger.budget().charges <= 2
    assert sum(paid) <= float(ledger.budget().spent) * (1 + 1e-12)
    alone = asking_alone(tmp_path)
    assert float(ledger.budget().spent) <= alone * 1.01


def asking_alone(folder: Path) -> float:
    (folder / "alone").mkdir()
    ledger = rs.Ledger(folder / "alone" / "budget.db")
    ledger.create("people", rs.ZCDP(1.0))
    return sum(costs(folder / "alone", 1, "age between 2 and 12", "age < 9"))


@pytest.mark.long
def test_a_new_process_goes_on(tmp_path):
    rs.Ledger(tmp_path / "budget.db").create("people", rs.ZCDP(1.0))
    assert costs(tmp_path, 1, "age < 9")[0] > 0
    assert costs(tmp_path, 1, "age < 9") == [0.0]
