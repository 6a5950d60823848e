"""The page for analysts, made on the server by the report's templates; it works without JavaScript.

A question is a GET: it shows the answer where that is free, else the price and a button. The button is a POST with a
key that was made with the page, and leads back by a redirect to the question with that key: a second click, the way
back, a reload or a second try after a failure sends the same key, and pays nothing.
"""

from __future__ import annotations

import math
import secrets
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Annotated
from urllib.parse import urlencode

from fastapi import APIRouter, Form, Request
from fastapi.exceptions import RequestValidationError
from pydantic import ValidationError
from starlette.responses import HTMLResponse, RedirectResponse, Response

from rowspace.exceptions import BudgetExceeded, RowspaceError
from rowspace.ledger import at_least
from rowspace.report import counts, figures, shown_above, whole
from rowspace.report.explore import example
from rowspace.report.html import Bars, Link, Page, PageTable, Tile, bars, own_sheet, render
from rowspace.workload.predicate import name_text

from .access import AtDesk, AtGate, Gate, gate_of
from .desk import Desk
from .models import AnswerOut, BudgetOut, Buying, ChargeOut, KnownOut, Priced, PriceOut
from .shell import Refused, problem_page, require_same_origin, spoken, told
from .tokens import Holder

routes = APIRouter(include_in_schema=False)
PATHS = ("/", "/sign-in", "/sign-out", "/buy")
_KICKER = "Private questions"
_SHEET = "rowspace.serve:serve.css"
_SCRIPT = "rowspace.serve:serve.js"
_MOST_BARS, _MOST_ROWS = 40, 1000
_CHARGES = 20
_LEVELS = (("0.9", "90 %"), ("0.95", "95 %"), ("0.99", "99 %"), ("0.999", "99.9 %"))


@dataclass(frozen=True)
class Asking:
    """What stands in the form."""

    q: str = ""
    within: str = ""
    level: str = "0.95"
    key: str = ""

    def address(self, **changes: str) -> str:
        """The page that shows it."""
        fields = {name: value for name, value in vars(replace(self, **changes)).items() if value}
        return f"/?{urlencode(fields)}#result"


@dataclass(frozen=True)
class Quote:
    """A price. most: what is agreed to by the button; None where it cannot be paid."""

    words: str
    remark: str
    button: str
    most: str | None


@dataclass(frozen=True)
class Answer:
    """An answer: one number in large, or several as a chart and a table."""

    number: str
    interval: str
    paid: str
    chart: Bars | None
    table: PageTable | None
    note: str


@dataclass(frozen=True)
class View:
    """All that the page shows."""

    asking: Asking
    problem: str
    quote: Quote | None
    answer: Answer | None
    known: PageTable
    attributes: tuple[tuple[str, str], ...]
    history: PageTable | None
    analysts: PageTable | None
    said: str


@routes.get("/")
async def ask_page(
    request: Request,
    desk: AtDesk,
    gate: AtGate,
    q: str = "",
    within: str = "",
    level: str = "0.95",
    key: str = "",
) -> Response:
    """The page, with the answer to a question or its price."""
    holder = _holder(request, gate)
    if holder is None:
        return RedirectResponse("/sign-in", 303)
    asking = Asking(q.strip(), within.strip(), level.strip(), key.strip())
    found, problem = None, ""
    status = 200
    if asking.q:
        try:
            found = await _found(desk, holder, asking)
        except (RowspaceError, ValidationError) as error:
            status, problem = _told(error)
    return await _shown(desk, gate, holder, asking, found, problem, status)


@routes.post("/buy")
async def buy(
    request: Request,
    desk: AtDesk,
    gate: AtGate,
    q: Annotated[str, Form()],
    within: Annotated[str, Form()],
    level: Annotated[str, Form()],
    key: Annotated[str, Form(pattern=r"^[\x21-\x7e]{1,100}$")],
    most: Annotated[str, Form()],
) -> Response:
    """Pay what was agreed to, once, and show the answer."""
    require_same_origin(request)
    holder = _holder(request, gate)
    if holder is None:
        return RedirectResponse("/sign-in", 303)
    if holder.role != "analyst":
        raise Refused(403, "a steward sees all and spends nothing; sign in with the token of an analyst")
    asking = Asking(q, within, level, key)
    try:
        given = Buying.model_validate({"question": q, "within": within, "level": level, "most": most})
        await desk.ask(given, holder, key)
    except (RowspaceError, ValidationError) as error:
        status, problem = _told(error)
        return await _shown(desk, gate, holder, asking, None, problem, status)
    return RedirectResponse(asking.address(), 303)


@routes.get("/sign-in")
async def sign_in_page(request: Request, gate: AtGate, token: str = "") -> Response:
    """The form for a token. A link of `rowspace serve` itself has it already."""
    return _signed_in(request, gate, token) if token and gate.takes_links else _sign_in("")


