"""Releases whose answers keep to public facts (`rowspace.strategy.open_cells`), as the page asks them."""

from __future__ import annotations

from typing import Any

import numpy as np

from rowspace.exceptions import TooLarge
from rowspace.operators import Vector
from rowspace.strategy import Corrected, OpenCells, Reconstruction, Strategy, TableReconstruction

from .packing import Packer
from .strategies import cells_estimate, strategy_view
from .tables import component_tables, components_view

View = dict[str, Any]


def informed_views(informed: Strategy, values: Vector, pack: Packer) -> tuple[View, View]:
    """The estimate, and how the noise of an answer is put together; `TooLarge` where a page has no room for that."""
    if isinstance(informed, OpenCells):
        return cells_estimate(informed.estimate(values), pack), _open_view(informed, pack)
    if isinstance(informed, Corrected):
        return _corrected_views(informed, values, pack)
    raise TooLarge("answers from a strategy of this kind are asked for by the package only")


def _open_view(informed: OpenCells, pack: Packer) -> View:
    """Few cells: coefficients written down, and what is needed to tell what facts determine, and what nothing does."""
    n, m = informed.coefficients.shape
    pack.check_room(n * m)
    unseen = informed.unseen
    return {
        "kind": "open",
        "leading": pack.matrix(informed.coefficients),
        "unseen": pack.matrix(unseen) if unseen.shape[1] else None,
        "scale": float(np.sum(informed.seen.to_dense() ** 2)),
    }


def _corrected_views(informed: Corrected, values: Vector, pack: Packer) -> tuple[View, View]:
    """Many cells: the estimate as it was moved, and what every independent fact has to do with others."""
    matrix, found = informed.base.matrix, informed.base.estimate(values)
    amounts = informed.moves(found)
    errors = {
        "kind": "corrected",
        "own": strategy_view(matrix, informed.facts.sizes, pack),
        "covariances": [_estimate(own, pack) for own in informed.covariances],
        "inverse": pack.array(informed.inverse),
    }
    if not isinstance(found, TableReconstruction):
        return cells_estimate(informed.estimate(values), pack), errors
    tables = component_tables(found.tables)
    for amount, own in zip(amounts, informed.covariances, strict=True):
        assert isinstance(own, TableReconstruction)
        for axes, table in component_tables(own.tables).items():
            tables[axes] = tables.get(axes, 0.0) + amount * table
    return components_view(found.tables.splits, tables, pack), errors


def _estimate(found: Reconstruction, pack: Packer) -> View:
    """Covariances, in the form of an estimate."""
    if isinstance(found, TableReconstruction):
        return components_view(found.tables.splits, component_tables(found.tables), pack)
    return cells_estimate(found, pack)
