"""The page and `Release.ask` give the same numbers beyond counts: of measures, beside public facts, in SQL."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import rowspace as rs
from rowspace.exceptions import RowspaceError
from tests.doors.questions import random_condition
from tests.doors.worlds import STRATEGIES, world

from .conftest import Opened, answered, explored, quick_first
from .test_numbers import alike, asked, questions_of

REGIONS = ["N", "S", "E"]
AGGREGATES = {
    "sum": ("SUM", 1),
    "records": ("COUNT", 1),
    "mean": ("AVG", 3),
    "variance": ("VAR_POP", 4),
    "sample variance": ("VAR_SAMP", 4),
    "standard deviation": ("STDDEV_POP", 4),
    "sample standard deviation": ("STDDEV_SAMP", 4),
}
"""What SQL calls each figure, and of how many rows of the package's answer it is the last."""
GROUPS: list[tuple[list[str], str]] = [
    ([], ""),
    ([], "age >= 4 and region = 'N'"),
    ([], "age < 2 or region <> 'S'"),
    (["region"], ""),
    (["side", "age"], "age >= 2"),
    (["age", "region"], ""),
    (["region"], "region <> 'E' and age < 6"),
]


def measured(name: str) -> rs.Release | rs.Combined:
    """Releases of sums: of cells and of tables, of Gaussian and Laplace noise, with squares, several together."""
    rng = np.random.default_rng(5)
    rows = 60 if name == "few records" else 3000
    region = rs.Categorical(REGIONS, levels={"side": {"N": "up", "S": "down", "E": "up"}})
    squares = name.endswith("squares")
    domain = rs.Domain(
        region=region,
        age=rs.Numeric(0, 8, bins=4, integer=True),
        job=rs.Categorical([f"job {at}" for at in range(30 if "tables" in name else 2)]),
        measures=[
            rs.Measure("income", 0, 1000, step=100, squares=squares),
            rs.Measure("debt", -50, 20, step=7),
        ],
    )
    data = pd.DataFrame(
        {
            "region": rng.choice(np.array([*REGIONS, None], dtype=object), rows, p=[0.6, 0.3, 0.02, 0.08]),
            "age": rng.integers(0, 8, rows),
            "job": rng.choice(domain["job"].labels(), rows),
            "income": np.where(rng.random(rows) < 0.1, np.nan, rng.integers(0, 1000, rows)),
            "debt": rng.integers(-60, 30, rows),
        }
    )
    w = rs.workload
    queries = w.marginal(domain, "region", "age") + w.mean(domain, "income", ["region", "age"])
    queries += w.sum(domain, "debt", ["region"]) + w.mean(domain, "debt", ["age", "region"])
    if squares:
        queries += w.variance(domain, "income", ["region", "age"])
    if "tables" in name:
        queries += w.marginals(domain, up_to=2) + w.mean(domain, "income", ["job", "age"])
    privacy = rs.PureDP(8.0) if "Laplace" in name or name == "few records" else rs.ZCDP(0.5)
    plan = rs.plan(queries, privacy, effort="fast")
    if name == "together":
        return rs.combine([rs.release(plan, data), rs.release(plan, data)])
    return rs.release(plan, data)


KINDS = [
    "Gaussian",
    "Laplace squares",
    "few records",
    "Laplace",
    "Gaussian squares",
    "Laplace tables",
    "together",
]


