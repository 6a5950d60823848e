"""Dates in studies: read, written back, drafted; and all the way to a report, with the counts that pandas gives."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import rowspace as rs
from rowspace.exceptions import InvalidInput, InvalidStudy
from rowspace.report.html import write_report
from rowspace.sources.drafting import sketch_columns
from rowspace.study import Study
from rowspace.study.writing import draft_study, write_study

STUDY = """
[study]
name = "Visits"
[privacy]
epsilon = 1e6
[domain.month]
type = "dates"
start = 2024-01-01
end = "2025-01-01"
every = "month"
column = "arrival"
[domain.half]
type = "dates"
edges = [2024-01-01, 2024-07-01, 2025-01-01]
column = "arrival"
[domain.hour]
type = "hour_of_day"
column = "arrival"
zone = "Europe/Berlin"
[domain.weekday]
type = "day_of_week"
column = "arrival"
[[workload]]
ranges = "month"
[[workload]]
marginal = ["month", "weekday"]
[[workload]]
marginal = ["half"]
[[workload]]
predicates = ["hour between 7 and 9 and weekday = 'Monday'"]
"""


def visits(rows: int = 2000) -> pd.DataFrame:
    seconds = np.random.default_rng(3).integers(0, 366 * 86_400, rows)
    return pd.DataFrame({"arrival": pd.Timestamp("2024-01-01") + pd.to_timedelta(seconds, unit="s")})


def test_a_study_of_dates_is_read_and_written_back() -> None:
    study = Study.parse(STUDY)
    assert study.domain["month"] == rs.Dates("2024-01-01", "2025-01-01", every="month", column="arrival")
    assert study.domain["hour"] == rs.HourOfDay("arrival", zone="Europe/Berlin")
    text = write_study("Visits", study.domain, study.privacy, [{"marginal": ["half"]}])
    assert Study.parse(text).domain == study.domain


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('every = "month"', 'every = "moon"', "every must be a length of time"),
        ('every = "month"\n', "", 'end = .* and every = "month", or else edges = .*; got start and end'),
        ('"dates"\nstart', '"date"\nstart', "unknown type 'date'; did you mean 'dates'"),
        ('end = "2025-01-01"', 'end = "2025-02-30"', "'2025-02-30' does not exist"),
        ("end = ", "zones = 3\nend = ", "unknown key 'zones'"),
    ],
)
def test_mistakes_say_what_to_write(old: str, new: str, message: str) -> None:
    with pytest.raises((InvalidStudy, rs.RowspaceError), match=message) as caught:
        Study.parse(STUDY.replace(old, new, 1))
    assert "[domain.month]" in str(caught.value)


def test_a_release_has_the_counts_of_pandas(tmp_path: Path) -> None:
    study, frame = Study.parse(STUDY), visits()
    plan = rs.plan(study.workload, study.privacy, effort="fast")
    plan.save(tmp_path / "visits.plan")
    release = rs.release(rs.Plan.load(tmp_path / "visits.plan"), frame)
    release.save(tmp_path / "visits.release")
    release = rs.Release.load(tmp_path / "visits.release")
    at = frame["arrival"]
    by_month = release.ask(rs.workload.marginal(study.domain, "month"))
    assert by_month["month"].tolist()[:2] == ["2024-01", "2024-02"]
    np.testing.assert_allclose(by_month["answer"], at.dt.month.value_counts().sort_index(), atol=0.5)
    rush = at[at.dt.hour.between(7, 9) & (at.dt.day_of_week == 0)]
    asked = release.ask(["hour between 7 and 9 and weekday = 'Monday'", "month >= '2024-03'"])
    np.testing.assert_allclose(asked["answer"], [len(rush), (at >= "2024-03-01").sum()], atol=0.5)
    write_report(release, tmp_path / "report.html")
    page = (tmp_path / "report.html").read_text(encoding="utf-8")
    assert "2024-03" in page
    assert "e+09" not in page
    drawn = release.synthetic(50, draw_numbers=True, rng=1)
    assert (drawn["month"] >= pd.Timestamp("2024-01-01")).all()
    with pytest.raises(InvalidInput, match="'month', which holds dates"):
        release.quantiles("month")


@pytest.mark.parametrize(
    ("days", "every", "start", "end"),
    [
        (366, "month", "2024-01-01", "2025-01-01"),
        (3, "day", "2024-01-01", "2024-01-04"),
        (9000, "year", "2024-01-01", "2049-01-01"),
    ],
)
@pytest.mark.parametrize("kind", ["csv", "parquet"])
def test_columns_of_dates_are_drafted(
    days: int, every: str, start: str, end: str, kind: str, tmp_path: Path
) -> None:
    frame = pd.DataFrame({"day": pd.date_range("2024-01-01", periods=days), "age": range(days), "share": 0.5})
    path = tmp_path / f"visits.{kind}"
    frame.to_csv(path, index=False) if kind == "csv" else frame.to_parquet(path)
    text = draft_study(sketch_columns(path), "visits")
    domain = Study.parse(text).domain
    assert domain["day"] == rs.Dates(start, end, every=every)
    assert text.count("integer = true") == 1  # age, whose values are whole
    assert 'ranges = "day"' in text
