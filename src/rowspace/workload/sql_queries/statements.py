"""From a text to parsed SELECT statements: cut, bounded, named, read by sqlglot, and nothing but SELECT.

sqlglot only builds trees; nothing here is ever sent to a database.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, ClassVar

from sqlglot import exp
from sqlglot.errors import ErrorLevel, ParseError, TokenError
from sqlglot.parser import Parser
from sqlglot.tokens import Tokenizer

from rowspace.exceptions import PredicateError
from rowspace.workload.predicate.syntax import Source

_WINDOW = 70


@dataclass(frozen=True)
class SqlText(Source):
    """The text being read; conditions point into it by 0-based character."""

    def error(self, message: str, position: int) -> PredicateError:
        """Return the error at a character, its line and column first, the line itself with a caret below.

        >>> print(SqlText("SELECT COUNT(*)\\nFROM t WHERE agee > 3").error("unknown column agee", 29))
        line 2, column 14: unknown column agee
          FROM t WHERE agee > 3
                       ^
        """
        position = max(0, min(position, len(self.text)))
        start = self.text.rfind("\n", 0, position) + 1
        end = self.text.find("\n", position)
        line = self.text[start : len(self.text) if end < 0 else end]
        column = position - start
        first = max(0, column - _WINDOW // 2)
        shown = "".join(c if c.isprintable() else " " for c in line[first : first + _WINDOW])
        number = self.text.count("\n", 0, position) + 1
        caret = " " * (column - first) + "^"
        return PredicateError(
            f"line {number}, column {column + 1}: {message}\n  {shown}\n  {caret}", position
        )


_SQL_SHOWN = 60


_REFUSED: tuple[tuple[tuple[type[exp.Expr], ...], str], ...] = (
    (
        (exp.Placeholder, exp.Parameter, exp.SessionParameter),
        "a placeholder has no value here; write the value itself",
    ),
    ((exp.Escape,), "ESCAPE is not read; list the categories with IN (...)"),
    (
        (exp.CurrentDate, exp.CurrentTimestamp, exp.CurrentTime),
        "the current date changes; write the date itself, as in DATE '2024-03-01'",
    ),
    (
        (exp.Like, exp.ILike, exp.SimilarTo, exp.RegexpLike, exp.Glob),
        "patterns are not evaluated; list the categories with IN (...)",
    ),
    ((exp.Null,), "a comparison with NULL never holds in SQL; leave it out"),
)


def refusal(node: exp.Expr) -> str:
    """Say what a piece is, why it is refused, and what to write instead."""
    if node.find(exp.Query) is not None:
        return "a subquery is not a condition on one record; compare columns with values"
    if node.find(exp.Window) is not None:
        return "a window function is not a count of records; use GROUP BY"
    for kinds, reason in _REFUSED:
        if isinstance(node, kinds):
            return reason
    match node:
        case exp.Add() | exp.Sub() if node.find(exp.Interval) is not None:
            return f"{shown(node)} is not computed; write the date itself, as in DATE '2024-03-01'"
        case exp.AggFunc():
            return f"{node.sql_name()} is not allowed in a condition; only counts per record are linear"
        case exp.Column():
            return f"{shown(node)} by itself is not a condition; compare the column with a value"
        case exp.Func():
            return f"{_function(node)} is not evaluated; compare the column itself with a value"
        case exp.Binary() | exp.Unary():
            return f"{shown(node)} is not evaluated; compare the column itself with a value"
    return f"{shown(node)} is not a condition; compare a column with a value"


def shown(node: exp.Expr) -> str:
    """A piece of SQL for a message, on one line and cut short."""
    text = " ".join(node.sql().split())
    return repr(text if len(text) <= _SQL_SHOWN else text[:_SQL_SHOWN] + " …")


def _function(node: exp.Func) -> str:
    name = node.name if isinstance(node, exp.Anonymous) else node.sql_name()
    return f"the function {name[:_SQL_SHOWN]}"


#: Longest text that is read, in characters.
MAX_LENGTH = 1_000_000
#: Most statements of one text.
MAX_STATEMENTS = 10_000
#: Most words and symbols of one statement.
MAX_TOKENS = 20_000
#: Deepest nesting of parentheses, CASE and NOT: the parser calls itself.
MAX_DEPTH = 40

_NAME = re.compile(r"\s*name\s*:\s*(.*?)\s*", re.IGNORECASE | re.DOTALL)
_LONGEST_NAME = 200
_OPENING = frozenset({"L_PAREN", "L_BRACKET", "L_BRACE", "CASE"})
_CLOSING = frozenset({"R_PAREN", "R_BRACKET", "R_BRACE", "END"})
_PREFIX = frozenset({"NOT", "DASH", "PLUS", "TILDE", "TILDA"})
# What a statement that only reads or writes begins with, and why it is refused.
_OTHER_STATEMENTS = {
    "L_PAREN": "a parenthesis: write the SELECT without parentheses around it",
}


@dataclass(frozen=True)
class SqlStatement:
    """One SELECT: its number from 1, its name if a comment gives one, its tree, and where it begins."""

    number: int
    name: str | None
    select: exp.Select
    position: int


def read_statements(text: SqlText) -> Iterator[SqlStatement]:
    """Read the statements of a text one after the other; `PredicateError` at the first that is no SELECT."""
    for number, tokens in enumerate(_split(_tokens(text)), start=1):
        if number > MAX_STATEMENTS:
            raise text.error(f"at most {MAX_STATEMENTS:,} statements are read at once", tokens[0].start)
        _check_size(tokens, text)
        yield SqlStatement(number, _name(tokens, text), _parse(tokens, text), tokens[0].start)


def require_shallow(text: SqlText) -> None:
    """Refuse a text that would take a parser long or deep, whatever it is."""
    for tokens in _split(_tokens(text)):
        _check_size(tokens, text)


def ending_at(text: SqlText, words: Sequence[str]) -> int | None:
    """Where the first of some words stands outside of all parentheses; None where none does."""
    depth = 0
    for token in _tokens(text):
        kind = token.token_type.name
        if not depth and kind in words:
            return int(token.start)
        depth += (kind in _OPENING) - (kind in _CLOSING)
    return None


def _tokens(text: SqlText) -> list[Any]:
    """Cut a text into words and symbols."""

    class BothQuotes(Tokenizer):
        IDENTIFIERS: ClassVar = ['"', "`"]

    if len(text.text) > MAX_LENGTH:
        raise text.error(f"SQL has at most {MAX_LENGTH:,} characters, got {len(text.text):,}", MAX_LENGTH)
    try:
        return list(BothQuotes().tokenize(text.text))
    except TokenError as error:
        # Its message quotes the text; the place is in the cause, "Missing ' from 3:12".
        place = re.search(r"from (\d+):(\d+)", f"{error} {error.__cause__}")
        position = _offset(text, int(place[1]), int(place[2])) if place else 0
        raise text.error("a quote or a comment is never closed", position) from None


def _split(tokens: Sequence[Any]) -> Iterator[list[Any]]:
    """Cut at semicolons; nothing between two of them is no statement."""
    current: list[Any] = []
    for token in tokens:
        if token.token_type.name == "SEMICOLON":
            if current:
                yield current
            current = []
        else:
            current.append(token)
    if current:
        yield current


def _check_size(tokens: list[Any], text: SqlText) -> None:
    """Refuse what would take the parser long or deep."""
    if len(tokens) > MAX_TOKENS:
        raise text.error(
            f"a statement has at most {MAX_TOKENS:,} words and symbols, got {len(tokens):,}", tokens[0].start
        )
    depth = prefixes = 0
    for token in tokens:
        kind = token.token_type.name
        prefixes = prefixes + 1 if kind in _PREFIX else 0
        depth += (kind in _OPENING) - (kind in _CLOSING)
        if depth + prefixes > MAX_DEPTH:
            raise text.error(f"nested deeper than {MAX_DEPTH} levels; simplify the query", token.start)


def _name(tokens: list[Any], text: SqlText) -> str | None:
    """The name in a comment ``-- name: elderly`` before or inside a statement: the first one counts."""
    for token in tokens:
        for comment in token.comments:
            match = _NAME.fullmatch(comment)
            if match is None:
                continue
            if not match[1] or not match[1].isprintable() or len(match[1]) > _LONGEST_NAME:
                message = f"a name must be 1 to {_LONGEST_NAME} printable characters, as in -- name: elderly"
                raise text.error(message, token.start)
            return match[1]
    return None


def _parse(tokens: list[Any], text: SqlText) -> exp.Select:
    """The tree of one statement."""
    first = tokens[0]
    # Looked at before parsing: the parser takes anything, and remarks on the terminal what it does not know.
    if first.token_type.name not in ("SELECT", "WITH"):
        what = _OTHER_STATEMENTS.get(first.token_type.name, f"{first.text[:40]!r}")
        raise text.error(f"expected a SELECT that counts, got {what}; nothing else is read", first.start)
    try:
        with _unlogged("sqlglot"):
            trees = Parser(error_level=ErrorLevel.IMMEDIATE).parse(tokens, text.text)
    except ParseError as error:
        raise _misread(error, text, first.start) from None
    except RecursionError:
        raise text.error("nested too deeply; simplify the query", first.start) from None
    if len(trees) != 1 or not isinstance(trees[0], exp.Select):
        what = "UNION, INTERSECT or EXCEPT; write one statement for each SELECT"
        raise text.error(f"expected a single SELECT, got {what}", first.start)
    return trees[0]


@contextmanager
def _unlogged(name: str) -> Iterator[None]:
    """Keep a library's remarks off the terminal: what is wrong is said by our own errors."""
    logger = logging.getLogger(name)
    before = logger.disabled
    logger.disabled = True
    try:
        yield
    finally:
        logger.disabled = before


def _misread(error: Any, text: SqlText, start: int) -> PredicateError:
    """The parser's complaint in our words, at its place."""
    detail = error.errors[0] if error.errors else {}
    line, column = detail.get("line"), detail.get("col")
    found = detail.get("highlight") or ""
    position = start
    if isinstance(line, int) and isinstance(column, int):
        position = _offset(text, line, column - max(len(found), 1) + 1)
    reason = str(detail.get("description") or "it is not SQL").rstrip(".")
    if reason.startswith("Required keyword"):
        reason = "something is missing here"
    return text.error(f"this is not a query that can be read: {reason[:200]}", position)


def _offset(text: SqlText, line: int, column: int) -> int:
    """The 0-based character of a 1-based line and column."""
    start = 0
    for _ in range(line - 1):
        start = text.text.find("\n", start) + 1
    return start + max(column, 1) - 1
