"""Names in a ledger: of datasets, which must not be mistaken for one another, and of people, which are only shown."""

from __future__ import annotations

import unicodedata

from rowspace.exceptions import InvalidInput

LONGEST_NAME = 200


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


def looks(dataset: str) -> str:
    """The same for names that a person would take for one: a second budget for a dataset would double what is spent.

    >>> looks("People  2024") == looks("people 2024"), looks("people") == looks("places")
    (True, False)
    """
    folded = unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", dataset).casefold())
    return " ".join(folded.split())


def printable(name: object) -> str:
    """A name as it may be written on a terminal and into any database.

    >>> printable("eve\\n")
    'eve?'
    """
    return "".join(c if c.isprintable() else "?" for c in str(name)[:LONGEST_NAME])
