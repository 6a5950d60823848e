"""Recursive descent over the tokens of a predicate."""

from __future__ import annotations

from collections.abc import Callable, Container
from dataclasses import dataclass
from typing import cast

from rowspace.domain import DATE_PARTS, did_you_mean
from rowspace.exceptions import PredicateError
from rowspace.workload.predicate.relations import LinearSum, related
from rowspace.workload.predicate.syntax import (
    MIRRORED,
    And,
    Comparison,
    Condition,
    Is,
    Missing,
    Not,
    Or,
    Source,
    Term,
    Test,
    Token,
    Value,
    tokenize,
)

#: Longest predicate that is read, in characters.
MAX_LENGTH = 10_000
#: Deepest nesting of parentheses and ``not``.
MAX_DEPTH = 50


@dataclass(frozen=True)
class _Subject:
    """An attribute, or a part of a date, before what it is compared with."""

    name: str
    position: int
    part: str | None = None


_Operand = Value | _Subject | LinearSum


def parse(text: str, *, longest: int = MAX_LENGTH, names: Container[str] = ()) -> Condition:
    """Return the tree of a predicate, or raise `PredicateError` with the place of the mistake.

    Texts of more than `longest` characters are refused before anything is read. What stands in double quotes is a name
    when it is one of `names`, else a text.

    >>> str(parse("Age>=65 AND (sex = \\"F\\")"))
    "Age >= 65 and sex = 'F'"
    """
    if not isinstance(text, str):
        raise PredicateError(f"a predicate must be text, got {type(text).__name__}")
    source = Source(text)
    if len(text) > longest:
        raise source.error(f"a predicate has at most {longest:,} characters, got {len(text):,}", longest)
    return _Parser(source, tokenize(source, names)).whole()