@routes.post("/sign-in")
async def sign_in(request: Request, gate: AtGate, token: Annotated[str, Form()] = "") -> Response:
    """Keep a token in a cookie that scripts cannot read and other sites cannot use."""
    require_same_origin(request)
    try:
        return _signed_in(request, gate, token.strip())
    except Refused as error:
        return _sign_in(spoken(error), error.status_code)


@routes.post("/sign-out")
async def sign_out(request: Request, gate: AtGate) -> Response:
    """Forget it."""
    require_same_origin(request)
    response = RedirectResponse("/sign-in", 303)
    response.delete_cookie(gate.cookie, secure=gate.secure, httponly=True, samesite="strict")
    return response


def problem(request: Request, status: int, detail: str, headers: dict[str, str]) -> Response:
    """An error as a page."""
    if status == 401:
        response: Response = RedirectResponse("/sign-in", 303)
        response.delete_cookie(gate_of(request).cookie)
        return response
    return problem_page(_KICKER, status, detail, headers)


def _rendered(template: str, page: Page, **views: object) -> str:
    script = _SCRIPT if "view" in views else ""
    return render(template, page, sheet=own_sheet("ask.css") + own_sheet(_SHEET), script=script, **views)


def _holder(request: Request, gate: Gate) -> Holder | None:
    secret = request.cookies.get(gate.cookie)
    return None if secret is None else gate.admit(request, secret)


def _signed_in(request: Request, gate: Gate, token: str) -> Response:
    gate.admit(request, token)
    response = RedirectResponse("/", 303)
    response.set_cookie(gate.cookie, token, secure=gate.secure, httponly=True, samesite="strict", path="/")
    return response


def _sign_in(problem: str, status: int = 200) -> Response:
    lead = "Sign in with the token that the steward of this service gave you."
    page = Page("Sign in", _KICKER, (lead,), (), (), Link("token", "Skip to the form"))
    return HTMLResponse(_rendered("rowspace.serve:sign_in.html", page, problem=problem), status)


async def _found(desk: Desk, holder: Holder, asking: Asking) -> AnswerOut | PriceOut:
    """The answer where nothing is to be paid for it, else its price."""
    fields = {
        "question": asking.q,
        "level": asking.level,
        **({"within": asking.within} if asking.within else {}),
    }
    given = Buying.model_validate(fields)
    try:
        return await desk.ask(given.model_copy(update={"most": 0.0}), holder, asking.key or None)
    except BudgetExceeded:
        return await desk.price(Priced.model_validate(fields), holder)


def _told(error: RowspaceError | ValidationError) -> tuple[int, str]:
    """The status of an error, and what the page says."""
    if not isinstance(error, ValidationError):
        return told(error)[0], spoken(error)
    if error.errors()[0]["loc"][0] == "within":
        return 422, "Expected a number above 0 as the accuracy, such as 20."
    request = RequestValidationError(error.errors())
    return told(request)[0], spoken(request)


async def _shown(
    desk: Desk,
    gate: Gate,
    holder: Holder,
    asking: Asking,
    found: AnswerOut | PriceOut | None,
    problem: str,
    status: int,
) -> Response:
    """The page as it is now."""
    known, budget = await desk.known(), await desk.budget(holder, gate.others(holder))
    quote = _quote(found, asking, holder) if isinstance(found, PriceOut) else None
    answer = _answer(found) if isinstance(found, AnswerOut) else None
    if quote is not None and not asking.key:
        asking = replace(asking, key=secrets.token_urlsafe(16))
    said = problem or (quote.words if quote else f"{answer.number} {answer.interval}" if answer else "")
    view = View(
        asking,
        problem,
        quote,
        answer,
        _known_table(known),
        tuple(
            (one.name, ", ".join(one.labels[:12]) + (", …" if (one.size or 0) > 12 else ""))
            for one in known.attributes
        ),
        _history(await desk.history(holder, _CHARGES), holder),
        _analysts(budget),
        said,
    )
    page = _page(desk, known, budget, holder)
    shown = _rendered("rowspace.serve:page.html", page, view=view, levels=_LEVELS, **_examples(desk))
    return HTMLResponse(shown, status)


def _page(desk: Desk, known: KnownOut, budget: BudgetOut, holder: Holder) -> Page:
    lead = (
        "Ask for counts, one question after another. What was paid for before answers the next question for free; only "
        "what is missing is paid for, once you say so."
    )
    own = budget.you
    tiles = [
        Tile("left of the budget", budget.remaining, f"of {budget.limit} {budget.unit}, for everyone"),
        *([Tile("left for you", own.left, _cap(own.cap, budget.unit))] if own else []),
        Tile("bought so far", whole(known.purchases), "purchases, free for everyone"),
        Tile("signed in as", holder.name, holder.role),
    ]
    links = (
        Link("ask", "Ask"),
        Link("known", "Known"),
        Link("about", "Attributes"),
        Link("history", "Purchases"),
    )
    return Page(
        desk.study.name,
        _KICKER,
        (lead,),
        tuple(tiles),
        links,
        Link("ask", "Skip to the question"),
    )


