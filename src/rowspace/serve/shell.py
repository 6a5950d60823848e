"""What all our pages on HTTP share, whoever asks: limits, headers, refusals of other origins, problems in one sentence.

Guarantees
- A page of another origin can neither read nor send: requests under other names, and forms from elsewhere, are refused
  (tests/serve/test_shell.py::test_other_origins_are_refused).
- An error is one sentence with the right status, without a value of the data
  (tests/serve/test_bad_input.py).
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable
from http import HTTPStatus
from typing import Any
from urllib.parse import urlsplit

import anyio
from fastapi import FastAPI
from fastapi.exceptions import RequestValidationError
from starlette.datastructures import Headers
from starlette.exceptions import HTTPException
from starlette.middleware.body_limit import RequestBodyLimitMiddleware
from starlette.middleware.trustedhost import TrustedHostMiddleware
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from rowspace.exceptions import (
    BudgetExceeded,
    FileError,
    KeyReused,
    LedgerError,
    PredicateError,
    RowspaceError,
    SourceError,
    UnsupportedWorkload,
)
from rowspace.report.html import Link, Page, render

from .logs import LOG
from .metrics import REQUESTS, SECONDS

LARGEST_BODY = 256 * 1024
"""Most bytes of a request."""

SECONDS_TO_SEND = 30.0
"""How long the body of a request may take to arrive."""

_LONGEST_SENTENCE = 1000
_HEADERS = {
    "x-content-type-options": "nosniff",
    "referrer-policy": "same-origin",  # "no-referrer" would make the origin of our own forms "null"
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "cache-control": "no-store",
    "content-security-policy": "frame-ancestors 'none'",  # the rest is in each page, with its script's digest
}

# What only the keeper of the service can mend is told to the log; whoever asks is told what it means for them.
_AWAY = {
    LedgerError: "the ledger cannot be used now; ask again with the same Idempotency-Key, which never pays twice",
    SourceError: "the data cannot be read now; nothing was charged",
    FileError: "the service cannot read one of its files; nothing was charged",
}

# What the framework refuses by its number alone, in a sentence.
_UNSAID = {404: "there is nothing at this address", 405: "this address is not asked in that way"}

Problems = Callable[[Request, int, str, dict[str, str]], Response]


class Refused(HTTPException):
    """A request that is refused, with the sentence that says why."""

    def __init__(self, status: int, detail: str, **headers: str) -> None:
        super().__init__(status, detail, {name.replace("_", "-"): value for name, value in headers.items()})


def dress(app: FastAPI, *, hosts: list[str], problems: Problems | None = None) -> None:
    """Give an application what all have. hosts: names it is reached by. problems: how errors look, else as JSON."""
    show = problems or problem
    app.add_middleware(RequestBodyLimitMiddleware, max_body_size=LARGEST_BODY)
    app.add_middleware(TrustedHostMiddleware, allowed_hosts=hosts, www_redirect=False)
    app.add_middleware(_Watch, problems=show)

    async def expected(request: Request, error: Exception) -> Response:
        status, detail, headers = told(error)
        return show(request, status, detail, headers)

    for kind in (HTTPException, RequestValidationError, RowspaceError):
        app.add_exception_handler(kind, expected)


def told(error: Exception) -> tuple[int, str, dict[str, str]]:
    """The status of an error, one sentence, and headers."""
    if isinstance(error, HTTPException):
        said = str(error.detail)
        if said == HTTPStatus(error.status_code).phrase:
            said = _UNSAID.get(error.status_code, said)
        return error.status_code, said, dict(error.headers or {})
    if isinstance(error, RequestValidationError):
        return _invalid(error)
    later = {"retry-after": "1"} if getattr(error, "transient", False) else {}
    match error:
        case KeyReused():
            return 409, "this Idempotency-Key was used for another question; give each its own", {}
        case BudgetExceeded() | UnsupportedWorkload():
            return 409, one_sentence(error), {}
        case LedgerError() | SourceError() | FileError():
            LOG.error(one_sentence(error), extra={"fields": {"error": type(error).__name__}})
            return 503, next(words for kind, words in _AWAY.items() if isinstance(error, kind)), later
    return 422, one_sentence(error), {}


def one_sentence(error: Exception) -> str:
    """What an error says, on one line, without the picture below it."""
    line = "".join(c if c.isprintable() else " " for c in (str(error).splitlines() or [""])[0])
    return line if len(line) <= _LONGEST_SENTENCE else f"{line[:_LONGEST_SENTENCE]} …"


def spoken(error: Exception) -> str:
    """What an error says, as pages write it: a sentence, without the place in a text."""
    said = error.reason if isinstance(error, PredicateError) else told(error)[1]
    return said[:1].upper() + said[1:] + ("" if said.endswith((".", "?")) else ".")


def _invalid(error: RequestValidationError) -> tuple[int, str, dict[str, str]]:
    """The first thing that is wrong with a request."""
    first = error.errors()[0]
    if first["type"] == "json_invalid":
        return 400, "expected a body in JSON", {}
    place = next((str(part) for part in first["loc"] if part not in ("body", "query", "header")), "")
    said = str(first["msg"]).removeprefix("Value error, ")
    return 422, one_sentence(ValueError(f"{place}: {said}" if place else said)), {}


def problem(request: Request, status: int, detail: str, headers: dict[str, str]) -> Response:
    """An error as RFC 9457 writes it."""
    body = {"type": "about:blank", "title": HTTPStatus(status).phrase, "status": status, "detail": detail}
    return JSONResponse(body, status, headers, media_type="application/problem+json")


def problem_page(kicker: str, status: int, detail: str, headers: dict[str, str]) -> Response:
    """An error as a page."""
    said = spoken(Refused(status, detail))
    page = Page(HTTPStatus(status).phrase, f"{kicker} · {status}", (said,), (), (), Link("result", "Skip"))
    return HTMLResponse(render("rowspace.serve:problem.html", page), status, headers)


def wants_page(request: Request, paths: tuple[str, ...]) -> bool:
    """Whether an error is to be a page: for these paths, and for whatever else a browser opens."""
    return request.url.path in paths or "text/html" in request.headers.get("accept", "")


def require_same_origin(request: Request) -> None:
    """Refuse a form that another site sends with the reader's cookie."""
    origin = request.headers.get("origin")
    if origin is None or urlsplit(origin).netloc != request.headers.get("host"):
        raise Refused(403, "this form was not sent by a page of this service")


