"""Texts of SQL: cut into statements, with hints in comments and places for parameters.

Texts are cut by their quotes and comments alone; what a statement means is read elsewhere, against the study. No text
reaches a database, so a parameter can change a question but never leave it: at worst it is no counting query.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from sqlglot import exp

from rowspace.domain import Dates, Domain, Numeric
from rowspace.exceptions import InvalidInput, RowspaceError

from .values import FLOAT8, TEXT

MOST_PARAMETERS = 200

_PIECE = re.compile(
    r"""(?P<quoted>'(?:[^']|'')*'|"(?:[^"]|"")*")|(?P<comment>--[^\n]*|/\*.*?\*/)"""
    r"""|\$(?P<number>\d{1,4})(?:::[A-Za-z_]\w*(?:\s*\(\d+\))?)?|(?P<end>;)""",
    re.DOTALL,
)
_NAMES = "within|level|most|request|intervals"
_HINT = re.compile(
    rf"\s*(?:rowspace\s*:?\s*)?((?:(?:{_NAMES})(?:\s*=\s*|\s+)[^\s,;=]+[\s,;]*)+)", re.IGNORECASE
)
_PAIR = re.compile(rf"({_NAMES})(?:\s*=\s*|\s+)([^\s,;=]+)", re.IGNORECASE)
_PLACE = "rowspace_parameter_"


@dataclass(frozen=True)
class Statement:
    """One statement. hints: what its comments say about accuracy and spending, by name. number: of its parameters."""

    text: str
    hints: dict[str, str]
    number: int

    @property
    def word(self) -> str:
        """What it begins with, in lower case."""
        found = re.match(r"(?:\s|\(|--[^\n]*(?:\n|$)|/\*.*?\*/)*([A-Za-z]+)", self.text, re.DOTALL)
        return found[1].lower() if found else ""

    @property
    def bare(self) -> str:
        """The text without comments, on one line: for the statements that are read by their words."""
        return " ".join(_PIECE.sub(lambda m: " " if m["comment"] else m[0], self.text).split())

    def bound(self, literals: Sequence[str]) -> Statement:
        """The same with literals for its parameters; a cast of one goes, since it has its type."""
        if len(literals) != self.number:
            raise InvalidInput(f"expected {self.number} parameters, got {len(literals)}")
        if not self.number:
            return self
        # A space before each: after a minus sign a negative number would begin a comment.
        text = _PIECE.sub(lambda m: f" {literals[int(m['number']) - 1]}" if m["number"] else m[0], self.text)
        return Statement(text, self.hints, 0)

    def with_names(self) -> Statement:
        """The same with a column's name for each parameter: for what does not depend on their values."""
        return self.bound([f"{_PLACE}{number}" for number in range(self.number)])


def statements(text: str) -> Iterator[Statement]:
    """The statements of a text, those that say nothing left out."""
    start, hints, highest = 0, dict[str, str](), 0
    for piece in _PIECE.finditer(text):
        if piece["comment"]:
            hints |= _hints(piece["comment"])
        elif piece["number"]:
            highest = max(highest, _number(piece["number"]))
        elif piece["end"]:
            yield from _some(text[start : piece.start()], hints, highest)
            start, hints, highest = piece.end(), {}, 0
    yield from _some(text[start:], hints, highest)


def _some(text: str, hints: dict[str, str], number: int) -> Iterator[Statement]:
    found = Statement(text.strip(), hints, number)
    if found.bare:
        yield found


def _number(written: str) -> int:
    if not 1 <= int(written) <= MOST_PARAMETERS:
        raise InvalidInput(f"expected parameters from $1 to ${MOST_PARAMETERS}")
    return int(written)


def _hints(comment: str) -> dict[str, str]:
    """What a comment such as /* within 50 */ asks for."""
    inner = comment[2:].removesuffix("*/") if comment.startswith("/*") else comment[2:]
    found = _HINT.fullmatch(inner)
    return {} if found is None else {name.lower(): value for name, value in _PAIR.findall(found[1])}


def guessed_types(tree: exp.Expr | None, number: int, domain: Domain) -> list[int]:
    """The type that each parameter must have by what it is compared with: numbers, else text."""
    found = [TEXT] * number
    for column in () if tree is None else tree.find_all(exp.Column):
        place = column.name.removeprefix(_PLACE)
        beside = column.find_ancestor(exp.Predicate, exp.Between, exp.In)
        if place == column.name or not place.isdecimal() or beside is None:
            continue
        others = (one for one in beside.find_all(exp.Column) if not one.name.startswith(_PLACE))
        if any(_is_number(one.name, domain) for one in others):
            found[int(place)] = FLOAT8
    return found


def _is_number(name: str, domain: Domain) -> bool:
    alike = [own for own in domain.names if own.lower() == name.lower()]
    try:
        attribute = domain.dimension(name if name in alike else alike[0])
    except (RowspaceError, IndexError):
        return False
    return isinstance(attribute, Numeric) and not isinstance(attribute, Dates)
