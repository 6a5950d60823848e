"""Names in a ledger: of datasets, which must not be mistaken for one another, and of people, which are only shown."""

from __future__ import annotations

import unicodedata
from functools import cache

from rowspace.exceptions import InvalidInput

LONGEST_NAME = 200

# Default_Ignorable_Code_Point of DerivedCoreProperties.txt (Unicode 16.0): what is not drawn, and what TR39 drops. Code
# points that are not assigned yet are in it for good.
_IGNORABLE = (
    *(
        (0x00AD, 0x00AD),
        (0x034F, 0x034F),
        (0x061C, 0x061C),
        (0x115F, 0x1160),
        (0x17B4, 0x17B5),
        (0x180B, 0x180F),
    ),
    *(
        (0x200B, 0x200F),
        (0x202A, 0x202E),
        (0x2060, 0x206F),
        (0x3164, 0x3164),
        (0xFE00, 0xFE0F),
        (0xFEFF, 0xFEFF),
    ),
    *((0xFFA0, 0xFFA0), (0xFFF0, 0xFFF8), (0x1BCA0, 0x1BCA3), (0x1D173, 0x1D17A), (0xE0000, 0xE0FFF)),
)
# Printable by their category and yet blank: a Braille cell without dots, a filler of Khitan, a notehead that is none.
_BLANK = (0x2800, 0x16FE4, 0x1D159)
_SEEN = dict.fromkeys(c for first, last in _IGNORABLE for c in range(first, last + 1)) | dict.fromkeys(
    _BLANK, " "
)

_MARK = "\u200e"  # the list has it around what is written from right to left


def check_name(dataset: object) -> None:
    """Refuse what is no name of a dataset."""
    if (
        not isinstance(dataset, str)
        or not 0 < len(dataset) <= LONGEST_NAME
        or not dataset.isprintable()
        or dataset != dataset.strip()
        or not dataset.translate(_SEEN).strip()
    ):
        raise InvalidInput(
            f"expected a dataset's name of 1 to {LONGEST_NAME} printable characters, some of them visible, without "
            "spaces around it"
        )


def check_key(key: object) -> str:
    """Refuse what cannot name a request."""
    if not isinstance(key, str) or not 0 < len(key) <= LONGEST_NAME or not key.isprintable():
        raise InvalidInput(f"expected a request's key of 1 to {LONGEST_NAME} printable characters")
    return key


def look_alike(one: str, other: str) -> bool:
    """Whether a person would take two names for one: a second budget for a dataset would double what is spent.

    By case, blanks and widths (NFKC), without what is not drawn, and by the confusable characters of Unicode's TR39
    ("skeletons"), which know that a Cyrillic е looks like an e, and 0 like O.

    >>> look_alike("People  2024", "people 2024"), look_alike("people", "pe\u043eple"), look_alike("people", "places")
    (True, True, False)
    """
    return bool(_looks(one) & _looks(other))


def _looks(name: str) -> set[str]:
    """What a name looks like as it is written and in small letters."""
    # Before NFKC, which composes across nothing, and after, when it has made some.
    shown = unicodedata.normalize("NFKC", name.translate(_SEEN)).translate(_SEEN)
    plain = " ".join(shown.split())
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
