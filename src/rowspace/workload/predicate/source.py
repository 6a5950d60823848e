"""The text of a predicate, and errors that point into it."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

from rowspace.exceptions import PredicateError

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
