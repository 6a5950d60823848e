"""CASE and IF: the first branch that holds decides."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from rowspace.domain import Domain
from rowspace.workload.predicate.syntax import Value
from rowspace.workload.sql_queries.conditions import ConditionReader
from rowspace.workload.sql_queries.truths import Truth, all_of, any_of, untrue

if TYPE_CHECKING:
    from sqlglot import exp


@dataclass(frozen=True)
class Branch:
    """``WHEN condition THEN value``; no value is NULL."""

    condition: Truth
    value: Value | None


def read_case(node: exp.Case | exp.If, reader: ConditionReader) -> list[Branch]:
    """The branches in order, the last one with what is left: ELSE, or NULL where there is none."""
    from sqlglot import exp

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
    from sqlglot import exp

    return None if isinstance(node.unnest(), exp.Null) else reader.value(node)
