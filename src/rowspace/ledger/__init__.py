"""The budget: charged before release, never overspent, never lost.

    counts → noise in memory → release and its bytes → ONE transaction: is there room? charge, keep the bytes → publish

The stored bytes are the release itself, as private as what is published and no more: keep a ledger as you keep
releases. A process that dies before the transaction has published nothing and spent nothing; one that dies after it
has spent, and `Ledger.resume` gives its release.
"""

from .composition import COMPOSITIONS
from .composition import Filter as Filter
from .costs import Cost, at_least, at_most, float_above, written
from .ledger import Ledger
from .records import Budget, Charge, Request, Spender, content_digest, plan_hash

__all__ = [
    "COMPOSITIONS",
    "Budget",
    "Charge",
    "Cost",
    "Ledger",
    "Request",
    "Spender",
    "at_least",
    "at_most",
    "content_digest",
    "float_above",
    "plan_hash",
    "written",
]
