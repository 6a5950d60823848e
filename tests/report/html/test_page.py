"""The page holds what was released, loads nothing, and stays small."""

from __future__ import annotations

import base64
import hashlib
import re
from dataclasses import replace
from pathlib import Path

import pandas as pd
import pytest

import rowspace as rs
from rowspace.exceptions import FileError
from rowspace.ledger import Ledger, content_digest
from rowspace.report.html import Spending, report_page, write_report
from tests.report.html.test_markup import HOSTILE, Seen, seen

VOID = {"meta", "input", "br", "col", "hr", "wbr"}


class Nesting(Seen):
    """Checks that every element that begins ends in its place."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        super().handle_starttag(tag, attrs)
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


OTHERS = {
    "sex": rs.Categorical(["F", "M"]),
    "place": rs.Categorical(["a", "b", "c"], levels={"zone": {"a": "x", "b": "x", "c": "y"}}),
}


def counted(privacy: rs.privacy.Privacy, domain: rs.Domain | None = None) -> rs.Release:
    domain = domain or rs.Domain(age=rs.Numeric(0, 20, bins=20), **OTHERS)
    w = rs.workload
    queries = w.ranges(domain, "age") + w.marginal(domain, "age", "sex") + w.marginal(domain, "sex", "place")
    queries += w.predicates(domain, ["age < 5 and sex = 'F'", "age >= 10"])
    plan = rs.plan(queries, privacy, effort="fast")
    return rs.release(plan, [7] * plan.domain.size)


@pytest.fixture(scope="module")
def release() -> rs.Release:
    return counted(rs.PureDP(1.0))


@pytest.fixture(scope="module")
def page(release: rs.Release) -> str:
    return report_page(release, title="A study")


def test_it_is_well_formed(page: str) -> None:
    parser = Nesting()
    parser.feed(page)
    parser.close()
    assert parser.open == []
    identifiers = re.findall(r' id="([^"]+)"', page)
    assert len(identifiers) == len(set(identifiers))


def test_it_says_what_was_released(page: str, release: rs.Release) -> None:
    text = seen(page).text
    for expected in (
        "A study",
        str(release.plan.privacy),
        release.plan.certificate,
        "Records by age",
        "Cumulative distribution of age",
        "Records by age and sex",
        "Records by place",
        "age < 5 and sex = 'F'",
        content_digest(release.to_bytes()),
        f"rowspace {rs.__version__}",
        *(candidate.name for candidate in release.plan.candidates),
        *(group.group for group in release.plan.group_errors()),
    ):
        assert expected in text, expected


def test_answers_are_those_of_the_release(page: str, release: rs.Release) -> None:
    total = release.ask("age < 5 and sex = 'F'")
    assert f"{total['answer'][0]:,.1f}" in page or f"{total['answer'][0]:,.0f}" in page


def test_nothing_is_loaded(page: str) -> None:
    assert not re.search(r"(https?:)?//[a-z]", page)
    assert "url(" not in page
    assert "@import" not in page
    loaded = [
        (name, key, value)
        for name, attributes in seen(page).elements
        for key, value in attributes
        if key in ("src", "href", "srcset", "data", "action", "xlink:href")
    ]
    assert all(name == "a" and value is not None and value.startswith("#") for name, _, value in loaded)
    (policy,) = (
        dict(attributes)["content"]
        for name, attributes in seen(page).elements
        if ("http-equiv", "Content-Security-Policy") in attributes
    )
    (script,) = re.findall(r"<script>(.*?)</script>", page, re.DOTALL)
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    assert policy == (
        "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'; "
        f"script-src 'sha256-{digest}'"
    )


def test_every_link_leads_somewhere(page: str) -> None:
    targets = {value for _, attributes in seen(page).elements for key, value in attributes if key == "id"}
    assert {link[1:] for link in re.findall(r'href="([^"]+)"', page)} <= targets


def test_figures_and_tables_are_named(page: str) -> None:
    found = seen(page).elements
    images = [dict(attributes) for _, attributes in found if ("role", "img") in attributes]
    assert len(images) >= 6
    assert all(image.get("aria-label") for image in images)
    drawn = [dict(attributes) for name, attributes in found if name == "svg"]
    assert all(attributes["aria-hidden"] == "true" for attributes in drawn)
    assert page.count("<table") == page.count("<caption")
    scrolled = [dict(attributes) for _, attributes in found if ("class", "scroll") in attributes]
    assert all(area["tabindex"] == "0" and area["aria-label"] for area in scrolled)
    assert ("html", [("lang", "en")]) in found


@pytest.mark.parametrize("text", HOSTILE)
def test_hostile_names_stay_text(text: str) -> None:
    domain = rs.Domain(
        {
            text: rs.Categorical([text, "b"], levels={text + "!": {text: text, "b": text}}),
            "n": rs.Numeric(0, 20, bins=20),
        }
    )
    queries = rs.workload.marginal(domain, text, "n") + rs.workload.marginal(domain, text + "!")
    plan = rs.plan(queries, rs.PureDP(1.0), effort="fast")
    page = report_page(rs.release(plan, [1] * 40), title=text)
    found = seen(page)
    assert text in found.text
    assert [name for name, _ in found.elements if name == "script"] == ["script"]
    assert not [name for name, _ in found.elements if name == "img"]
    assert not [key for _, attributes in found.elements for key, _ in attributes if key.startswith("on")]


def test_equal_input_equal_page(release: rs.Release, page: str) -> None:
    assert report_page(release, title="A study") == page


def test_written_whole_or_not_at_all(release: rs.Release, tmp_path: Path) -> None:
    with pytest.raises(FileError):
        write_report(release, tmp_path / "missing" / "page.html")
    write_report(release, tmp_path / "page.html")
    assert [path.name for path in tmp_path.iterdir()] == ["page.html"]


@pytest.mark.parametrize(
    ("privacy", "words"),
    [
        (rs.PureDP(1.0), "How sure they can be"),
        (
            rs.ApproxDP(1.0, 1e-6, neighbours=rs.Neighbours.REPLACE_ONE),
            "it points rightly at no more than 13.6 %",
        ),
        (rs.ZCDP(0.1), "about one person, except with a chance of at most 1 in 1,000,000."),
        (rs.ZCDP(0.1), "How sure they can be"),
    ],
)
def test_promises_in_plain_words(privacy: rs.privacy.Privacy, words: str) -> None:
    domain = rs.Domain(age=rs.Numeric(0, 4, bins=4))
    plan = rs.plan(rs.workload.identity(domain), privacy, effort="fast")
    assert words in seen(report_page(rs.release(plan, [1, 2, 3, 4]))).text


def test_the_budget(release: rs.Release, tmp_path: Path) -> None:
    ledger = Ledger(tmp_path / "budget.db")
    ledger.create("people", rs.PureDP(3.0))
    ledger.charge(release.plan, release.to_bytes())
    spending = Spending(ledger.budget(), tuple(ledger.history()))
    text = seen(report_page(release, spending=spending)).text
    assert "This release is charge 1" in text
    assert "2 of 3 epsilon left" in text
    other = seen(report_page(counted(rs.PureDP(1.0)), spending=spending)).text
    assert "not among the charges" in other


def test_many_tables_make_a_small_page() -> None:
    names = [f"attribute {number}" for number in range(60)]
    domain = rs.Domain({name: rs.Categorical(["a", "b"]) for name in names})
    plan = rs.plan(rs.workload.marginals(domain, exactly=2), rs.ZCDP(0.5), effort="fast")
    page = report_page(rs.release(plan, pd.DataFrame({name: ["a", "b", "b"] for name in names})))
    assert len(page) < 2_000_000
    text = seen(page).text
    assert "the first 12 of 1,770 tables" in text
    assert "the first 12 of 60 attributes" in text
    assert "240 of 7,080 answers" in text
    assert "too many to list: 1,770" in text


def test_long_attributes_are_merged() -> None:
    domain = rs.Domain(x=rs.Numeric(0, 1000, bins=1000))
    plan = rs.plan(rs.workload.prefixes(domain, "x"), rs.ZCDP(0.5), effort="fast")
    page = report_page(rs.release(plan, [3] * 1000))
    assert "9 cells to a column" in seen(page).text
    assert page.count('class="interval"') <= 120


def test_many_groups_are_folded() -> None:
    """Of ten attributes and their tables no group lies open, and one answer is one answer."""
    domain = rs.Domain({f"a{i}": rs.Categorical(["x", "y"]) for i in range(10)})
    plan = rs.plan(rs.workload.marginals(domain, up_to=2), rs.ZCDP(0.5))
    text = report_page(rs.release(plan, pd.DataFrame({name: ["x", "y"] for name in domain.names})))
    assert "<details>" in text
    assert not re.search(r"<details [^>]*open", text)
    assert "1 answer<" in text
    assert "the first 16 groups" in text


def test_every_group_has_room() -> None:
    """The first groups leave some of the page to the last ones."""
    domain = rs.Domain({f"a{i}": rs.Numeric(0, 40, bins=40) for i in range(5)})
    plan = rs.plan(rs.workload.marginals(domain, up_to=2), rs.ZCDP(0.5))
    text = report_page(rs.release(plan, pd.DataFrame({name: [1, 2] for name in domain.names})))
    assert text.count("<details") == len(plan.group_errors()) == 16
    assert text.count("279 of 1,600 answers") == 10


def test_a_factor_explains_itself(release: rs.Release) -> None:
    """Large ones under Laplace noise are partly the bound's; small ones are praise, in green."""
    loose = replace(release.plan, lower_bound=release.plan.total_error / 9)
    far, near = report_page(replace(release, plan=loose)), report_page(counted(rs.ZCDP(0.5)))
    assert "In error bars that is a factor 3." in far
    assert "part of the factor is the bound" in far
    assert 'class="badge"' not in far
    assert 'class="badge"' in near


