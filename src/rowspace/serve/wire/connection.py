"""One client, from its greeting to its farewell: tokens as passwords, the simple and the extended protocol."""

from __future__ import annotations

import asyncio
import secrets
import time
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from rowspace.exceptions import RowspaceError

from ..shell import LARGEST_BODY, Refused
from . import messages as out
from .clerk import Clerk, Result
from .complaints import Complaint, complaint
from .messages import Body, Malformed
from .statements import Statement, statements
from .values import Column, formats, literal, settled, written
from .variables import REPORTED, Variables, from_options

SECONDS_TO_GREET, IDLE, SECONDS_TO_READ = 10.0, 3600.0, 60.0
"""To show a token in; between two messages; for a client to take what it was sent."""

_LARGEST_KEPT, _MOST_KEPT, _MOST_PORTALS, _BLOCK = 1_000_000, 1000, 16, 2**16
_ASKED = ("select", "with", "values", "table", "explain", "show")

Note = Callable[[str, str, float, str], None]


@dataclass
class Prepared:
    """A statement that was parsed."""

    statement: Statement
    types: list[int]
    columns: list[Column] | None


@dataclass
class Portal:
    """A statement with its parameters, and what is left to send of its rows."""

    statement: Statement
    columns: list[Column] | None
    forms: list[int]
    result: Result | None = None
    sent: int = 0


