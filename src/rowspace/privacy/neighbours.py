"""Which two tables count as neighbours: the unit that privacy protects."""

from __future__ import annotations

from enum import Enum

from rowspace.exceptions import InvalidPrivacy


class Neighbours(Enum):
    """The relation between tables that must stay hard to tell apart.

    ADD_REMOVE is the paper's: one record is added or removed, so one cell of the count vector changes by
    one. REPLACE_ONE (the number of records is public): one record becomes another, so one cell goes up by
    one and another down by one, or only one of the two where the other record is outside the domain.

    >>> Neighbours.of("replace-one")
    <Neighbours.REPLACE_ONE: 'replace-one'>
    """

    ADD_REMOVE = "add-remove"
    REPLACE_ONE = "replace-one"

    @classmethod
    def of(cls, value: Neighbours | str) -> Neighbours:
        """The relation itself, or the one a string names; `InvalidPrivacy` for anything else."""
        if isinstance(value, cls):
            return value
        for relation in cls:
            if isinstance(value, str) and value == relation.value:
                return relation
        raise InvalidPrivacy(
            "expected neighbours to be 'add-remove' (the default) or 'replace-one', "
            f"got a {type(value).__name__} that is neither"
        )

    def __str__(self) -> str:
        return "add or remove one record" if self is Neighbours.ADD_REMOVE else "replace one record"
