"""Names in a ledger: of datasets, which must not be mistaken for one another, and of people, which are only shown."""

from __future__ import annotations

import unicodedata
from functools import cache

from rowspace.exceptions import InvalidInput

LONGEST_NAME = 200

_MARK = "\u200e"  # the list has it around what is written from right to left


def check_name(dataset: object) -> None:
    """Refuse what is no name of a dataset."""
    if (
        not isinstance(dataset, str)
        or not 0 < len(dataset) <= LONGEST_NAME
        or not dataset.isprintable()
        or dataset != dataset.strip()
    ):
        raise InvalidInput(
            f"expected a dataset's name of 1 to {LONGEST_NAME} printable characters, without spaces around it"
        )


def look_alike(one: str, other: str) -> bool:
    """Whether a person would take two names for one: a second budget for a dataset would double what is spent.

    By case, spaces and widths (NFKC), and by the confusable characters of Unicode's TR39 ("skeletons"), which know that
    a Cyrillic е looks like an e, and 0 like O.

    >>> look_alike("People  2024", "people 2024"), look_alike("people", "pe\u043eple"), look_alike("people", "places")
    (True, True, False)
    """
    return bool(_looks(one) & _looks(other))


def _looks(name: str) -> set[str]:
    """What a name looks like as it is written and in small letters."""
    plain = " ".join(unicodedata.normalize("NFKC", name).split())
    folded = unicodedata.normalize("NFKC", plain.casefold())
    # And folded once more: 0 is like O, and O like o.
    return {_skeleton(plain).casefold(), _skeleton(folded).casefold()}


def _skeleton(text: str) -> str:
    """TR39's skeleton: every character as the prototype of those that look like it."""
    prototypes = _prototypes()
    decomposed = unicodedata.normalize("NFD", text)
    return unicodedata.normalize("NFD", "".join(prototypes.get(c, c) for c in decomposed))


@cache
def _prototypes() -> dict[str, str]:
    """The prototype of every confusable character, from Unicode's list as confusable-homoglyphs has it.

    The list pairs each character with its prototype, in both directions: a prototype is what stands in the most pairs
    or, of a single pair, the longer.
    """
    from confusable_homoglyphs.confusables import confusables_data  # here: it is a megabyte to read

    def weight(text: str) -> tuple[int, int, str]:
        return len(confusables_data.get(text, ())), len(text), text

    return {
        character.strip(_MARK): max([character, *(pair["c"] for pair in pairs)], key=weight).strip(_MARK)
        for character, pairs in confusables_data.items()
        if len(character.strip(_MARK)) == 1
    }


def printable(name: object) -> str:
    """A name as it may be written on a terminal and into any database.

    >>> printable("eve\\n")
    'eve?'
    """
    return "".join(c if c.isprintable() else "?" for c in str(name)[:LONGEST_NAME])
