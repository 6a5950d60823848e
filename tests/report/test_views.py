"""What is shown is what the library said, at any width, markup or not."""

from __future__ import annotations

from decimal import Decimal
from io import StringIO

import pytest
from rich.console import Console, RenderableType

import rowspace as rs
from rowspace.planning import GroupError, considered
from rowspace.privacy import ZCDP, ApproxDP, Neighbours, Privacy, PureDP
from rowspace.report import AnswerGroup, AnswerRow, answers_view, first_answers, plain_privacy, plan_view
from rowspace.report.words import factor

DOMAIN = rs.Domain(age=rs.Numeric(0, 8, bins=8, integer=True), sex=rs.Categorical(["F", "[bold]M[/bold]"]))


@pytest.fixture(scope="module")
def plan() -> rs.Plan:
    queries = rs.workload.ranges(DOMAIN, "age") + 2 * rs.workload.marginal(DOMAIN, "sex")
    queries += rs.workload.predicates(DOMAIN, ["age < 5", "sex = 'F' and age > 2", "sex = 'F' or age > 2"])
    return rs.plan(queries, rs.PureDP(1.0))


def text(view: RenderableType, width: int = 100) -> str:
    out = StringIO()
    Console(file=out, width=width).print(view)
    return out.getvalue()


def test_a_plan_shows_its_figures(plan: rs.Plan) -> None:
    shown = text(plan_view(plan, plan.group_errors(), "My [red]study"))
    assert "My [red]study" in shown
    assert plan.certificate in " ".join(shown.split())
    assert str(plan.privacy) in shown
    for candidate in plan.candidates:
        assert candidate.name in shown


def test_groups_of_one_name_are_one_row(plan: rs.Plan) -> None:
    rows = [line.split() for line in text(plan_view(plan, plan.group_errors())).splitlines()]
    (predicates,) = [row for row in rows if row[:1] == ["predicates"]]
    assert predicates[1] == "3"


def test_many_groups_are_cut(plan: rs.Plan) -> None:
    groups = [GroupError(f"group {number}", 1, 1.0, None) for number in range(25)]
    assert "and 5 more groups" in text(plan_view(plan, groups))


def test_the_first_answers_of_every_group(plan: rs.Plan) -> None:
    release = rs.release(plan, [10] * 16)
    answers = release.answers()
    groups = first_answers(plan.workload, answers)
    assert [(group.name, group.size, len(group.rows)) for group in groups] == [
        ("ranges of age", 36, 3),
        ("sex", 2, 2),
        ("predicates", 3, 3),
    ]
    assert [row.answer for row in groups[1].rows] == answers["answer"].tolist()[36:38]
    assert groups[2].rows[0].query == "age < 5"
    shown = text(answers_view(groups, 0.95))
    assert "ranges of age  3 of 36" in shown
    assert "sex = [bold]M[/bold]" in shown


def test_a_narrow_table_leaves_out_what_intervals_tell() -> None:
    rows = (AnswerRow("age < 5", 1234.5, 3.2, 1228.0, 1241.0, truth=1233),)
    group = [AnswerGroup(None, 1, rows)]
    assert "std. error" in text(answers_view(group, 0.9, width=80), 80)
    narrow = text(answers_view(group, 0.9, width=60), 60)
    assert "std. error" not in narrow
    assert "1,228.0 to 1,241.0" in narrow
    assert "1,233" in text(answers_view(group, 0.9, truth="true value"))
    assert "1,233" not in text(answers_view(group, 0.9))


@pytest.mark.parametrize(
    ("privacy", "words"),
    [
        (PureDP(1.0), "a factor of 2.72."),
        (PureDP(1e6), "a factor of e^1000000. This is a weak promise"),
        (PureDP(1.0, Neighbours.REPLACE_ONE), "Replacing any one record"),
        (ApproxDP(1.0, 1e-6), "a factor of 2.72, plus 1 in 1,000,000."),
        (PureDP(0.001), "a factor of 1.00101."),
        (PureDP(10.5), "This is a weak promise: "),
        (ZCDP(0.1), "by at most a factor of 12.3, plus 1 in 1,000,000."),
        (ZCDP(2.0), "This is a weak promise, as ε = 12.8 would be: "),
    ],
)
def test_plain_words(privacy: Privacy, words: str) -> None:
    assert words in plain_privacy(privacy)


def test_groups_that_are_left_out_are_counted(plan: rs.Plan) -> None:
    answers = rs.release(plan, [10] * 16).answers()
    groups = first_answers(plan.workload, answers, groups=1)
    assert [(group.name, len(group.rows)) for group in groups] == [
        ("ranges of age", 3),
        ("… and 2 more groups", 0),
    ]
    assert "… and 2 more groups" in text(answers_view(groups, 0.95))


@pytest.mark.parametrize("epsilon", [1e-300, 1e-9, 0.001, 0.1, 0.69, 0.7, 1.0, 2.3, 4.6, 9.9, 19.9])
def test_factors_are_never_rounded_down(epsilon: float) -> None:
    shown = Decimal(factor(epsilon).replace(",", ""))
    exact = Decimal(epsilon).exp()
    assert shown >= exact
    assert shown > 1
    assert shown - exact <= max(Decimal("0.011") * (exact - 1), Decimal("2e-12"))


def test_a_plan_says_who_is_left_out() -> None:
    domain = rs.Domain(age=rs.Numeric(0, 8, bins=8, outside="drop"))
    plan = rs.plan(rs.workload.ranges(domain, "age"), rs.PureDP(1.0))
    shown = " ".join(text(plan_view(plan, plan.group_errors())).split())
    assert "Records whose age is outside [0, 8) or missing are not counted." in shown
    assert "±" not in shown


def test_candidates_stand_by_what_was_chosen() -> None:
    """Least worst answer first, though others have less in all."""
    domain = rs.Domain(
        age=rs.Numeric(0, 20, bins=20, outside="drop"), sex=rs.Categorical(["F", "M"], outside="drop")
    )
    plan = rs.plan(rs.workload.marginals(domain, up_to=2), rs.PureDP(1.0), objective="max")
    for shown in (text(plan_view(plan, plan.group_errors())), str(plan), plan._repr_html_()):
        assert "worst error" in shown
        assert "15.75" in shown  # the squared error of the others' worst answer, over the bound
    errors = considered(plan).errors
    known = [error for error in errors if error is not None]
    assert len(known) == len(errors) > 2
    assert known == sorted(known)
