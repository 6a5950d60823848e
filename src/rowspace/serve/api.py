"""The JSON API; its OpenAPI document is made from these functions and their models."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Depends, Header, Query, Request, Response

from rowspace.exceptions import RowspaceError

from .access import Analyst, AtDesk, AtGate, Caller, json_only
from .desk import Desk
from .metrics import written
from .models import AnswerOut, BudgetOut, Buying, ChargeOut, KnownOut, Priced, PriceOut, Problem, StatusOut
from .shell import Refused

_REASONS = {
    400: "The body is no JSON, or the request is for another name",
    401: "No token, or one that is unknown or has expired",
    403: "A token of another role",
    408: "The body did not arrive in time",
    409: "The budget or the cap has no room, the key was used for another question, or nothing is known",
    413: "The body is too large",
    415: "The body is of another type",
    422: "A question that cannot be read, or is no count",
    429: "Too many requests",
    503: "The ledger or the data is away, or the service is starting",
}


def _problems(*statuses: int) -> dict[int | str, dict[str, Any]]:
    content = {"application/problem+json": {"schema": {"$ref": "#/components/schemas/Problem"}}}
    return {
        status: {"description": _REASONS[status], "content": content, "model": Problem} for status in statuses
    }


_ALWAYS = (400, 401, 422, 429, 503)
routes = APIRouter()
v1 = APIRouter(prefix="/v1", responses=_problems(*_ALWAYS))
_JSON = [Depends(json_only)]

Key = Annotated[
    str | None,
    Header(
        alias="Idempotency-Key",
        min_length=1,
        max_length=100,
        pattern=r"^[\x21-\x7e]+$",
        description="A name for this request: sent again, it gives the same answer and pays nothing.",
    ),
]


@v1.post("/price", dependencies=_JSON, responses=_problems(408, 413, 415))
async def price(given: Priced, holder: Caller, desk: AtDesk) -> PriceOut:
    """What an answer of some accuracy would cost now. Reads no data, costs nothing."""
    return await desk.price(given, holder)


@v1.post("/ask", dependencies=_JSON, responses=_problems(403, 408, 409, 413, 415))
async def ask(given: Buying, holder: Analyst, desk: AtDesk, key: Key = None) -> AnswerOut:
    """The answer, for free where what is known suffices, else for the least that buys the accuracy."""
    return await desk.ask(given, holder, key)


@v1.get("/known")
async def known(holder: Caller, desk: AtDesk, level: Annotated[float, Query(gt=0, lt=1)] = 0.95) -> KnownOut:
    """What is known by all purchases so far, and free; and what may be asked about."""
    return await desk.known(level)


@v1.get("/budget")
async def budget(holder: Caller, desk: AtDesk, gate: AtGate) -> BudgetOut:
    """What is left: for all, for the analyst who asks and, for a steward, for everybody by name."""
    return await desk.budget(holder, gate.others(holder))


@v1.get("/history")
async def history(
    holder: Caller, desk: AtDesk, limit: Annotated[int, Query(ge=1, le=1000)] = 100
) -> list[ChargeOut]:
    """The last purchases, newest first: an analyst's own, or all of them for a steward."""
    return await desk.history(holder, limit)


@routes.get("/health")
async def health() -> StatusOut:
    """Whether the process answers."""
    return StatusOut()


@routes.get("/ready", responses=_problems(503))
async def ready(desk: AtDesk, gate: AtGate) -> StatusOut:
    """Whether questions can be answered: the plan is made, the ledger and the tokens can be read."""
    gate.tokens.read()
    await desk.budget(None)
    return StatusOut()


@routes.get("/metrics", response_class=Response)
async def metrics(request: Request) -> Response:
    """Figures for Prometheus, none of them of the data."""
    desk: Desk = request.app.state.desk
    try:
        left = await desk.left()
    except (RowspaceError, Refused):  # the figures of requests are there all the same
        left = None
    return Response(written(left), media_type="text/plain; version=0.0.4")


routes.include_router(v1)