@dataclass
class Connection:
    """What is between a client and its clerk. note: told of every statement, for the log and the figures."""

    reader: asyncio.StreamReader
    writer: asyncio.StreamWriter
    clerk_for: Callable[[str, Variables, str], Clerk]
    note: Note
    is_one_too_many: bool = False
    is_busy: bool = False
    is_ending: bool = False
    clerk: Clerk | None = None
    who: str = ""
    _out: bytearray = field(default_factory=bytearray)
    _prepared: dict[str, Prepared] = field(default_factory=dict)
    _portals: dict[str, Portal] = field(default_factory=dict)

    async def run(self) -> None:
        """Serve until the client leaves, or says what cannot be."""
        try:
            async with asyncio.timeout(SECONDS_TO_GREET):
                self.clerk = await self._greeted()
            if self.clerk is not None:
                await self._serve(self.clerk)
        except Malformed as error:
            await self._last("08P01", str(error))
        except Complaint as error:
            await self._last(error.state, error.sentence)
        except TimeoutError:
            await self._last("57P05", "the connection was idle, or slow, for too long")
        except asyncio.CancelledError:
            await self._last("57P01", "the service is stopping; connect again")
        except (ConnectionError, asyncio.IncompleteReadError):
            pass

    async def _greeted(self) -> Clerk | None:
        """A clerk for whoever shows a token; None for one who wants something else than to ask."""
        for _ in range(3):
            version, body = await out.greeting(self.reader)
            if version not in (out.SSL, out.GSS):
                break
            self.writer.write(b"N")  # TLS is a proxy's
        if version == out.CANCEL:
            return None  # what was begun is finished: it may have been charged
        if version >> 16 != 3:
            raise Complaint("08P01", "expected version 3 of PostgreSQL's protocol")
        if self.is_one_too_many:
            raise Complaint("53300", "there are too many connections; come later")
        given = self._parameters(body)
        options = [name for name in given if name.startswith("_pq_.")]
        if version != out.VERSION_3 or options:
            self._out += out.older_version(options)
        self._out += out.PASSWORD_PLEASE
        await self._flush()
        kind, body = await out.message(self.reader, out.LARGEST_GREETING, SECONDS_TO_GREET)
        if kind != "p":
            raise Malformed("expected a token as the password")
        variables = Variables()
        clerk = self._admitted(body.text(), variables, given)
        self._out += out.WELCOME + b"".join(out.setting(name, variables.now[name]) for name in REPORTED)
        self._out += out.key_data(secrets.randbelow(2**31), secrets.randbits(32)) + out.ready("I")
        await self._flush()
        return clerk

    @staticmethod
    def _parameters(body: Body) -> dict[str, str]:
        given: dict[str, str] = {}
        while name := body.text():
            given[name] = body.text()
        return given

    def _admitted(self, secret: str, variables: Variables, given: dict[str, str]) -> Clerk:
        """A clerk, for a token that is known. The name of the user is the token's, whatever the client says."""
        start = time.perf_counter()
        clerk = self.clerk_for(secret, variables, given.get("database") or given.get("user", ""))
        try:
            self.who = clerk.gate.holder(secret).name
            asked = [
                (name, value) for name, value in given.items() if name not in ("user", "database", "options")
            ]
            for name, value in [*asked, *from_options(given.get("options", ""))]:
                if not name.startswith("_pq_.") and name != "replication":
                    variables.set(name, value)
        except (RowspaceError, Refused) as error:
            found = complaint(error)
            self.note("psql:connect", found.state, start, self.who)
            raise found from None
        variables.now["session_authorization"] = self.who
        variables.start = dict(variables.now)
        self.note("psql:connect", "00000", start, self.who)
        return clerk

    async def _serve(self, clerk: Clerk) -> None:
        """Message after message. After an error of the extended protocol all is skipped up to the next Sync."""
        steps: dict[str, Callable[[Body], Awaitable[None]]] = {
            "P": self._parse, "B": self._bind, "D": self._describe, "E": self._execute, "C": self._close
        }  # fmt: skip
        skipping = False
        while not self.is_ending:
            kind, body = await out.message(self.reader, LARGEST_BODY, IDLE)
            self.is_busy = True
            match kind:
                case "X":
                    return
                case "Q":
                    await self._simple(clerk, body.text())
                case "S":
                    skipping = False
                    await self._ready(clerk)
                case "H":
                    await self._flush()
                case "d" | "c" | "f":
                    pass  # of a COPY that never began
                case "F":
                    await self._attempt(clerk, self._no_function)
                    await self._ready(clerk)
                case _ if kind not in steps:
                    raise Malformed("a message of a kind that PostgreSQL's protocol does not have")
                case _ if not skipping:
                    skipping = not await self._attempt(clerk, partial(steps[kind], body))
            self.is_busy = False
        raise Complaint("57P01", "the service is stopping; connect again")

    async def _attempt(self, clerk: Clerk, step: Callable[[], Awaitable[None]]) -> bool:
        """Do a step; False where it failed, which is said and ends a transaction."""
        try:
            await step()
            return True
        except Malformed:
            raise
        except Exception as error:
            found = complaint(error)
            clerk.state = "E" if clerk.state == "T" else clerk.state
            fatal = found.state == "28P01"  # a token that was taken back
            severity = "FATAL" if fatal else "ERROR"
            self._out += out.said(b"E", severity, found.state, found.sentence, found.hint, found.position)
            if fatal:
                await self._flush()
                raise ConnectionResetError from None
            return False

    async def _no_function(self) -> None:
        raise Complaint("0A000", "functions are not called here; write a SELECT that counts")

    async def _simple(self, clerk: Clerk, text: str) -> None:
        """All statements of a text, up to the first that fails."""

        async def each() -> None:
            found = list(statements(text))
            for one in found:
                if one.number:
                    raise Complaint("42P02", "there is no parameter here; write the value itself")
                result = await self._done(clerk, one)
                columns = result.columns
                if columns is not None:
                    forms = [0] * len(columns)
                    self._out += out.description([column.described for column in columns], forms)
                    await self._send(result.rows, columns, forms)
                self._out += out.complete(result.tag)
            if not found:
                self._out += out.EMPTY

        await self._attempt(clerk, each)
        await self._ready(clerk)

    async def _done(self, clerk: Clerk, statement: Statement) -> Result:
        """One statement done, noted, and its notice said."""
        start, state = time.perf_counter(), "00000"
        try:
            result = await clerk.execute(statement)
        except Exception as error:
            found = complaint(error)
            state = found.state
            raise found from None
        finally:
            kind = statement.word if statement.word in _ASKED else "session"
            self.note(f"psql:{'select' if kind in _ASKED[:4] else kind}", state, start, self.who)
        for name in result.changed:
            self._out += out.setting(name, clerk.variables.now[name])
        if result.notice and clerk.variables.now["client_min_messages"].lower() not in ("warning", "error"):
            self._out += out.said(b"N", "NOTICE", "00000", result.notice)
        return result

    async def _parse(self, body: Body) -> None:
        name, text, given = body.text(), body.text(), [body.int32() for _ in range(body.int16())]
        assert self.clerk is not None
        found = list(statements(text)) or [Statement("", {}, 0)]
        if len(found) > 1:
            raise Complaint("42601", "expected one statement at a time")
        if name and name in self._prepared:
            raise Complaint("42P05", "there is a prepared statement of this name")
        kept = sum(len(one.statement.text) for one in self._prepared.values()) + len(text)
        if kept > _LARGEST_KEPT or len(self._prepared) >= _MOST_KEPT:
            raise Complaint("53200", "too many prepared statements; close some")
        guessed, columns = await self.clerk.describe(found[0])
        guessed += [25] * (found[0].number - len(guessed))
        given += [0] * (found[0].number - len(given))
        types = [settled(*pair) for pair in zip(given, guessed, strict=False)]
        self._prepared[name] = Prepared(found[0], types, columns)
        self._out += out.PARSED

    async def _bind(self, body: Body) -> None:
        portal, name, given, values = body.text(), body.text(), body.numbers(), body.values()
        prepared = self._named(self._prepared, name, "26000", "prepared statement")
        if len(values) != prepared.statement.number:
            raise Complaint("08P01", f"expected {prepared.statement.number} parameters, got {len(values)}")
        each = zip(values, prepared.types, formats(given, len(values)), strict=False)
        bound = prepared.statement.bound([literal(*one) for one in each])
        if portal and len(self._portals) >= _MOST_PORTALS:
            raise Complaint("53200", "too many open portals; close some")
        columns = prepared.columns
        self._portals[portal] = Portal(bound, columns, formats(body.numbers(), len(columns or ())))
        self._out += out.BOUND

    async def _describe(self, body: Body) -> None:
        kind, name = body.take(1), body.text()
        if kind == b"S":
            prepared = self._named(self._prepared, name, "26000", "prepared statement")
            self._out += out.parameters(prepared.types)
            columns, forms = prepared.columns, [0] * len(prepared.columns or ())
        else:
            portal = self._named(self._portals, name, "34000", "portal")
            columns, forms = portal.columns, portal.forms
        shown = [column.described for column in columns or ()]
        self._out += out.NO_DATA if columns is None else out.description(shown, forms)

    async def _execute(self, body: Body) -> None:
        name, most = body.text(), body.int32()
        portal = self._named(self._portals, name, "34000", "portal")
        assert self.clerk is not None
        if not portal.statement.text:
            self._out += out.EMPTY
            return
        if portal.result is None:
            portal.result = await self._done(self.clerk, portal.statement)
        result = portal.result
        if result.columns is not None and [c.type for c in result.columns] != [
            c.type for c in portal.columns or ()
        ]:
            raise Complaint("0A000", "the columns of this statement have changed; prepare it again")
        end = portal.sent + most if most > 0 else len(result.rows)
        await self._send(result.rows[portal.sent : end], portal.columns or [], portal.forms)
        portal.sent = min(end, len(result.rows))
        self._out += out.SUSPENDED if end < len(result.rows) else out.complete(result.tag)

    async def _close(self, body: Body) -> None:
        kept: dict[str, Any] = self._prepared if body.take(1) == b"S" else self._portals
        kept.pop(body.text(), None)
        self._out += out.CLOSED

    @staticmethod
    def _named(kept: dict[str, Any], name: str, state: str, what: str) -> Any:
        if name not in kept:
            raise Complaint(state, f"there is no {what} of this name")
        return kept[name]

    async def _send(self, rows: list[tuple[Any, ...]], columns: list[Column], forms: list[int]) -> None:
        kinds = [(column.type, form == 1) for column, form in zip(columns, forms, strict=True)]
        for one in rows:
            self._out += out.row([written(v, *kind) for v, kind in zip(one, kinds, strict=True)])
            if len(self._out) >= _BLOCK:
                await self._flush()

    async def _ready(self, clerk: Clerk) -> None:
        if clerk.state == "I":
            self._portals.clear()
        self._out += out.ready(clerk.state)
        await self._flush()

    async def _flush(self) -> None:
        """Send what is there; a client that does not take it is left."""
        self.writer.write(bytes(self._out))
        self._out.clear()
        async with asyncio.timeout(SECONDS_TO_READ):
            await self.writer.drain()

    async def _last(self, state: str, sentence: str) -> None:
        """Say why the connection ends, to one who listens."""
        self._out += out.said(b"E", "FATAL", state, sentence)
        with suppress(OSError, TimeoutError):
            await self._flush()
