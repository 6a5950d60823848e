"""The application: a page and what its script asks for, for the one who has the token of this run.

Guarantees
- Without the token nothing is shown and nothing is done (tests/studio/test_api.py::test_nothing_without_the_token).
- Other names and other origins are refused (tests/studio/test_api.py::test_other_origins_are_refused).
"""

from __future__ import annotations

import re
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from typing import Annotated, Any

from fastapi import APIRouter, Depends, FastAPI, Request
from starlette.responses import HTMLResponse, RedirectResponse, Response

from rowspace.exceptions import FileError, InvalidInput, LedgerError
from rowspace.serve import (
    Gate,
    Holder,
    Refused,
    Tokens,
    dress,
    json_only,
    one_sentence,
    problem,
    problem_page,
    require_same_origin,
    wants_page,
)

from .desk import Change, Confirmed, Desk, Outdated, Saved, Targets
from .pages import studio_page
from .settings import Settings

LOCAL = ["127.0.0.1", "localhost"]
_RATE = 200.0
_PLACE = re.compile(r"^\[\[workload\]\] entry \d+: (\w+: )?")  # a page has cards, not entries
routes = APIRouter(include_in_schema=False)


def create_app(settings: Settings) -> FastAPI:
    """The application of one studio."""
    desk = Desk(settings)

    @asynccontextmanager
    async def life(app: FastAPI) -> AsyncIterator[None]:
        desk.begin()
        yield
        desk.end()

    app = FastAPI(docs_url=None, redoc_url=None, openapi_url=None, lifespan=life)
    holder = Holder(name="local", role="steward", sha256=settings.start)
    app.state.desk = desk
    app.state.gate = Gate(
        Tokens(None, (holder,)), _RATE, f"rowspace-studio-{settings.port}", secure=False, takes_links=True
    )
    app.include_router(routes)
    dress(app, hosts=LOCAL, problems=_problems)
    return app


async def _desk(request: Request) -> Desk:
    """The desk, for whoever has the cookie of this run."""
    gate: Gate = request.app.state.gate
    gate.admit(request, request.cookies.get(gate.cookie))
    desk: Desk = request.app.state.desk
    return desk


async def _posted(request: Request, desk: Annotated[Desk, Depends(_desk)]) -> Desk:
    """The desk, for a page of its own alone."""
    require_same_origin(request)
    await json_only(request)
    return desk


AtDesk = Annotated[Desk, Depends(_desk)]
ToDesk = Annotated[Desk, Depends(_posted)]


@routes.get("/sign-in")
async def sign_in(request: Request, token: str = "") -> Response:
    """Keep the token of the printed link in a cookie that scripts cannot read and other sites cannot use."""
    gate: Gate = request.app.state.gate
    gate.admit(request, token)
    response = RedirectResponse("/", 303)
    response.set_cookie(gate.cookie, token, httponly=True, samesite="strict", path="/")
    return response


@routes.get("/")
async def page(desk: AtDesk) -> Response:
    """The page, with the plan as far as it is made."""
    desk.plan.news()
    return HTMLResponse(studio_page(desk))


@routes.get("/news")
async def news(
    desk: AtDesk, plan: int = 0, targets: int = 0, look: int = 0, release: int = 0
) -> dict[str, Any]:
    """What is new since some versions."""
    return desk.news({"plan": plan, "targets": targets, "look": look, "release": release})


@routes.post("/change")
async def change(desk: ToDesk, wanted: Change) -> dict[str, Any]:
    """Change the study."""
    with _told():
        desk.change(wanted)
    return {"revision": desk.revision}


@routes.post("/targets")
async def targets(desk: ToDesk, wanted: Targets) -> dict[str, Any]:
    """Look for the least budget for some targets."""
    with _told():
        desk.solve(wanted)
    return {}


@routes.post("/save")
async def save(desk: ToDesk, wanted: Saved) -> dict[str, Any]:
    """Write the study."""
    with _told():
        desk.save(wanted)
    return {"file": desk.document.path.name}


@routes.post("/cancel")
async def cancel(desk: ToDesk) -> dict[str, Any]:
    """Stop planning; what was found stays."""
    desk.plan.stop()
    desk.targets.stop()
    return {}


@routes.post("/check")
async def check(desk: ToDesk) -> dict[str, Any]:
    """Look at the data, for the curator."""
    with _told():
        desk.check()
    return {}


@routes.post("/price")
async def price(desk: ToDesk) -> dict[str, Any]:
    """What a release costs; it charges nothing."""
    with _told():
        return desk.price()


@routes.post("/release")
async def release(desk: ToDesk, wanted: Confirmed) -> dict[str, Any]:
    """Release what was confirmed, once."""
    with _told():
        desk.begin_release(wanted)
    return {}


@routes.get("/report")
async def report(desk: AtDesk) -> Response:
    """The report of the release."""
    released = desk.release.news().state.get("released")
    if released is None:
        raise Refused(404, "nothing was released by this studio yet")
    return HTMLResponse(Path(released["page"]).read_text(encoding="utf-8"))


@contextmanager
def _told() -> Iterator[None]:
    """Errors of the steward's own files are theirs to read: in a service they would be the keeper's."""
    try:
        yield
    except Outdated:
        raise Refused(409, "the study was changed in another window; reload the page") from None
    except (FileError, LedgerError) as error:
        raise Refused(409, one_sentence(error)) from None
    except InvalidInput as error:
        raise Refused(422, _PLACE.sub("", one_sentence(error)).partition(" (position ")[0]) from None


def _problems(request: Request, status: int, detail: str, headers: dict[str, str]) -> Response:
    """Errors as pages where pages are asked for."""
    if not wants_page(request, ("/", "/sign-in")):
        return problem(request, status, detail, headers)
    if status == 401:
        detail = "Open the link that rowspace studio printed: it holds the token of this run."
    return problem_page("Studio", status, detail, headers)
