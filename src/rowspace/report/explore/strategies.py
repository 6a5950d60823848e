"""A strategy of any kind, and the estimate it leads to."""

from __future__ import annotations

from typing import Any

from rowspace.operators import Operator
from rowspace.strategy import Reconstruction, Strategy, TableReconstruction
from rowspace.tables import TableOperator

from .cells import cells_view
from .packing import Packer
from .tables import component_tables, components_view, tables_view


def strategy_view(A: Operator, sizes: tuple[int, ...], pack: Packer) -> dict[str, Any]:
    """How the noise of an answer is put together."""
    tables = _plain_tables(A)
    return cells_view(A, sizes, pack) if tables is None else tables_view(tables, pack)


def estimate_view(A: Operator, found: Reconstruction, pack: Packer) -> dict[str, Any]:
    """The estimate, component by component where the strategy has such, else cell by cell."""
    if _plain_tables(A) is not None:
        assert isinstance(found, TableReconstruction)
        return components_view(found.tables.splits, component_tables(found.tables), pack)
    pack.check_room(A.shape[1])
    return cells_estimate(found, pack)


def cells_estimate(found: Reconstruction, pack: Packer) -> dict[str, Any]:
    """An estimate, cell by cell."""
    return {"kind": "cells", "cells": pack.array(found.cells())}


def _plain_tables(A: Operator) -> TableOperator | None:
    """The tables whose components are independent, where the strategy is such tables."""
    tables = Strategy.of(A).tables
    return None if tables is None or tables.has_joint else tables
