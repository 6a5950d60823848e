"""A service from its settings to its end."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from .app import create_app
from .desk import Desk
from .metrics import shared_by
from .runner import address, bound, run
from .settings import Settings
from .tokens import digest_of, new_secret


def serve(settings: Settings, host: str = "127.0.0.1", *, say: Callable[[str], object] = print) -> None:
    """Serve until told to stop. say: is told where, with a link that signs in if there is no file of tokens."""
    socket = bound(host, settings.port, public=settings.public)
    with socket, shared_by(settings.workers):
        place = address(socket)
        settings = replace(settings, port=socket.getsockname()[1], host=host)
        if settings.psql_port is not None:
            with bound(
                host, settings.psql_port, public=settings.public
            ) as free:  # what is wrong is said here
                settings = replace(settings, psql_port=free.getsockname()[1])
        link = f"{place}/"
        if settings.tokens is None:
            secret = new_secret()
            settings = replace(settings, start=digest_of(secret))
            link = f"{place}/sign-in?token={secret}"
        if settings.workers == 1:
            app = create_app(settings)
            say(link)
            _say_psql(settings, say)
            run(app, socket)
            return
        Desk.open(settings)  # what is wrong is said here, once, and not by every worker
        settings.hand_on()
        say(link)
        _say_psql(settings, say)
        run("rowspace.serve.app:from_environment", socket, workers=settings.workers)


def _say_psql(settings: Settings, say: Callable[[str], object]) -> None:
    """Where SQL clients are answered."""
    if settings.psql_port is not None:
        host = f"[{settings.host}]" if ":" in settings.host else settings.host
        say(f"postgresql://{host}:{settings.psql_port}/ (the password is a token)")
