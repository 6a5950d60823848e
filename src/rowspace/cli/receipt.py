"""The receipt of a charge: whatever fails after it, the user is told how to have the release without paying again."""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, ClassVar

from rowspace.exceptions import LedgerError, RowspaceError
from rowspace.ledger import Charge, Ledger
from rowspace.planning import Plan

from .screen import Screen


@dataclass
class Receipt:
    """A ledger that remembers the charge it took and the bytes it keeps for it."""

    ledger: Ledger
    location: str
    content: bytes | None = None
    taken: Charge | None = None
    keeps_sources: ClassVar[bool] = True

    def check(self, plan: Plan, dataset: str | None, **about: Any) -> None:
        """Pass the question on."""
        self.ledger.check(plan, dataset, **about)

    def charge(self, plan: Plan, content: bytes, dataset: str | None, **about: Any) -> Charge:
        """Pass the charge on."""
        self.content = content
        self.taken = self.ledger.charge(plan, content, dataset, **about)
        return self.taken

    @property
    def left(self) -> str:
        """What remains, unless the ledger is busy: the release is made, so that is no failure any more."""
        try:
            return f"; {self.ledger.budget(self.taken.dataset if self.taken else None)}"
        except LedgerError:
            return ""

    @property
    def advice(self) -> str | None:
        """How to have the release again; None while nothing was charged."""
        # Not the location of a server: it may hold a password.
        ledger = "LEDGER" if "://" in self.location else shlex.quote(self.location)
        if self.taken is not None:
            return (
                f"the charge is made; have the release at no cost: rowspace budget resume {ledger} {self.taken.id} "
                "-o FILE"
            )
        if self.content is not None:  # stopped between the commit and the receipt, or before the commit
            return f"a charge may have been made; look for it: rowspace budget history {ledger}"
        return None


@contextmanager
def recoverable(receipt: Receipt | None, screen: Screen) -> Iterator[None]:
    """Say, with whatever ends the block early, how to have what was paid for."""
    try:
        yield
    except RowspaceError as error:
        # A ledger that raises has taken nothing.
        if receipt is not None and receipt.taken is not None:
            error.args = (f"{error}; {receipt.advice}", *error.args[1:])
        raise
    except BaseException:  # an interrupt, too little memory, a bug: the charge stands all the same
        if receipt is not None and receipt.advice is not None:
            screen.err.print(receipt.advice, markup=False, soft_wrap=True)
        raise
