"""`rowspace serve` under load, as real processes on loopback: `python -m benchmarks.serve [free|race|kills|soak] …`.

    free    free answers a second of one process, 1,000 cells: new questions, and questions that were asked before
    race    50 analysts race for the last of a budget, over two processes with two workers each
    kills   workers are killed (SIGKILL) 200 times while analysts buy, each after an answer of the one before: charges
            and answers are looked at afterwards
    soak    all of it mixed for ten minutes, SQL clients too: memory and descriptors of the process in time
    refused how long a question takes that the budget has no room for

Each prints what it found, and fails where a promise is broken.
"""

from __future__ import annotations

import http.client
import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from fractions import Fraction
from pathlib import Path
from typing import Any

import rowspace as rs
from rowspace.serve.tokens import add

STUDY = """
[study]
name = "Load"
[privacy]
rho = 0.1
[domain.age]
type = "numeric"
low = 0
high = 100
bins = 100
integer = true
outside = "drop"
[domain.g]
type = "categorical"
categories = ["a", "b", "c", "d", "e", "f", "g", "h", "i", "j"]
outside = "drop"
[[workload]]
marginal = ["age", "g"]
"""


def lay_out(folder: Path, rho: float = 1.0) -> Path:
    """A study of 1,000 cells, 20,000 records and a budget."""
    rng = random.Random(7)
    rows = (f"{rng.randrange(100)},{rng.choice('abcdefghij')}" for _ in range(20_000))
    (folder / "data.csv").write_text("\n".join(("age,g", *rows)) + "\n", encoding="utf-8")
    (folder / "study.toml").write_text(STUDY, encoding="utf-8")
    rs.Ledger(folder / "budget.db").create("load", rs.ZCDP(rho))
    return folder


_TRIES = 20
"""How often a request is sent again that the service is not ready for, or whose ledger is locked for too long."""


class Service:
    """A service in a process of its own, until the block ends."""

    def __init__(self, folder: Path, *words: str, ledger: str | None = None, wait: float = 600.0) -> None:
        command = [
            sys.executable,
            "-m",
            "rowspace",
            "serve",
            str(folder / "study.toml"),
            str(folder / "data.csv"),
        ]
        command += ["--ledger", ledger or str(folder / "budget.db"), "--tokens", str(folder / "tokens.toml")]
        self._log = tempfile.TemporaryFile("w+")  # noqa: SIM115 - open while the process writes
        self.process = subprocess.Popen(
            [*command, "--port", "0", "--rate", "100000", *words],
            stdout=subprocess.PIPE,
            stderr=self._log,
            text=True,
        )
        assert self.process.stdout is not None
        line = self.process.stdout.readline()
        if not line:
            raise RuntimeError(self.log())
        self.port = int(line.rstrip("/\n").rpartition(":")[2])
        if "--psql-port" in words:
            self.psql_port = int(self.process.stdout.readline().rpartition("/ ")[0].rpartition(":")[2])
        self.wait_until_ready(wait)

    def wait_until_ready(self, seconds: float) -> None:
        """Until all of its workers answer: each connection is some worker's."""
        end, ready = time.monotonic() + seconds, 0
        while True:
            try:
                ready = ready + 1 if Client(self.port).get("/ready")[0] == 200 else 0
                if ready == 20:
                    return
            except OSError:
                ready = 0
            if time.monotonic() > end or self.process.poll() is not None:
                raise RuntimeError(self.log())
            time.sleep(0.0 if ready else 0.1)

    def log(self) -> str:
        """What it has written so far."""
        self._log.seek(0)
        return self._log.read()

    def __enter__(self) -> Service:
        return self

    def __exit__(self, *error: object) -> None:
        self.process.terminate()
        self.process.wait(600)
        self.process.stdout.close()  # type: ignore[union-attr]
        self._log.close()

    def workers(self) -> list[int]:
        """The processes that answer."""
        below = Path(f"/proc/{self.process.pid}/task/{self.process.pid}/children").read_text().split()
        names = {pid: Path(f"/proc/{pid}/cmdline").read_text() for pid in below}
        return [int(pid) for pid, name in names.items() if "spawn_main" in name]


