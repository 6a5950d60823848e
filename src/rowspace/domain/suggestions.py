"""Wording shared by error messages that name something unknown."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Sequence
from itertools import islice

# difflib is quadratic in the length of words: a hostile file must not buy time with it.
_LONGEST_WORD = 100
_MOST_WORDS = 2000


def did_you_mean(name: str, known: Iterable[str], limit: int = 6) -> str:
    """Return a sentence fragment that helps with an unknown name: the closest known ones, else the first `limit`.

    >>> did_you_mean("agee", ["age", "sex"])
    "did you mean 'age'?"
    >>> did_you_mean("colour", ["age", "sex"])
    "known: 'age', 'sex'"
    """
    words = list(known)
    by_folded = {word.casefold(): word for word in islice(words, _MOST_WORDS) if len(word) <= _LONGEST_WORD}
    close = difflib.get_close_matches(name[:_LONGEST_WORD].casefold(), by_folded, n=2, cutoff=0.6)
    if close:
        return "did you mean " + " or ".join(repr(by_folded[word]) for word in close) + "?"
    return "known: " + first_few(words, limit)


def first_few(items: Sequence[object], limit: int = 6) -> str:
    """List the first items by their repr and count the rest.

    >>> first_few([1, 2, 3], limit=2)
    '1, 2 and 1 more'
    """
    shown = ", ".join(repr(item) for item in items[:limit])
    return shown + (f" and {len(items) - limit:,} more" if len(items) > limit else "")
