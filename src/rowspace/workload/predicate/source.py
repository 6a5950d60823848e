"""The text of a predicate, and errors that point into it."""

from __future__ import annotations

from dataclasses import dataclass

from rowspace.exceptions import PredicateError

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
