"""Who is asking, what their role allows, and how often: by the header of the API, or by the cookie of the page."""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from typing import Annotated

from fastapi import Depends, Request
from fastapi.security import HTTPAuthorizationCredentials, HTTPBearer

from .desk import Desk
from .shell import Refused
from .tokens import Holder, Tokens

_SCHEME = HTTPBearer(auto_error=False, description="A token of `rowspace tokens add`.")
_BURST = 2.0
"""Seconds of the rate that may be used at once."""


@dataclass
class Gate:
    """Tokens and rates. rate: requests a second for each holder in this process. cookie: its name, secure: over TLS.

    takes_links: whether a link may hold a token: only the one that is made for a single run.
    """

    tokens: Tokens
    rate: float
    cookie: str
    secure: bool
    takes_links: bool = False
    _filled: dict[str, tuple[float, float]] = field(default_factory=dict)

    def admit(self, request: Request, secret: str | None) -> Holder:
        """Whoever has a token, unless it is unknown or has ended, or asks too often."""
        holder = self.holder(secret)
        request.state.who = holder.name
        self.take_one(holder)
        return holder

    def holder(self, secret: str | None) -> Holder:
        """Whoever has a token, unless it is unknown or has ended."""
        holder = None if not secret else self.tokens.holder(secret)
        if holder is None or holder.is_expired:
            said = "has expired" if holder is not None else "is unknown here" if secret else "is missing"
            raise Refused(401, f"the token {said}; ask the steward for one", WWW_Authenticate="Bearer")
        return holder

    def others(self, holder: Holder) -> list[Holder] | None:
        """Whom a holder may look at: a steward sees everybody."""
        return list(self.tokens.read().values()) if holder.role == "steward" else None

    @staticmethod
    def require_analyst(holder: Holder) -> None:
        """Refuse who may not spend."""
        if holder.role != "analyst":
            raise Refused(403, "a steward sees all and spends nothing; ask with the token of an analyst")

    def take_one(self, holder: Holder) -> None:
        """Count a request of a holder, unless there were too many."""
        wait = self._wait(holder.name)
        if wait > 0:
            raise Refused(
                429,
                f"more than {self.rate:g} requests a second; wait a little",
                Retry_After=f"{1 + int(wait)}",
            )

    def _wait(self, name: str) -> float:
        """Seconds until another request of a name is allowed; 0 takes one now. A bucket that fills at the rate."""
        now, most = time.monotonic(), max(1.0, _BURST * self.rate)
        level, then = self._filled.get(name, (most, now))
        level = min(most, level + (now - then) * self.rate)
        taken = level >= 1
        self._filled[name] = (level - taken, now)
        return 0.0 if taken else (1 - level) / self.rate


# All of these are coroutines: of plain functions each would be run in a thread.
async def desk_of(request: Request) -> Desk:
    """The desk, once it is ready."""
    desk: Desk = request.app.state.desk
    require_ready(desk)
    return desk


def require_ready(desk: Desk) -> None:
    """Refuse what comes before the plan is made."""
    if desk.has_failed:
        raise Refused(503, "the service could not plan for the questions it expects; its log says why")
    if not desk.is_ready:
        raise Refused(503, "the service is still planning for the questions it expects", Retry_After="2")


def gate_of(request: Request) -> Gate:
    """The gate."""
    gate: Gate = request.app.state.gate
    return gate


async def _gate(request: Request) -> Gate:
    return gate_of(request)


async def caller(
    request: Request, header: Annotated[HTTPAuthorizationCredentials | None, Depends(_SCHEME)]
) -> Holder:
    """Whoever sends a request to the API: by its header alone, which no other site can make a browser send."""
    return gate_of(request).admit(request, None if header is None else header.credentials)


async def analyst(holder: Annotated[Holder, Depends(caller)]) -> Holder:
    """A caller who may spend."""
    Gate.require_analyst(holder)
    return holder


async def json_only(request: Request) -> None:
    """Refuse what is no JSON by its own word."""
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind != "application/json":
        raise Refused(415, "expected a body of type application/json")


AtDesk = Annotated[Desk, Depends(desk_of)]
AtGate = Annotated[Gate, Depends(_gate)]
Caller = Annotated[Holder, Depends(caller)]
Analyst = Annotated[Holder, Depends(analyst)]
