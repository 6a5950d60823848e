"""What tables are made of, in one known form or refused: files and users may say anything."""

from __future__ import annotations

from math import isfinite
from typing import Any

import numpy as np

from rowspace.exceptions import InvalidInput
from rowspace.operators import check_number, check_size

from .lattice import checked_set

Fields = tuple[tuple[int, ...], tuple[tuple[int, ...], ...], tuple[float, ...]]


def checked_tables(sizes: Any, sets: Any, weights: Any) -> Fields:
    """The cells of the attributes, the sets of attributes and a weight for each, or `InvalidInput`.

    >>> checked_tables([2, 3], [[1], []], [1, 0.5])
    ((2, 3), ((1,), ()), (1.0, 0.5))
    """
    if not isinstance(sizes, (tuple, list)) or not sizes:
        raise InvalidInput("expected the sizes of one or more attributes")
    cells = tuple(check_size("an attribute's size", n) for n in sizes)
    if not isinstance(sets, (tuple, list)) or not sets:
        raise InvalidInput("expected one or more sets of attribute numbers")
    own = tuple(checked_set(attributes, len(cells)) for attributes in sets)
    if len(set(own)) != len(own):
        raise InvalidInput("expected sets that differ from one another; give one of them all the weight")
    given = tuple(weights) if isinstance(weights, (tuple, list, np.ndarray)) else ()
    if len(given) != len(own):
        raise InvalidInput(f"expected a sequence of {len(own)} weights, one per set")
    numbers = tuple(w if type(w) is float and isfinite(w) else check_number("a weight", w) for w in given)
    if min(numbers) < 0 or not any(numbers):
        raise InvalidInput("expected weights >= 0, not all zero")
    return cells, own, numbers
