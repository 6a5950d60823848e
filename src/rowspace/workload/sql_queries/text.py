"""The text of a file of SQL, and errors that name the line and the column."""

from __future__ import annotations

from dataclasses import dataclass

from rowspace.exceptions import PredicateError
from rowspace.workload.predicate.source import Source

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