@pytest.mark.parametrize("name", quick_first(KINDS, 3))
def test_sums_means_and_spreads_are_those_of_the_package(name: str, opened: Opened, tmp_path: Path):
    release = measured(name)
    page = opened(explored(release, tmp_path))
    asked_for = [(by, where, figure) for by, where in GROUPS for figure in AGGREGATES]
    asked_for += [
        ([], where, figure) for where in conditions(release.plan.domain) for figure in ("sum", "mean")
    ]
    questions = [(*question, measure) for question in asked_for for measure in ("income", "debt")]
    found = asked(page, [(by, where, f"{figure} of {measure}") for by, where, figure, measure in questions])
    stated = asked(page, [([], statement(*question), "") for question in questions])
    answers = 0
    for question, rows, again in zip(questions, found, stated, strict=True):
        by, where, figure, _ = question
        try:
            wanted = release.ask(statement(*question))
        except RowspaceError:
            assert isinstance(rows, str), question
            continue
        assert not isinstance(rows, str), (question, rows)
        last = wanted.iloc[len(wanted) - len(wanted) // AGGREGATES[figure][1] :].reset_index(drop=True)
        assert alike(rows, last, by, where), (question, rows, last)
        assert repr(again) == repr(rows), question
        answers += 1
    assert answers >= 20
    assert page.heard == []


def conditions(domain: rs.Domain, number: int = 12) -> list[str]:
    """Random ones about all that is no measure, in words that mean the same in SQL."""
    rng, own = (
        np.random.default_rng(7),
        rs.Domain({name: domain.dimension(name) for name in domain.dimensions}),
    )
    return [random_condition(own, rng).text('"') for _ in range(number)]


def statement(by: list[str], where: str, figure: str, measure: str) -> str:
    """The question in SQL."""
    keys, groups = ", ".join([*by, ""]), f" GROUP BY {', '.join(by)}" if by else ""
    return f"SELECT {keys}{AGGREGATES[figure][0]}({measure}) FROM people{f' WHERE {where}' if where else ''}{groups}"


def informed(name: str) -> rs.Release:
    """Releases beside public facts: over few cells, which are open or not, and over many."""
    rng = np.random.default_rng(3)
    many = "many" in name
    domain = rs.Domain(
        region=rs.Categorical(REGIONS, outside="drop", levels={"side": {"N": "up", "S": "down", "E": "up"}}),
        age=rs.Numeric(0, 8, bins=4, integer=True, outside="drop"),
        married=rs.Categorical(["no", "yes"], outside="drop"),
        **({"job": rs.Categorical([f"j{at}" for at in range(120)], outside="drop")} if many else {}),
    )
    data = pd.DataFrame(
        {
            "region": rng.choice(REGIONS, 900),
            "age": rng.integers(0, 8, 900),
            "married": rng.choice(["no", "yes"], 900),
            "job": [f"j{at % 120}" for at in range(900)],
        }
    )
    data.loc[data["age"] < 2, "married"] = "no"
    known = data["region"].value_counts().to_dict()
    facts = {f"region = '{value}'": int(known[value]) for value in REGIONS}
    w = rs.workload
    queries = w.marginals(domain, up_to=2) if many else w.marginal(domain, "region", "age", "married")
    if "ranges" in name:
        queries += w.ranges(domain, "age")
    privacy = rs.PureDP(1.0) if "Laplace" in name else rs.ZCDP(0.05)
    impossible = ["age < 2 and married = 'yes'"]
    plan = rs.plan(queries, privacy, effort="fast", known=facts, impossible=impossible)
    return rs.release(plan, data)


@pytest.mark.parametrize(
    "name", quick_first(["few", "many", "few Laplace", "few ranges", "few Laplace ranges", "many Laplace"], 3)
)
def test_answers_keep_to_public_facts_as_the_package_does(name: str, opened: Opened, tmp_path: Path):
    release = informed(name)
    page = answered(opened(explored(release, tmp_path)))
    names = [*release.plan.domain.names, "side"]
    questions: list[tuple[list[str], str]] = [
        ([], ""),
        ([], "region = 'N'"),
        ([], "age < 2 and married = 'yes'"),
    ]
    questions += [([], "side = 'up' and age >= 4"), (["age"], "side = 'up' or married = 'no'")]
    questions += [([], where) for where in conditions(release.plan.domain, 30)]
    questions += [([name], "") for name in names] + [
        ([a, b], "") for a in names for b in names if a != b and {a, b} != {"region", "side"}
    ]
    found = asked(page, questions)
    answers = 0
    for (by, where), rows in zip(questions, found, strict=True):
        keys, groups = ", ".join([*by, ""]), f" GROUP BY {', '.join(by)}" if by else ""
        try:
            wanted = release.ask(
                f"SELECT {keys}COUNT(*) FROM people{f' WHERE {where}' if where else ''}{groups}"
            )
        except RowspaceError:
            assert isinstance(rows, str), (by, where)
            continue
        assert not isinstance(rows, str), (by, where, rows)
        assert alike(rows, wanted, by, where), (by, where, rows, wanted)
        answers += 1
    assert answers >= 15
    (total,), (north,) = found[:2]
    assert (total["answer"], total["error"]) == (900.0, 0.0)
    assert north["low"] == north["high"] == north["answer"]


@pytest.mark.parametrize("number", quick_first(range(len(STRATEGIES)), 2))
def test_statements_have_the_numbers_of_the_package(number: int, opened: Opened, tmp_path: Path):
    here = world(number)
    questions = questions_of(here)
    page = opened(explored(here.noisy, tmp_path))
    found = asked(page, [([], sql, "") for _, _, sql in questions])
    for (by, where, sql), rows in zip(questions, found, strict=True):
        try:
            wanted = here.noisy.ask(sql)
        except RowspaceError:
            assert isinstance(rows, str), sql
            continue
        assert not isinstance(rows, str), (sql, rows)
        assert alike(rows, wanted, by, where or ("" if by else "all")), (sql, rows)
    assert sum(not isinstance(rows, str) for rows in found) >= 3


STATEMENTS = {
    "select count(*) from people": True,
    "SELECT COUNT(*) AS n FROM people p WHERE SEX = 'F' AND age BETWEEN 18 AND 64;": True,
    "SELECT sex AS s, COUNT(*) FROM people WHERE age >= 18 GROUP BY s": True,
    "SELECT sex, COUNT(*) FROM people GROUP BY 1": True,
    'SELECT "sex", zone, COUNT(*) FROM people GROUP BY zone, "sex"': True,
    "SELECT COUNT(sex) FROM people": True,
    "SELECT COUNT(*) FROM people WHERE sex IS NOT NULL": True,
    "SELECT sex FROM people GROUP BY sex": "counts nothing",
    "SELECT sex, COUNT(*) FROM people": "must be in GROUP BY",
    "SELECT COUNT(*), COUNT(*) FROM people": "one COUNT, SUM or AVG",
    'SELECT COUNT(*) FROM people WHERE sex = "F"': "unknown attribute 'F'",
    "SELECT SUM(age) FROM people": "is no measure",
    "SELECT COUNT(*) FROM people LIMIT 3": "rowspace ask",
    "SELECT sex, COUNT(*) FROM people GROUP BY sex HAVING COUNT(*) > 3": "rowspace ask",
    "SELECT COUNT(*) FILTER (WHERE age > 3) FROM people": "rowspace ask",
    "SELECT COUNT(DISTINCT sex) FROM people": "rowspace ask",
    "SELECT COUNT(*) FROM people WHERE age >": "expected",
    "SELECT": "rowspace ask",
    "SELECT COUNT(*) FROM people GROUP BY 7": "names a column that is no group",
    "SELECT COUNT(*) FROM people UNION SELECT 1": "rowspace ask",
    "SELECT * FROM people": "rowspace ask",
}


def test_a_typed_statement_is_answered_or_explained(sample: tuple[rs.Release, Path], opened: Opened):
    release, path = sample
    page = answered(opened(path))
    for text, words in STATEMENTS.items():
        (found,) = asked(page, [([], text, "")])
        if words is not True:
            assert isinstance(found, str) and words in found, (text, found)  # noqa: PT018
            continue
        assert not isinstance(found, str), (text, found)
        wanted = release.ask(text)
        assert sorted(row["high"] for row in found) == pytest.approx(sorted(wanted["high"]), rel=1e-12), text
    page.fill("#ask-where", "SELECT sex, COUNT(*) FROM people WHERE age >= 18 GROUP BY sex")
    assert page.is_disabled("#ask-by")
    assert page.inner_text("#ask-number") == "Records by sex"
    assert "by sex where age >= 18" in page.inner_text("#ask-words")
    again = answered(opened(path, "#" + page.input_value("#ask-address").split("#")[1]))
    assert again.inner_text("#ask-words") == page.inner_text("#ask-words")
    page.fill("#ask-where", "")
    assert not page.is_disabled("#ask-by")
    assert page.heard == []


def test_means_are_chosen_linked_and_said(opened: Opened, tmp_path: Path):
    # One in 40 releases is sure by its noise that every region has records; this is about the others.
    releases = (measured("few records") for _ in range(20))
    means = "SELECT region, AVG(income) FROM people GROUP BY region"
    release = next(one for one in releases if one.ask(means)["answer"].isna().any())
    path = explored(release, tmp_path)
    page = answered(opened(path))
    page.select_option("#ask-of", "mean of income")
    page.select_option("#ask-by", "region")
    assert page.inner_text("#ask-number") == "Mean of income by region"
    assert "cannot be told from zero" in page.inner_text("#ask-words")
    assert "no answer" in page.inner_text("#ask-chart")
    again = answered(opened(path, "#" + page.input_value("#ask-address").split("#")[1]))
    assert again.input_value("#ask-of") == "mean of income"
    assert again.inner_text("#ask-words") == page.inner_text("#ask-words")
    page.select_option("#ask-by", "")
    page.select_option("#ask-of", "sum of debt")
    assert page.inner_text("#ask-words").startswith("The sum of debt is about -")
    page.fill("#ask-where", "debt > 3")
    assert "is added up, not counted by" in page.inner_text("#ask-problem")
    other: Any = answered(opened(path, "#ask?of=mean+of+nothing"))
    assert "does not have" in other.inner_text("#ask-problem")
    for shown in (page, again, other):
        assert shown.heard == []
