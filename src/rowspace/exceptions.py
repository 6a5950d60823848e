"""Every error rowspace raises on purpose.

::

    RowspaceError
    ├── InvalidInput            an argument is not what the function takes (also a ValueError)
    │   ├── InvalidPrivacy      ε ≤ 0, δ outside (0, 1), ρ ≤ 0, not finite
    │   ├── InvalidDomain       unknown or duplicate attribute, bins that do not increase, empty domain
    │   ├── InvalidWorkload     a query that does not fit its domain
    │   │   └── PredicateError  a predicate that does not parse, with the position
    │   ├── InvalidStudy        a study file that says something impossible
    │   └── KeyReused           a request's key that was used for something else
    ├── TooLarge                an operation with no structured path on something large
    ├── UnsupportedWorkload     the query is outside the strategy's row space
    ├── IntegerOverflow         exact answers might not fit 64 bits (found before data is touched)
    ├── SourceError             data that cannot be read, counted or does not have the column
    ├── FileError               a plan or release file that is missing, damaged or cannot be written
    └── LedgerError             a budget that cannot be charged: missing, locked, damaged, of another kind
        ├── BudgetExceeded      the release costs more than remains
        ├── Superseded          another charge came between
        └── Pruned              a release whose bytes were dropped from the ledger, its charge kept

Messages say what was expected, what was got, and what to do. They never contain a value from the data.
``error.transient`` tells what may pass by itself (a busy ledger, a server that is away) from what stays so.
"""

from __future__ import annotations


class RowspaceError(Exception):
    """Root of every error rowspace raises on purpose.

    transient: whether the same call may succeed later, with nobody changing it, and without paying twice.
    """

    def __init__(self, *args: object, transient: bool = False) -> None:
        super().__init__(*args)
        self.transient = transient


class InvalidInput(RowspaceError, ValueError):
    """An argument is not what the function takes."""


class InvalidPrivacy(InvalidInput):
    """A privacy parameter outside its range."""


class InvalidDomain(InvalidInput):
    """A domain that cannot be: unknown or duplicate names, empty, bins that do not increase."""


class InvalidWorkload(InvalidInput):
    """A query that does not fit its domain."""


class PredicateError(InvalidWorkload):
    """A predicate that does not parse or names a stranger; `position` is the 0-based character."""

    def __init__(self, message: str, position: int | None = None) -> None:
        super().__init__(message)
        self.position = position

    @property
    def reason(self) -> str:
        """The message without the place."""
        return str(self).partition(" (position ")[0]


class InvalidStudy(InvalidInput):
    """A study file that says something impossible."""


class KeyReused(InvalidInput):
    """A request's key that was used for something else before; nothing was charged."""


class TooLarge(RowspaceError):
    """The operation has no structured path and the dense one would not fit."""


class UnsupportedWorkload(RowspaceError):
    """A query outside the strategy's row space: it has no unbiased answer, so it gets no number."""


class IntegerOverflow(RowspaceError):
    """Exact answers might not fit in 64-bit integers; found from public bounds before data is touched."""


class SourceError(RowspaceError):
    """Data that cannot be read or counted."""


class FileError(RowspaceError):
    """A plan or release file that is missing, damaged or cannot be written."""


class LedgerError(RowspaceError):
    """A budget that cannot be read or charged: missing, locked, read-only, damaged, of another kind."""


class BudgetExceeded(LedgerError):
    """The release costs more than remains of its budget; nothing was released."""


class Superseded(LedgerError):
    """Another charge came between a look at the ledger and this one; nothing was released. Look again."""

    def __init__(self, *args: object) -> None:
        super().__init__(*args, transient=True)


class Pruned(LedgerError):
    """The bytes of a release were dropped from the ledger by `rowspace budget prune`; its charge stands."""
