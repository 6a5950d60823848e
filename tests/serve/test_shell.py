"""What all pages share: other origins, headers, addresses; and the page for analysts without a browser."""

from __future__ import annotations

import re
from html import unescape

import pytest
from starlette.testclient import TestClient

from rowspace.exceptions import InvalidInput
from rowspace.serve.runner import address, bound

from .conftest import Place, bearer

HERE = {"Origin": "http://127.0.0.1"}


@pytest.fixture
def signed_in(place: Place, client: TestClient) -> TestClient:
    response = client.post("/sign-in", data={"token": place.ann}, headers=HERE)
    assert response.status_code == 303
    cookie = response.headers["set-cookie"]
    assert "HttpOnly" in cookie
    assert "SameSite=strict" in cookie
    return client


def fields(page: str) -> dict[str, str]:
    form = page.partition('id="buy-form"')[2].partition("</form>")[0]
    return {name: unescape(value) for name, value in re.findall(r'name="(\w+)" value="([^"]*)"', form)}


def test_only_this_machine_unless_told() -> None:
    for host in ("0.0.0.0", "::", "192.0.2.1", "example.org"):
        with pytest.raises(InvalidInput, match="--public"):
            bound(host, 0)
    with bound("127.0.0.1", 0) as one:
        assert address(one).startswith("http://127.0.0.1:")
        with pytest.raises(InvalidInput, match="cannot be bound"):
            bound("127.0.0.1", one.getsockname()[1])
    with bound("0.0.0.0", 0, public="ask.example.org"):
        pass


def test_other_origins_are_refused(place: Place, signed_in: TestClient) -> None:
    assert signed_in.get("/health", headers={"Host": "evil.example"}).status_code == 400
    page = signed_in.get("/", params={"q": "age < 2", "within": "20"}).text
    for headers in (
        {},
        {"Origin": "http://evil.example"},
        {"Origin": "null"},
        {"Origin": "http://127.0.0.1:1"},
    ):
        for path in ("/buy", "/sign-in", "/sign-out"):
            assert signed_in.post(path, data=fields(page), headers=headers).status_code == 403
    assert place.ledger.budget().charges == 0
    # The API takes no cookie, and allows no other origin.
    assert signed_in.post("/v1/ask", json={"question": "age < 2", "within": 20}).status_code == 401
    asked = {"Origin": "http://evil.example", "Access-Control-Request-Method": "POST"}
    assert "access-control-allow-origin" not in signed_in.options("/v1/ask", headers=asked).headers


def test_what_is_not_there_is_said_in_a_sentence(client: TestClient) -> None:
    page = client.get("/nowhere", headers={"Accept": "text/html"})
    assert page.status_code == 404
    assert "There is nothing at this address." in page.text
    assert client.get("/v1/nowhere").json()["detail"] == "there is nothing at this address"
    wrong = client.delete("/v1/budget")
    assert (wrong.status_code, wrong.json()["detail"]) == (405, "this address is not asked in that way")


def test_headers(place: Place, client: TestClient) -> None:
    for path in ("/health", "/sign-in", "/v1/budget", "/nowhere"):
        headers = client.get(path).headers
        assert headers["x-content-type-options"] == "nosniff"
        assert "frame-ancestors 'none'" in headers["content-security-policy"]
        assert headers["cache-control"] == "no-store"
        assert "server" not in headers


def test_the_page_pays_once(place: Place, signed_in: TestClient) -> None:
    question = {"q": "age < 2", "within": "20", "level": "0.95"}
    page = signed_in.get("/", params=question).text
    form = fields(page)
    assert set(form) == {"q", "within", "level", "key", "most"}
    first, second = (signed_in.post("/buy", data=form, headers=HERE) for _ in range(2))
    assert first.status_code == second.status_code == 303
    assert first.headers["location"] == second.headers["location"]
    answers = [signed_in.get(first.headers["location"]).text for _ in range(2)]
    shown = [re.search('ask-number">([^<]*)<', answer) for answer in answers]
    assert shown[0] is not None
    assert shown[0][1] == shown[1][1]  # type: ignore[index]
    assert place.ledger.budget().charges == 1
    # It is known now: the question without a key shows no button.
    assert 'id="buy-form"' not in signed_in.get("/", params=question).text
    assert "Free: known before." in signed_in.get("/", params=question).text


def test_the_page_keeps_to_the_price_that_it_showed(place: Place, signed_in: TestClient) -> None:
    form = fields(signed_in.get("/", params={"q": "age < 2", "within": "20"}).text)
    assert float(form["most"]) > 0
    refused = signed_in.post("/buy", data=form | {"within": "2"}, headers=HERE)
    assert refused.status_code == 409
    assert "agreed" in refused.text
    assert place.ledger.budget().charges == 0


def test_texts_stay_text(signed_in: TestClient) -> None:
    hostile = "\"'></script><img src=x onerror=alert(1)>"
    page = signed_in.get("/", params={"q": hostile, "within": hostile, "level": hostile, "key": "k"})
    assert page.status_code == 422
    assert "<img" not in page.text


def test_a_page_needs_a_token(place: Place, client: TestClient) -> None:
    assert client.get("/").headers["location"] == "/sign-in"
    assert client.post("/sign-in", data={"token": "guess"}, headers=HERE).status_code == 401
    assert (
        client.get(f"/sign-in?token={place.ann}").status_code == 200
    )  # links are for a token of a single run
    assert client.post("/buy", data={}, headers=HERE).status_code == 422
    client.post("/sign-in", data={"token": place.sam}, headers=HERE)
    page = client.get("/", params={"q": "age < 2", "within": "20"}).text
    assert "Costs" in page
    assert 'id="buy-form"' not in page
    assert bearer(place.sam)["Authorization"] not in page


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        ({"q": "agee < 3"}, "Unknown attribute &#39;agee&#39;; did you mean &#39;age&#39;?<"),
        ({"q": "age <"}, "Expected a number"),
        ({"q": "age < 3", "within": "twenty"}, "Expected a number above 0 as the accuracy, such as 20.<"),
        ({"q": "age < 3", "within": "-1"}, "Expected a number above 0 as the accuracy, such as 20.<"),
    ],
)
def test_mistakes_are_sentences(signed_in: TestClient, asked: dict[str, str], said: str) -> None:
    page = signed_in.get("/", params=asked)
    assert page.status_code == 422
    assert said in page.text
    assert "(position" not in page.text


def test_one_charge_is_one_number(signed_in: TestClient) -> None:
    form = fields(signed_in.get("/", params={"q": "age < 2", "within": "20"}).text)
    page = signed_in.get(signed_in.post("/buy", data=form, headers=HERE).headers["location"]).text
    paid, listed = re.search(r"Paid (\S+) rho", page), re.search(r"<td>([^<]*) rho</td>", page)
    assert paid is not None
    assert listed is not None
    assert paid[1] == listed[1]


def test_a_steward_sees_what_each_may_spend(place: Place, client: TestClient) -> None:
    for token, seen in ((place.sam, True), (place.bob, False)):
        client.post("/sign-in", data={"token": token}, headers=HERE)
        page = client.get("/", params={"q": "age < 2", "within": "20"}).text
        assert ("What each analyst may spend" in page) == seen
        assert ("only an analyst can spend it" in page) == seen


def test_a_browser_that_is_lost_gets_a_page(client: TestClient) -> None:
    page = client.get("/nowhere", headers={"Accept": "text/html,*/*"})
    assert (page.status_code, page.headers["content-type"]) == (404, "text/html; charset=utf-8")
    assert client.get("/nowhere").headers["content-type"] == "application/problem+json"
