"""Recursive descent over the tokens of a predicate."""

from __future__ import annotations

from typing import cast

from rowspace.exceptions import PredicateError
from rowspace.workload.predicate.source import Source
from rowspace.workload.predicate.syntax import And, Comparison, Condition, Not, Or, Test, Value
from rowspace.workload.predicate.tokens import Token, tokenize

#: Longest predicate that is read, in characters.
MAX_LENGTH = 10_000
#: Deepest nesting of parentheses and ``not``.
MAX_DEPTH = 50

_MIRRORED: dict[str, Comparison] = {"=": "=", "!=": "!=", "<": ">", "<=": ">=", ">": "<", ">=": "<="}


def parse(text: str, *, longest: int = MAX_LENGTH) -> Condition:
    """Return the tree of a predicate, or raise `PredicateError` with the place of the mistake.

    Texts of more than `longest` characters are refused before anything is read.

    >>> str(parse("Age>=65 AND (sex = \\"F\\")"))
    "Age >= 65 and sex = 'F'"
    """
    if not isinstance(text, str):
        raise PredicateError(f"a predicate must be text, got {type(text).__name__}")
    source = Source(text)
    if len(text) > longest:
        raise source.error(f"a predicate has at most {longest:,} characters, got {len(text):,}", longest)
    return _Parser(source, tokenize(source)).whole()


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
        parts = [self._conjunction()]
        while self._take("keyword", "or"):
            parts.append(self._conjunction())
        flat = [piece for part in parts for piece in (part.conditions if isinstance(part, Or) else (part,))]
        return flat[0] if len(flat) == 1 else Or(tuple(flat))

    def _conjunction(self) -> Condition:
        parts = [self._negation()]
        while self._take("keyword", "and"):
            parts.append(self._negation())
        flat = [piece for part in parts for piece in (part.conditions if isinstance(part, And) else (part,))]
        return flat[0] if len(flat) == 1 else And(tuple(flat))

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
        else:
            condition = self._test()
        self._depth -= 1
        return condition

    def _test(self) -> Condition:
        token = self._peek()
        if token.kind == "value":
            return self._reversed_test()
        if token.kind != "name":
            raise self._error(f"expected the name of an attribute, got {token.describe()}")
        self._at += 1
        negated = self._take("keyword", "not")
        test: Test
        if self._take("keyword", "between"):
            low = self._value()
            if not self._take("keyword", "and"):
                raise self._error(
                    f"expected 'and' and the upper end of between, got {self._peek().describe()}"
                )
            test = Test(token.text, "between", (low, self._value()), token.position)
        elif self._take("keyword", "in"):
            test = Test(token.text, "in", self._list(), token.position)
        elif negated:
            raise self._error(f"expected 'in' or 'between' after 'not', got {self._peek().describe()}")
        elif self._peek().text in _MIRRORED and self._peek().kind == "symbol":
            test = Test(token.text, self._comparison(), (self._value(),), token.position)
        else:
            test = Test(token.text, "=", (True,), token.position)
        return Not(test) if negated else test

    def _reversed_test(self) -> Condition:
        """Read ``65 <= age`` or ``18 <= age < 65``."""
        low = self._value()
        mirrored = _MIRRORED[self._comparison()]
        name = self._peek()
        if name.kind != "name":
            raise self._error(f"expected the name of an attribute, got {name.describe()}")
        self._at += 1
        first = Test(name.text, mirrored, (low,), name.position)
        if self._peek().kind == "symbol" and self._peek().text in _MIRRORED:
            second = Test(name.text, self._comparison(), (self._value(),), name.position)
            return And((first, second))
        return first

    def _comparison(self) -> Comparison:
        token = self._peek()
        if token.kind != "symbol" or token.text not in _MIRRORED:
            raise self._error(f"expected a comparison such as = or >=, got {token.describe()}")
        self._at += 1
        return cast(Comparison, token.text)

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
