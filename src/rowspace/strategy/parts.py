"""Strategies over records in equal parts: how a record with a measure is counted in integers.

Where a domain has measures, a record with k of K steps is k parts of K at the upper bound and K − k at the lower one.
The integers A are asked of parts, A·u, and since the counts are x = u/K, that is K·A asked of x: the strategy of such a
plan is K·A, so that its errors, its estimate and its noise are about counts as everywhere. The noise is calibrated to
K·A, and covers one record more or less: its parts are K times a convex combination of unit vectors, so A changes by at
most K times the largest norm of a column, in either norm; and replacing a record by at most K times the largest
distance of two columns.
"""

from __future__ import annotations

from rowspace.exceptions import InvalidInput
from rowspace.operators import Operator


def asked_of_parts(strategy: Operator, parts: int) -> Operator:
    """A, where the strategy is K·A with integers A: what is asked of counts in K parts.

    Raises:
        InvalidInput: It is no such multiple.

    >>> from rowspace import operators as op
    >>> asked_of_parts(100 * op.Prefix(3), 10)
    Scaled(factor=10.0, of=Prefix(n=3))
    """
    found = strategy if parts == 1 else strategy.quotient(parts)
    if found is None or not found.integral:
        raise InvalidInput(
            f"expected a strategy that is {parts} times an integer matrix, as a domain with measures on a grid of so "
            "many steps needs it; rs.plan makes plans that are"
        )
    return found
