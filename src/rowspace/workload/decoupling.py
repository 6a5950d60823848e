"""Queries that couple attributes, taken apart into products: what a strategy is chosen for, not what is answered.

One query such as ``age < 21 or (age >= 65 and education = 'none')`` ties attributes together, and with them the whole
domain: strategies that are products, or unions of products, need every query to be one. The cells of such a query are a
disjoint union of boxes (here two), each a product, and a strategy that answers the boxes well answers their sum well:
Var(Σ bᵢ) ≤ k Σ Var(bᵢ). So a planner may choose by the boxes and must judge by the queries.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

import numpy as np
import numpy.typing as npt
import scipy

from rowspace import operators as op
from rowspace.workload.conditions import Conditions
from rowspace.workload.factors import Factor, Matrix
from rowspace.workload.part import Part
from rowspace.workload.union import Workload

#: Most boxes that one query is taken apart into.
MAX_BOXES = 64
#: Most joint cells of the queries of one factor that is taken apart.
MAX_CELLS = 2**24

Mask = npt.NDArray[np.bool_]
Box = tuple[npt.NDArray[np.int64], ...]


def decoupled(workload: Workload) -> Workload:
    """The same workload with coupling conditions replaced by their boxes, each with the weight of its query.

    Parts that are products already are kept as they are; so are queries of more than `MAX_BOXES` boxes. Queries come in
    another order and number: this is for choosing a strategy only.

    >>> from rowspace.domain import Categorical, Domain, Numeric
    >>> from rowspace.workload import predicates
    >>> domain = Domain(age=Numeric(0, 100, bins=100), sex=Categorical(["F", "M"]))
    >>> w = decoupled(predicates(domain, ["age < 21 or sex = 'F'"]))
    >>> w.weighted_operator().shape          # women of any age, and men under 21
    (2, 200)
    """
    parts = [
        Part(
            tuple(sorted(taken.factors, key=lambda f: workload.domain.position(f.attributes[0]))),
            taken.weight,
            taken.name,
        )
        for part in workload.parts
        for taken in _taken_apart(part)
    ]
    return workload if len(parts) == len(workload.parts) else Workload(workload.domain, parts)


def _taken_apart(part: Part) -> list[Part]:
    """A part as parts without coupling conditions, as far as that goes."""
    for at, factor in enumerate(part.factors):
        if not isinstance(factor, Conditions) or len(factor.domain) == 1:
            continue
        boxes = _boxes_of(factor)
        if boxes is None:
            continue
        rest = (*part.factors[:at], *part.factors[at + 1 :])
        found = [_with_box(part, rest, factor, box) for box in boxes]
        return [taken for box_part in found for taken in _taken_apart(box_part)]
    return [part]


def _with_box(part: Part, rest: tuple[Factor, ...], factor: Conditions, box: Box) -> Part:
    """The part with one box in place of a coupling factor."""
    sides: list[Factor] = []
    for name, cells in zip(factor.domain.names, box, strict=True):
        own = factor.domain.subset([name])
        if len(cells) < own.size:
            row = scipy.sparse.csr_array((np.ones(len(cells)), cells, [0, len(cells)]), shape=(1, own.size))
            sides.append(Matrix(own, op.Sparse(row)))
    return Part((*rest, *sides), part.weight, part.name)


def _boxes_of(factor: Conditions) -> list[Box] | None:
    """The boxes of all rows, or None when some row has too many."""
    if factor.size * factor.domain.size > MAX_CELLS:
        return None
    rows = factor.rows
    found: list[Box] = []
    for start, stop in pairwise(rows.indptr.tolist()):
        mask = np.zeros(factor.domain.size, dtype=np.bool_)
        mask[rows.indices[start:stop]] = True
        own: list[Box] = []
        for box in _boxes(mask.reshape(factor.domain.shape)):
            own.append(box)
            if len(own) > MAX_BOXES:
                return None
        found.extend(own)
    return found


def _boxes(mask: Mask) -> Iterator[Box]:
    """Cut cells into disjoint boxes: places of the first axis that look alike go together."""
    if mask.ndim == 1:
        cells = np.flatnonzero(mask)
        if cells.size:
            yield (cells,)
        return
    patterns, member = np.unique(mask.reshape(len(mask), -1), axis=0, return_inverse=True)
    for number, pattern in enumerate(patterns):
        if pattern.any():
            places = np.flatnonzero(member == number)
            for rest in _boxes(pattern.reshape(mask.shape[1:])):
                yield (places, *rest)
