"""Strategies of tables: estimated components, what each costs, and how Laplace noise is put together."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from rowspace.error import COEFFICIENTS, FINE_LATTICE
from rowspace.operators import Vector
from rowspace.tables import CellSplit, ComponentTables, Marginals, Split, TableOperator, members, root

from .packing import Packer


def component_tables(found: ComponentTables) -> dict[tuple[int, ...], Vector]:
    """The estimated component of every set of attributes (`tables.estimates`)."""
    return {own: np.asarray(found.stacks[stack][row]) for own, (stack, row) in found.places.items()}


def components_view(
    splits: Sequence[Split], components: Mapping[tuple[int, ...], Vector], pack: Packer
) -> dict[str, Any]:
    """An estimate, component by component."""
    return {
        "kind": "components",
        "splits": [pack.array(split.u) for split in splits],
        "components": [{"axes": list(own), "table": pack.array(table)} for own, table in components.items()],
    }


def tables_view(A: TableOperator, pack: Packer) -> dict[str, Any]:
    """The variances of the components, and of marginals the shape of the noise."""
    view: dict[str, Any] = {
        "kind": "tables",
        "splits": [split_view(split, pack) for split in A.splits],
        "variances": by_set(A.component_variances),
        "most": COEFFICIENTS,
        "shape": None,
        "alike": None,
    }
    if isinstance(A, Marginals):
        meeting = A._meeting
        view["shape"] = {
            "resolving": [pack.matrix(split.resolving) for split in A.splits],
            "seen": [pack.array(split.seen) for split in A.splits],
            "fourths": by_set(meeting.fourths),
            "largest": meeting.largest,
        }
        if A.all_cells_alike and A.largest_entry() <= FINE_LATTICE:
            weighted = zip(A._masks, A.weights, strict=True)
            view["alike"] = {
                "eigenvalues": by_set(A.eigenvalues),
                "tables": [[members(mask), weight] for mask, weight in weighted if weight],
            }
    return view


def split_view(split: Split, pack: Packer) -> dict[str, Any]:
    """An attribute's u, K and the size that K is brought to; of plain cells both are known from their number."""
    if isinstance(split, CellSplit):
        return {"n": split.n}
    return {"n": len(split.u), "u": pack.array(split.u), "root": pack.matrix(root(split)), "unit": split.unit}


def by_set(numbers: Mapping[int, float]) -> list[list[Any]]:
    """Numbers under sets of attributes."""
    return [[list(map(int, members(mask))), float(np.float64(value))] for mask, value in numbers.items()]
