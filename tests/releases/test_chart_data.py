"""What charts show is what the release answers: merged, summed up or turned round."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import rowspace as rs
from rowspace.exceptions import TooLarge
from rowspace.releases import chart_axis, chart_table, cumulative, histogram, missing_records

DOMAIN = rs.Domain(age=rs.Numeric(0, 10, bins=10), place=rs.Categorical(["a", "b", "c"]))


@pytest.fixture(scope="module")
def release() -> rs.Release:
    queries = rs.workload.ranges(DOMAIN, "age") + rs.workload.marginal(DOMAIN, "age", "place")
    return rs.release(rs.plan(queries, rs.PureDP(1.0), effort="fast"), list(range(30)))


@pytest.mark.parametrize(("most", "width"), [(None, 1), (10, 1), (4, 3)])
def test_neighbouring_bins_are_taken_together(release: rs.Release, most: int | None, width: int) -> None:
    axis = chart_axis(DOMAIN, "age", most)
    cells = release.ask(rs.workload.marginal(DOMAIN, "age"))["answer"].to_numpy()
    merged = np.add.reduceat(cells, range(0, 10, width))
    assert axis.width == width
    assert np.allclose(histogram(release, axis, 0.9).answer, merged)
    running = cumulative(release, axis, 0.9)
    assert np.allclose(running.answer, np.cumsum(merged))
    assert running.labels[0] == f"up to {axis.labels[0]}"
    assert len(running) == len(axis.labels) == len(merged)


def test_a_table_either_way_round(release: rs.Release) -> None:
    answers = release.ask(rs.workload.marginal(DOMAIN, "age", "place"), 0.9)
    down, along = chart_table(release, "age", "place", 0.9), chart_table(release, "place", "age", 0.9)
    for field in ("answer", "std_error", "low", "high"):
        table = answers[field].to_numpy().reshape(10, 3)
        assert np.allclose(getattr(down.data, field), table.ravel())
        assert np.allclose(getattr(along.data, field), table.T.ravel())
    assert along.transposed() == down
    assert (along.rows.labels, along.columns.name) == (("a", "b", "c"), "age")


def test_what_is_too_fine_is_refused() -> None:
    domain = rs.Domain(x=rs.Numeric(0, 2**21, bins=2**21))
    plan = rs.plan(rs.workload.total(domain), rs.PureDP(1.0))
    with pytest.raises(TooLarge, match="coarser level"):
        histogram(rs.release(plan, [1] * plan.domain.size), chart_axis(domain, "x", 120), 0.9)


def test_missing_values_stand_last_where_they_are_asked_for() -> None:
    queries = rs.workload.marginal(DOMAIN, "age", "place", missing=True)
    rows = pd.DataFrame({"age": [1, 1, 1, None, 2], "place": ["a", "a", None, "b", None]})
    release = rs.release(rs.plan(queries, rs.PureDP(1e4), effort="fast"), rows)
    down, along = (
        chart_table(release, *names, 0.9, missing=True) for names in (("age", "place"), ("place", "age"))
    )
    assert along.transposed() == down
    assert down.columns.labels == ("a", "b", "c", "missing")
    assert (down.rows.labels[-1], len(down.rows.labels)) == ("missing", 11)
    found = dict(zip(down.data.labels, np.rint(down.data.answer), strict=True))
    assert {label: n for label, n in found.items() if n} == {
        "age in [1, 2) and place = a": 2,
        "age in [1, 2) and place is missing": 1,
        "age in [2, 3) and place is missing": 1,
        "age is missing and place = b": 1,
    }
    assert np.rint(missing_records(release, "place", 0.9).answer) == [2]
