"""A workload as products that name only the attributes they are about: the form for domains of any size."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from rowspace.operators import Operator
from rowspace.tables import Piece, ProductWorkload, gather

if TYPE_CHECKING:
    from rowspace.workload.part import Part
    from rowspace.workload.union import Workload


def products(workload: Workload) -> ProductWorkload:
    """The parts, in their order, with their weights; equal factors are kept once. O(factors), whatever the cells."""
    by_factor: dict[int, Piece] = {}
    by_value: dict[tuple[tuple[int, ...], Operator], Piece] = {}
    position = workload.domain.position

    def pieces(part: Part) -> Iterator[Piece]:
        for factor in part.factors:
            if id(factor) not in by_factor:
                axes = tuple(map(position, factor.attributes))
                key = (axes, factor.operator)
                by_factor[id(factor)] = by_value.setdefault(key, Piece(*key))
            yield by_factor[id(factor)]

    return gather(workload.domain.shape, ((part.weight, tuple(pieces(part))) for part in workload.parts))
