"""Values in a notebook: tables that parse, hold the figures, and let nothing through but text."""

from __future__ import annotations

import rowspace as rs
from rowspace.domain.display import domain_html
from rowspace.planning.display import plan_html
from rowspace.releases.display import release_html
from rowspace.workload.display import workload_html
from tests.report.html.test_markup import HOSTILE, seen

DOMAIN = rs.Domain(
    {"age": rs.Numeric(0, 8, bins=8, integer=True), HOSTILE[0]: rs.Categorical([HOSTILE[1], "b"])}
)
QUERIES = rs.workload.ranges(DOMAIN, "age") + 2 * rs.workload.marginal(DOMAIN, HOSTILE[0])
PLAN = rs.plan(QUERIES, rs.PureDP(1.0), effort="fast")
RELEASE = rs.release(PLAN, [4] * 16)
TABLE = {"table", "caption", "thead", "tbody", "tr", "th", "td", "strong", "p"}


def test_what_is_shown() -> None:
    shown = {
        domain_html(DOMAIN): ["16 cells", "age", "integers in [0, 8)", HOSTILE[0]],
        workload_html(QUERIES): ["38 queries", "ranges of age", HOSTILE[0]],
        plan_html(PLAN): [PLAN.candidates[0].name, PLAN.certificate, str(PLAN.privacy)],
        release_html(RELEASE): ["38 answers", "age = 0", RELEASE.statement],
    }
    for page, expected in shown.items():
        found = seen(page)
        assert {name for name, _ in found.elements} <= TABLE
        for text in expected:
            assert text in found.text


def test_the_error_and_the_answers_of_every_group() -> None:
    page = seen(plan_html(PLAN)).text
    for group in PLAN.group_errors():
        assert group.group in page
        assert f"±{group.rmse:.4g}" in page
    assert "weighted RMSE" in page
    plain = rs.plan(rs.workload.ranges(DOMAIN, "age"), rs.PureDP(1.0), effort="fast")
    assert "weighted" not in plan_html(plain)
    shown = seen(release_html(RELEASE)).text
    assert all(part.group in shown for part in QUERIES.parts)
    assert "… and 33 more: release.answers()" in shown


def test_jupyter_finds_it() -> None:
    assert DOMAIN._repr_html_() == domain_html(DOMAIN)
    assert QUERIES._repr_html_() == workload_html(QUERIES)


def test_long_ones_are_cut() -> None:
    many = rs.Domain({f"a{number}": rs.Categorical(["x", "y"]) for number in range(40)})
    assert "and 10 more" in domain_html(many)
    assert "more groups" in workload_html(rs.workload.marginals(many, exactly=1))


def test_a_release_too_large_to_show_keeps_its_statement() -> None:
    domain = rs.Domain(x=rs.Numeric(0, 400, bins=400))
    plan = rs.plan(rs.workload.ranges(domain, "x"), rs.ZCDP(0.5), effort="fast")
    page = release_html(rs.release(plan, [1] * 400))
    assert "80,200 answers" in page
    assert page.count("<tr>") == 1
