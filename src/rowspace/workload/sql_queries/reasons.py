"""Why a piece of SQL cannot be part of a counting query, in words."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sqlglot import exp

_SQL_SHOWN = 60


def refusal(node: exp.Expr) -> str:
    """Say what a piece is, why it is refused, and what to write instead."""
    from sqlglot import exp

    if node.find(exp.Query) is not None:
        return "a subquery is not a condition on one record; compare columns with values"
    if node.find(exp.Window) is not None:
        return "a window function is not a count of records; use GROUP BY"
    match node:
        case exp.Placeholder() | exp.Parameter() | exp.SessionParameter():
            return "a placeholder has no value here; write the value itself"
        case exp.Escape():
            return "ESCAPE is not read; list the categories with IN (...)"
        case exp.CurrentDate() | exp.CurrentTimestamp() | exp.CurrentTime():
            return "the current date changes; write the date itself, as in DATE '2024-03-01'"
        case exp.Add() | exp.Sub() if node.find(exp.Interval) is not None:
            return f"{shown(node)} is not computed; write the date itself, as in DATE '2024-03-01'"
        case exp.Like() | exp.ILike() | exp.SimilarTo() | exp.RegexpLike() | exp.Glob():
            return "patterns are not evaluated; list the categories with IN (...)"
        case exp.Null():
            return "a comparison with NULL never holds in SQL; leave it out"
        case exp.AggFunc():
            return f"{node.sql_name()} is not allowed in a condition; only counts per record are linear"
        case exp.Column():
            return f"{shown(node)} by itself is not a condition; compare the column with a value"
        case exp.Func():
            return f"{_function(node)} is not evaluated; compare the column itself with a value"
        case exp.Binary() | exp.Unary():
            return f"{shown(node)} is not evaluated; compare the column itself with a value"
    return f"{shown(node)} is not a condition; compare a column with a value"


def shown(node: exp.Expr) -> str:
    """A piece of SQL for a message, on one line and cut short."""
    text = " ".join(node.sql().split())
    return repr(text if len(text) <= _SQL_SHOWN else text[:_SQL_SHOWN] + " …")


def _function(node: exp.Func) -> str:
    from sqlglot import exp

    name = node.name if isinstance(node, exp.Anonymous) else node.sql_name()
    return f"the function {name[:_SQL_SHOWN]}"
