"""Strategies over records in equal parts: how a record with a measure is counted in integers.

Where a domain has measures, a record with k of K steps is k parts of K at the upper bound and K − k at the lower one.
The integers A are asked of parts, A·u, and since the counts are x = u/K, that is K·A asked of x: the strategy of such a
plan is K·A, so that its errors, its estimate and its noise are about counts as everywhere. The noise is calibrated to
K·A, and covers one record more or less: its parts are K times a convex combination of unit vectors, so A changes by at
most K times the largest norm of a column, in either norm; and replacing a record by at most K times the largest
distance of two columns.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any, cast

from rowspace.exceptions import InvalidInput
from rowspace.operators import Extended, Operator, Scaled
from rowspace.tables import QueryMix, TableOperator


def in_parts(A: Operator, parts: int) -> Operator:
    """K·A, what integers A that are asked of counts in K parts are to the counts."""
    if isinstance(A, Extended) and parts > 1:
        return replace(A, of=in_parts(A.of, parts), weight=parts * A.weight)
    return parts * A


def asked_of_parts(strategy: Operator, parts: int) -> Operator:
    """A, where the strategy is K·A with integers A: what is asked of counts in K parts.

    Raises:
        InvalidInput: It is no such multiple.

    >>> from rowspace import operators as op
    >>> asked_of_parts(100 * op.Prefix(3), 10)
    Scaled(factor=10.0, of=Prefix(n=3))
    """
    found = strategy if parts == 1 else _divided(strategy, parts)
    if found is None or not found.integral:
        raise InvalidInput(
            f"expected a strategy that is {parts} times an integer matrix, as a domain with measures on a grid of so "
            "many steps needs it; rs.plan makes plans that are"
        )
    return found


def _divided(A: Operator, parts: int) -> Operator | None:
    """A over K, exactly where the multiple can be seen; None where it cannot."""
    if isinstance(A, Extended):
        inner = _divided(A.of, parts)
        return None if inner is None or A.weight % parts else replace(A, of=inner, weight=A.weight / parts)
    if isinstance(A, TableOperator):
        whole = all(weight % parts == 0 for weight in A.weights)
        return (
            cast(Operator, replace(cast(Any, A), weights=tuple(w / parts for w in A.weights)))
            if whole
            else None
        )
    if isinstance(A, QueryMix):
        whole = all((T.array % parts == 0).all() for T in A.mixes)
        return A.mixed(T.array / parts for T in A.mixes) if whole else None
    if isinstance(A, Scaled) and A.factor % parts == 0:
        return Scaled.of_product(A.factor / parts, A.of)
    return None
