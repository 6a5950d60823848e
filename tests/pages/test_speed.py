"""How large and how fast pages are. Sizes are checked, and the CPU time of opening and of answers; times on a clock are
printed (pytest -s), since machines have other work."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import rowspace as rs

from .conftest import Opened, answered, cpu_clock, explored

_OPENED = "performance.getEntriesByType('navigation')[0].loadEventEnd"
MOST_MS = 50
_ASK = "([by, where]) => { window.rowspace.ask(by, where); }"


def timed(page: Any, *questions: tuple[list[str], str]) -> list[float]:
    """CPU milliseconds of the page's thread for each question, once its system is solved: the least of three."""
    spent = cpu_clock(page)

    def once(question: tuple[list[str], str]) -> float:
        before = spent()
        page.evaluate(_ASK, list(question))
        return spent() - before

    for question in questions:
        once(question)
    return [round(min(once(question) for _ in range(3)), 1) for question in questions]


def opening(page: Any) -> float:
    """CPU milliseconds of the page's thread from its address to its first answer."""
    spent = cpu_clock(page)
    before = spent()
    page.reload()
    answered(page)
    return round(spent() - before)


def test_the_sample_is_small(sample: tuple[rs.Release, Path], opened: Opened):
    path = sample[1]
    page = answered(opened(path))
    assert path.stat().st_size <= 500_000
    assert opening(page) <= 1000
    times = timed(page, ([], "age >= 65 and sex = 'F'"), (["sex"], ""), (["age"], ""), (["age", "sex"], ""))
    assert max(times) <= MOST_MS, times
    print(
        f"sample: {path.stat().st_size:,} bytes, opens in {page.evaluate(_OPENED):.0f} ms, answers in {times} ms"
    )


@pytest.mark.long
def test_a_hundred_thousand_cells_fit(opened: Opened, tmp_path: Path):
    rng = np.random.default_rng(1)
    kinds = {"job": [f"job {at}" for at in range(50)], "region": [f"r{at}" for at in range(20)]}
    domain = rs.Domain(
        age=rs.Numeric(0, 100, bins=100, integer=True, outside="drop"),
        **{name: rs.Categorical(values, outside="drop") for name, values in kinds.items()},
    )
    data = pd.DataFrame(
        {"age": rng.integers(0, 100, 20_000)} | {k: rng.choice(v, 20_000) for k, v in kinds.items()}
    )
    assert domain.size == 10**5
    release = rs.release(rs.plan(rs.workload.identity(domain), rs.PureDP(1.0), effort="fast"), data)
    path = explored(release, tmp_path)
    page = answered(opened(path))
    assert path.stat().st_size <= 12_000_000
    assert opening(page) <= 3000
    either = "age < 18 or region = 'r1' or job = 'job 4'"
    times = timed(page, (["job"], "age < 18"), (["age", "job"], ""), ([], either))
    assert max(times) <= MOST_MS, times
    print(
        f"10^5 cells: {path.stat().st_size:,} bytes, opens in {page.evaluate(_OPENED):.0f} ms, answers in {times} ms"
    )
