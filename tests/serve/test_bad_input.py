"""Whatever is wrong: the right status, one sentence, nothing charged, no value of the data."""

from __future__ import annotations

import sqlite3
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import anyio
import pytest
from starlette.testclient import TestClient

from rowspace.serve import shell
from rowspace.serve.tokens import add, revoke

from .conftest import Place, bearer, laid_out, running, wait

GOOD = {"question": "age < 2", "within": 20}
JSON = {"Content-Type": "application/json"}


def refused(response: Any, status: int, *words: str) -> None:
    assert response.status_code == status, response.text
    assert response.headers["content-type"] == "application/problem+json"
    body = response.json()
    assert body["status"] == status
    assert "\n" not in body["detail"]
    for word in words:
        assert word in body["detail"]


@pytest.mark.parametrize(
    ("body", "status", "word"),
    [
        ({"question": "nobody = 1", "within": 20}, 422, "nobody"),
        ({"question": "age <", "within": 20}, 422, ""),
        ({"question": "SELECT age FROM t", "within": 20}, 422, ""),
        ({"question": "DROP TABLE t", "within": 20}, 422, ""),
        ({"question": "SELECT MAX(age) FROM t", "within": 20}, 422, ""),
        ({"table": ["nobody"], "within": 20}, 422, "nobody"),
        ({"within": 20}, 422, "either a question or a table"),
        ({"question": "age < 2", "table": ["age"], "within": 20}, 422, "either"),
        ({"question": "age < 2", "within": 0}, 422, "within"),
        ({"question": "age < 2", "within": -1}, 422, "within"),
        ({"question": "age < 2", "within": [1, 2]}, 422, "one half-width for each"),
        ({"question": "age < 2", "within": "x"}, 422, "within"),
        ({"question": "age < 2", "within": 20, "level": 1}, 422, "level"),
        ({"question": "age < 2", "within": 20, "hidden": 1}, 422, "hidden"),
        ({"question": ["age < 2"] * 201, "within": 20}, 422, "question"),
        ({"question": "age < 2"}, 409, "nothing is known yet"),
        ([], 422, ""),
    ],
)
def test_questions_that_cannot_be(
    place: Place, client: TestClient, body: Any, status: int, word: str
) -> None:
    refused(client.post("/v1/ask", json=body, headers=bearer(place.ann)), status, word)
    assert place.ledger.budget().charges == 0


def test_bodies_that_are_none(place: Place, client: TestClient) -> None:
    own = bearer(place.ann)
    refused(client.post("/v1/ask", content=b"{", headers=own | JSON), 400, "JSON")
    refused(client.post("/v1/ask", content=b"\xff\xfe", headers=own | JSON), 400)
    refused(client.post("/v1/ask", content=b"{}", headers=own | {"Content-Type": "text/plain"}), 415)
    refused(client.post("/v1/ask", content=b"x" * 300_000, headers=own | JSON), 413)
    refused(client.post("/v1/ask", content=iter([b"x" * 300_000]), headers=own | JSON), 413)
    refused(client.get("/v1/nothing", headers=own), 404)
    refused(client.get("/v1/ask", headers=own), 405)
    refused(
        client.post("/v1/ask", json=GOOD, headers=own | {"Idempotency-Key": "a b"}), 422, "Idempotency-Key"
    )
    nested = b'{"question":' + b"[" * 50_000 + b"]" * 50_000 + b"}"
    assert client.post("/v1/ask", content=nested, headers=own | JSON).status_code in (400, 422)


