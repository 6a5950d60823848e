"""Messages of PostgreSQL's protocol, version 3: what a client sends is read within bounds, byte by byte by its lengths.

A length is looked at before anything of it is waited for, so that memory is bounded whatever a client says; and
a message that began must end soon, so that no client holds a place by sending slowly.
"""

from __future__ import annotations

import asyncio
import struct
from collections.abc import Sequence
from dataclasses import dataclass

LARGEST_GREETING = 10_000
"""Most bytes of a message of a client that has not shown a token."""

SECONDS_PER_MESSAGE = 30.0
"""How long a message may take from its first byte to its last."""

VERSION_3, SSL, GSS, CANCEL = 3 << 16, 80877103, 80877104, 80877102


class Malformed(Exception):
    """A message that cannot be; the connection ends."""


@dataclass
class Body:
    """What is in a message, read from its beginning to its end."""

    content: bytes
    at: int = 0

    def take(self, number: int) -> bytes:
        """The next bytes."""
        if number < 0 or self.at + number > len(self.content):
            raise Malformed("a message is shorter than it says")
        self.at += number
        return self.content[self.at - number : self.at]

    def int16(self) -> int:
        """A number of two bytes."""
        return int(struct.unpack("!h", self.take(2))[0])

    def int32(self) -> int:
        """A number of four bytes."""
        return int(struct.unpack("!i", self.take(4))[0])

    def text(self) -> str:
        """Text up to a zero."""
        end = self.content.find(b"\0", self.at)
        if end < 0:
            raise Malformed("a text in a message has no end")
        try:
            found = self.take(end - self.at).decode()
        except UnicodeDecodeError:
            raise Malformed("expected text in UTF-8") from None
        self.at += 1
        return found

    def numbers(self) -> list[int]:
        """A list of numbers of two bytes."""
        return [self.int16() for _ in range(self.int16())]

    def values(self) -> list[bytes | None]:
        """A list of values; None for NULL."""
        sizes = range(self.int16())
        return [None if (size := self.int32()) == -1 else self.take(size) for _ in sizes]


async def greeting(reader: asyncio.StreamReader) -> tuple[int, Body]:
    """The first message, which has no kind: its version, or what is asked for instead."""
    (size,) = struct.unpack("!i", await reader.readexactly(4))
    if not 8 <= size <= LARGEST_GREETING:
        raise Malformed("expected a greeting of PostgreSQL's protocol")
    body = Body(await reader.readexactly(size - 4))
    return body.int32(), body


async def message(reader: asyncio.StreamReader, largest: int, idle: float) -> tuple[str, Body]:
    """The next message: its kind and its content. idle: seconds to wait for it."""
    async with asyncio.timeout(idle):
        kind = await reader.readexactly(1)
    async with asyncio.timeout(SECONDS_PER_MESSAGE):
        (size,) = struct.unpack("!i", await reader.readexactly(4))
        if not 4 <= size <= largest:
            raise Malformed(f"expected messages of at most {largest:,} bytes")
        return kind.decode("latin-1"), Body(await reader.readexactly(size - 4))


# What a client is sent.


def framed(kind: bytes, content: bytes = b"") -> bytes:
    """A message."""
    return kind + struct.pack("!i", 4 + len(content)) + content


def text(value: str) -> bytes:
    """Text as it stands in messages."""
    return value.replace("\0", "").encode("utf-8", "replace") + b"\0"


PASSWORD_PLEASE, WELCOME = framed(b"R", struct.pack("!i", 3)), framed(b"R", struct.pack("!i", 0))
PARSED, BOUND, CLOSED, NO_DATA, EMPTY, SUSPENDED = (
    framed(kind) for kind in (b"1", b"2", b"3", b"n", b"I", b"s")
)


def older_version(options: Sequence[str]) -> bytes:
    """That version 3.0 is spoken, and none of some options."""
    return framed(b"v", struct.pack("!ii", VERSION_3, len(options)) + b"".join(map(text, options)))


def key_data(process: int, secret: int) -> bytes:
    """By what a client could ask to cancel a statement."""
    return framed(b"K", struct.pack("!iI", process, secret))


def setting(name: str, value: str) -> bytes:
    """The value of a setting that clients want to know of."""
    return framed(b"S", text(name) + text(value))


def ready(state: str) -> bytes:
    """That the next statement may come. state: I idle, T in a transaction, E in one that failed."""
    return framed(b"Z", state.encode())


def parameters(types: Sequence[int]) -> bytes:
    """The types of a statement's parameters."""
    return framed(b"t", struct.pack(f"!H{len(types)}I", len(types), *types))


def description(columns: Sequence[tuple[str, int, int]], formats: Sequence[int]) -> bytes:
    """Columns: name, type, size; formats: 0 text, 1 binary."""
    rows = (
        text(name) + struct.pack("!ihihih", 0, 0, kind, size, -1, form)
        for (name, kind, size), form in zip(columns, formats, strict=True)
    )
    return framed(b"T", struct.pack("!h", len(columns)) + b"".join(rows))


def row(values: Sequence[bytes | None]) -> bytes:
    """A row of values in the form that was asked for."""
    parts = (b"\xff\xff\xff\xff" if v is None else struct.pack("!i", len(v)) + v for v in values)
    return framed(b"D", struct.pack("!h", len(values)) + b"".join(parts))


def complete(tag: str) -> bytes:
    """That a statement was done."""
    return framed(b"C", text(tag))


def said(
    kind: bytes, severity: str, state: str, sentence: str, hint: str = "", position: int | None = None
) -> bytes:
    """An error (E) or a notice (N), with its SQLSTATE."""
    fields = {"S": severity, "V": severity, "C": state, "M": sentence, "H": hint}
    fields |= {} if position is None else {"P": str(position + 1)}
    found = (name.encode() + text(value) for name, value in fields.items() if value)
    return framed(kind, b"".join(found) + b"\0")