class _Parser:
    """A cursor over tokens; each method reads one rule of the grammar."""

    def __init__(self, source: Source, tokens: list[Token]) -> None:
        self._source = source
        self._tokens = tokens
        self._at = 0
        self._depth = 0

    def whole(self) -> Condition:
        """Read a condition and nothing after it."""
        if self._peek().kind == "end":
            raise self._error("the predicate is empty; write for example: age >= 65")
        condition = self._condition()
        if self._peek().kind != "end":
            raise self._error(f"expected 'and', 'or' or the end, got {self._peek().describe()}")
        return condition

    def _condition(self) -> Condition:
        return self._joined("or", Or, lambda: self._joined("and", And, self._negation))

    def _joined(self, word: str, kind: type[And | Or], read: Callable[[], Condition]) -> Condition:
        """Read conditions with a word between them; those of the same kind become one."""
        parts = [read()]
        while self._take("keyword", word):
            parts.append(read())
        flat = [piece for part in parts for piece in (part.conditions if isinstance(part, kind) else (part,))]
        return flat[0] if len(flat) == 1 else kind(tuple(flat))

    def _negation(self) -> Condition:
        self._depth += 1
        if self._depth > MAX_DEPTH:
            raise self._error(f"nested deeper than {MAX_DEPTH} levels; simplify the predicate")
        condition: Condition
        if self._take("keyword", "not"):
            condition = Not(self._negation())
        elif self._take("symbol", "("):
            condition = self._condition()
            self._expect(")")
            if self._take("keyword", "is"):
                negated = self._take("keyword", "not")
                condition = Is(condition, self._boolean(), negated)
        else:
            condition = self._test()
        self._depth -= 1
        return condition

    def _test(self) -> Condition:
        """Read what an operand is compared with; ``18 <= age < 65`` is two tests of the one in the middle."""
        left = self._operand()
        if isinstance(left, _Subject):
            test = self._test_of(left)
            if test is not None:
                return test
        comparison, position = self._comparison()
        middle = self._operand("a number or a text in quotes")
        first = self._compared(left, comparison, middle, position)
        if not self._at_comparison():
            return first
        comparison, position = self._comparison()
        return And(
            (
                first,
                self._compared(middle, comparison, self._operand("a number or a text in quotes"), position),
            )
        )

    def _test_of(self, subject: _Subject) -> Condition | None:
        """Read the tests that begin with a name, or None when a comparison follows."""
        name, position, part = subject.name, subject.position, subject.part
        if self._take("keyword", "is"):
            return self._state(subject)
        negated = self._take("keyword", "not")
        test: Test
        if self._take("keyword", "between"):
            low = self._value()
            if not self._take("keyword", "and"):
                raise self._error(
                    f"expected 'and' and the upper end of between, got {self._peek().describe()}"
                )
            test = Test(name, "between", (low, self._value()), position, part)
        elif self._take("keyword", "in"):
            test = Test(name, "in", self._list(), position, part)
        elif negated:
            raise self._error(f"expected 'in' or 'between' after 'not', got {self._peek().describe()}")
        elif self._at_comparison() or part is not None:
            return None
        else:
            test = Test(name, "=", (True,), position)
        return Not(test) if negated else test

    def _state(self, subject: _Subject) -> Condition:
        """Read what follows ``age is``."""
        negated = self._take("keyword", "not")
        token = self._peek()
        if subject.part is None and token.kind == "name" and token.text.lower() in ("missing", "null"):
            self._at += 1
            return Missing(subject.name, negated, subject.position)
        return Is(Test(subject.name, "=", (True,), subject.position, subject.part), self._boolean(), negated)

    def _boolean(self) -> bool:
        token = self._peek()
        if token.kind != "value" or not isinstance(token.value, bool):
            raise self._error(f"expected missing, null, true or false after 'is', got {token.describe()}")
        self._at += 1
        return token.value

    def _operand(self, expected: str = "the name of an attribute") -> _Operand:
        """Read a value, a name, a part of a date, or a sum of names and numbers."""
        token = self._peek()
        if token.kind == "value" and isinstance(token.value, bool | str):
            return self._value()
        operands = [(1, self._term(expected))]
        while (sign := self._sign()) is not None:
            operands.append((sign, self._term("a name or a number")))
        if len(operands) == 1:
            return operands[0][1]
        terms: list[Term] = []
        constant: int | float = 0
        for sign, operand in operands:
            if isinstance(operand, _Subject):
                terms.append(self._added(sign, operand))
            else:
                constant += sign * operand
        return LinearSum(tuple(terms), constant)

    def _sign(self) -> int | None:
        """Step over a plus or minus; the sign of a number as in ``a -5`` belongs to the number."""
        token = self._peek()
        if token.kind == "value" and token.text[0] in "+-":
            return 1
        if token.kind == "symbol" and token.text in ("+", "-"):
            self._at += 1
            return 1 if token.text == "+" else -1
        return None

    def _term(self, expected: str) -> _Subject | int | float:
        """Read one number or name of a sum."""
        token = self._peek()
        if (
            token.kind == "value"
            and isinstance(token.value, int | float)
            and not isinstance(token.value, bool)
        ):
            self._at += 1
            return token.value
        if token.kind != "name":
            raise self._error(f"expected {expected}, got {token.describe()}")
        self._at += 1
        if self._peek().kind == "symbol" and self._peek().text == "(":
            return self._part(token)
        return _Subject(token.text, token.position)

    def _part(self, function: Token) -> _Subject:
        """Read ``month(arrival)``."""
        part = function.text.lower()
        if part not in DATE_PARTS:
            advice = did_you_mean(part, DATE_PARTS, len(DATE_PARTS))
            raise self._source.error(f"unknown function {function.text[:40]!r}; {advice}", function.position)
        self._expect("(")
        name = self._peek()
        if name.kind != "name":
            raise self._error(f"expected the name of an attribute, got {name.describe()}")
        self._at += 1
        self._expect(")")
        return _Subject(name.text, name.position, part)

    def _compared(self, left: _Operand, comparison: Comparison, right: _Operand, position: int) -> Condition:
        """One comparison: a test of a name against a value, or attributes with each other."""
        if isinstance(left, _Subject) and isinstance(right, Value):
            return Test(left.name, comparison, (right,), left.position, left.part)
        if isinstance(left, Value) and isinstance(right, _Subject):
            return Test(right.name, MIRRORED[comparison], (left,), right.position, right.part)
        for side in (left, right):
            if isinstance(side, bool | str):
                raise self._source.error(
                    "a sum or difference of attributes is compared with numbers, not with text", position
                )
        return related(self._sum(left), comparison, self._sum(right), position, self._source)

    def _sum(self, operand: _Operand) -> LinearSum:
        if isinstance(operand, LinearSum):
            return operand
        if isinstance(operand, _Subject):
            return LinearSum((self._added(1, operand),), 0)
        assert not isinstance(operand, str)
        return LinearSum((), operand)

    def _added(self, sign: int, operand: _Subject) -> Term:
        if operand.part is not None:
            message = f"{operand.part}({operand.name}) is compared with a value only; compare it by itself"
            raise self._source.error(message, operand.position)
        return Term(sign, operand.name, operand.position)

    def _at_comparison(self) -> bool:
        return self._peek().kind == "symbol" and self._peek().text in MIRRORED

    def _comparison(self) -> tuple[Comparison, int]:
        token = self._peek()
        if not self._at_comparison():
            raise self._error(f"expected a comparison such as = or >=, got {token.describe()}")
        self._at += 1
        return cast(Comparison, token.text), token.position

    def _value(self) -> Value:
        token = self._peek()
        if token.kind == "name":
            advice = f"for a text write '{token.text}'"
            raise self._error(f"expected a number or a text in quotes, got {token.describe()}; {advice}")
        if token.kind != "value":
            raise self._error(f"expected a number or a text in quotes, got {token.describe()}")
        self._at += 1
        return token.value

    def _list(self) -> tuple[Value, ...]:
        self._expect("(")
        values = [self._value()]
        while self._take("symbol", ","):
            values.append(self._value())
        self._expect(")")
        return tuple(values)

    def _peek(self) -> Token:
        return self._tokens[self._at]

    def _take(self, kind: str, text: str) -> bool:
        """Step over the next token if it is this one."""
        found = self._peek().kind == kind and self._peek().text == text
        self._at += found
        return found

    def _expect(self, symbol: str) -> None:
        if not self._take("symbol", symbol):
            raise self._error(f"expected {symbol!r}, got {self._peek().describe()}")

    def _error(self, message: str) -> PredicateError:
        return self._source.error(message, self._peek().position)
