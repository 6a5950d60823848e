"""What a page with questions holds: nothing but what follows from the release file, within a stated size."""

from __future__ import annotations

import json
import re
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import rowspace as rs
from rowspace.releases import combined_answers
from rowspace.report.explore import MOST_NUMBERS, exploration
from rowspace.report.explore.packing import Packer
from rowspace.report.html import report_page
from tests.cli.running import rowspace
from tests.doors.worlds import STRATEGIES, world

FOLDER = Path(rs.__file__).parent / "report" / "templates" / "explore"


@pytest.mark.parametrize("privacy", [rs.PureDP(1.0), rs.ZCDP(0.1)], ids=["laplace", "gaussian"])
def test_neighbours_with_equal_answers_give_equal_files(
    privacy: rs.privacy.Privacy, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    domain = rs.Domain(age=rs.Numeric(0, 10, bins=10), sex=rs.Categorical(["F", "M"], outside="drop"))
    queries = rs.workload.marginals(domain, up_to=2) + rs.workload.ranges(domain, "age")
    plan = rs.plan(queries, privacy, effort="fast")
    people = pd.DataFrame({"age": [1, 2, 3, 9] * 9, "sex": ["F", "M"] * 18})
    other = pd.DataFrame({"age": [4], "sex": ["other"]})  # of no cell
    tables = {"all": people, "one less": people.iloc[1:], "one more, of no cell": pd.concat([people, other])}
    monkeypatch.setattr("rowspace.measure.draw", lambda _noise, size, _random: np.zeros(size, dtype=np.int64))
    exact = {name: rs.release(plan, table).noisy_answers for name, table in tables.items()}
    assert not np.array_equal(exact["all"], exact["one less"])
    answers = exact["all"] + 3  # some noise makes them of any of the tables

    def made(name: str, answers: np.ndarray) -> tuple[bytes, str, str]:
        """A release, its page and its page with questions, as files; of a table whose noise makes these answers."""
        noise = answers - exact[name]
        monkeypatch.setattr("rowspace.measure.draw", lambda _noise, _size, _random: noise.copy())
        file, pages = tmp_path / "people.rel", []
        file.write_bytes(rs.release(plan, tables[name]).to_bytes())
        for more in ([], ["--explore"]):
            page = tmp_path / "page.html"
            assert rowspace("report", file, "-o", page, "--force", *more).code == 0
            pages.append(page.read_text(encoding="utf-8"))
        return file.read_bytes(), *pages

    files = {name: made(name, answers) for name in tables}
    assert len(set(files.values())) == 1
    # Of other answers they are others, so that this could have failed.
    assert all(one != own for one, own in zip(made("all", answers + 1), files["all"], strict=True))


@pytest.mark.parametrize("number", range(len(STRATEGIES)))
def test_the_release_file_says_it_all(number: int):
    release = world(number).noisy
    again = rs.Release.from_bytes(release.to_bytes())
    assert exploration(release, 0.9) == exploration(again, 0.9)


def test_stated_size():
    pack = Packer()
    pack.array(np.zeros(MOST_NUMBERS))
    with pytest.raises(rs.exceptions.TooLarge):
        pack.array([1.0])
    domain = rs.Domain({f"a{at}": rs.Numeric(0, 600, bins=600) for at in range(4)})
    queries = rs.workload.marginal(domain, "a0", "a1") + rs.workload.marginal(domain, "a1", "a2", "a3")
    plan = rs.plan(
        rs.workload.marginal(domain, "a0") + rs.workload.marginals(domain, up_to=2),
        rs.ZCDP(0.1),
        effort="fast",
    )
    assert queries.size > MOST_NUMBERS
    release = rs.Release(plan, np.zeros(plan.strategy.shape[0], dtype=np.int64))
    found = exploration(release, 0.95)
    assert not found.conditions
    assert "measured tables" in found.words
    assert len(found.data) < 12_000_000


def test_several_releases_are_asked_together(monkeypatch: pytest.MonkeyPatch):
    domain = rs.Domain(age=rs.Numeric(0, 4, bins=4), sex=rs.Categorical(["F", "M"]))
    joint = rs.workload.marginal(domain, "age", "sex")
    plans = [rs.plan(queries, rs.PureDP(1.0)) for queries in (rs.workload.marginals(domain, up_to=1), joint)]
    both = rs.combine([rs.release(plan, np.arange(8)) for plan in plans])
    assert exploration(both, 0.95).conditions
    # Averaged query by query there is no one estimate to ask.
    monkeypatch.setattr(combined_answers, "FEW_CELLS", 10**6)
    monkeypatch.setattr(combined_answers, "DECOMPOSITION_LIMIT", 4)
    found = exploration(rs.combine(list(both.releases)), 0.95)
    assert not found.conditions
    assert json.loads(found.data)["tables"][1]["by"][0]["name"] == "age"


def test_pages_without_questions_have_no_panel():
    release = world(1).noisy
    assert 'id="ask"' not in report_page(release)
    assert "rowspace = Object" not in report_page(release)


def test_every_script_is_in_the_page_and_evaluates_nothing():
    order = (FOLDER / "order.txt").read_text().split()
    assert sorted(order) == sorted(path.name for path in FOLDER.glob("*.js"))
    source = "\n".join((FOLDER / name).read_text() for name in order)
    for forbidden in (
        r"\beval\b\(",
        r"new Function",
        r"innerHTML",
        r"insertAdjacentHTML",
        r"document\.write",
        r"\bfetch\(",
    ):
        assert not re.search(forbidden, source), forbidden


def test_numbers_keep_their_bits():
    for values in ([1, -128], [1, 300], [2**20], [0.1, 1 / 3], [2.0**40]):
        ((kind, _),) = Packer().array(values).items()
        assert kind == {"[1, -128]": "i1", "[1, 300]": "i2", "[1048576]": "i4"}.get(str(values), "f8")
