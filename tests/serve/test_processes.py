"""Several real processes on one ledger: one truth, caps that hold, no double charge, requests that finish."""

from __future__ import annotations

import signal
import threading
import time
from fractions import Fraction
from multiprocessing import get_context
from pathlib import Path

import pytest
import uvicorn
from benchmarks.serve import Client, Service, at_once
from uvicorn.supervisors import multiprocess

from rowspace.serve import runner
from tests.cli.running import rowspace

from .conftest import laid_out


def test_two_processes_are_one_truth(tmp_path: Path) -> None:
    place = laid_out(tmp_path, rho=0.9)
    body = {"question": "age < 2", "within": 6}
    with Service(tmp_path) as one, Service(tmp_path, "--workers", "2") as two:
        # The same key at both at once: paid once, answered alike.
        found = []
        ports = [one.port, two.port] * 3
        at_once(
            [
                lambda port=port: found.append(Client(port, place.ann).post("/v1/ask", body, "k"))
                for port in ports
            ]
        )
        assert [status for status, _ in found] == [200] * 6
        assert all(answer == found[0][1] for _, answer in found)
        assert place.ledger.budget().charges == 1
        # What one bought, the other knows.
        for port in (one.port, two.port):
            assert Client(port, place.bob).post("/v1/price", body)[1]["free"]
        # Everybody goes for the rest: nobody overspends, and what is refused is not charged.
        more = []
        for number in range(12):
            asked = {
                "question": f"age = {number % 4} and sex = '{'FM'[number % 2]}'",
                "within": 3.5 - 0.1 * number,
            }
            port, token = ports[number % 2], (place.ann, place.bob)[number % 3 == 0]
            more.append(
                lambda port=port, token=token, asked=asked: found.append(
                    Client(port, token).post("/v1/ask", asked)
                )
            )
        at_once(more)
        assert {status for status, _ in found} <= {200, 409}
        stopped = time.monotonic()
    assert time.monotonic() - stopped < 30
    ledger = place.ledger
    spent = [charge.cost.rho for charge in ledger.history()]
    assert sum(spent) == ledger.budget().spent <= Fraction(9, 10)
    assert sum(charge.cost.rho for charge in ledger.history() if charge.who == "analyst:bob") <= Fraction(
        1, 2
    )
    assert len(spent) == len(
        {answer["charge"] for status, answer in found if status == 200 and answer["charge"]}
    )


def test_a_worker_that_starts_slowly_is_not_killed(monkeypatch: pytest.MonkeyPatch) -> None:
    # On a busy machine loading takes longer than uvicorn waits by itself, for this worker and the one in its place.
    kept: list[uvicorn.Config] = []

    class Kept:
        def __init__(self, config: uvicorn.Config, sockets: object) -> None:
            kept.append(config)

        def run(self) -> None:
            pass

    monkeypatch.setattr(runner, "_Workers", Kept)
    with runner.bound("127.0.0.1", 0) as socket:
        runner.run("rowspace.serve.app:from_environment", socket, workers=2)
    assert kept[0].timeout_worker_healthcheck >= 60


def test_a_worker_that_dies_during_a_ping_is_started_again_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    # It was waited for as long as for a busy one, a minute, while the others that had died were not started again.
    monkeypatch.setattr(signal, "signal", lambda *_: None)
    started: list[object] = []

    class Next:
        def __init__(self, *given: object) -> None:
            pass

        def start(self) -> None:
            started.append(self)

    config = uvicorn.Config("no:app", workers=1, timeout_worker_healthcheck=3600)
    workers = runner._Workers(config, [])
    dying = multiprocess.Process(config, [])
    dying.process = get_context("spawn").Process(target=dying.child_conn.poll, args=(None,), daemon=True)
    dying.start()  # and ends with the first ping, which it does not answer
    monkeypatch.setattr(multiprocess, "Process", Next)
    workers.processes = [dying]
    looking = threading.Thread(target=workers.keep_subprocess_alive, daemon=True)
    looking.start()
    looking.join(60)
    assert workers.processes == started != []


def test_a_stop_lets_requests_finish(tmp_path: Path) -> None:
    place = laid_out(tmp_path)
    with Service(tmp_path) as service:
        found: list[int] = []
        body = {"question": [f"age = {n % 4}" for n in range(100)], "within": 1.0}
        asking = threading.Thread(
            target=lambda: found.append(Client(service.port, place.ann).post("/v1/ask", body)[0])
        )
        asking.start()
        time.sleep(0.02)
        service.process.send_signal(signal.SIGTERM)
        asking.join(600)
        assert service.process.wait(600) == 143
        # It was answered, or had not reached the process yet: never cut off.
        assert found in ([200], [])
        assert len(found) == place.ledger.budget().charges


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--host", "0.0.0.0"), "--public"),
        (("--port", "99999999"), "port"),
        (("--tokens", "missing.toml"), "missing.toml"),
        (("--workers", "0"), "--workers"),
        (("--dataset", "other"), "other"),
    ],
)
def test_a_service_that_cannot_start_says_why(tmp_path: Path, words: tuple[str, ...], said: str) -> None:
    laid_out(tmp_path)
    files = [str(tmp_path / name) for name in ("study.toml", "data.csv")]
    ended = rowspace("serve", *files, "--ledger", str(tmp_path / "budget.db"), "--port", "0", *words)
    assert ended.code in (1, 2)
    assert said in ended.err
