"""Noisy marginals in mbi, and records from them. In a process of its own: jax starts threads and dislikes forks."""

from __future__ import annotations

import importlib.util
import subprocess
import sys

import pytest

pytestmark = pytest.mark.skipif(importlib.util.find_spec("mbi") is None, reason="needs mbi")

SETUP = """
import warnings
import numpy as np
import rowspace as rs
from rowspace.interop.mbi import known_total, mbi_domain, measurements, synthetic

domain = rs.Domain(
    age=rs.Numeric(0, 3, bins=3, integer=True),
    sex=rs.Categorical(["F", "M"]),
    job=rs.Categorical(["yes", "no"], outside="drop"),
)
counts = np.arange(12).reshape(3, 2, 2) * 100
queries = rs.workload.marginal(domain, "age", "sex") + rs.workload.marginal(domain, "sex", "job")
"""

MARGINALS = (
    SETUP
    + """
release = rs.release(rs.plan(queries, rs.ZCDP(0.5)), counts)
found = {each.clique: each for each in measurements(release)}
assert list(found) == [("age", "sex"), ("sex", "job")]
for names, each in found.items():
    answers = release.ask(rs.workload.marginal(domain, *names, missing=True))
    y = np.asarray(each.noisy_measurement)
    weights = getattr(each.query, "weights", np.ones(len(y)))
    assert np.allclose(y, answers["answer"] * weights)
    assert np.allclose(each.stddev, answers["std_error"] * weights)
    assert abs((y / weights).sum() - counts.sum()) < 100
assert (mbi_domain(release).attributes, mbi_domain(release).shape) == (("age", "sex", "job"), (4, 3, 2))
"""
)

RECORDS = (
    SETUP
    + """
release = rs.release(rs.plan(queries, rs.PureDP(50.0)), counts)
records = synthetic(release, iterations=500)
assert list(records.columns) == ["age", "sex", "job"]
assert abs(len(records) - counts.sum()) < 20 and abs(known_total(release) - counts.sum()) < 20
table = records.groupby(["age", "sex"]).size()
truth = counts.sum(axis=2)
for i, age in enumerate(["0", "1", "2"]):
    for j, sex in enumerate(["F", "M"]):
        assert abs(table[age, sex] - truth[i, j]) < 60, (age, sex)
assert len(synthetic(release, 10, iterations=50)) == 10
"""
)

REFUSED = (
    SETUP
    + """
from rowspace.exceptions import InvalidInput, UnsupportedWorkload
ranges = rs.release(rs.plan(rs.workload.ranges(domain, "age"), rs.PureDP(1.0)), [1, 2, 3])
marginals = rs.release(rs.plan(queries, rs.PureDP(1.0)), counts)
refused = [(lambda: measurements(ranges), UnsupportedWorkload), (lambda: synthetic(marginals, 0), InvalidInput)]
for action, error in refused:
    try:
        action()
    except error:
        continue
    raise AssertionError("not refused")
"""
)


@pytest.mark.parametrize("program", [MARGINALS, RECORDS, REFUSED], ids=["marginals", "records", "refused"])
def test_in_a_process_of_its_own(program: str) -> None:
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr[-2000:]
