"""The page and `Release.ask` give the same numbers, for every kind of plan: asked by script, typed and chosen."""

from __future__ import annotations

import csv
import json
from collections.abc import Sequence
from itertools import permutations
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import rowspace as rs
from rowspace import operators as op
from rowspace.exceptions import RowspaceError
from rowspace.releases import combined_answers
from rowspace.releases.combined_answers import ByStrategy, ByTables
from rowspace.report.numbers import counts
from tests.doors.doors import FIGURES, column_of
from tests.doors.questions import Count, Table, random_condition, random_table
from tests.doors.worlds import STRATEGIES, World, world

from .conftest import Opened, answered, explored, quick_first

CLOSE = 1e-9
CONDITIONS = 40
"""Of each of 13 kinds of plan, with much noise, with hardly any, and beside another release: 1,560 in all."""

_ASK = """questions => questions.map(([by, where, of]) => {
  try { return window.rowspace.ask(by, where, of).rows; } catch (error) {
    if (error.constructor.name === 'Error' || error instanceof TypeError || error instanceof RangeError) throw error;
    return error.message;
  }
})"""


def asked(page: Any, questions: Sequence[tuple[list[str], str] | tuple[list[str], str, str]]) -> list[Any]:
    """What the page's script answers: rows, or why it does not."""
    return page.evaluate(_ASK, [list(question) for question in questions])


def same(found: Any, release: rs.Release | rs.Combined, by: list[str], where: str, sql: str) -> bool:
    """Whether the page answers as the package does: both the same figures under the same labels, or neither."""
    try:
        wanted = release.ask(sql if by else (where or sql))
    except RowspaceError:
        return isinstance(found, str)
    return not isinstance(found, str) and alike(found, wanted, by, where)


def alike(found: list[Any], wanted: pd.DataFrame, by: list[str], where: str) -> bool:
    """Whether rows of the page are those of a table of answers: the same figures under the same labels."""
    if len(found) != len(wanted):
        return False
    figures = np.array([[row["answer"], row["error"], row["low"], row["high"]] for row in found], dtype=float)
    expected = wanted[list(FIGURES)].to_numpy()
    if by and not where:
        names = [column_of(wanted, name) for name in by]
        labels = {tuple(row): at for at, row in enumerate(wanted[names].astype(str).to_numpy().tolist())}
        expected = expected[[labels[tuple(row["labels"])] for row in found]]
    elif by:  # labels of groups under a condition are in words: every row has its partner
        order = [np.lexsort(np.round(f, 6).T[::-1]) for f in (figures, expected)]
        figures, expected = figures[order[0]], expected[order[1]]
    unknown = np.isnan(expected)
    if not np.array_equal(np.isnan(figures), unknown):
        return False
    figures, expected = figures[~unknown], expected[~unknown]
    scale = max(1.0, float(np.abs(expected).max(initial=0.0)))
    return bool(np.abs(figures - expected).max(initial=0.0) <= CLOSE * scale)


def questions_of(here: World) -> list[tuple[list[str], str, str]]:
    """(by, where, the same in SQL): conditions, tables of two in both orders, tables under conditions."""
    rng = np.random.default_rng([here.number, 7])
    found: list[tuple[list[str], str, str]] = [([], "", "SELECT COUNT(*) FROM people")]
    for _ in range(CONDITIONS):
        count = Count(here.domain, random_condition(here.domain, rng))
        found.append(([], count.text, count.sql))
    names = [
        *here.domain.names,
        *(level for _, a in here.domain.attributes for level in getattr(a, "levels", ())),
    ]
    for pair in [*((name,) for name in names), *permutations(names, 2)]:
        if len({here.domain.resolve(name)[0] for name in pair}) == len(pair):
            found.append((list(pair), "", Table(here.domain, pair).sql))
    for _ in range(6):
        table = random_table(here.domain, rng)
        found.append((list(table.names), table.condition_text or "", table.sql))
    return found


@pytest.mark.parametrize("number", quick_first(range(len(STRATEGIES)), 4))
def test_every_kind_of_plan_gives_the_numbers_of_the_package(number: int, opened: Opened, tmp_path: Path):
    here = world(number)
    questions = questions_of(here)
    for name, release in (("noisy", here.noisy), ("quiet", here.quiet), ("together", here.combined)):
        page = opened(explored(release, tmp_path, name))
        found = asked(page, [(by, where) for by, where, _ in questions])
        wrong = [
            (by, where, rows)
            for (by, where, sql), rows in zip(questions, found, strict=True)
            if not same(rows, release, by, where, sql)
        ]
        assert not wrong, (here.kind, name, wrong[0])
        assert sum(not isinstance(rows, str) for rows in found) >= 3
        assert page.heard == []


