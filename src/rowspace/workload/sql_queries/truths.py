"""Truths: conditions or, for what holds always or never (``1 = 1``), bools; and how they are put together."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from sqlglot import exp

from rowspace.domain import Attribute, Domain
from rowspace.workload.predicate.syntax import And, Condition, Is, Not, Or, Value, names

if TYPE_CHECKING:
    from rowspace.workload.sql_queries.conditions import ConditionReader


Truth = Condition | bool


def all_of(truths: Iterable[Truth]) -> Truth:
    """Where all hold."""
    return _joined(truths, And, decisive=False)


def any_of(truths: Iterable[Truth]) -> Truth:
    """Where some holds."""
    return _joined(truths, Or, decisive=True)


def _joined(truths: Iterable[Truth], kind: type[And | Or], *, decisive: bool) -> Truth:
    """Flat: those of the same kind in one; `decisive` is the bool that settles it."""
    found: list[Condition] = []
    for truth in truths:
        if truth is decisive:
            return decisive
        if not isinstance(truth, bool):
            found.extend(truth.conditions if isinstance(truth, kind) else [truth])
    return not decisive if not found else found[0] if len(found) == 1 else kind(tuple(found))


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


@dataclass(frozen=True)
class Branch:
    """``WHEN condition THEN value``; no value is NULL."""

    condition: Truth
    value: Value | None


def read_case(node: exp.Case | exp.If, reader: ConditionReader) -> list[Branch]:
    """The branches in order, the last one with what is left: ELSE, or NULL where there is none."""
    branches = []
    for branch in node.args["ifs"] if isinstance(node, exp.Case) else [node]:
        condition = (
            reader.compare(node.this, "=", branch.this, branch)
            if isinstance(node, exp.Case) and node.this is not None
            else reader.read(branch.this)
        )
        branches.append(Branch(condition, _value(branch.args["true"], reader)))
    rest = node.args.get("default" if isinstance(node, exp.Case) else "false")
    branches.append(Branch(True, None if rest is None else _value(rest, reader)))
    return branches


def where_chosen(branches: list[Branch], chosen: list[bool], domain: Domain) -> Truth:
    """Where the deciding branch is one of those chosen.

    A chosen branch decides, or gives way to another chosen one, unless a branch that is not chosen comes first.
    """
    refused: list[Truth] = []
    pieces: list[Truth] = []
    for branch, wanted in zip(branches, chosen, strict=True):
        if wanted:
            pieces.append(all_of([branch.condition, untrue(any_of(refused), domain)]))
        else:
            refused.append(branch.condition)
    return any_of(pieces)


def _value(node: exp.Expr, reader: ConditionReader) -> Value | None:
    """A constant or NULL."""
    return None if isinstance(node.unnest(), exp.Null) else reader.value(node)
