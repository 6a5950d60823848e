"""Cutting the text of a predicate into tokens."""

from __future__ import annotations

import math
import re
from collections.abc import Container, Iterable
from dataclasses import dataclass
from typing import Literal

from rowspace.exceptions import PredicateError
from rowspace.workload.predicate.syntax import KEYWORDS, Value

_WINDOW = 70
_PLAIN_NAME = re.compile(r"[^\W\d]\w*")


@dataclass(frozen=True)
class Source:
    """The text being read."""

    text: str

    def error(self, message: str, position: int) -> PredicateError:
        """Return the error for a 0-based position, with a line of the text and a caret under the place."""
        start = max(0, position - _WINDOW // 2)
        shown = self.text[start : start + _WINDOW]
        # One column per character, whatever the text holds, so that the caret stands where it should.
        line = "".join(character if character.isprintable() else " " for character in shown)
        caret = " " * (position - start) + "^"
        return PredicateError(f"{message} (position {position})\n  {line}\n  {caret}", position)


def with_quoting_advice(error: PredicateError, text: str, names: Iterable[str]) -> PredicateError:
    """The same error, with advice where a name such as ``native-country`` stands in the text without quotes."""
    for name in sorted(names, key=len, reverse=True):
        if _PLAIN_NAME.fullmatch(name) or not re.search(
            rf"(?<![\w`\"']){re.escape(name)}(?![\w`\"'])", text, re.IGNORECASE
        ):
            continue
        first, newline, rest = str(error).partition("\n")
        advice = (
            f'; write `{name}` or "{name}": a name with other characters than letters and digits needs quotes'
        )
        return PredicateError(f"{first}{advice}{newline}{rest}", error.position)
    return error


_LONGEST_NUMBER = 40

Kind = Literal["name", "keyword", "value", "symbol", "end"]

_PATTERN = re.compile(
    r"""
      (?P<space>\s+)
    | (?P<number>[+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?)
    | (?P<text>'(?:[^']|'')*'|"(?:[^"]|"")*")
    | (?P<quoted>`(?:[^`]|``)+`)
    | (?P<word>[^\W\d]\w*)
    | (?P<symbol><=|>=|!=|<>|==|[=<>(),≤≥≠+-])
    """,
    re.VERBOSE,
)
_SAME = {"==": "=", "<>": "!=", "≤": "<=", "≥": ">=", "≠": "!="}


@dataclass(frozen=True)
class Token:
    """A piece of the text: what kind, what it says, where it begins."""

    kind: Kind
    text: str
    position: int
    value: Value = ""

    def describe(self) -> str:
        """Name the token for an error message."""
        return "the end" if self.kind == "end" else repr(self.text)


def tokenize(source: Source, names: Container[str] = ()) -> list[Token]:
    """Return the tokens of a text, with one of kind ``end`` last.

    What stands in double quotes is a name, as in SQL, when it is one of `names`; else it is a text.
    """
    text = source.text
    tokens: list[Token] = []
    position = 0
    while position < len(text):
        match = _PATTERN.match(text, position)
        if match is None:
            raise source.error(_explain(text[position]), position)
        if match.lastgroup != "space":
            tokens.append(_token(source, str(match.lastgroup), match.group(), position, names))
        position = match.end()
    tokens.append(Token("end", "", len(text)))
    return tokens


def _token(source: Source, group: str, text: str, position: int, names: Container[str]) -> Token:
    """Build the token of one match."""
    if group == "number":
        return Token("value", text, position, _number(source, text, position))
    if group == "text":
        inner = text[1:-1].replace(text[0] * 2, text[0])
        return (
            Token("name", inner, position)
            if text[0] == '"' and inner in names
            else Token("value", text, position, inner)
        )
    if group == "quoted":
        return Token("name", text[1:-1].replace("``", "`"), position)
    if group == "symbol":
        return Token("symbol", _SAME.get(text, text), position)
    lower = text.lower()
    if lower in ("true", "false"):
        return Token("value", text, position, lower == "true")
    return Token("keyword", lower, position) if lower in KEYWORDS else Token("name", text, position)


def _number(source: Source, text: str, position: int) -> int | float:
    """Read a number: an int without a point or an exponent, else a finite float."""
    if len(text) > _LONGEST_NUMBER:
        raise source.error(f"a number has at most {_LONGEST_NUMBER} characters, got {len(text)}", position)
    following = source.text[position + len(text) : position + len(text) + 1]
    if following.isalnum() or following in ("_", "."):
        raise source.error("a number must be followed by a space or a symbol", position + len(text))
    if text.lstrip("+-").isdecimal():
        return int(text)
    number = float(text)
    if not math.isfinite(number):
        raise source.error("this number is too large", position)
    return number


def _explain(character: str) -> str:
    """Say what is wrong with a character that begins no token."""
    if character in "'\"":
        return f"this quote {character} is never closed; to write it inside a text, double it"
    if character == "`":
        return "this backtick is never closed; backticks go around names"
    if character in "&|!":
        return f"unexpected {character!r}; write and, or, not"
    return f"unexpected character {character!r}"