def test_the_sample_gives_the_numbers_of_the_package(sample: tuple[rs.Release, Path], opened: Opened):
    release, path = sample
    here = World(0, "sample", pd.DataFrame(), [], release, release)
    questions = questions_of(here)
    found = asked(opened(path), [(by, where) for by, where, _ in questions])
    for (by, where, sql), rows in zip(questions, found, strict=True):
        assert same(rows, release, by, where, sql), (by, where)


@pytest.mark.parametrize(
    ("privacies", "way"),
    [((rs.PureDP(0.5),) * 3, ByStrategy), ((rs.ZCDP(1.0), rs.PureDP(0.5)), ByTables)],
)
def test_several_releases_are_answered_together(
    privacies: tuple[rs.Privacy, ...],
    way: type,
    opened: Opened,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
):
    # Cell by cell they are in every world above.
    monkeypatch.setattr(combined_answers, "FEW_CELLS", 0)
    sizes = {"a": 4, "b": 3, "c": 2}
    domain = rs.Domain({k: rs.Numeric(0, n, bins=n, integer=True, outside="drop") for k, n in sizes.items()})
    queries = rs.workload.marginals(domain, up_to=2)
    plans = {privacy: rs.plan(queries, privacy, effort="fast") for privacy in privacies}
    both = rs.combine([rs.release(plans[privacy], np.arange(24) * 3) for privacy in privacies])
    assert type(both._answers) is way
    questions = questions_of(World(3, way.__name__, pd.DataFrame(), [], both, both))  # type: ignore[arg-type]
    found = asked(opened(explored(both, tmp_path)), [(by, where) for by, where, _ in questions])
    for (by, where, sql), rows in zip(questions, found, strict=True):
        assert same(rows, both, by, where, sql), (by, where)
    assert sum(not isinstance(rows, str) for rows in found) >= 10


@pytest.mark.long
def test_products_are_answered_factor_by_factor(opened: Opened, tmp_path: Path):
    # The worlds' own product ends in a factor of one cell, which is taken as a whole.
    sizes = {"a": 4, "b": 3, "c": 5}
    domain = rs.Domain({k: rs.Numeric(0, n, bins=n, integer=True, outside="drop") for k, n in sizes.items()})
    strategy = op.Kronecker(op.Prefix(4), op.Identity(3), op.Hierarchy(5))
    for at, privacy in enumerate((rs.PureDP(0.5), rs.PureDP(3.0), rs.ZCDP(0.1))):
        plan = rs.plan(rs.workload.identity(domain), privacy, effort="fast", strategy=strategy)
        release = rs.release(plan, np.arange(60))
        questions = questions_of(World(at, "product", pd.DataFrame(), [], release, release))
        path = explored(release, tmp_path, f"product{at}")
        found = asked(opened(path), [(by, where) for by, where, _ in questions])
        for (by, where, sql), rows in zip(questions, found, strict=True):
            assert same(rows, release, by, where, sql), (privacy, by, where)


def dated() -> rs.Release:
    """Days, months, hours, and days in other bins than numbers."""
    domain = rs.Domain(
        day=rs.Dates("2024-01-01", "2024-04-01", every="day"),
        month=rs.Dates("2024-01-01", "2025-01-01", every="month"),
        hour=rs.HourOfDay("day"),
    )
    queries = rs.workload.marginal(domain, "day") + rs.workload.marginal(domain, "month", "hour")
    rows = pd.date_range("2024-01-01", periods=2000, freq="37min")
    data = pd.DataFrame({"day": rows, "month": rows})
    return rs.release(rs.plan(queries, rs.ZCDP(0.5), effort="fast"), data)


DATED = [
    "day >= '2024-02'",
    "day = '2024-01-31'",
    "day between '2024-01-05' and '2024-02-10'",
    "day < '2024-W06'",
    "month(day) = 2",
    "dow(day) in (0, 6)",
    "isodow(day) <= 5 and not day < '2024-02-01'",
    "month in ('2024-03', '2024-Q2')",
    "quarter(month) = 2 and hour >= 6 and hour < 18",
    "month <= '2024-06' and 6 <= hour < 12",
    "week(day) between 2 and 4",
    "day(month) = 3",
    "day >= '2024-13'",
    "hour(day) = 3",
    "month is not missing",
    "day + 5 > day",
]


def test_dates_are_read_as_the_package_reads_them(opened: Opened, tmp_path: Path):
    release = dated()
    found = asked(opened(explored(release, tmp_path)), [([], where) for where in DATED])
    for where, rows in zip(DATED, found, strict=True):
        assert same(rows, release, [], where, ""), (where, rows)
    assert sum(isinstance(rows, str) for rows in found) == 3


