"""Answer by answer: two readings of counts, with the numbers that the library gives."""

from __future__ import annotations

import numpy as np
import pandas as pd

import rowspace as rs
from rowspace.report.html.listing import listing
from rowspace.report.numbers import counts

DOMAIN = rs.Domain(
    age=rs.Numeric(0, 12, bins=12, integer=True),
    sex=rs.Categorical(["F", "M"]),
    zone=rs.Categorical(["a", "b", "c"]),
)


def sparse_release() -> rs.Release:
    workload = rs.workload.marginals(DOMAIN, up_to=2) + rs.workload.ranges(DOMAIN, "age")
    people = np.zeros(rs.plan(workload, rs.PureDP(1.0), effort="fast").domain.shape, dtype=np.int64)
    people[:4, 0, 0] = 40
    return rs.release(rs.plan(workload, rs.PureDP(0.5), effort="fast"), people)


def test_both_readings_are_those_of_the_library():
    release = sparse_release()
    found = listing(release, 0.9)
    estimate = release.estimate_tables()
    assert "two readings" in found.readings
    for group in found.groups:
        assert group.table.headings[1:5] == (
            "as measured",
            "as estimated",
            "measurement in it",
            "90 % interval",
        )
    own = next(group for group in found.groups if group.name == "age × sex")
    measured = release.ask(rs.workload.marginal(DOMAIN, "age", "sex"), 0.9)
    estimated = estimate.ask(rs.workload.marginal(DOMAIN, "age", "sex"), 0.9)
    columns = list(zip(*own.table.rows, strict=True))
    assert list(columns[1]) == counts(measured["answer"].tolist(), measured["std_error"].tolist())
    assert list(columns[2]) == counts(estimated["answer"].tolist(), estimated["expected_error"].tolist())
    assert list(columns[3]) == [f"{100 * share:.0f} %" for share in estimated["measured"]]
    assert not any(text.startswith("-") for text in columns[2])


def test_sums_have_one_reading():
    domain = rs.Domain(sex=rs.Categorical(["F", "M"]), measures=[rs.Measure("income", 0, 10, step=1)])
    plan = rs.plan(rs.workload.sum(domain, "income", by=("sex",)), rs.PureDP(1.0))
    found = listing(rs.release(plan, pd.DataFrame({"sex": ["F", "M"], "income": [3, 4]})), 0.95)
    assert not found.readings
    assert all(group.table.headings[1] == "answer" for group in found.groups)
