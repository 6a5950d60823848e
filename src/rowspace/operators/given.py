"""What callers have at hand, as an operator: an operator, an array, a scipy sparse matrix."""

from __future__ import annotations

from typing import Any

import scipy

from .base import Operator
from .checks import as_array
from .dense import Dense
from .sparse import Sparse


def as_operator(matrix: Any) -> Operator:
    """A matrix in whatever form as an operator; operators are returned as they are.

    Raises:
        InvalidInput: It is no matrix of finite numbers.

    >>> as_operator([[1, 1, 0], [0, 1, 1]]).max_column_norm(1)
    2.0
    """
    if isinstance(matrix, Operator):
        return matrix
    return Sparse(matrix) if scipy.sparse.issparse(matrix) else Dense(as_array(matrix))