def _examples(desk: Desk) -> dict[str, str]:
    """A condition and a query that can be asked here."""
    name = name_text(desk.study.domain.dimensions[-1])
    return {
        "example": example(desk.study.domain),
        "sql": f"SELECT {name}, COUNT(*) FROM data GROUP BY {name}",
    }


def _cap(cap: float | None, unit: str) -> str:
    return f"{unit}: no cap of your own" if cap is None else f"of {cap:g} {unit}, your cap"


def _quote(found: PriceOut, asking: Asking, holder: Holder) -> Quote:
    """A price in words."""
    price = f"{shown_above(found.price, 4)} {found.unit}"
    free = (
        "nothing is known about it for free"
        if found.reached is None
        else f"±{shown_above(found.reached, 4)} is known for free"
    )
    percent = f"{100 * float(asking.level):g} %"
    words = f"Costs {price}: an answer within ±{float(asking.within):g} at {percent}."
    if not found.affordable:
        best = "" if found.best is None else f"; all of it buys ±{shown_above(found.best, 4)}"
        return Quote(
            words,
            f"You have {found.left} {found.unit} left, which is not enough{best}. {free.capitalize()}.",
            "",
            None,
        )
    spends = holder.role == "analyst"
    share = shown_above(100 * found.price / float(found.left), 2)
    whose = f"That is {share} % of the {found.left} {found.unit} that" + (
        " you have left" if spends else " are left; only an analyst can spend it"
    )
    remark = f"{whose}. {free[:1].upper()}{free[1:]}."
    return Quote(words, remark, f"Spend {price}", repr(found.price) if spends else None)


def _answer(found: AnswerOut) -> Answer:
    """An answer in large, or several drawn."""
    rows = [row for row in found.answers if row.answer is not None]
    errors = [row.std_error or 0.0 for row in rows]
    middle, low, high = (
        counts([_float(getattr(row, name)) for row in rows], errors) for name in ("answer", "low", "high")
    )
    halves = counts([(_float(row.high) - _float(row.low)) / 2 for row in rows], errors)
    percent = f"{100 * found.level:g} %"
    paid = (
        "Free: known before."
        if not found.cost
        else f"Paid {shown_above(found.cost, 4)} {found.unit}, charge {found.charge}."
    )
    if len(rows) == 1:
        interval = f"{percent} interval from {low[0]} to {high[0]}"
        return Answer(f"{middle[0]} ± {halves[0]}", interval, paid, None, None, found.statement)
    words = [row.query for row in rows]
    chart = None
    if 0 < len(rows) <= _MOST_BARS:
        shown = [f"{answer} ± {half}" for answer, half in zip(middle, halves, strict=True)]
        values = [_float(row.answer) for row in rows]
        ends = [(_float(row.low), _float(row.high)) for row in rows]
        chart = bars(words, values, shown, f"{len(rows)} answers with {percent} intervals", intervals=ends)
    table = PageTable(
        f"Answers with {percent} intervals",
        ("query", "answer", "±", "from", "to"),
        tuple(zip(words, middle, halves, low, high, strict=True))[:_MOST_ROWS],
    )
    more = f", the first {_MOST_ROWS:,} below" if len(rows) > _MOST_ROWS else ""
    return Answer(
        f"{len(rows):,} answers", f"with {percent} intervals{more}", paid, chart, table, found.statement
    )


def _float(value: float | None) -> float:
    return math.nan if value is None else value


def _known_table(known: KnownOut) -> PageTable:
    widths = figures([one.reached for one in known.groups])
    rows = tuple(
        (one.group, whole(one.size), f"±{width}" if one.reached is not None else "nothing yet")
        for one, width in zip(known.groups, widths, strict=True)
    )
    return PageTable(
        f"Free at {100 * known.level:g} %, at most", ("questions", "number", "free within"), rows
    )


def _history(charges: list[ChargeOut], holder: Holder) -> PageTable | None:
    if not charges:
        return None
    rows = tuple(
        (str(one.charge), f"{one.time:%Y-%m-%d %H:%M}", one.who.removeprefix("analyst:"), _cost(one.cost))
        for one in charges
    )
    whose = "Purchases" if holder.role == "steward" else "Your purchases"
    return PageTable(f"{whose}, newest first", ("charge", "time (UTC)", "who", "cost"), rows)


def _analysts(budget: BudgetOut) -> PageTable | None:
    """For a steward: what each may still spend."""
    if not budget.analysts:
        return None
    rows = tuple(
        (one.name, "none" if one.cap is None else f"{one.cap:g}", one.left) for one in budget.analysts
    )
    return PageTable(
        "What each analyst may spend", ("analyst", f"cap, {budget.unit}", f"left, {budget.unit}"), rows
    )


def _cost(cost: dict[str, str]) -> str:
    return ", ".join(f"{at_least(Fraction(amount))} {name}" for name, amount in cost.items())
