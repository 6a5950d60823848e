"""Releasing from the studio: confirmed, priced, and paid for once."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from starlette.testclient import TestClient

import rowspace as rs
from rowspace.serve.tokens import digest_of
from rowspace.studio import Settings

from .conftest import STUDY, TOKEN, entered, opened, settled


@pytest.fixture
def place(study: Path, tmp_path: Path) -> Settings:
    data = tmp_path / "pupils.csv"
    data.write_text("age,sex,marks\n" + "3,F,50\n5,M,70\n" * 50, encoding="utf-8")
    rs.Ledger(tmp_path / "budget.db").create("pupils", rs.PureDP(1.5))
    return Settings(study, str(data), ledger=str(tmp_path / "budget.db"), start=digest_of(TOKEN))


@pytest.fixture
def keeper(place: Settings) -> Iterator[TestClient]:
    with opened(place) as client:
        yield entered(client)


def charges(place: Settings) -> int:
    assert place.ledger is not None
    return rs.Ledger(place.ledger).budget().charges


def test_the_same_study_is_paid_for_once(place: Settings, keeper: TestClient):
    offered = keeper.post("/price", json={}).json()
    assert (offered["charge"], offered["left"], offered["after"]) == (
        "1 epsilon", "1.5 of 1.5 epsilon", "0.5 epsilon",
    )  # fmt: skip
    assert charges(place) == 0
    for _ in range(3):  # a double click, and once more
        assert keeper.post("/release", json={"revision": 1, "key": offered["key"]}).status_code == 200
    found = settled(keeper, "release", "released")["release"]
    released = found["released"]
    assert all((place.study.parent / name).exists() for name in released["files"])
    assert "Pupils" in keeper.get("/report").text
    assert charges(place) == 1
    again = keeper.post("/price", json={}).json()
    assert (again["paid"], again["key"], again["after"]) == (True, offered["key"], "0.5 epsilon")
    with opened(place) as other:  # a studio that was started anew
        entered(other).post("/release", json={"revision": 1, "key": offered["key"]})
        assert settled(other, "release", "released")["release"]["released"]["files"] == released["files"]
    assert charges(place) == 1


def test_what_is_not_released(place: Settings, keeper: TestClient):
    assert keeper.post("/release", json={"revision": 1, "key": "another"}).status_code == 409
    assert keeper.post("/change", json={"revision": 1, "budget": 2.0, "do": "budget"}).status_code == 200
    unsaved = keeper.post("/price", json={})
    assert (unsaved.status_code, "save it first" in unsaved.json()["detail"]) == (422, True)
    assert keeper.post("/save", json={"revision": 2}).status_code == 200
    dear = keeper.post("/price", json={})
    assert (dear.status_code, "1.5 epsilon left" in dear.json()["detail"]) == (409, True)
    place.study.write_text(STUDY.replace("[privacy]", "draft = true\n[privacy]"), encoding="utf-8")
    assert keeper.post("/change", json={"revision": 2, "do": "reload"}).status_code == 200
    assert "draft" in keeper.post("/price", json={}).json()["detail"]
    assert charges(place) == 0


def test_without_a_ledger_there_is_no_button(client: TestClient):
    assert 'id="price"' not in client.get("/").text
    assert client.post("/price", json={}).status_code == 422
    assert client.get("/report").status_code == 404
