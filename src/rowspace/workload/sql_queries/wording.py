"""The shortest condition that holds on given cells, as the label of a group and as what is saved of it."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import numpy.typing as npt

from rowspace.domain import Attribute, Categorical, Dates, Domain, Numeric
from rowspace.workload.predicate.syntax import And, Condition, Missing, Or, Test, Value

Cells = npt.NDArray[np.int64]

_MOST_PIECES = 4
_MOST_CATEGORIES = 40


def worded(domain: Domain, cells: Cells) -> Condition | None:
    """A condition for sorted joint cells of a domain, or None when it has no short one.

    >>> from rowspace.domain import Numeric
    >>> str(worded(Domain(age=Numeric(0, 100, bins=10)), np.array([2, 3, 4])))
    'age >= 20 and age < 50'
    """
    along = [np.unique(axis) for axis in np.unravel_index(cells, domain.shape)]
    if int(np.prod([len(axis) for axis in along], dtype=object)) != len(cells):
        return None  # not a product of conditions on each attribute
    found: list[Condition] = []
    for (name, attribute), chosen in zip(domain.attributes, along, strict=True):
        if len(chosen) == domain.shape[domain.position(name)] and len(domain) > 1:
            # It says nothing, but a saved condition must touch the attributes it is about.
            return None
        condition = _one(name, attribute, chosen)
        if condition is None:
            return None
        found.extend(condition.conditions if isinstance(condition, And) else [condition])
    return found[0] if len(found) == 1 else And(tuple(found))


def _one(name: str, attribute: Attribute, cells: Cells) -> Condition | None:
    """A condition on one attribute; the cell after its last is the place for missing values."""
    if cells[-1] == attribute.size:
        if len(cells) == 1:
            return Missing(name)
        known = _one(name, attribute, cells[:-1])
        if known is None:
            return None
        return Or((*(known.conditions if isinstance(known, Or) else (known,)), Missing(name)))
    if isinstance(attribute, Categorical):
        if len(cells) > _MOST_CATEGORIES:
            return None
        labels = tuple(attribute.cell_labels[cell] for cell in cells.tolist())
        return Test(name, "=", labels) if len(labels) == 1 else Test(name, "in", labels)
    breaks = np.flatnonzero(np.diff(cells) > 1) + 1
    bounds = [0, *breaks.tolist(), len(cells)]
    if len(bounds) > _MOST_PIECES + 1:
        return None
    pieces = [_span(name, attribute, int(cells[i]), int(cells[j - 1])) for i, j in pairwise(bounds)]
    return pieces[0] if len(pieces) == 1 else Or(tuple(pieces))


def _span(name: str, attribute: Numeric, first: int, last: int) -> Condition:
    """Some bins in a row."""
    low, high = _literal(attribute, first), _literal(attribute, last + 1)
    if attribute.integer and attribute.edge(last + 1) - attribute.edge(first) == 1:
        return Test(name, "=", (low,))
    ends: list[Condition] = []
    if first > 0 or last == attribute.size - 1:
        ends.append(Test(name, ">=", (low,)))
    if last < attribute.size - 1:
        ends.append(Test(name, "<", (high,)))
    return ends[0] if len(ends) == 1 else And(tuple(ends))


def _literal(attribute: Numeric, index: int) -> Value:
    """An edge as people write it."""
    edge = attribute.edge(index)
    if isinstance(attribute, Dates):
        return attribute.format(edge)
    return int(edge) if edge.is_integer() and abs(edge) < 2**53 else edge
