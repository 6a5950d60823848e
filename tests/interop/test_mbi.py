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

# Only what is asked is measured: nothing is known of records whose age or sex is missing.
PARTIAL = (
    SETUP
    + """
asked = rs.workload.marginal(domain, "age", "sex") + rs.workload.marginal(domain, "sex")
asked += rs.workload.total(domain)
rows = asked.about(domain.subset(["age", "sex"]).with_places()).operator()
release = rs.release(rs.plan(asked, rs.PureDP(50.0), strategy=rows), counts.sum(axis=2))
both, one = measurements(release)
assert both.query.cells.tolist() == [0, 1, 3, 4, 6, 7]
assert len(one.noisy_measurement) == 3  # what is left of the total has no sex
table = synthetic(release, int(counts.sum()), iterations=500).groupby(["age", "sex"]).size()
truth = counts.sum(axis=2)
assert all(abs(table[str(i), sex] - truth[i, j]) < 60 for i in range(3) for j, sex in enumerate("FM"))
"""
)

MODELS = (
    SETUP
    + """
from rowspace.interop.mbi import model_tables
release = rs.release(rs.plan(queries, rs.PureDP(50.0)), counts)
for megabytes in (64.0, 1e-9):
    tables = model_tables(release, iterations=300, megabytes=megabytes)
    # One of the two is fitted and left out; where none fits, both follow from the margins.
    assert len(tables) == (1 if megabytes > 1 else 2)
    for names, table in tables.items():
        assert table.shape == {("age", "sex"): (4, 3), ("sex", "job"): (3, 2)}[names]
        assert abs(table.sum() - counts.sum()) < 60
    found = release.estimate_tables(model=tables).ask(rs.workload.marginal(domain, "age", "sex"))
    assert np.abs(found["answer"] - counts.sum(axis=2).ravel()).max() < 10
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


@pytest.mark.parametrize(
    "program",
    [MARGINALS, RECORDS, PARTIAL, MODELS, REFUSED],
    ids=["marginals", "records", "partial", "models", "refused"],
)
def test_in_a_process_of_its_own(program: str) -> None:
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr[-2000:]
