"""How large and how fast pages are. Sizes are checked; times are printed, since machines differ (pytest -s)."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

import rowspace as rs

from .conftest import Opened, answered, explored

_OPENED = "performance.getEntriesByType('navigation')[0].loadEventEnd"
_TIMED = """([by, where]) => {
  const start = performance.now();
  window.rowspace.ask(by, where);
  return performance.now() - start;
}"""


def timed(page: Any, *questions: tuple[list[str], str]) -> list[float]:
    for question in questions:
        page.evaluate(_TIMED, list(question))
    return [round(page.evaluate(_TIMED, list(question)), 1) for question in questions]


def test_the_sample_is_small(sample: tuple[rs.Release, Path], opened: Opened):
    path = sample[1]
    page = answered(opened(path))
    assert path.stat().st_size <= 500_000
    times = timed(page, ([], "age >= 65 and sex = 'F'"), (["sex"], ""))
    print(
        f"sample: {path.stat().st_size:,} bytes, opens in {page.evaluate(_OPENED):.0f} ms, answers in {times} ms"
    )


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
    times = timed(
        page, ([], "age >= 65 and job = 'job 3'"), (["job"], "age < 18"), ([], "age < 18 or region = 'r1'")
    )
    print(
        f"10^5 cells: {path.stat().st_size:,} bytes, opens in {page.evaluate(_OPENED):.0f} ms, answers in {times} ms"
    )
