"""WᵗW for repeated use on a few vectors: never a matrix larger than the workload itself needs."""

from __future__ import annotations

from .base import Operator, check_operators
from .composed import Composed, Sum
from .dense import Dense
from .scaled import Scaled
from .sparse import Sparse
from .stack import Stack


def lean_gram(W: Operator) -> Operator:
    """WᵗW with the cheapest action on one vector.

    A structure's own Gram matrix has a fast action already. One given entry by entry has an n × n array for
    it, which pays only when W has more than n/2 rows; a sparse one may fill up entirely (one row of ones does).

    >>> from rowspace import operators as op
    >>> lean_gram(op.Stack(op.Prefix(4), op.Sparse([[1, 1, 1, 1]]))).terms[1]
    Composed(...)
    """
    check_operators(W)
    if isinstance(W, Stack):
        return Sum(tuple(lean_gram(part) for part in W.parts))
    if isinstance(W, Scaled):
        return Scaled.of_product(W.factor**2, lean_gram(W.of))
    m, n = W.shape
    if isinstance(W, Sparse) or (isinstance(W, Dense) and 2 * m <= n):
        return Composed(W.T, W)
    return W.gram()