def test_a_plan_for_the_worst_answer_is_certified_for_it() -> None:
    domain = rs.Domain(age=rs.Numeric(0, 20, bins=20))
    plan = rs.plan(rs.workload.prefixes(domain, "age"), rs.PureDP(1.0), objective="max")
    text = seen(report_page(rs.release(plan, [1] * 20), title="A study")).text
    assert "the best possible squared error of the worst answer, at most" in text
    assert plan.certificate in text


def test_the_promise_is_in_the_headline_with_all_its_parameters() -> None:
    page = report_page(counted(rs.ApproxDP(0.001, 1e-7)))
    assert "<dt>privacy</dt><dd>ε = 0.001, δ = 1e-07<" in page
    assert "by at most a factor of 1.00101, plus 1 in 10,000,000." in seen(page).text
    assert "weak promise" not in page
    assert "This is a weak promise" in report_page(counted(rs.PureDP(12.0)))


def test_rho_is_said_in_the_words_of_epsilon() -> None:
    text = seen(report_page(counted(rs.ZCDP(0.1)))).text
    assert "by at most a factor of 12.3, plus 1 in 1,000,000." in text
    assert "odds as with ε = 2.51, but for a chance of 1 in 1,000,000" in text
    assert "Sure beforeafter: at leastafter: at most1 %0.0 %11.1 %" in text