def test_a_body_that_does_not_arrive(
    place: Place, client: TestClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(shell, "SECONDS_TO_SEND", 0.2)
    parts = iter([b'{"question"'])
    sent: list[Any] = []

    async def receive() -> dict[str, Any]:
        for part in parts:
            return {"type": "http.request", "body": part, "more_body": True}
        return await anyio.sleep_forever()  # type: ignore[return-value]

    async def send(message: Any) -> None:
        sent.append(message)

    own = bearer(place.ann) | JSON | {"Host": "127.0.0.1"}
    scope = {"type": "http", "method": "POST", "path": "/v1/ask", "query_string": b"", "http_version": "1.1"}
    scope["headers"] = [(name.lower().encode(), value.encode()) for name, value in own.items()]
    assert client.portal is not None
    client.portal.call(client.app, scope, receive, send)
    headers = dict(sent[0]["headers"])
    assert (sent[0]["status"], headers[b"connection"]) == (408, b"close")
    assert b"expected the whole body" in sent[1]["body"]


def test_tokens_that_are_wrong_ended_or_of_another_role(place: Place, client: TestClient) -> None:
    tokens = place.folder / "tokens.toml"
    refused(client.post("/v1/ask", json=GOOD), 401, "token")
    refused(client.post("/v1/ask", json=GOOD, headers=bearer("guess")), 401)
    refused(client.post("/v1/ask", json=GOOD, headers={"Authorization": "Basic eDp5"}), 401)
    refused(client.post("/v1/ask", json=GOOD, headers=bearer(place.sam)), 403, "steward")
    ended = add(tokens, "old", "analyst", None, datetime(2020, 1, 1, tzinfo=UTC))
    refused(client.get("/v1/budget", headers=bearer(ended)), 401, "expired")
    revoke(tokens, "bob")
    refused(client.get("/v1/budget", headers=bearer(place.bob)), 401)
    assert client.get("/v1/budget", headers=bearer(place.ann)).status_code == 200
    tokens.write_text("nonsense", encoding="utf-8")
    refused(client.get("/v1/budget", headers=bearer(place.ann)), 503)
    refused(client.get("/ready"), 503)
    assert client.get("/health").status_code == 200


def test_too_many_requests(place: Place) -> None:
    with running(place.settings(rate=2.0)) as client:
        wait(client)
        found = [client.get("/v1/budget", headers=bearer(place.ann)).status_code for _ in range(6)]
        assert found[:4] == [200] * 4
        late = client.get("/v1/budget", headers=bearer(place.ann))
        refused(late, 429)
        assert int(late.headers["retry-after"]) >= 1
        assert client.get("/v1/budget", headers=bearer(place.bob)).status_code == 200


def test_a_ledger_that_is_locked_or_gone(place: Place) -> None:
    with running(place.settings()) as client:
        wait(client)
        client.app.state.desk.session.ledger._database.patience = 0.2  # type: ignore[attr-defined]
        other = sqlite3.connect(place.folder / "budget.db", isolation_level=None)
        other.execute("BEGIN EXCLUSIVE")
        busy = client.post("/v1/ask", json=GOOD, headers=bearer(place.ann))
        refused(busy, 503, "ledger")
        assert busy.headers["retry-after"] == "1"
        other.execute("ROLLBACK")
        other.close()
        assert client.post("/v1/ask", json=GOOD, headers=bearer(place.ann)).status_code == 200
        (place.folder / "budget.db").rename(place.folder / "away.db")
        gone = client.post("/v1/ask", json=GOOD, headers=bearer(place.ann))
        refused(gone, 503, "ledger")
        refused(client.get("/ready"), 503)
        assert str(place.folder) not in gone.text


def test_data_that_disappears(place: Place, client: TestClient) -> None:
    (place.folder / "data.csv").unlink()
    gone = client.post("/v1/ask", json=GOOD, headers=bearer(place.ann))
    refused(gone, 503, "the data cannot be read now")
    assert str(place.folder) not in gone.text
    assert place.ledger.budget().charges == 0


def test_a_bug_is_one_sentence_without_its_message(
    place: Place, client: TestClient, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def fail(*_: object, **__: object) -> None:
        raise RuntimeError("secret 123")

    monkeypatch.setattr(client.app.state.desk.session, "price", fail)  # type: ignore[attr-defined]
    response = client.post("/v1/price", json=GOOD, headers=bearer(place.ann))
    refused(response, 500)
    assert "secret" not in response.text
    from rowspace.serve.logs import JsonLines

    (record,) = [one for one in caplog.records if one.exc_info]
    line = JsonLines().format(record)
    assert "RuntimeError" in line
    assert "secret" not in line


def test_a_busy_start_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    place = laid_out(tmp_path)
    monkeypatch.setattr("rowspace.session.Session.prepare", lambda self: None)
    with running(place.settings()) as client:
        client.app.state.desk.is_ready = False  # type: ignore[attr-defined]
        refused(client.get("/ready"), 503, "planning")
        refused(client.post("/v1/ask", json=GOOD, headers=bearer(place.ann)), 503, "planning")
