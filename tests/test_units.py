"""Privacy units from the study to the release: what is promised is what is counted."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import rowspace as rs
from rowspace.exceptions import InvalidInput
from rowspace.privacy import PrivacyUnit
from tests.cli.running import rowspace

DOMAIN = rs.Domain(age=rs.Numeric(0, 4, bins=4), sex=rs.Categorical(["F", "M"]))
UNIT = PrivacyUnit("who", rows=2)
# Five persons with 1, 2, … 5 rows each, and three rows of nobody.
VISITS = pd.DataFrame(
    {
        "age": [i % 4 for i in range(18)],
        "sex": ["FM"[i % 2] for i in range(18)],
        "who": [f"person {p}" for p in range(5) for _ in range(p + 1)] + [None] * 3,
    }
)
KEPT = sum(min(2, p + 1) for p in range(5))


@pytest.mark.parametrize("privacy", [rs.PureDP(1e6, unit=UNIT), rs.ZCDP(1e9, unit=UNIT)], ids=str)
@pytest.mark.parametrize(
    "workload",
    [rs.workload.identity(DOMAIN), rs.workload.total(DOMAIN) + rs.workload.marginal(DOMAIN, "sex")],
    ids=["cells", "tables"],
)
def test_a_release_counts_no_more_than_the_rows_of_each_unit(
    privacy: rs.privacy.Privacy, workload: rs.workload.Workload
) -> None:
    """With noise of next to nothing; for strategies of cells and of tables. No false alarm to speak of."""
    plan = rs.plan(workload, privacy)
    made = rs.release(plan, VISITS)
    cells = made.answers()["answer"].to_numpy()[-8 if workload.size == 8 else -2 :]
    assert round(float(np.sum(cells))) == KEPT


def test_counts_made_elsewhere_are_refused() -> None:
    with pytest.raises(InvalidInput, match="'who'"):
        rs.release(rs.plan(rs.workload.identity(DOMAIN), rs.PureDP(1.0, unit=UNIT)), [1] * 8)


def test_from_a_study(tmp_path: Path) -> None:
    (tmp_path / "study.toml").write_text(
        """
[study]
name = "Visits"
[privacy]
epsilon = 1e6
privacy_unit = "who"
max_rows_per_unit = 2
[domain.sex]
type = "categorical"
categories = ["F", "M"]
[[workload]]
marginal = ["sex"]
"""
    )
    VISITS.to_csv(tmp_path / "visits.csv", index=False)
    planned = rowspace("plan", tmp_path / "study.toml")
    assert "'who', of which at most 2 rows are counted" in " ".join(planned.out.split())
    out = tmp_path / "visits.release"
    ended = rowspace("release", "--no-ledger", tmp_path / "study.toml", tmp_path / "visits.csv", "-o", out)
    assert ended.code == 0, ended.err
    assert round(float(rs.Release.load(out).answers()["answer"].sum())) == KEPT
    assert rs.Release.load(out).plan.privacy.unit == UNIT
