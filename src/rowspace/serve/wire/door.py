"""The door for SQL clients: a socket of the process that serves HTTP, and an end that lets running statements finish.

Workers share the port: each binds it by itself, and the system hands connections to one of them.
"""

from __future__ import annotations

import asyncio
import socket
import time

from ..access import Gate
from ..desk import Desk
from ..logs import LOG
from ..metrics import REQUESTS, SECONDS
from ..runner import PATIENCE
from .catalogue import Catalogue
from .clerk import Clerk
from .connection import Connection
from .variables import Variables

MOST_CONNECTIONS = 100
"""Clients of one process at a time; more are told to come later, and more than twice as many nothing."""


class Door:
    """A server of PostgreSQL's protocol. host, port: as `reserved` has found them free."""

    def __init__(self, desk: Desk, gate: Gate, host: str, port: int) -> None:
        self._desk, self._gate, self._place = desk, gate, (host, port)
        self._catalogue = Catalogue(desk.study.domain, desk.table)
        self._open: dict[asyncio.Task[None], Connection] = {}
        self._server: asyncio.Server | None = None

    @property
    def port(self) -> int:
        """The port, once it is open."""
        assert self._server is not None
        return int(self._server.sockets[0].getsockname()[1])

    async def open(self) -> None:
        """Take connections from now on."""
        own = reserved(*self._place)
        own.listen(256)
        self._server = await asyncio.start_server(self._met, sock=own, limit=2**16)

    async def close(self) -> None:
        """Take no more, let running statements finish, and end the others."""
        if self._server is not None:
            self._server.close()
        for task, connection in self._open.items():
            connection.is_ending = True
            if not connection.is_busy:
                task.cancel()
        if self._open:
            await asyncio.wait(list(self._open), timeout=PATIENCE)

    async def _met(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        try:
            if len(self._open) >= 2 * MOST_CONNECTIONS:
                return
            connection = Connection(reader, writer, self._clerk, noted, len(self._open) >= MOST_CONNECTIONS)
            self._open[task] = connection
            await connection.run()
        finally:
            self._open.pop(task, None)
            writer.close()

    def _clerk(self, secret: str, variables: Variables, database: str) -> Clerk:
        return Clerk(self._desk, self._gate, self._catalogue, secret, variables, database)


def reserved(host: str, port: int) -> socket.socket:
    """A bound socket whose port the workers of one service may share."""
    family, kind, _, _, place = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
    made = socket.socket(family, kind, socket.IPPROTO_TCP)
    made.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    if hasattr(socket, "SO_REUSEPORT"):
        made.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
    made.bind(place)
    return made


def noted(route: str, state: str, start: float, who: str) -> None:
    """A statement in the log and in the figures: which kind, what came of it, how long; never what it says."""
    seconds = time.perf_counter() - start
    REQUESTS.labels("PSQL", route, state).inc()
    SECONDS.labels(route).observe(seconds)
    fields = {"method": "PSQL", "route": route, "status": state, "ms": round(1000 * seconds, 1)}
    LOG.info("request", extra={"fields": fields | ({"who": who} if who else {})})
