"""A socket that only this machine reaches unless told otherwise, and uvicorn on it.

A stop (SIGTERM, Ctrl-C) takes no new requests and lets running ones finish. Workers that die are started again.
"""

from __future__ import annotations

import ipaddress
import socket
from collections.abc import Callable
from typing import Any

import uvicorn
from uvicorn.supervisors import Multiprocess

from rowspace.exceptions import InvalidInput

from .logs import CONFIGURATION

PATIENCE = 60
"""Seconds that running requests have to finish in after a stop, and workers to start in: uvicorn's 5 would kill each
worker in turn where a machine is too busy to start one in that time."""

MOST_AT_ONCE = 512
"""Requests under way in one process; more are told to come later (503)."""


def is_loopback(host: str) -> bool:
    """Whether only this machine reaches an address.

    >>> [is_loopback(host) for host in ("127.0.0.1", "::1", "localhost", "0.0.0.0", "example.org")]
    [True, True, True, False, False]
    """
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def bound(host: str, port: int, *, public: str | None = None) -> socket.socket:
    """A listening socket. public: the name that others reach it by; without one only loopback addresses are bound."""
    if public is None and not is_loopback(host):
        raise InvalidInput(
            f"{host} is reached from other machines; bind 127.0.0.1, or say with --public NAME that a reverse proxy "
            "with TLS stands before it, under that name"
        )
    if not 0 <= port < 2**16:
        raise InvalidInput(f"expected a port from 0 to 65535, got {port}")
    try:
        family, kind, _, _, place = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        # TCP by name: only then asyncio sends small answers at once instead of waiting 40 ms for more.
        made = socket.socket(family, kind, socket.IPPROTO_TCP)
    except OSError as error:
        raise InvalidInput(f"{host}:{port} is no address: {error.strerror}") from None
    try:
        made.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        made.bind(place)
        made.listen(2048)
        return made
    except OSError as error:
        made.close()
        raise InvalidInput(
            f"{host}:{port} cannot be bound: {error.strerror}; choose another --port"
        ) from None


def address(bound_socket: socket.socket) -> str:
    """The address of the pages on a socket."""
    host, port = bound_socket.getsockname()[:2]
    return f"http://{f'[{host}]' if ':' in host else host}:{port}"


class _Workers(Multiprocess):
    """Workers that are looked after by pings, and missed at once when they die."""

    def keep_subprocess_alive(self) -> None:
        """Start dead workers again, without waiting for what they no longer say."""
        for process in self.processes:
            # As long as this process holds the worker's end of the pipe too, a ping to a worker that dies meanwhile is
            # waited for as long as one to a busy worker, and nobody is started again before that.
            process.child_conn.close()
        super().keep_subprocess_alive()


def run(
    app: str | Callable[..., Any],
    bound_socket: socket.socket,
    *,
    workers: int = 1,
    logs: dict[str, Any] = CONFIGURATION,
) -> None:
    """Serve until told to stop. app: an application, or for several workers ``module:function``, which makes one."""
    config = uvicorn.Config(
        app,
        factory=isinstance(app, str),
        workers=workers,
        log_config=logs,
        access_log=False,  # it would write queries down
        server_header=False,
        proxy_headers=False,
        limit_concurrency=MOST_AT_ONCE,
        timeout_graceful_shutdown=PATIENCE,
        timeout_worker_healthcheck=PATIENCE,
        ws="none",
    )
    if workers > 1:
        _Workers(config, sockets=[bound_socket]).run()
    else:
        uvicorn.Server(config).run(sockets=[bound_socket])
