"""Several releases together, as the page asks them: one estimate, how noise is put together, and what noise it is.

As `rowspace.releases.combined_answers` answers them. Where it averages each query by itself there is no one estimate:
then the page has the measured tables.
"""

from __future__ import annotations

from typing import Any

from rowspace.error import COEFFICIENTS
from rowspace.exceptions import TooLarge
from rowspace.reconstruct import JointTables, Measurement
from rowspace.releases import ByCells, ByStrategy, ByTables, Combined, answers_from
from rowspace.strategy import Pooled, Strategy

from .noise import average_view, widest_view
from .packing import Packer
from .strategies import estimate_view, strategy_view
from .tables import by_set, component_tables, components_view, split_view

View = dict[str, Any]


def combined_view(release: Combined, level: float, pack: Packer) -> View:
    """Estimate, errors and noise; `TooLarge` where releases are answered together query by query."""
    estimate, errors, noise = _views(release, level, pack)
    return {"estimate": estimate, "errors": {"own": errors, "beside": None}, "noise": noise}


def _views(release: Combined, level: float, pack: Packer) -> tuple[View, View, View]:
    sizes = release.plan.domain.shape
    match answers_from(release.evidence):
        case ByStrategy(measurement=one):
            return _one(one, sizes, level, pack)
        case ByTables():
            joint = release.evidence.tables
            assert joint is not None
            noise = widest_view(release.evidence.measurements, level, pack)
            estimate = components_view(joint.tables.splits, component_tables(joint.tables), pack)
            return estimate, _joint_errors(joint, pack), noise
        case ByCells():
            pooled = Pooled(release.evidence.measurements)
            errors = strategy_view(pooled.strategy.matrix, sizes, pack)
            noise = widest_view(pooled.measured, level, pack)
            return {"kind": "cells", "cells": pack.array(release.evidence.estimate)}, errors, noise
    raise TooLarge("releases that are averaged query by query are asked together by the package only")


def _one(one: Measurement, sizes: tuple[int, ...], level: float, pack: Packer) -> tuple[View, View, View]:
    """Releases of one strategy, averaged."""
    A = one.strategy
    estimate = estimate_view(A, Strategy.of(A).estimate(one.values), pack)
    return estimate, strategy_view(A, sizes, pack), average_view(one, level, pack)


def _joint_errors(joint: JointTables, pack: Packer) -> View:
    """Components of which nothing is known but their variances."""
    return {
        "kind": "tables",
        "splits": [split_view(split, pack) for split in joint.splits],
        "variances": by_set(joint.variances),
        "most": COEFFICIENTS,
        "shape": None,
        "alike": None,
    }
