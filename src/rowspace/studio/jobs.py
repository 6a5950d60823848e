"""Work in a process of its own, which can be ended at any moment; what is newer ends what is older.

A process is forked from a server that has the planner loaded, so that it starts at once (where the system cannot fork,
it is started anew). It sends one message after the other; a message of a job that was ended is never looked at.
"""

from __future__ import annotations

import multiprocessing
import signal
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

from rowspace.study import Study, check

from .figures import planned, sentence, solved

Message = dict[str, Any]
_PATIENCE = 2.0


def _context() -> Any:
    kinds = multiprocessing.get_all_start_methods()
    context = multiprocessing.get_context("forkserver" if "forkserver" in kinds else "spawn")
    if "forkserver" in kinds:
        context.set_forkserver_preload(["rowspace.studio.jobs"])
    return context


def plan_study(text: str, folder: Path) -> Iterator[Message]:
    """The figures of a study, better ones behind."""
    yield {"doing": "Planning at little effort"}
    first = True
    for found in planned(Study.parse(text, folder)):
        yield {
            "figures": found,
            "doing": "Looking for better strategies" if first else "Looking at other budgets",
        }
        first = False


def solve_targets(text: str, folder: Path, targets: list[str]) -> Iterator[Message]:
    """The least budget for some targets."""
    yield {"doing": "Looking for the least budget that meets the targets"}
    yield {"solved": solved(Study.parse(text, folder), targets)}


def look(text: str, folder: Path, data: str, table: str | None) -> Iterator[Message]:
    """What a study makes of the data: for the curator only."""
    yield {"doing": "Looking at the data"}
    found = check(Study.parse(text, folder), data, table=table)
    yield {
        "check": {
            "verdict": found.verdict,
            "rows": found.table(),
            "lines": [*found.unit_lines(), *found.lines()],
        }
    }


def _work(connection: Connection, task: Callable[..., Iterator[Message]], arguments: tuple[Any, ...]) -> None:
    """In the child: send what a task yields, and at last why it ended."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is the parent's
    try:
        for message in task(*arguments):
            connection.send(message)
        connection.send({"done": True})
    except BrokenPipeError:
        pass  # nobody is listening any more
    except Exception as error:  # whatever it is, the page is told
        connection.send({"problem": sentence(error)})


@dataclass
class Job:
    """One kind of work, of which the newest alone matters. version: grows with every piece of news."""

    state: Message = field(default_factory=dict)
    version: int = 0
    _process: Any = None
    _connection: Connection | None = None
    _begun: float = 0.0

    def start(self, task: Callable[..., Iterator[Message]], *arguments: Any) -> None:
        """Begin, and end what was under way."""
        self.stop()
        context = _context()
        self._connection, theirs = context.Pipe(duplex=False)
        self._process = context.Process(target=_work, args=(theirs, task, arguments), daemon=True)
        self._process.start()
        theirs.close()
        self.state, self._begun = {"doing": "Starting"}, time.monotonic()
        self.version += 1

    def stop(self) -> None:
        """End what is under way; what was found stays."""
        if self._process is not None:
            self._process.kill()
            self._process.join(_PATIENCE)
        if self._connection is not None:
            self._connection.close()
        if "doing" in self.state:
            self.state = {name: value for name, value in self.state.items() if name != "doing"} | {
                "stopped": True
            }
            self.version += 1
        self._process = self._connection = None

    @property
    def is_working(self) -> bool:
        """Whether something is under way."""
        return self.news()._process is not None

    @property
    def seconds(self) -> float:
        """How long it has been."""
        return time.monotonic() - self._begun

    def news(self) -> Job:
        """Take in what the process has sent."""
        while self._connection is not None:
            try:
                if not self._connection.poll():
                    break
                message = self._connection.recv()
            except (EOFError, OSError):
                message = {"problem": "the planner was ended by the system, perhaps for want of memory"}
            self._take(message)
        return self

    def _take(self, message: Message) -> None:
        self.state = {**self.state, **message}
        self.version += 1
        if "done" in message or "problem" in message:
            del self.state["doing"]
            self._process.join(_PATIENCE)
            self._process = None
            if self._connection is not None:
                self._connection.close()
            self._connection = None
