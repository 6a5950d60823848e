"""What the page asks of its studio: changes, targets, saving; and what is refused."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient

from rowspace.serve.tokens import digest_of
from rowspace.studio import Settings
from rowspace.study import Study

from .conftest import STUDY, TOKEN, entered, opened, settled

POSTS = ["/change", "/targets", "/save", "/cancel", "/check"]


def change(client: TestClient, revision: int = 1, **what: Any) -> Any:
    return client.post("/change", json={"revision": revision, "budget": 1.0, **what})


def test_the_plan_is_there_without_a_script(client: TestClient):
    settled(client)
    text = client.get("/").text
    for words in ("ε = 1", "age × sex", "± at 95 %", "at most a factor of 2.72", "50 %", "73.2 %", "Measure"):
        assert words in text, words


def test_only_saving_writes(client: TestClient, study: Path):
    assert change(client, do="weight", card=0, weight=3).json() == {"revision": 2}
    question = {"family": "predicates", "text": "age < 3\nsex = 'F'"}
    assert change(client, 2, do="add", question=question).json() == {"revision": 3}
    assert study.read_text(encoding="utf-8") == STUDY
    assert client.get("/news").json()["saved"] is False
    assert client.post("/save", json={"revision": 3, "budget": 0.5}).json() == {"file": "pupils.toml"}
    saved = Study.load(study)
    assert saved.privacy.epsilon == 0.5  # type: ignore[attr-defined]
    assert [part.group for part in saved.workload.parts][-1] == "predicates"
    assert client.get("/news").json()["saved"] is True
    assert [path.name for path in study.parent.iterdir()] == ["pupils.toml"]
    assert "# agreed with the board" in study.read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("question", "words"),
    [
        ({"family": "sql", "text": "DROP TABLE people"}, "a SELECT that counts"),
        ({"family": "predicates", "text": "nobody = 1"}, "nobody"),
        ({"family": "ranges", "names": ["age", "sex"]}, "choose one attribute"),
        ({"family": "marginal", "names": []}, "choose the attributes"),
        ({"family": "mean", "measure": "age"}, "measure"),
        ({"family": "sql", "text": " "}, "write SQL"),
        ({"family": "eval"}, "question"),
    ],
)
def test_what_cannot_be_asked_is_one_sentence(client: TestClient, question: dict[str, Any], words: str):
    answer = change(client, do="add", question=question)
    assert answer.status_code == 422
    detail = answer.json()["detail"]
    assert words in detail
    for place in ("entry", "(position", "\n"):  # in a file that the page does not show
        assert place not in detail
    assert client.get("/news").json()["revision"] == 1


def test_newer_work_ends_older(client: TestClient):
    for revision in range(1, 6):
        assert change(client, revision, do="weight", card=0, weight=revision + 1).status_code == 200
    found = settled(client)
    assert found["revision"] == 6
    assert found["plan"]["figures"]["own"] == 1.0
    assert 'value="6"' in client.get("/").text


def test_planning_can_be_stopped(client: TestClient):
    assert client.post("/cancel", json={}).status_code == 200
    found = client.get("/news").json()["plan"]
    assert (found["doing"], found["stopped"]) == (None, True)
    assert change(client, do="undo").status_code == 422
    assert change(client, do="weight", card=0, weight=2).status_code == 200
    assert "figures" in settled(client)["plan"]


def test_targets(client: TestClient):
    wanted = {"revision": 1, "targets": {"ranges of age": 30, "age × sex": 20}}
    assert client.post("/targets", json=wanted).status_code == 200
    found = settled(client, "targets")["targets"]["solved"]
    assert found["reached"]["age × sex"] <= 20
    wrong = client.post("/targets", json={"revision": 1, "targets": {"nobody": 30}})
    assert (wrong.status_code, "nobody" in wrong.json()["detail"]) == (422, True)


def test_an_old_page_changes_nothing(client: TestClient):
    assert change(client, do="weight", card=0, weight=2).status_code == 200
    old = change(client, 1, do="remove", card=0)
    assert (old.status_code, "another window" in old.json()["detail"]) == (409, True)


def test_a_file_that_changed_is_not_overwritten(client: TestClient, study: Path):
    study.write_text(STUDY + "# mine\n", encoding="utf-8")
    answer = client.post("/save", json={"revision": 1, "budget": 0.5})
    assert (answer.status_code, "another program" in answer.json()["detail"]) == (409, True)
    assert study.read_text(encoding="utf-8").endswith("# mine\n")
    assert change(client, do="reload").status_code == 200
    assert client.post("/save", json={"revision": 2, "budget": 0.5}).status_code == 200


def test_the_data_is_looked_at_by_check_alone(study: Path, tmp_path: Path):
    data = tmp_path / "pupils.csv"
    data.write_text("age,sex,marks\n3,F,50\n99,M,70\n", encoding="utf-8")
    with opened(Settings(study, str(data), start=digest_of(TOKEN))) as client:
        page = entered(client).get("/").text
        assert "For the curator: not private, do not publish." in page
        assert client.post("/check", json={}).status_code == 200
        found = settled(client, "look")["look"]["check"]
    assert "2 rows" in found["verdict"]
    assert found["rows"][0][0] == "age"


def test_without_data_there_is_nothing_to_look_at(client: TestClient):
    assert "curator" not in client.get("/").text.split("<main>")[1].split("</main>")[0].replace(
        "curator's", ""
    )
    assert client.post("/check", json={}).status_code == 422


def test_nothing_without_the_token(study: Path):
    with opened(Settings(study, start=digest_of(TOKEN))) as client:
        for path in ("/", "/news", "/sign-in", "/sign-in?token=wrong"):
            answer = client.get(path)
            assert answer.status_code == 401, path
            assert "Pupils" not in answer.text
        for path in POSTS:
            answer = client.post(path, json={}, headers={"origin": "http://127.0.0.1"})
            assert answer.status_code == 401, path


def test_other_origins_are_refused(client: TestClient, study: Path):
    bodies = {
        "/save": {"revision": 1, "budget": 9.0},
        "/change": {"revision": 1, "budget": 9.0, "do": "budget"},
    }
    for origin in ("http://evil.example", "null", "http://127.0.0.1:1", None):
        headers = {} if origin is None else {"origin": origin}
        client.headers.pop("origin", None)
        for path in POSTS:
            assert client.post(path, json=bodies.get(path, {}), headers=headers).status_code == 403, path
    assert client.get("/", headers={"host": "evil.example"}).status_code == 400
    headers = {"origin": "http://127.0.0.1", "content-type": "text/plain"}
    assert client.post("/save", content='{"revision": 1}', headers=headers).status_code == 415
    assert study.read_text(encoding="utf-8") == STUDY


def test_headers(client: TestClient):
    answer = client.get("/")
    assert answer.headers["cache-control"] == "no-store"
    assert answer.headers["x-content-type-options"] == "nosniff"
    assert "frame-ancestors 'none'" in answer.headers["content-security-policy"]
    policy = answer.text.split('Content-Security-Policy" content="')[1].split('"')[0]
    assert "default-src 'none'" in policy
    assert "script-src 'sha256-" in policy
    assert "unsafe-eval" not in policy
    cookie = client.get("/sign-in", params={"token": TOKEN}).headers["set-cookie"].lower()
    assert "httponly" in cookie
    assert "samesite=strict" in cookie


def test_hostile_names_stay_text(tmp_path: Path):
    bad = "</script><img src=x onerror=alert(1)>"
    path = tmp_path / "bad.toml"
    path.write_text(
        STUDY.replace("Pupils", bad)
        .replace('"F"', f'"{bad}"')
        .replace("[measure.marks]", f'[measure."{bad}"]'),
        encoding="utf-8",
    )
    with opened(Settings(path, start=digest_of(TOKEN))) as client:
        settled(entered(client))
        assert "<img" not in client.get("/").text


def test_a_body_that_is_none_is_one_sentence(client: TestClient):
    for body in (
        "{",
        "[]",
        '{"revision": "x"}',
        '{"revision": 1, "budget": -1, "do": "budget"}',
        "0" * 300_000,
    ):
        headers = {"content-type": "application/json", "origin": "http://127.0.0.1"}
        answer = client.post("/change", content=body, headers=headers)
        assert answer.status_code in (400, 413, 422), body[:20]
        assert answer.json()["detail"]


def test_a_planner_that_dies_is_told(client: TestClient):
    client.app.state.desk.plan._process.kill()  # type: ignore[attr-defined]
    time.sleep(0.1)
    assert "ended by the system" in settled(client)["plan"]["problem"]