class Client:
    """One connection that is kept."""

    def __init__(self, port: int, token: str = "", timeout: float = 600.0) -> None:
        self._connection = http.client.HTTPConnection("127.0.0.1", port, timeout=timeout)
        self._headers = {"Authorization": f"Bearer {token}"} if token else {}

    def __del__(self) -> None:
        self._connection.close()

    def get(self, path: str) -> tuple[int, Any]:
        """Status and body."""
        return self._send("GET", path, None, {})

    def post(self, path: str, body: object, key: str | None = None) -> tuple[int, Any]:
        """Status and body."""
        headers = {"Content-Type": "application/json", **({"Idempotency-Key": key} if key else {})}
        return self._send("POST", path, json.dumps(body), headers)

    def _send(self, method: str, path: str, body: str | None, headers: dict[str, str]) -> tuple[int, Any]:
        try:
            self._connection.request(method, path, body, self._headers | headers)
            response = self._connection.getresponse()
            text = response.read()
        except (http.client.HTTPException, OSError):
            self._connection.close()
            raise
        return response.status, json.loads(text) if text.startswith((b"{", b"[")) else text.decode()


def at_once(work: list[Callable[[], object]]) -> None:
    """Run all of it in threads, started together."""
    gate = threading.Barrier(len(work))
    failed: list[BaseException] = []

    def run(one: Callable[[], object]) -> None:
        gate.wait()
        try:
            one()
        except BaseException as error:
            failed.append(error)

    threads = [threading.Thread(target=run, args=(one,)) for one in work]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if failed:
        raise failed[0]


def condition(rng: random.Random) -> str:
    """A question about 1,000 cells."""
    low, high = sorted((rng.randrange(100), rng.randrange(100)))
    return f"age >= {low} and age <= {high} and g = '{rng.choice('abcdefghij')}'"


@contextmanager
def folder() -> Iterator[Path]:
    """A place for one load."""
    with tempfile.TemporaryDirectory() as place:
        yield Path(place)


def free(seconds: float = 15.0) -> None:
    """Free answers a second of one process."""
    with folder() as place:
        lay_out(place)
        token = add(place / "tokens.toml", "ann", "analyst", None, None)
        with Service(place) as service:
            assert (
                Client(service.port, token).post("/v1/ask", {"table": ["age", "g"], "within": 30})[0] == 200
            )
            few = [condition(random.Random(number)) for number in range(50)]
            for name, pick in (("new", condition), ("asked before", lambda rng: rng.choice(few))):
                before = _cpu(service.process.pid)
                rate = _rate(service.port, token, pick, seconds)
                each = (_cpu(service.process.pid) - before) / (rate * seconds)
                print(f"free answers, {name} questions: {rate:.0f} a second, {1000 * each:.2f} CPU ms each")


def refused(times: int = 5) -> None:
    """How long a question takes that the budget has no room for."""
    with folder() as place:
        lay_out(place, rho=0.05)
        token = add(place / "tokens.toml", "ann", "analyst", None, None)
        with Service(place) as service:
            client = Client(service.port, token)
            assert client.post("/v1/ask", {"table": ["age", "g"], "within": 1000})[0] == 200
            took = []
            for number in range(times):
                start = time.monotonic()
                body = {"question": f"age = {number} or age = {90 + number}", "within": 2.0}
                assert client.post("/v1/ask", body)[0] == 409
                took.append(time.monotonic() - start)
            print(f"refused for lack of budget: {1000 * min(took):.0f} to {1000 * max(took):.0f} ms")


