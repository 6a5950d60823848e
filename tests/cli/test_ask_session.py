"""``rowspace ask STUDY DATA --ledger``: prices, answers, and what is refused before anything is charged."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

import rowspace as rs
from tests.cli.running import Ended, rowspace, unchanged
from tests.study.examples import SMALL

SURE = ("--within", 0.4, "--level", 0.999999)


@pytest.fixture
def open_budget(folder: Path) -> Path:
    """A folder with a study, its data, and a budget that pays for anything."""
    (folder / "study.toml").write_text(SMALL.replace("epsilon = 1.0", "rho = 1.0"))
    rs.Ledger(folder / "budget.db").create("people", rs.ZCDP(1e6))
    return folder


def ask(folder: Path, *arguments: object) -> Ended:
    ledger = folder / "budget.db"
    return rowspace("ask", folder / "study.toml", folder / "people.csv", *arguments, "--ledger", ledger)


def document(ended: Ended) -> dict[str, Any]:
    assert ended.code == 0, ended.err
    return json.loads(ended.out)


def spent(folder: Path) -> float:
    return float(rs.Ledger(folder / "budget.db").budget().spent)


@pytest.mark.parametrize(
    "text",
    [
        "age < 5",
        "age < 5 and sex = 'F'",
        "sex = 'M' or age >= 18",
        "SELECT COUNT(*) FROM people WHERE age >= 7",
    ],
)
def test_answers_are_pandas_at_tiny_noise(open_budget: Path, text: str) -> None:
    people = pd.read_csv(open_budget / "people.csv")
    condition = text.split("WHERE ")[-1].replace(" = ", " == ")
    row = document(ask(open_budget, text, *SURE, "--json"))["answers"][0]
    assert row["answer"] == pytest.approx(len(people.query(condition)), abs=0.5)
    assert row["high"] - row["low"] <= 0.8 * (1 + 1e-9)


def test_groups_of_sql_are_pandas_at_tiny_noise(open_budget: Path) -> None:
    people = pd.read_csv(open_budget / "people.csv")
    found = document(ask(open_budget, "SELECT sex, COUNT(*) FROM people GROUP BY sex", *SURE, "--json"))
    by = {row["query"]: round(row["answer"]) for row in found["answers"]}
    for sex, count in people.groupby("sex").size().items():
        assert [value for words, value in by.items() if words.endswith(sex)] == [count]


def test_a_price_is_what_is_charged_and_then_it_is_free(open_budget: Path) -> None:
    with unchanged(open_budget):
        priced = document(ask(open_budget, "age < 5", "--within", 20, "--price", "--json"))
    assert priced["affordable"] is True
    bought = document(ask(open_budget, "age < 5", "--within", 20, "--json"))
    assert bought["cost"] == priced["price"] == pytest.approx(spent(open_budget), rel=1e-12)
    assert (bought["charge"], bought["unit"]) == (1, "rho")
    again = document(ask(open_budget, "age < 5", "--within", 20, "--json"))
    assert (again["cost"], again["charge"]) == (0, None)
    assert again["answers"] == bought["answers"]
    free = ask(open_budget, "age < 5", "--within", 20, "--price")
    assert "free" in free.out


def test_people_read_answer_and_cost(open_budget: Path) -> None:
    ended = ask(open_budget, "age < 5", "sex = 'F'", "--within", 20)
    assert ended.code == 0
    for words in ("age < 5", "sex = 'F'", "95 % interval", "rho", "left"):
        assert words in ended.out


def test_a_request_is_answered_once(open_budget: Path) -> None:
    wanted = ("age < 5", "--within", 20, "--request-id", "monday", "--json")
    first = document(ask(open_budget, *wanted))
    document(ask(open_budget, "age < 5", "--within", 5, "--json"))  # meanwhile more is known
    assert document(ask(open_budget, *wanted))["answers"] == first["answers"]
    other = ask(open_budget, "age < 6", "--within", 20, "--request-id", "monday")
    assert other.code == 1
    assert "used for another question" in other.err


def test_without_an_accuracy_only_what_is_known_is_used(open_budget: Path) -> None:
    ended = ask(open_budget, "age < 5")
    assert ended.code == 1
    assert "nothing is known yet" in ended.err
    ask(open_budget, "age < 5", "--within", 20)
    before = spent(open_budget)
    assert ask(open_budget, "age < 5").code == 0
    assert spent(open_budget) == before


@pytest.mark.parametrize(
    ("arguments", "words", "code"),
    [
        (("--within", 20), "at least one QUERY", 2),
        (("age < 5", "--price"), "--price needs --within", 2),
        (("age < 5", "--within", 0), "within", 2),
        (("age < 5", "--within", "nan"), "within", 2),
        (("age <", "--within", 20), "position 5", 1),
        (("height < 5", "--within", 20), "height", 1),
        (("age < 5", "--within", 20, "--level", 1), "level", 2),
        (("age < 5", "--within", 20, "--dataset", "others"), "others", 1),
    ],
)
def test_what_is_refused_costs_nothing(
    open_budget: Path, arguments: tuple[object, ...], words: str, code: int
) -> None:
    with unchanged(open_budget):
        ended = ask(open_budget, *arguments)
    assert ended.code == code, ended.out
    assert words in ended.err
    assert "Traceback" not in ended.err


def test_data_that_cannot_be_read_costs_nothing(open_budget: Path) -> None:
    (open_budget / "people.csv").write_text("height\n3\n")
    ended = ask(open_budget, "age < 5", "--within", 20)
    assert ended.code == 1
    assert spent(open_budget) == 0


def test_options_of_a_session_need_its_ledger(released: Path) -> None:
    ended = rowspace("ask", released, "age < 5", "--within", 20)
    assert ended.code == 2
    assert "--ledger" in ended.err


def test_quantiles_are_those_of_a_session(open_budget: Path) -> None:
    asked = ("--quantiles", "age", 0.25, "0.5", "--within", 20)
    price = document(ask(open_budget, *asked, "--price", "--json"))["price"]
    assert spent(open_budget) == 0
    found = document(ask(open_budget, *asked, "--json", "--request-id", "monday"))
    assert found["cost"] == pytest.approx(price)
    assert spent(open_budget) == pytest.approx(price)
    study = rs.Study.load(open_budget / "study.toml")
    session = rs.Session(study.domain, open_budget / "people.csv", ledger=open_budget / "budget.db")
    table = session.quantiles("age", [0.25, 0.5], within=20)
    assert found["quantiles"] == table.to_dict(orient="records")
    ended = ask(open_budget, *asked, "--request-id", "monday")
    assert f"{table['value'][1]:.6g}" in ended.out
    # What is known already: without --within.
    assert document(ask(open_budget, "--quantiles", "age", 0.25, 0.5, "--json"))["cost"] == 0
    assert spent(open_budget) == pytest.approx(price)


def test_quantiles_of_a_release(released: Path) -> None:
    made = rs.Release.load(released)
    ended = rowspace("ask", released, "--quantiles", "age", 0.5, "--json")
    assert document(ended)["quantiles"] == made.quantiles("age", [0.5]).to_dict(orient="records")
    ended = rowspace("ask", released, "--quantiles", "sex", 0.5)
    assert ended.code == 1
    assert "its categories have no order" in ended.err


@pytest.mark.parametrize(
    ("arguments", "words"),
    [(("sex", 0.5), "no order"), (("age", 1.5), "strictly between 0 and 1"), (("age", "half"), "0.25, 0.5")],
)
def test_quantiles_that_are_none_cost_nothing(
    open_budget: Path, arguments: tuple[object, ...], words: str
) -> None:
    with unchanged(open_budget):
        ended = ask(open_budget, "--quantiles", *arguments, "--within", 20)
    assert ended.code == 1
    assert words in ended.err
