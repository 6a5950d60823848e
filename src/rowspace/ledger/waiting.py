"""Connections to PostgreSQL that give up a server which says nothing.

TCP notices a server that is gone. One that is stopped, or hangs on its disk, still has a kernel that answers, and no
limit of the server's own ends what it does not do: only who waits can stop waiting.

Guarantees
- A server that stops in the middle of a transaction is given up, and what became of the charge is looked up
  (tests/engines/test_waiting.py::test_a_server_that_stops_is_given_up).
"""

from __future__ import annotations

import time
from collections.abc import Generator
from typing import Any

import psycopg
from psycopg.errors import ConnectionFailure

GRACE = 10.0
"""Seconds that a server has to tell of a limit of its own that has passed."""


class PatientConnection(psycopg.Connection[Any]):
    """A connection that is closed when the server says nothing for `limit` seconds and those of grace."""

    limit = 60.0

    def wait(self, gen: Any, *arguments: Any, **named: Any) -> Any:
        """Wait as psycopg does, for what is under way on the connection."""
        return super().wait(self._within_limit(gen), *arguments, **named)

    def _within_limit(self, gen: Any) -> Generator[Any, Any, Any]:
        """The same steps; psycopg takes one, without anything ready, several times a second."""
        heard = time.monotonic()
        try:
            step = next(gen)
            while True:
                ready = yield step
                if ready:
                    heard = time.monotonic()
                elif time.monotonic() - heard > self.limit + GRACE:
                    self.pgconn.finish()  # nothing more can be said on it, not even to undo
                    raise ConnectionFailure("the server says nothing")
                step = gen.send(ready)
        except StopIteration as end:
            return end.value
