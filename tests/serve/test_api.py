"""The JSON API: prices, answers, what is free, what is left, history, keys, caps."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path

import pandas as pd
import pytest
from starlette.testclient import TestClient

import rowspace as rs
from rowspace.study import Study

from .conftest import ROWS, STUDY, Place, bearer, laid_out, running, wait

EXACT = {"within": 0.4, "level": 0.999999}
"""So precise that rounding gives the count, but for a chance of 1e-6."""


def test_every_way_to_ask_gives_pandas_counts(place: Place, client: TestClient) -> None:
    rows = pd.DataFrame(ROWS, columns=["age", "sex"])
    table = rows.groupby(["age", "sex"]).size()
    asked = [
        ({"question": "age >= 2 and sex = 'F'"}, [int(((rows.age >= 2) & (rows.sex == "F")).sum())]),
        ({"question": "SELECT sex, COUNT(*) FROM t GROUP BY sex"}, rows.groupby("sex").size().tolist()),
        ({"question": ["age = 0", "age = 3"]}, [int((rows.age == 0).sum()), int((rows.age == 3).sum())]),
        ({"table": ["age", "sex"]}, table.tolist()),
        ({"table": ["sex", "age"]}, table.tolist()),  # in the domain's order, as a session gives it
    ]
    for body, expected in asked:
        answer = client.post("/v1/ask", json=body | EXACT, headers=bearer(place.ann)).json()
        assert [round(row["answer"]) for row in answer["answers"]] == expected, answer
        assert all(
            row["low"] <= count <= row["high"] for row, count in zip(answer["answers"], expected, strict=True)
        )


def test_the_same_numbers_as_a_session(place: Place, client: TestClient) -> None:
    body = {"question": ["age < 2", "sex = 'M'"], "within": 20}
    served = client.post("/v1/ask", json=body, headers=bearer(place.ann)).json()["answers"]
    study = Study.load(place.folder / "study.toml")
    session = rs.Session(
        study.domain, str(place.folder / "data.csv"), ledger=place.ledger, expecting=study.workload
    )
    own = session.ask(body["question"], within=20).table
    for name in ("answer", "std_error", "low", "high"):
        assert [row[name] for row in served] == own[name].tolist()


def test_free_first_and_the_price_is_what_is_paid(place: Place, client: TestClient) -> None:
    body = {"question": "age < 2", "within": 20}
    price = client.post("/v1/price", json=body, headers=bearer(place.ann)).json()
    assert not price["free"]
    assert price["reached"] is None
    refused = client.post("/v1/ask", json=body | {"most": price["price"] / 2}, headers=bearer(place.ann))
    assert refused.status_code == 409
    assert place.ledger.budget().charges == 0
    paid = client.post("/v1/ask", json=body | {"most": price["price"]}, headers=bearer(place.ann)).json()
    assert paid["cost"] == price["price"]
    (row,) = paid["answers"]
    assert (row["high"] - row["low"]) / 2 <= 20 * (1 + 1e-9)
    again = client.post("/v1/price", json=body, headers=bearer(place.bob)).json()
    assert again["free"]
    assert again["price"] == 0
    assert again["reached"] <= 20 * (1 + 1e-9)
    free = client.post("/v1/ask", json=body | {"most": 0}, headers=bearer(place.bob)).json()
    assert (free["cost"], free["charge"], free["answers"]) == (0, None, paid["answers"])
    assert place.ledger.budget().charges == 1


def test_a_key_is_paid_once_and_answers_the_same(place: Place, client: TestClient) -> None:
    body, headers = {"question": "age < 2", "within": 20}, bearer(place.ann, **{"Idempotency-Key": "monday"})
    first = client.post("/v1/ask", json=body, headers=headers)
    client.post("/v1/ask", json={"question": "age < 2", "within": 2}, headers=bearer(place.ann))
    again = client.post("/v1/ask", json=body, headers=headers)
    assert again.content == first.content
    assert place.ledger.budget().charges == 2
    other = client.post("/v1/ask", json=body | {"within": 3}, headers=headers)
    assert other.status_code == 409
    assert "ann" not in other.text
    # Another analyst's keys are their own.
    theirs = client.post("/v1/ask", json=body | {"within": 3}, headers=headers | bearer(place.bob))
    assert theirs.status_code == 200


def test_a_cap_limits_its_analyst_and_nobody_else(place: Place, client: TestClient) -> None:
    body = {"question": "age < 2", "within": 1}
    price = client.post("/v1/price", json=body, headers=bearer(place.bob)).json()
    assert price["price"] > 0.5
    assert not price["affordable"]
    assert price["best"] > 1
    assert price["left"] == "0.5"
    refused = client.post("/v1/ask", json=body, headers=bearer(place.bob))
    assert refused.status_code == 409
    assert place.ledger.budget().charges == 0
    assert client.post("/v1/ask", json=body, headers=bearer(place.ann)).status_code == 200
    assert client.get("/v1/budget", headers=bearer(place.bob)).json()["you"]["left"] == "0.5"


def test_what_is_known_left_and_done(place: Place, client: TestClient) -> None:
    before = client.get("/v1/known", headers=bearer(place.ann)).json()
    assert [group["reached"] for group in before["groups"]] == [None]
    assert [one["labels"] for one in before["attributes"]] == [["0", "1", "2", "3"], ["F", "M"]]
    paid = client.post(
        "/v1/ask", json={"table": ["age", "sex"], "within": 9}, headers=bearer(place.bob)
    ).json()
    after = client.get("/v1/known", headers=bearer(place.ann)).json()
    assert after["groups"][0]["reached"] <= 9 * (1 + 1e-9)
    assert client.get("/v1/history", headers=bearer(place.ann)).json() == []
    for token in (place.bob, place.sam):
        (charge,) = client.get("/v1/history", headers=bearer(token)).json()
        assert (charge["who"], charge["charge"]) == ("analyst:bob", paid["charge"])
    everybody = client.get("/v1/budget", headers=bearer(place.sam)).json()
    assert everybody["you"] is None
    left = {one["name"]: Fraction(one["left"]) for one in everybody["analysts"]}
    assert left["bob"] < Fraction(1, 2) < left["ann"] == Fraction(everybody["remaining"])


def test_metrics_and_logs_hold_no_question_and_no_answer(
    place: Place, client: TestClient, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level("INFO", logger="rowspace.serve")
    body = {"question": "age < 2 and sex = 'M'", "within": 20}
    answer = client.post("/v1/ask", json=body, headers=bearer(place.ann)).json()["answers"][0]["answer"]
    metrics = client.get("/metrics").text
    assert 'rowspace_answers_total{paid="yes"} 1.0' in metrics or "rowspace_answers_total" in metrics
    assert "rowspace_budget_left" in metrics
    logged = " ".join(f"{record.getMessage()} {record.__dict__.get('fields')}" for record in caplog.records)
    for text in ("age", "sex", str(answer)[:6], place.ann):
        assert text not in metrics
        assert text not in logged


def test_the_document_is_complete(client: TestClient) -> None:
    document = client.get("/openapi.json").json()
    assert set(document["paths"]) == {
        *("/v1/price", "/v1/ask", "/v1/known", "/v1/budget", "/v1/history"),
        *("/health", "/ready", "/metrics"),
    }
    assert set(document["paths"]["/v1/ask"]["post"]["responses"]) == {
        *("200", "400", "401", "403", "408", "409", "413", "415", "422", "429", "503"),
    }


def test_means_are_answered_once_they_are_paid_for(tmp_path: Path) -> None:
    study = STUDY.replace(
        "[[workload]]",
        '[measure.income]\nlow = 0\nhigh = 100\n[[workload]]\nmean = "income"\n[[workload]]',
        1,
    )
    place = laid_out(tmp_path, rho=1e6)
    (tmp_path / "study.toml").write_text(study, encoding="utf-8")
    rows = "".join(f"{age},{sex},{10 * age + 5}\n" for age, sex in ROWS)
    (tmp_path / "data.csv").write_text("age,sex,income\n" + rows, encoding="utf-8")
    frame = pd.DataFrame(ROWS, columns=["age", "sex"]).assign(income=lambda own: 10 * own.age + 5)
    with running(place.settings()) as client:
        body = {"question": "SELECT sex, AVG(income) FROM t GROUP BY sex", "within": 5, "level": 0.999999}
        answer = wait(client).post("/v1/ask", json=body, headers=bearer(place.ann))
        assert answer.status_code == 200, answer.text
        *_, women, men = answer.json()["answers"]
    assert [row["query"] for row in (women, men)] == ["mean of income, sex = F", "mean of income, sex = M"]
    for row, true in zip((women, men), frame.groupby("sex").income.mean(), strict=True):
        assert row["low"] <= true <= row["high"]
        assert abs(row["answer"] - true) < 0.1
