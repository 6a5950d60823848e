"""The page of several releases: what they promise together, their answers, and no plan that they do not share."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import rowspace as rs
from rowspace.exceptions import InvalidInput
from rowspace.ledger import Ledger, content_digest
from rowspace.report.html import Spending, report_page, write_report
from tests.report.html.test_markup import HOSTILE, seen

DOMAIN = rs.Domain({"age": rs.Numeric(0, 8, bins=8), HOSTILE[0]: rs.Categorical([HOSTILE[1], "b"])})
RANGES = rs.workload.ranges(DOMAIN, "age") + rs.workload.marginal(DOMAIN, HOSTILE[0])
TABLE = rs.workload.marginal(DOMAIN, "age", HOSTILE[0])


@pytest.fixture(scope="module")
def both() -> rs.Combined:
    """Two strategies under two kinds of promise."""
    plans = (rs.plan(RANGES, rs.PureDP(1.0), effort="fast"), rs.plan(TABLE, rs.ZCDP(0.5), effort="fast"))
    return rs.combine([rs.release(plan, list(range(16))) for plan in plans])


def test_the_page_says_what_was_combined(both: rs.Combined, tmp_path: Path) -> None:
    write_report(both, tmp_path / "both.html", title="Two <releases>")
    page = (tmp_path / "both.html").read_text(encoding="utf-8")
    assert page == report_page(both, title="Two <releases>")
    found = seen(page)
    for text in (
        "Two <releases>",
        "2 releases of the same table were combined",
        both.method,
        *map(str, both.spent),
    ):
        assert text in found.text
    for release in both.releases:
        assert content_digest(release.to_bytes()) in found.text
    assert "certificate" not in found.text
    assert {"h1", "svg", "table"} <= {name for name, _ in found.elements}
    anchors = {value for _, attributes in found.elements for key, value in attributes if key == "id"}
    assert {link[1:] for link in re.findall(r'href="([^"]+)"', page)} <= anchors


def test_the_answers_and_their_error_are_those_of_the_combination(both: rs.Combined) -> None:
    page = seen(report_page(both)).text
    answers = both.answers()
    assert f"All {len(answers)} answers." in page
    assert f"{(answers['std_error'] ** 2).mean() ** 0.5:.3g}of an answer, in counts" in page
    row = both.ask("age < 1").iloc[0]
    assert f"{row.answer:.1f}" in page


def test_a_budget_is_of_one_release(both: rs.Combined, tmp_path: Path) -> None:
    ledger = Ledger(tmp_path / "budget.db")
    ledger.create("people", rs.PureDP(3.0))
    with pytest.raises(InvalidInput, match="shows no budget"):
        report_page(both, spending=Spending(ledger.budget(), ()))
