"""A studio from its settings to its end."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from rowspace.serve import FAILURES_ONLY, address, bound, digest_of, new_secret, run

from .app import create_app
from .settings import Settings


def studio(settings: Settings, *, say: Callable[[str], object] = print) -> None:
    """Serve on this machine alone until told to stop. say: is told the link that opens it."""
    with bound("127.0.0.1", settings.port) as socket:
        secret = new_secret()
        made = replace(settings, start=digest_of(secret), port=socket.getsockname()[1])
        app = create_app(made)
        say(f"{address(socket)}/sign-in?token={secret}")
        run(app, socket, logs=FAILURES_ONLY)
