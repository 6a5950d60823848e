"""A release under an id of the caller's: charged and drawn once, however often it is tried.

The id is kept in the ledger in one transaction with the charge and the bytes of the release. Whoever tries again, after
a crash, a cut connection or a time limit, finds it there.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .exceptions import BudgetExceeded, InvalidInput, KeyReused, Superseded
from .planning import Plan
from .releases import Release

_KIND = "release"


def once(
    make: Callable[..., Release],
    keeper: Any,
    dataset: str | None,
    key: str,
    plan: Plan,
    about: dict[str, Any],
) -> Release:
    """The release that was charged for under this id, or else one made now and kept under it.

    make: charges for one, given `request=`. keeper, dataset: whose budget pays. key: the caller's id. about: what the
    ledger is told of the source.
    """
    if not all(hasattr(keeper, verb) for verb in ("request", "resume")):
        raise InvalidInput(
            "expected ledger= a rowspace Ledger beside request=: it remembers what was released under an id"
        )
    # Here, because a database library takes a while to import.
    from .ledger import Request, plan_hash

    names = (about.get("source") or "").split()
    asked = Request(key, " ".join((_KIND, plan_hash(plan), *names)))
    there = _kept(keeper, dataset, asked)
    if there is not None:
        return there
    try:
        return make(request=asked)
    except (Superseded, BudgetExceeded):  # another process may have been charged for this very id
        there = _kept(keeper, dataset, asked)
        if there is None:
            raise
        return there


def _kept(keeper: Any, dataset: str | None, asked: Any) -> Release | None:
    """The release that was charged for under an id; None if it is new."""
    request = keeper.request(asked.key, dataset)
    if request is None:
        return None
    other = _difference(request.about.split(" "), asked.about.split(" "))
    if other is not None:
        raise KeyReused(
            f"the request id {asked.key!r} was used for another {other} (charge {request.charge}); give each its own. "
            "Nothing was charged"
        )
    return Release.from_bytes(keeper.resume(request.charge))


def _difference(before: list[str], now: list[str]) -> str | None:
    """What was asked otherwise under the same id, if anything; sources are the same that share a name."""
    if before[0] != now[0]:
        return "kind of request"
    if before[1] != now[1]:
        return "plan"
    old, new = set(before[2:]), set(now[2:])
    return None if old == new or old & new else "source"
