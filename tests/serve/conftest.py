"""A small study with its data, budget and tokens, and a service of it in this process."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from starlette.testclient import TestClient

import rowspace as rs
from rowspace.serve import Settings, create_app
from rowspace.serve.tokens import add

STUDY = """
[study]
name = "Small"
[privacy]
rho = 0.1
[domain.age]
type = "numeric"
low = 0
high = 4
bins = 4
integer = true
[domain.sex]
type = "categorical"
categories = ["F", "M"]
[[workload]]
marginal = ["age", "sex"]
"""
ROWS = [(age, sex) for age in range(4) for sex in "FM" for _ in range(10 * (age + 1) + 5 * (sex == "M"))]
"""By age: 25, 45, 65, 85."""


@dataclass
class Place:
    """The files of a service, and its tokens."""

    folder: Path
    ann: str
    bob: str
    sam: str

    def settings(self, **changes: object) -> Settings:
        paths = (str(self.folder / name) for name in ("study.toml", "data.csv", "budget.db"))
        return Settings(*paths, tokens=str(self.folder / "tokens.toml"), **({"rate": 1e6} | changes))  # type: ignore[arg-type]

    @property
    def ledger(self) -> rs.Ledger:
        return rs.Ledger(self.folder / "budget.db", patience=1.0)


def laid_out(folder: Path, rho: float = 1000.0) -> Place:
    (folder / "study.toml").write_text(STUDY, encoding="utf-8")
    (folder / "data.csv").write_text("age,sex\n" + "".join(f"{a},{s}\n" for a, s in ROWS), encoding="utf-8")
    rs.Ledger(folder / "budget.db").create("small", rs.ZCDP(rho))
    tokens = folder / "tokens.toml"
    ann, bob = (add(tokens, name, "analyst", cap, None) for name, cap in (("ann", None), ("bob", 0.5)))
    return Place(folder, ann, bob, add(tokens, "sam", "steward", None, None))


def running(settings: Settings) -> TestClient:
    """A client of a service that is ready; use it as a context."""
    return TestClient(create_app(settings), base_url="http://127.0.0.1", follow_redirects=False)


def wait(client: TestClient) -> TestClient:
    while client.get("/ready").status_code == 503:
        time.sleep(0.02)
    return client


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return laid_out(tmp_path)


@pytest.fixture
def client(place: Place) -> Iterator[TestClient]:
    with running(place.settings()) as found:
        yield wait(found)


def bearer(token: str, **more: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {token}", **more}
