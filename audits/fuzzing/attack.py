"""Feeding a parser: what it accepts, what it refuses, and what it must never do."""

from __future__ import annotations

import contextlib
import signal
import threading
import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from rowspace.exceptions import RowspaceError

SECONDS_EACH = 10.0
"""Most processor time that a parser may take over one input; the inputs are small, and the machine may be busy."""


@dataclass(frozen=True)
class Parser:
    """Something that reads input from anyone: how inputs are drawn, and how they are read."""

    name: str
    draw: Callable[[np.random.Generator], Any]
    read: Callable[[Any], object]


@dataclass
class Outcome:
    """What a parser did with its inputs; `failures` must stay empty."""

    inputs: int = 0
    accepted: int = 0
    refused: int = 0
    slowest: float = 0.0
    failures: list[str] = field(default_factory=list)

    def add(self, other: Outcome) -> None:
        """Count what the same parser did with other inputs, too."""
        self.inputs += other.inputs
        self.accepted += other.accepted
        self.refused += other.refused
        self.slowest = max(self.slowest, other.slowest)
        self.failures += other.failures

    def __str__(self) -> str:
        parts = f"{self.inputs:,} inputs, {self.accepted:,} accepted, slowest {self.slowest:.2f} s"
        return (
            parts if not self.failures else f"{parts}; {len(self.failures)} failed: {self.failures[0][:300]}"
        )


class Hang(BaseException):
    """A parser took too long. No `Exception`, so that nothing on the way takes it for one of its own."""


def attack(parser: Parser, inputs: int, seed: int | Sequence[int], most_failures: int = 20) -> Outcome:
    """Feed a parser: success and `RowspaceError` are well, everything else is a failure, warnings too."""
    rng = np.random.default_rng(seed)
    outcome = Outcome()
    while outcome.inputs < inputs and len(outcome.failures) < most_failures:
        outcome.inputs += 1
        feed(parser, parser.draw(rng), outcome)
    return outcome


def feed(parser: Parser, given: Any, outcome: Outcome) -> None:
    """Feed one input and write down what came of it."""
    start = time.process_time()
    try:
        with _time_limit(SECONDS_EACH), warnings.catch_warnings():
            warnings.simplefilter("error")
            # A saved matrix may hold 1e308, and its error is then infinite: numpy says so, and rightly.
            warnings.filterwarnings("ignore", "overflow|invalid value|divide by zero", RuntimeWarning)
            parser.read(given)
        outcome.accepted += 1
    except RowspaceError:
        outcome.refused += 1
    except (Exception, Hang) as error:  # what must not happen, whatever it is
        outcome.failures.append(f"{type(error).__name__}: {str(error)[:100]} on {given!r}")
    outcome.slowest = max(outcome.slowest, time.process_time() - start)


@contextlib.contextmanager
def _time_limit(seconds: float) -> Iterator[None]:
    """Raise `Hang` after so many seconds of the processor, where signals can be had."""
    if threading.current_thread() is not threading.main_thread() or not hasattr(signal, "setitimer"):
        yield
        return

    def ring(*_: object) -> None:
        raise Hang(f"took more than {seconds:g} s")

    before = signal.signal(signal.SIGPROF, ring)
    signal.setitimer(signal.ITIMER_PROF, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)