class _Watch:
    """Headers for every response, a line in the log, figures for Prometheus; and an answer where the program fails."""

    def __init__(self, app: ASGIApp, problems: Problems) -> None:
        self._app, self._problems = app, problems

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        start, status = time.perf_counter(), 0

        async def sent(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                there = {name.lower() for name, _ in message["headers"]}
                more = [(k.encode(), v.encode()) for k, v in _HEADERS.items() if k.encode() not in there]
                message = {**message, "headers": [*message["headers"], *more]}
            await send(message)

        async def received() -> Message:
            with anyio.move_on_after(start + SECONDS_TO_SEND - time.perf_counter()):
                return await receive()
            raise Refused(408, f"expected the whole body within {SECONDS_TO_SEND:g} s", Connection="close")

        try:
            stated = Headers(scope=scope).get("content-length", "0")
            if stated.isdecimal() and int(stated) > LARGEST_BODY:
                said = f"expected a body of at most {LARGEST_BODY:,} bytes"
                await self._problems(Request(scope), 413, said, {})(scope, receive, sent)
            else:
                await self._app(scope, received, sent)
        except Exception:
            LOG.exception("the program failed", extra={"fields": _about(scope)})
            if not status:
                said = "the service failed; ask again with the same Idempotency-Key, which never pays twice"
                response = self._problems(Request(scope), 500, said, {})
                await response(scope, receive, sent)
        finally:
            seconds = time.perf_counter() - start
            fields = _about(scope) | {"status": status, "ms": round(1000 * seconds, 1)}
            REQUESTS.labels(fields["method"], fields["route"], str(status)).inc()
            SECONDS.labels(fields["route"]).observe(seconds)
            quiet = fields["route"] in ("/health", "/ready", "/metrics")
            LOG.log(logging.DEBUG if quiet else logging.INFO, "request", extra={"fields": fields})


def _about(scope: Scope) -> dict[str, Any]:
    """What of a request may be written down: its route as the program has it, and who sent it."""
    route = getattr(scope.get("route"), "path", "none")
    method = (
        scope["method"]
        if scope["method"] in ("GET", "HEAD", "POST", "PUT", "DELETE", "OPTIONS", "PATCH")
        else "other"
    )
    who = scope.get("state", {}).get("who")
    return {"method": method, "route": route, **({"who": who} if who else {})}
