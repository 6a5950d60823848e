"""Truths: conditions or, for what holds always or never (``1 = 1``), bools; and how they are put together."""

from __future__ import annotations

from collections.abc import Iterable

from rowspace.domain import Attribute, Domain
from rowspace.workload.predicate.syntax import And, Condition, Is, Not, Or, names

Truth = Condition | bool


def all_of(truths: Iterable[Truth]) -> Truth:
    """Where all hold."""
    found: list[Condition] = []
    for truth in truths:
        if truth is False:
            return False
        if not isinstance(truth, bool):
            found.extend(truth.conditions if isinstance(truth, And) else [truth])
    return True if not found else found[0] if len(found) == 1 else And(tuple(found))


def any_of(truths: Iterable[Truth]) -> Truth:
    """Where some holds."""
    found: list[Condition] = []
    for truth in truths:
        if truth is True:
            return True
        if not isinstance(truth, bool):
            found.extend(truth.conditions if isinstance(truth, Or) else [truth])
    return False if not found else found[0] if len(found) == 1 else Or(tuple(found))


def negated(truth: Truth) -> Truth:
    """Where it is false."""
    return not truth if isinstance(truth, bool) else Not(truth)


def untrue(truth: Truth, domain: Domain) -> Truth:
    """Where it is not true: false, or left open by a missing value of an attribute that keeps such records."""
    if isinstance(truth, bool):
        return not truth
    return Is(truth, value=True, negated=True) if _may_be_open(truth, domain) else Not(truth)


def is_boolean(truth: Truth, value: bool, domain: Domain) -> Truth:
    """Where it is true, or where it is false: never open."""
    if isinstance(truth, bool):
        return truth is value
    if _may_be_open(truth, domain):
        return Is(truth, value)
    return truth if value else Not(truth)


def _may_be_open(condition: Condition, domain: Domain) -> bool:
    """Whether a missing value may leave a condition neither true nor false."""
    return any(keeps_missing(domain[domain.resolve(name)[0]]) for name, _ in names(condition))


def keeps_missing(attribute: Attribute) -> bool:
    """Whether records without a known value of an attribute are counted, in a place of their own."""
    return bool(getattr(attribute, "keeps_missing", False))
