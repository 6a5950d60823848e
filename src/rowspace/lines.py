"""Values on one line."""

from __future__ import annotations

LONGEST = 100


def one_line(text: str) -> str:
    """A text without line breaks, cut to the length of a line; brackets around it stay closed.

    >>> one_line("Numbers(1,\\n  2)")
    'Numbers(1, 2)'
    >>> one_line(f"<{'long ' * 50}>")[-8:]
    'ong lo…>'
    """
    line = " ".join(text.split())
    if len(line) <= LONGEST:
        return line
    closing = line[-1] if line[-1] in ")>" else ""
    return line[: LONGEST - 1 - len(closing)] + "…" + closing