def test_a_plus_minus_is_half_an_interval(release: rs.Release, page: str) -> None:
    found = release.ask("age < 5 and sex = 'F'").iloc[0]
    half = (found["high"] - found["low"]) / 2
    assert f"{found['answer']:,.1f} ± {half:,.1f}" in page
    assert page.count("half the width of that interval") == 1
    # Standard errors stand by themselves, under their name.
    assert f"<dt>typical standard error</dt><dd>{release.plan.rmse:.2f}<" in page
    assert not re.search(r"±\s*" + re.escape(f"{release.plan.rmse:.2f}"), page)


def test_the_studys_name_is_the_title(release: rs.Release) -> None:
    named = replace(release, plan=replace(release.plan, title="Residents 2024"))
    page = report_page(named)
    assert "<title>Residents 2024</title>" in page
    assert "<h1>Residents 2024</h1>" in page
    assert "<title>Another</title>" in report_page(named, title="Another")
    assert rs.Release.from_bytes(named.to_bytes()).plan.title == "Residents 2024"


def test_no_login_name_is_on_the_page(
    release: rs.Release, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("getpass.getuser", lambda: "jane-the-curator")
    ledger = Ledger(tmp_path / "budget.db")
    ledger.create("people", rs.PureDP(3.0))
    ledger.charge(release.plan, release.to_bytes())
    assert ledger.history()[0].who == "jane-the-curator"
    assert "jane" not in report_page(release, spending=Spending(ledger.budget(), tuple(ledger.history())))


def test_who_is_left_out_is_on_the_page() -> None:
    some = counted(rs.PureDP(1.0), rs.Domain(age=rs.Numeric(0, 20, bins=20, outside="drop"), **OTHERS))
    text = seen(report_page(some)).text
    assert "Records whose age is outside [0, 20)" in some.plan.population
    assert some.plan.population in text
    assert "covers the count among the records that are counted with probability 0.95" in text
    domain = rs.Domain(age=rs.Numeric(0, 4, bins=4, outside="clip"))
    everybody = rs.release(rs.plan(rs.workload.marginal(domain, "age"), rs.PureDP(1.0)), [1, 2, 3, 4])
    assert (
        "Each interval by itself covers the true count with probability 0.95."
        in seen(report_page(everybody)).text
    )


def test_tables_of_three_come_after_the_margins() -> None:
    domain = rs.Domain({name: rs.Categorical(["x", "y"]) for name in "abc"})
    plan = rs.plan(rs.workload.marginals(domain, up_to=3), rs.ZCDP(0.5))
    page = report_page(rs.release(plan, [5] * 8))
    places = [
        page.index(f"<h3>{title}</h3>") for title in ("Records by a", "Records by a and b", "A × b × c")
    ]
    assert places == sorted(places)


def test_errors_are_in_counts(page: str) -> None:
    assert "units of the integers" not in page
    assert "discrete Laplace noise; standard error of an answer" in page


def test_candidates_are_ordered_by_what_was_chosen() -> None:
    domain = rs.Domain(age=rs.Numeric(0, 20, bins=20), sex=rs.Categorical(["F", "M"]))
    plan = rs.plan(rs.workload.marginals(domain, up_to=2), rs.PureDP(1.0), objective="max")
    by_total = sorted(plan.candidates, key=lambda candidate: candidate.total_error)
    assert by_total[0].name != plan.candidates[0].name
    page = report_page(rs.release(plan, [1] * 40))
    table = page[page.index("Strategies considered, best first") :]
    figures = [float(text) for text in re.findall(r"</th><td>([0-9.]+)</td>", table)][: len(plan.candidates)]
    assert "worst error" in table
    assert figures == sorted(figures)
    assert figures[0] == pytest.approx(plan.max_error**0.5, rel=5e-3)


def test_what_is_not_on_the_page_is_said() -> None:
    domain = rs.Domain(x=rs.Numeric(0, 100, bins=100))
    plan = rs.plan(rs.workload.ranges(domain, "x"), rs.ZCDP(0.5), effort="fast")
    page = report_page(rs.release(plan, [3] * 100))
    assert 'data-missing="4,650 answers are not on this page' in page


@pytest.mark.parametrize(
    "periods",
    [
        rs.Dates("2024-01-01", "2024-04-01", every="month"),
        rs.Categorical(["spring", "summer", "autumn"], outside="drop"),
    ],
    ids=["dates", "seasons"],
)
def test_instalments_show_the_records_to_date(periods: rs.Dates | rs.Categorical) -> None:
    """With a band, where periods have bounds; of named periods the histogram only."""
    domain = rs.Domain(when=periods, sex=rs.Categorical(["F", "M"]))
    plan = rs.plan(rs.workload.marginal(domain, "when", "sex"), rs.ZCDP(0.5), over="when")
    made = None
    for number in range(2):
        made = rs.instalment(plan, [[20, 30], [40, 20], [10, 10]], period=periods.label(number), before=made)
    assert made is not None
    text = seen(report_page(made)).text
    assert "Records by when" in text
    assert ("Records to date by when" in text) == isinstance(periods, rs.Dates)
    assert f"instalment 2 of 3 ({made.period})" in text