@pytest.mark.long
def test_too_large_a_release_offers_its_measured_tables(opened: Opened, tmp_path: Path):
    domain = rs.Domain({f"a{at}": rs.Categorical([f"v{k}" for k in range(600)]) for at in range(6)})
    w = rs.workload
    queries = sum((w.marginal(domain, f"a{at}", f"a{at + 1}") for at in range(5)), w.marginal(domain, "a0"))
    data = pd.DataFrame({name: ["v1", "v2"] * 50 for name in domain.names})
    release = rs.release(rs.plan(queries, rs.ZCDP(0.1), effort="fast"), data)
    path = explored(release, tmp_path)
    page = answered(opened(path))
    assert "measured table" in page.inner_text("#ask")
    assert page.query_selector("#ask-where") is None
    (found, refused) = asked(page, [(["a0"], ""), (["a0", "a5"], "")])
    wanted = release.ask(w.marginal(domain, "a0"))
    assert np.allclose([row["high"] for row in found], wanted["high"], rtol=1e-12)
    assert isinstance(refused, str)
    assert path.stat().st_size < 12_000_000


def test_a_typed_condition_is_answered_linked_and_saved(
    sample: tuple[rs.Release, Path], opened: Opened, tmp_path: Path
):
    release, path = sample
    page = answered(opened(path, accept_downloads=True))
    page.select_option("#ask-by", "")
    page.fill("#ask-where", "age >= 65 and sex = 'F'")
    wanted = release.ask("age >= 65 and sex = 'F'").iloc[0]
    answer, low, high = counts([wanted[name] for name in ("answer", "low", "high")], [wanted["std_error"]])
    assert page.inner_text("#ask-number").startswith(f"{answer} ± ")
    assert f"between {low} and {high}." in page.inner_text("#ask-words")
    link = page.input_value("#ask-address")
    assert link == page.url
    again = answered(opened(path, "#" + link.split("#")[1]))
    assert again.input_value("#ask-where") == "age >= 65 and sex = 'F'"
    assert again.inner_text("#ask-number") == page.inner_text("#ask-number")
    page.select_option("#ask-by", "sex")
    page.select_option("#ask-and", "zone")
    page.fill("#ask-where", "")
    with page.expect_download() as saved:
        page.click("#ask-csv")
    saved.value.save_as(tmp_path / "answers.csv")
    with (tmp_path / "answers.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    table = release.ask("SELECT sex, zone, COUNT(*) FROM people GROUP BY sex, zone")
    assert [float(row["answer"]) for row in rows] == pytest.approx(table["answer"].tolist(), rel=1e-9)
    assert page.locator("#ask-chart td").count() == len(table)


@pytest.mark.long
def test_what_is_chosen_becomes_a_condition(sample: tuple[rs.Release, Path], opened: Opened):
    _, path = sample
    page = answered(opened(path))
    page.click("#ask-form summary")
    page.select_option("#pick-name", "age")
    page.select_option("#pick-from", label="18")
    page.select_option("#pick-below", label="65")
    page.click("#pick-add")
    assert not page.is_visible("#pick-values")
    page.select_option("#pick-name", "sex")
    assert not page.is_visible("#pick-from")
    page.select_option("#pick-values", label="F")
    page.click("#pick-add")
    assert page.input_value("#ask-where") == "age >= 18 and age < 65 and sex = 'F'"
    assert "where age >= 18 and age < 65 and sex = 'F'" in page.inner_text("#ask-words")


MISTAKES = {
    "age >": "Expected a number or a text",
    "agee = 3": "Unknown attribute",
    "age = 'x'": "cannot be compared with text",
    "sex = 'X'": "has no category",
    "age >= 18 and": "the end",
    "age >= 18 && sex = 'F'": "write and, or, not",
    "region = 'Capital' and age = 3": "not measured finely enough",
}


def test_mistakes_are_explained(sample: tuple[rs.Release, Path], opened: Opened):
    page = answered(opened(sample[1]))
    page.select_option("#ask-by", "")
    for where, words in MISTAKES.items():
        page.fill("#ask-where", where)
        assert words in page.inner_text("#ask-problem")
        assert page.get_attribute("#ask-where", "aria-invalid") == "true"
        assert not page.is_visible("#ask-result")
        page.fill("#ask-where", "")
        assert page.is_visible("#ask-result")
    assert page.heard == []


def test_the_address_of_another_release_is_explained(sample: tuple[rs.Release, Path], opened: Opened):
    page = answered(opened(sample[1], "#ask?by=income"))
    assert "does not have" in page.inner_text("#ask-problem")
    assert json.loads(page.evaluate("JSON.stringify(window.rowspace.ask([], '').rows.length)")) == 1
