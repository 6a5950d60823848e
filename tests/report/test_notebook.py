"""Values in a notebook: tables that parse, hold the figures, and let nothing through but text."""

from __future__ import annotations

from hypothesis import given
from markupsafe import Markup

import rowspace as rs
from rowspace.notebook import notebook_table
from rowspace.planning.display import plan_html, target_plan_html
from rowspace.releases.display import consistent_html, cross_table_html, estimate_html, release_html
from tests.report.html.test_markup import HOSTILE, PRINTABLE, seen

DOMAIN = rs.Domain(
    {"age": rs.Numeric(0, 8, bins=8, integer=True), HOSTILE[0]: rs.Categorical([HOSTILE[1], "b"])}
)
QUERIES = rs.workload.ranges(DOMAIN, "age") + 2 * rs.workload.marginal(DOMAIN, HOSTILE[0])
PLAN = rs.plan(QUERIES, rs.PureDP(1.0), effort="fast")
RELEASE = rs.release(PLAN, [4] * 16)
TABLE = {"table", "caption", "thead", "tbody", "tr", "th", "td", "strong", "p"}


@given(PRINTABLE)
def test_any_text_stays_text(text: str) -> None:
    found = seen(notebook_table(text, [text, text], [[text, text]], text))
    assert [name for name, _ in found.elements] == [
        "p",
        "table",
        "thead",
        *["tr", "th", "th", "tbody", "tr", "td", "td", "p"],
    ]
    assert found.text == 6 * text
    assert seen(notebook_table(Markup("<strong>A</strong> {}").format(text), [], [])).text == f"A {text}"


def test_what_is_no_character_of_html_is_replaced() -> None:
    assert '<p style="margin: .6em .8em .3em;">a\ufffd\ufffd</p>' in notebook_table("a\x00\ud800", [], [])


def test_what_is_shown() -> None:
    shown = {
        DOMAIN._repr_html_(): ["16 cells", "age", "integers in [0, 8)", HOSTILE[0]],
        QUERIES._repr_html_(): ["38 queries", "ranges of age", HOSTILE[0]],
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
        assert f"{group.rmse:.4g}" in page
    assert "weighted RMSE" in page
    plain = rs.plan(rs.workload.ranges(DOMAIN, "age"), rs.PureDP(1.0), effort="fast")
    assert "weighted" not in plan_html(plain)
    shown = seen(release_html(RELEASE)).text
    assert all(part.group in shown for part in QUERIES.parts)
    assert "… and 33 more: release.answers()" in shown


def test_what_is_derived_from_a_release() -> None:
    share, table = RELEASE.share("age < 4"), RELEASE.table("age")
    counts, found = RELEASE.consistent(integral=True), rs.plan_for(QUERIES, "±60", effort="fast")
    half = (table.high - table.low) / 2
    shown = {
        estimate_html(share): [f"{share.value:,.6g}", f"{share.low:,.6g}", share.method],
        cross_table_html(table): [
            f"{table.answer.loc['3', 'count']:,.1f} ± {half.loc['3', 'count']:,.1f}",
            f"{table.answer.loc['total', 'count']:,.1f} ±",
            "half of the 95 % interval",
        ],
        consistent_html(counts): [
            "38 answers",
            "age = 0",
            str(counts.answers()["answer"][0]),
            counts.statement,
        ],
        target_plan_html(found): [
            f"{found.epsilon:g}",
            "±60 @95%",
            f"±{found.met[0].half_width:.4g}",
            HOSTILE[0],
        ],
    }
    for page, expected in shown.items():
        read = seen(page)
        assert {name for name, _ in read.elements} <= TABLE
        for text in expected:
            assert text in read.text
    for value in (share, table, counts, found, PLAN, RELEASE, RELEASE.combine(rs.release(PLAN, [4] * 16))):
        assert value._repr_html_().count("<table") >= 1


def test_two_attributes_and_long_tables() -> None:
    domain = rs.Domain(a=rs.Numeric(0, 40, bins=40), b=rs.Categorical([f"c{i}" for i in range(20)]))
    made = rs.release(
        rs.plan(rs.workload.marginal(domain, "a", "b"), rs.PureDP(1.0), effort="fast"), [5] * 800
    )
    page = seen(cross_table_html(made.table("a", "b"))).text
    assert "Counts by a and b" in page
    assert "11 rows and 9 columns are left out: see .answer" in page
    assert "total" in page


def test_long_ones_are_cut() -> None:
    many = rs.Domain({f"a{number}": rs.Categorical(["x", "y"]) for number in range(40)})
    assert "and 10 more" in many._repr_html_()
    assert "more groups" in rs.workload.marginals(many, exactly=1)._repr_html_()


def test_a_release_too_large_to_show_keeps_its_statement() -> None:
    domain = rs.Domain(x=rs.Numeric(0, 400, bins=400))
    plan = rs.plan(rs.workload.ranges(domain, "x"), rs.ZCDP(0.5), effort="fast")
    page = release_html(rs.release(plan, [1] * 400))
    assert "80,200 answers" in page
    assert page.count("<tr>") == 1
