"""A small study in a file, and a studio of it in this process."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient

from rowspace.serve.tokens import digest_of
from rowspace.studio import Settings, create_app

STUDY = """\
# What a school publishes.
[study]
name = "Pupils"

[privacy]
epsilon = 1.0      # agreed with the board

[domain.age]
type = "numeric"
low = 0
high = 8
bins = 8
integer = true

[domain.sex]
type = "categorical"
categories = ["F", "M"]

[measure.marks]
low = 0
high = 100

# Every range.
[[workload]]
ranges = "age"

[[workload]]
marginal = ["age", "sex"]      # the pyramid
weight = 2.0
"""
TOKEN = "the token of this run"


@pytest.fixture
def study(tmp_path: Path) -> Path:
    path = tmp_path / "pupils.toml"
    path.write_text(STUDY, encoding="utf-8")
    return path


def opened(settings: Settings) -> TestClient:
    """A client of a studio; use it as a context."""
    return TestClient(create_app(settings), base_url="http://127.0.0.1", follow_redirects=False)


def entered(client: TestClient) -> TestClient:
    assert client.get("/sign-in", params={"token": TOKEN}).status_code == 303
    client.headers["origin"] = "http://127.0.0.1"
    return client


@pytest.fixture
def client(study: Path) -> Iterator[TestClient]:
    with opened(Settings(study, start=digest_of(TOKEN))) as found:
        yield entered(found)


def settled(client: TestClient, job: str = "plan", until: str = "figures") -> dict[str, Any]:
    """What a job has found first, or when it is done."""
    for _ in range(1200):
        found: dict[str, Any] = client.get("/news").json()
        if found[job]["doing"] is None or until in found[job]:
            return found
        time.sleep(0.05)
    raise AssertionError("still working")
