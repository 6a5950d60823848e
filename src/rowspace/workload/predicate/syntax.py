"""The tree of a predicate, how it is written back as text, and the tokens that a text is cut into."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Container, Iterable, Iterator
from dataclasses import dataclass, field
from typing import Literal

from rowspace.exceptions import PredicateError

Value = str | bool | int | float
Comparison = Literal["=", "!=", "<", "<=", ">", ">=", "between", "in"]

#: The comparison that says the same with its sides changed.
MIRRORED: dict[Comparison, Comparison] = {
    "=": "=", "!=": "!=", "<": ">", "<=": ">=", ">": "<", ">=": "<="
}  # fmt: skip

KEYWORDS = frozenset({"and", "or", "not", "in", "between", "is"})

_PLAIN_NAME = re.compile(r"[^\W\d]\w*")


@dataclass(frozen=True)
class Test:
    """One attribute (or level) against one value, or several for ``between`` and ``in``.

    `part` is what of a date is compared: ``month(arrival) = 3``.
    """

    __test__ = False  # pytest collects classes by this name

    name: str
    comparison: Comparison
    values: tuple[Value, ...]
    position: int = field(default=0, compare=False)
    part: str | None = None

    def __str__(self) -> str:
        subject, values = self.subject, [value_text(value) for value in self.values]
        if self.comparison == "between":
            return f"{subject} between {values[0]} and {values[1]}"
        if self.comparison == "in":
            return f"{subject} in ({', '.join(values)})"
        return f"{subject} {self.comparison} {values[0]}"

    @property
    def subject(self) -> str:
        """What is compared, as text."""
        return name_text(self.name) if self.part is None else f"{self.part}({name_text(self.name)})"


@dataclass(frozen=True)
class Missing:
    """An attribute has no known value: ``age is missing``, or with `negated` it has one."""

    name: str
    negated: bool = False
    position: int = field(default=0, compare=False)

    def __str__(self) -> str:
        return f"{name_text(self.name)} is {'not ' if self.negated else ''}missing"


@dataclass(frozen=True)
class Term:
    """One attribute in a sum, added (sign 1) or taken away (sign -1)."""

    sign: int
    name: str
    position: int = field(default=0, compare=False)


@dataclass(frozen=True)
class Relation:
    """Attributes compared with each other: the sum of `terms` against `constant`, such as ``a <= b + 5``."""

    terms: tuple[Term, ...]
    comparison: Comparison
    constant: int | float = 0
    position: int = field(default=0, compare=False)

    def __str__(self) -> str:
        # What is taken away stands on the right, so that no text begins with a sign.
        left = [name_text(term.name) for term in self.terms if term.sign > 0]
        right = [name_text(term.name) for term in self.terms if term.sign < 0]
        if not right:
            return f"{' + '.join(left)} {self.comparison} {self.constant!r}"
        number = "" if not self.constant else f" {'-' if self.constant < 0 else '+'} {abs(self.constant)!r}"
        return f"{' + '.join(left) or '0'} {self.comparison} {' + '.join(right)}{number}"


@dataclass(frozen=True)
class Is:
    """A condition is (or with `negated` is not) true or false; a missing value leaves it neither."""

    condition: Condition
    value: bool
    negated: bool = False

    def __str__(self) -> str:
        return f"({self.condition}) is {'not ' if self.negated else ''}{value_text(self.value)}"


@dataclass(frozen=True)
class Not:
    """Every cell where the condition is false: not where a missing value leaves it open."""

    condition: Condition

    def __str__(self) -> str:
        inner = str(self.condition)
        return f"not ({inner})" if isinstance(self.condition, And | Or) else f"not {inner}"


@dataclass(frozen=True)
class And:
    """Every cell where all conditions hold."""

    conditions: tuple[Condition, ...]

    def __str__(self) -> str:
        return " and ".join(
            f"({part})" if isinstance(part, And | Or) else str(part) for part in self.conditions
        )


@dataclass(frozen=True)
class Or:
    """Every cell where some condition holds."""

    conditions: tuple[Condition, ...]

    def __str__(self) -> str:
        return " or ".join(f"({part})" if isinstance(part, Or) else str(part) for part in self.conditions)


Leaf = Test | Missing | Relation
Condition = Leaf | Is | Not | And | Or


def leaves(condition: Condition) -> Iterator[Leaf]:
    """Walk over what a condition is made of, left to right."""
    match condition:
        case Test() | Missing() | Relation():
            yield condition
        case Not(inner) | Is(inner):
            yield from leaves(inner)
        case And(parts) | Or(parts):
            for part in parts:
                yield from leaves(part)


def with_leaves(condition: Condition, change: Callable[[Leaf], Condition]) -> Condition:
    """The condition with each leaf replaced."""
    match condition:
        case Test() | Missing() | Relation():
            return change(condition)
        case Not(inner):
            return Not(with_leaves(inner, change))
        case Is(inner, value, negated):
            return Is(with_leaves(inner, change), value, negated)
        case And(parts):
            return And(tuple(with_leaves(part, change) for part in parts))
        case Or(parts):
            return Or(tuple(with_leaves(part, change) for part in parts))


def names(condition: Condition) -> Iterator[tuple[str, int]]:
    """Every attribute or level that a condition names, and where."""
    for leaf in leaves(condition):
        if isinstance(leaf, Relation):
            yield from ((term.name, term.position) for term in leaf.terms)
        else:
            yield leaf.name, leaf.position


def conjuncts(condition: Condition) -> list[Condition]:
    """Split a condition into ones that must all hold; ``not (a or b)`` is ``not a and not b``."""
    match condition:
        case And(parts):
            return [piece for part in parts for piece in conjuncts(part)]
        case Not(Or(parts)):
            return [piece for part in parts for piece in conjuncts(Not(part))]
        case Not(Not(inner)):
            return conjuncts(inner)
        case _:
            return [condition]


def name_text(name: str) -> str:
    """Write a name so that it is read back as the same name."""
    is_word = _PLAIN_NAME.fullmatch(name) and name.lower() not in KEYWORDS | {"true", "false"}
    return name if is_word else "`" + name.replace("`", "``") + "`"


def value_text(value: Value) -> str:
    """Write a value so that it is read back as the same value."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return "'" + value.replace("'", "''") + "'"
    return repr(value)


_WINDOW = 70


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
