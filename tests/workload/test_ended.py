"""The queries whose periods are over, against the matrix of all queries."""

from __future__ import annotations

import numpy as np
import pytest

import rowspace as rs
from rowspace.workload.ended import ended

MONTH = rs.Dates("2024-01-01", "2024-07-01", every="month", outside="drop")
DOMAIN = rs.Domain(region=rs.Categorical(["a", "b"]), month=MONTH, sex=rs.Categorical(["F", "M"]))
w = rs.workload
QUERIES = (
    w.prefixes(DOMAIN, "month")
    + 2.0 * w.product(DOMAIN, month="ranges", sex="identity")
    + w.widths(DOMAIN, "month", 3)
    + w.marginal(DOMAIN, "region", "month")
    + w.marginal(DOMAIN, "region")
    + w.predicates(
        DOMAIN, ["month = '2024-02' or region = 'a' and month < '2024-04-01'", "month >= '2024-05-01'"]
    )
    + w.matrix(np.eye(12)[[3, 8]] - np.eye(12)[[2, 7]], DOMAIN, "month", "sex")
)


@pytest.mark.parametrize("periods", range(1, 7))
def test_against_the_matrix_of_all(periods):
    whole = QUERIES.operator().to_dense()
    late = np.indices(DOMAIN.shape)[1].ravel() >= periods
    over = ~whole[:, late].any(axis=1)
    found = ended(QUERIES, "month", periods)
    assert found is not None
    now = {
        (label, tuple(row)) for label, row in zip(found.labels(), found.operator().to_dense(), strict=True)
    }
    expected = {
        (label, tuple(row[~late]))
        for label, row, kept in zip(QUERIES.labels(), whole, over, strict=True)
        if kept
    }
    assert now == expected
    assert found.size == over.sum()
    assert found.domain.shape == (2, periods, 2)


def test_nothing_is_over_yet():
    assert ended(w.marginal(DOMAIN, "region"), "month", 5) is None
    assert ended(w.widths(DOMAIN, "month", 3), "month", 2) is None


@pytest.mark.parametrize(
    "attribute",
    [
        rs.Numeric(0, 6, bins=6),
        rs.Numeric(edges=[0, 1, 4, 9], integer=True),
        rs.Categorical(["q1", "q2", "q3"], levels={"half": {"q1": "h1", "q2": "h1", "q3": "h2"}}),
        rs.Dates(edges=["2024-01-01", "2024-02-10", "2024-05-01", "2025-01-01"], column="day"),
        rs.Dates("2024-01-01 00:00", "2024-01-02 00:00", every="hour"),
    ],
)
def test_the_first_periods_keep_their_labels(attribute):
    from rowspace.domain.periods import until_period, with_periods

    domain = with_periods(rs.Domain(t=attribute), "t")
    assert not domain["t"].keeps_missing
    for periods in range(1, attribute.size + 1):
        cut = until_period(domain, "t", periods)["t"]
        assert [cut.label(i) for i in range(periods)] == [attribute.label(i) for i in range(periods)]
        only = until_period(domain, "t", periods, after=periods - 1)["t"]
        assert only.size == 1
        assert only.label(0) == attribute.label(periods - 1)


@pytest.mark.parametrize(
    "attribute", [rs.DayOfWeek(), rs.HourOfDay(), rs.Numeric(0, 4, bins=4, outside="clip")]
)
def test_what_is_no_period_is_refused(attribute):
    from rowspace.domain.periods import with_periods
    from rowspace.exceptions import InvalidDomain

    with pytest.raises(InvalidDomain):
        with_periods(rs.Domain(t=attribute), "t")
