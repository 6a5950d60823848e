"""The application: a desk, a gate, the API and the pages, in the shell that all our pages have."""

from __future__ import annotations

import threading
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from fastapi import FastAPI, Request
from starlette.responses import Response

from rowspace._version import __version__

from . import api, pages
from .access import Gate
from .desk import Desk
from .settings import Settings
from .shell import dress, problem, wants_page
from .tokens import Holder, Tokens
from .wire import Door

_LOCAL = ["127.0.0.1", "localhost", "[::1]", "::1"]


def create_app(settings: Settings) -> FastAPI:
    """The application of one process."""
    desk = Desk.open(settings)

    @asynccontextmanager
    async def life(app: FastAPI) -> AsyncIterator[None]:
        threading.Thread(target=desk.prepare, daemon=True).start()  # a stop does not wait for it
        if settings.psql_port is None:
            yield
            return
        app.state.door = door = Door(desk, app.state.gate, settings.host, settings.psql_port)
        await door.open()
        yield
        await door.close()

    app = FastAPI(
        title=f"{desk.study.name}: private questions",
        description="Counts under differential privacy, for free where what was paid for before suffices.",
        version=__version__,
        docs_url=None,  # they load scripts from elsewhere
        redoc_url=None,
        lifespan=life,
    )
    app.state.desk, app.state.gate = desk, _gate(settings)
    app.include_router(api.routes)
    app.include_router(pages.routes)
    dress(app, hosts=[settings.public] if settings.public else _LOCAL, problems=_problems)
    return app


def from_environment() -> FastAPI:
    """The application of a worker."""
    return create_app(Settings.handed_on())


def _gate(settings: Settings) -> Gate:
    start = () if settings.start is None else (Holder(name="local", role="analyst", sha256=settings.start),)
    tokens = Tokens(settings.tokens, start)
    tokens.read()
    # Cookies do not tell ports apart: their names do.
    cookie = f"rowspace-{settings.port}" if settings.public is None else "__Host-rowspace"
    return Gate(
        tokens, settings.rate / settings.workers, cookie, settings.public is not None, settings.tokens is None
    )


def _problems(request: Request, status: int, detail: str, headers: dict[str, str]) -> Response:
    """Errors as pages where pages are asked for."""
    shown = pages.problem if wants_page(request, pages.PATHS) else problem
    return shown(request, status, detail, headers)