def _cpu(pid: int) -> float:
    """CPU seconds that a process has used."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def _rate(port: int, token: str, pick: Callable[[random.Random], str], seconds: float) -> float:
    done: list[int] = []
    end = time.monotonic() + seconds

    def ask(seed: int) -> None:
        client, rng, number = Client(port, token), random.Random(seed), 0
        while time.monotonic() < end:
            status, body = client.post("/v1/ask", {"question": pick(rng), "within": 5000})
            assert status == 200, body
            assert body["cost"] == 0
            number += 1
        done.append(number)

    at_once([lambda seed=seed: ask(seed) for seed in range(4)])  # type: ignore[misc]
    return sum(done) / seconds


def race(analysts: int = 50) -> None:
    """Everyone wants something of their own, and there is room for a few."""
    with folder() as place:
        lay_out(place, rho=0.05)
        tokens = [add(place / "tokens.toml", f"a{n}", "analyst", 0.02, None) for n in range(analysts)]
        found: list[int] = []
        waits: list[str] = []
        with Service(place, "--workers", "2") as one, Service(place, "--workers", "2") as two:

            def ask(number: int) -> None:
                client = Client((one, two)[number % 2].port, tokens[number])
                for step in range(3):
                    body = {
                        "question": f"age = {2 * number + step} or age = {number}",
                        "within": 12 - 3 * step,
                    }
                    key = f"{number}-{step}"
                    for _ in range(_TRIES):
                        status, said = client.post("/v1/ask", body, key)
                        if status != 503:
                            break
                        waits.append(said["detail"])  # as it says itself: again, with the same key
                        time.sleep(1.0)
                    found.append(status)

            start = time.monotonic()
            at_once([lambda number=number: ask(number) for number in range(analysts)])  # type: ignore[misc]
            seconds = time.monotonic() - start
        budget, spent = _accounts(place)
        print(
            f"{analysts} analysts, {len(found)} requests in {seconds:.0f} s: {found.count(200)} answered, ",
            end="",
        )
        print(
            f"{found.count(409)} refused, {len(found) - found.count(200) - found.count(409)} else; {budget}"
        )
        print(f"told to wait {len(waits)} times: {sorted(set(waits))}")
        assert set(found) <= {200, 409}, set(found)
        assert max(spent.values()) <= Fraction(2, 100), "a cap was exceeded"


def _accounts(place: Path) -> tuple[rs.ledger.Budget, dict[str, Fraction]]:
    """The budget, checked against its charges, and what each has spent."""
    ledger = rs.Ledger(place / "budget.db")
    budget, spent = ledger.budget(), dict[str, Fraction]()
    for charge in ledger.history():
        spent[charge.who] = spent.get(charge.who, Fraction(0)) + charge.cost.rho
    assert sum(spent.values()) == budget.spent <= budget.limit, "overspent"
    return budget, spent


def kills(number: int = 200, analysts: int = 8) -> None:
    """Workers die at any moment; whoever has no answer asks again with the same key."""
    with folder() as place:
        lay_out(place, rho=1e6)
        tokens = [add(place / "tokens.toml", f"a{n}", "analyst", None, None) for n in range(analysts)]
        answers: dict[str, Any] = {}
        stop, tries = threading.Event(), [0]
        with Service(place, "--workers", "2") as service:

            def kill() -> None:
                # Only a service that answers is worth killing: a worker takes longer to start than an answer does.
                rng, done = random.Random(3), 0
                while done < number:
                    seen, end = len(answers), time.monotonic() + 60
                    while len(answers) == seen and time.monotonic() < end:
                        time.sleep(0.01)
                    time.sleep(rng.uniform(0.0, 0.5))
                    for worker in service.workers():
                        done += 1
                        os.kill(worker, signal.SIGKILL)
                stop.set()

            def buy(who: int) -> None:
                rng, step = random.Random(who), 0
                while not stop.is_set():
                    key, step = f"k{who}-{step}", step + 1
                    body = {
                        "question": f"age = {rng.randrange(100)}",
                        "within": rng.uniform(3, 30) / (1 + step) ** 0.5,
                    }
                    while True:
                        tries[0] += 1
                        try:
                            status, answer = Client(service.port, tokens[who]).post("/v1/ask", body, key)
                        except (OSError, http.client.HTTPException):
                            continue
                        if status == 200:
                            answers[f"a{who}:{key}"] = answer
                            break
                        assert status == 503, answer
                        time.sleep(0.2)

            at_once([kill, *(lambda who=who: buy(who) for who in range(analysts))])
            again = {name: _again(service.port, tokens, name, answers[name]) for name in list(answers)[-40:]}
        paid = sorted(answer["charge"] for answer in answers.values() if answer["charge"] is not None)
        charges = [charge.id for charge in rs.Ledger(place / "budget.db").history()]
        _accounts(place)
        print(
            f"{number} kills, {tries[0]} tries: {len(answers)} answers, {len(paid)} paid, {len(charges)} charges"
        )
        assert paid == charges, "a charge was lost or made twice"
        assert all(again.values()), "an answer changed"


def _again(port: int, tokens: list[str], name: str, before: Any) -> bool:
    """Whether the same key gives the same answer."""
    who, _, key = name.partition(":")
    client = Client(port, tokens[int(who[1:])])
    (row,) = before["answers"]
    status, after = client.post("/v1/ask", {"question": row["query"], "within": _within(name)}, key)
    return status == 200 and after == before


def _within(name: str) -> float:
    """The accuracy that was asked for under a key."""
    who, _, key = name.partition(":")
    rng, last = random.Random(int(who[1:])), int(key.rpartition("-")[2])
    for _ in range(last):
        rng.randrange(100), rng.uniform(3, 30)
    rng.randrange(100)
    return float(rng.uniform(3, 30) / (2 + last) ** 0.5)


def soak(seconds: float = 600.0) -> None:
    """Free and paid questions, prices, mistakes and pages, mixed: memory and descriptors must not grow."""
    with folder() as place:
        lay_out(place, rho=1e6)
        token = add(place / "tokens.toml", "ann", "analyst", None, None)
        with Service(place, "--psql-port", "0") as service:
            assert (
                Client(service.port, token).post("/v1/ask", {"table": ["age", "g"], "within": 30})[0] == 200
            )
            end, sent = time.monotonic() + seconds, [0]
            pid, found = service.process.pid, list[tuple[float, int]]()

            def ask(seed: int) -> None:
                rng, client = random.Random(seed), Client(service.port, token)
                while time.monotonic() < end:
                    sent[0] += 1
                    match rng.randrange(20):
                        case 0:
                            client.post(
                                "/v1/ask",
                                {"question": f"age = {rng.randrange(100)}", "within": rng.uniform(5, 50)},
                            )
                        case 1:
                            client.post("/v1/price", {"question": condition(rng), "within": 2.0})
                        case 2:
                            client.post("/v1/ask", {"question": "no such = 1"})
                        case 3:
                            Client(service.port, "wrong").get("/v1/budget")
                        case 4:
                            client.get("/v1/known")
                        case _:
                            client.post("/v1/ask", {"question": condition(rng), "within": 1e6})

            def watch() -> None:
                while time.monotonic() < end:
                    time.sleep(seconds / 10)
                    status = Path(f"/proc/{pid}/status").read_text()
                    memory = int(status.partition("VmRSS:")[2].split()[0]) / 1024
                    opened = len(os.listdir(f"/proc/{pid}/fd"))
                    print(f"{sent[0]:7d} requests: {memory:.0f} MiB, {opened} descriptors", flush=True)
                    found.append((memory, opened))

            asking = [lambda seed=seed: ask(seed) for seed in range(3)]
            at_once([watch, lambda: _ask_sql(service.psql_port, token, end, sent), *asking])
            half = len(found) // 2
            assert found[-1][1] <= max(opened for _, opened in found[:half]) + 4, "descriptors grow"
            assert found[-1][0] <= 1.1 * max(memory for memory, _ in found[:half]), "memory grows"


def _ask_sql(port: int, token: str, end: float, sent: list[int]) -> None:
    """SQL clients that come and go, ask and make mistakes; nobody where psycopg is missing."""
    try:
        import psycopg
    except ImportError:
        return
    rng = random.Random(5)
    while time.monotonic() < end:
        with psycopg.connect(
            host="127.0.0.1", port=port, user="ann", password=token, autocommit=True
        ) as client:
            for _ in range(20):
                sent[0] += 1
                with suppress(psycopg.Error):
                    client.execute(f"SELECT count(*) FROM load WHERE {condition(rng)} /* within 1000000 */")
                    client.execute("SELECT g, count(*) FROM load GROUP BY g")
                    client.execute(rng.choice(["SELECT 1", "SHOW nothing", "SELECT no FROM load"]))


if __name__ == "__main__":
    known: dict[str, Callable[..., None]] = {
        "free": free, "refused": refused, "race": race, "kills": kills, "soak": soak
    }  # fmt: skip
    for name in sys.argv[1:] or list(known):
        word, _, number = name.partition("=")
        known[word](*([float(number) if word in ("free", "soak") else int(number)] if number else []))
