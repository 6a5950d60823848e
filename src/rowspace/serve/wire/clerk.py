"""One statement of an SQL client, asked of the desk: counts, prices, settings, transactions, the catalogue.

Without an accuracy only what is known is answered. Describing a statement costs nothing; only executing it may pay.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

import anyio

from rowspace.exceptions import RowspaceError, UnsupportedWorkload
from rowspace.notebook import shown_above
from rowspace.workload.sql_queries import Heading, Layout, columns_of, read_layout

from ..access import Gate, require_ready
from ..desk import MOST_ANSWERS, Desk
from ..models import LONGEST_TEXT, AnswerOut, Buying, Priced
from ..runner import PATIENCE
from ..tokens import Holder
from .catalogue import Catalogue, is_catalogue, parsed
from .complaints import Complaint
from .statements import Statement, guessed_types
from .values import FLOAT8, INT8, TEXT, Column
from .variables import REPORTED, VERSION, Variables, checked

EXAMPLE = 100.0
"""The half-width that a price is told for where none was given."""

_KINDS = {"figure": FLOAT8, "number": INT8, "text": TEXT}
_QUERIES = ("select", "with", "values", "table")
_QUIET = {
    "savepoint": "SAVEPOINT",
    "release": "RELEASE",
    "deallocate": "DEALLOCATE",
    "close": "CLOSE CURSOR",
    "listen": "LISTEN",
    "unlisten": "UNLISTEN",
}
"""What clients send by habit, and has no effect here."""

_WRITES = re.compile(
    "insert|update|delete|merge|create|alter|drop|truncate|grant|revoke|copy|vacuum|analyze|lock|call|do"
)
_SET = re.compile(
    r"set (?:(session|local) )?(?:(time zone|names) |([\w.]+) ?(?:=| to ) ?)(.+)", re.IGNORECASE
)
_ENDED = "current transaction is aborted, commands ignored until end of transaction block"


@dataclass
class Result:
    """What a statement gives. columns: None where it has no rows. changed: settings that clients are told of."""

    tag: str
    columns: list[Column] | None = None
    rows: list[tuple[Any, ...]] = field(default_factory=list)
    notice: str = ""
    changed: list[str] = field(default_factory=list)


@dataclass
class Clerk:
    """Serves one connection. secret: its token, looked at for every statement. database: as its client calls it."""

    desk: Desk
    gate: Gate
    catalogue: Catalogue
    secret: str
    variables: Variables
    database: str
    state: str = "I"

    async def describe(self, statement: Statement) -> tuple[list[int], list[Column] | None]:
        """The types that parameters must have, and the columns of the result; nothing is asked."""
        self._require_size(statement)
        if statement.word in ("show", "explain"):
            return [TEXT] * statement.number, [
                Column("QUERY PLAN" if statement.word == "explain" else _shown(statement))
            ]
        if statement.word not in _QUERIES:
            return [], None
        return await self.desk.reading(partial(self._described, statement))

    def _described(self, statement: Statement) -> tuple[list[int], list[Column]]:
        tree = parsed(statement.with_names().text)
        types = guessed_types(tree, statement.number, self.desk.study.domain)
        if tree is not None and is_catalogue(tree):
            nothing = parsed(statement.bound(["NULL"] * statement.number).text)
            return types, self.catalogue.answer(nothing, self._constants(""))[
                0
            ] if nothing is not None else []
        headings = columns_of(self.desk.study.domain, statement.with_names().text)
        return types, self._columns(headings, self._wanted(statement)["intervals"] == "on")

    async def execute(self, statement: Statement) -> Result:
        """Do what one statement says."""
        word = statement.word
        if self.state == "E" and word not in ("rollback", "abort", "commit", "end"):
            raise Complaint("25P02", _ENDED, "send ROLLBACK")
        self._require_size(statement)
        if word in ("begin", "start", "commit", "end", "rollback", "abort"):
            return self._transaction(word, statement.bare.lower())
        if word in _QUIET:
            return Result(_QUIET[word])
        if word in ("set", "reset", "discard"):
            return self._set(word, statement.bare)
        holder = self.gate.holder(self.secret)
        self.gate.take_one(holder)
        if word == "show":
            return await self._show(_shown(statement), holder)
        if word == "explain":
            return await self._explain(statement, holder)
        if word in _QUERIES:
            return await self._query(statement, holder)
        if _WRITES.fullmatch(word):
            raise Complaint(
                "25006", f"{word.upper()} is not possible: this service only counts, and nothing is written"
            )
        raise Complaint("42601", "expected a SELECT that counts; nothing else is read")

    def _transaction(self, word: str, text: str) -> Result:
        if word in ("begin", "start"):
            if self.state == "I":
                self.variables.begin()
                self.state = "T"
            return Result("BEGIN")
        if re.match(r"rollback (work |transaction )?to ", text):
            self.state = "T" if self.state == "E" else self.state
            return Result("ROLLBACK")
        keeps = word in ("commit", "end") and self.state != "E"
        if keeps:
            self.variables.commit()
        else:
            self.variables.rollback()
        self.state = "I"
        return Result("COMMIT" if keeps else "ROLLBACK")

    def _set(self, word: str, text: str) -> Result:
        parts = text.split()
        if word != "set":
            name = parts[1] if len(parts) > 1 else "all"
            self.variables.reset(None if word == "discard" or name.lower() == "all" else name)
            return Result(f"DISCARD {name.upper()}" if word == "discard" else "RESET", changed=list(REPORTED))
        if re.match(
            r"set (session characteristics|(local )?transaction|constraints|role|session authorization)\b",
            text,
            re.I,
        ):
            return Result("SET")
        found = _SET.fullmatch(text)
        if found is None:
            raise Complaint("42601", "expected SET name = value")
        name = {"time zone": "TimeZone", "names": "client_encoding"}.get(
            (found[2] or "").lower(), found[3] or ""
        )
        values = (one.strip().strip("'\"") for one in found[4].split(","))
        value = ", ".join(values).replace("''", "'")
        if value.lower() == "default" and "'" not in found[4]:
            self.variables.reset(name)
            return Result("SET")
        own = self.variables.set(name, value, local=(found[1] or "").lower() == "local" and self.state == "T")
        return Result("SET", changed=[own] if own in REPORTED else [])

    async def _show(self, name: str, holder: Holder) -> Result:
        if name == "all":
            rows = [(own, value, "") for own, value in self.variables.now.items()]
            return Result("SHOW", [Column("name"), Column("setting"), Column("description")], list(rows))
        value = self.variables.get(name)
        if name in ("rowspace.left", "rowspace.budget"):
            value = await self._left(holder)
        if value is None:
            raise Complaint("42704", "there is no setting of this name")
        return Result("SHOW", [Column(name)], [(value,)])

    async def _left(self, holder: Holder) -> str:
        budget = await self.desk.budget(holder)
        left = budget.remaining if budget.you is None else budget.you.left
        return f"{left} {budget.unit}"

    def _require_size(self, statement: Statement) -> None:
        if len(statement.text) > LONGEST_TEXT:
            raise Complaint("54000", f"a statement has at most {LONGEST_TEXT:,} characters")

    def _wanted(self, statement: Statement) -> dict[str, str]:
        """Accuracy and spending: what is set, but for what hints say."""
        names = ("within", "level", "most", "request", "intervals")
        found = {name: self.variables.now[f"rowspace.{name}"] for name in names}
        return found | {name: checked(f"rowspace.{name}", value) for name, value in statement.hints.items()}

    async def _query(self, statement: Statement, holder: Holder) -> Result:
        tree, layout = await self.desk.reading(partial(self._read, statement.text))
        if layout is None:
            constants = self._constants(holder.name)
            columns, rows = await self.desk.reading(partial(self.catalogue.answer, tree, constants))
            return Result(f"SELECT {len(rows)}", columns, rows)
        await self._until_ready()
        self.gate.require_analyst(holder)
        wanted = self._wanted(statement)
        asked: dict[str, Any] = {"question": layout.question, "level": float(wanted["level"])}
        given = Buying(**asked, within=_some(wanted["within"]), most=_some(wanted["most"]))
        try:
            found = await self.desk.ask(given, holder, wanted["request"] or None)
        except UnsupportedWorkload as error:
            if given.within is not None:
                raise
            raise await self._not_free(error, asked, holder) from None
        if wanted["request"] and "request" not in statement.hints:
            self.variables.now["rowspace.request"] = ""  # a key is one question's
        return await self._laid_out(layout, found, wanted["intervals"] == "on", holder)

    def _read(self, text: str) -> tuple[Any, Layout | None]:
        """A query about the catalogue, or the table that a count is to give."""
        tree = parsed(text)
        if tree is not None and is_catalogue(tree):
            return tree, None
        return tree, read_layout(self.desk.study.domain, text, MOST_ANSWERS)

    async def _laid_out(self, layout: Layout, found: AnswerOut, intervals: bool, holder: Holder) -> Result:
        answers = [row.answer for row in found.answers]
        assert len(answers) == layout.size
        fields = ("answer", "low", "high") if intervals else ("answer",)
        rows = []
        for row in layout.arranged(answers):
            line: list[Any] = []
            for heading, value in zip(layout.columns, row, strict=True):
                if heading.kind != "figure":
                    line.append(value)
                elif value is None:  # no record can be there
                    line += [0.0] * len(fields)
                else:
                    line += [getattr(found.answers[int(value)], name) for name in fields]
            rows.append(tuple(line))
        widths = [
            (one.high - one.low) / 2 for one in found.answers if one.high is not None and one.low is not None
        ]
        paid = f"paid {shown_above(found.cost, 6)} {found.unit}" if found.cost else "free"
        reach = (
            f"within ±{shown_above(max(widths), 4)} at level {found.level:g}"
            if widths
            else "without an interval"
        )
        notice = f"{paid}, {reach}; {await self._left(holder)} left for you"
        return Result(f"SELECT {len(rows)}", self._columns(layout.columns, intervals), rows, notice)

    def _columns(self, headings: Sequence[Heading], intervals: bool) -> list[Column]:
        found = []
        for one in headings:
            more = ("", "_low", "_high") if intervals and one.kind == "figure" else ("",)
            found += [Column(one.name + end, _KINDS[one.kind]) for end in more]
        return found

    async def _not_free(self, error: RowspaceError, asked: dict[str, Any], holder: Holder) -> Complaint:
        """That nothing is known, what an answer would cost, and how to ask for it."""
        try:
            price = await self.desk.price(Priced(**asked, within=EXAMPLE), holder)
            cost = f"{shown_above(price.price, 6)} of the {price.left} {price.unit} left for you"
        except RowspaceError:
            cost = "more than there is"
        said = str(error).partition(";")[0]
        hint = (
            f"SET rowspace.within = {EXAMPLE:g}, or /* within {EXAMPLE:g} */ in the statement, costs {cost}"
        )
        return Complaint("55000", f"{said}, and no accuracy to pay for was given; nothing was charged", hint)

    async def _until_ready(self) -> None:
        """Wait for the plan of what is expected, as SQL clients do not try again."""
        with anyio.move_on_after(PATIENCE):
            while not (self.desk.is_ready or self.desk.has_failed):
                await anyio.sleep(0.05)
        require_ready(self.desk)

    async def _explain(self, statement: Statement, holder: Holder) -> Result:
        """The price of a question."""
        text = re.sub(r"^explain\s+(?:\([^)]*\)\s*|analyze\s+|verbose\s+)*", "", statement.text, flags=re.I)
        layout = (await self.desk.reading(partial(self._read, text)))[1]
        lines = ["known from the study: free"]
        if layout is not None:
            await self._until_ready()
            wanted = self._wanted(replace(statement, text=text))
            if not wanted["within"]:
                raise Complaint(
                    "22023", "a price is for an accuracy", "SET rowspace.within = 100, then EXPLAIN again"
                )
            about: dict[str, Any] = {"question": layout.question, "level": float(wanted["level"])}
            given = Priced(**about, within=float(wanted["within"]))
            price = await self.desk.price(given, holder)
            best = f"; all of it buys ±{shown_above(price.best, 4)}" if price.best is not None else ""
            lines = (
                [f"free: known within ±{shown_above(price.reached, 4)}"]
                if price.free and price.reached is not None
                else [
                    f"costs {shown_above(price.price, 6)} {price.unit}",
                    f"left for you: {price.left} {price.unit}{'' if price.affordable else ': not enough'}{best}",
                ]
            )
        return Result("EXPLAIN", [Column("QUERY PLAN")], [(line,) for line in lines])

    def _constants(self, who: str) -> dict[str, Any]:
        """What functions without a table give."""
        shown = {f"={name.lower()}": value for name, value in self.variables.now.items()}
        here = dict.fromkeys(("current_user", "session_user", "user", "current_role"), who)
        here |= dict.fromkeys(("current_database", "current_catalog"), self.database)
        return {**shown, **here, "current_schema": "public"} | dict.fromkeys(
            ("version", "current_version"), f"PostgreSQL {VERSION} (rowspace)"
        )


def _some(value: str) -> float | None:
    return float(value) if value else None


def _shown(statement: Statement) -> str:
    """What SHOW names."""
    name = statement.bare[4:].strip().strip('"')
    return {"transaction isolation level": "transaction_isolation", "time zone": "TimeZone"}.get(
        name.lower(), name
    )
