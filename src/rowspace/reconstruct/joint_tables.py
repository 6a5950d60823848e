"""Several measurements of tables as one estimate, component by component, for domains of any size.

A measurement of tables estimates every component ω_R (see `component_tables`) by itself, with covariance
ν_R · variance · ⊗_{i∈R} K_i. Where measurements split every attribute alike (the same u, and K up to a factor), their
information adds up component by component, so averages with weights 1/(ν_R · variance) are generalized least squares.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from rowspace.operators.base import Vector
from rowspace.strategy import Strategy
from rowspace.tables import (
    CellSplit,
    ComponentTables,
    ProductWorkload,
    Split,
    TableOperator,
    mask_of,
    members,
    subsets_in_order,
)

from .measurement import Measurement


@dataclass(frozen=True, eq=False)
class JointTables:
    """The components with the variance of each, at the splits they have in common."""

    sizes: tuple[int, ...]
    splits: Sequence[Split]
    components: Mapping[int, Vector]
    variances: Mapping[int, float]

    @cached_property
    def tables(self) -> ComponentTables:
        """The estimate as tables."""
        found = ComponentTables(self.splits)
        for mask, component in self.components.items():
            found.add([tuple(members(mask))], component[None])
        return found

    def query_variances(self, workload: ProductWorkload) -> Vector:
        """The variance of every answer, in the order of the workload."""
        out = []
        for number, part in enumerate(workload.parts):
            masks = [mask_of(own) for own in subsets_in_order(workload.axes_of(part))]
            measured = workload.check_measured(number, self.variances, self.splits)
            nu = [self.variances[mask] if found else 0.0 for mask, found in zip(masks, measured, strict=True)]
            out.append(workload.variances(number, nu, self.splits))
        return np.concatenate(out)


def joint_tables(measurements: Sequence[Measurement]) -> JointTables | None:
    """The joint estimate, or None unless all measured tables and split their attributes alike."""
    found = [Strategy.of(measurement.strategy).tables for measurement in measurements]
    tables = [own for own in found if own is not None]
    if len(tables) < len(found) or any(own.sizes != tables[0].sizes for own in tables):
        return None
    factors = [_factors(tables[0], strategy) for strategy in tables]
    components: dict[int, Vector] = {}
    weights: dict[int, float] = {}
    for measurement, strategy, own in zip(measurements, tables, factors, strict=True):
        if own is None:
            return None
        estimate = strategy.component_tables(measurement.values)
        for mask, nu in strategy.component_variances.items():
            scale = float(np.prod([own[i] for i in members(mask)]))
            weight = 1 / (nu * measurement.variance * scale)
            stack, row = estimate.places[tuple(members(mask))]
            term = weight * estimate.stacks[stack][row]
            components[mask] = components[mask] + term if mask in components else term
            weights[mask] = weights.get(mask, 0.0) + weight
    return JointTables(
        tables[0].sizes,
        tables[0].splits,
        {mask: total / weights[mask] for mask, total in components.items()},
        {mask: 1 / weight for mask, weight in weights.items()},
    )


def _factors(a: TableOperator, b: TableOperator) -> list[float] | None:
    """c_i with K_i of b = c_i · K_i of a for every attribute; None unless the splits are alike in this way."""
    if a.splits is b.splits:
        return [1.0] * len(a.sizes)
    found = [_factor(one, other) for one, other in zip(a.splits, b.splits, strict=True)]
    return None if any(c is None for c in found) else [c for c in found if c is not None]


def _factor(a: Split, b: Split) -> float | None:
    if isinstance(a, CellSplit) and isinstance(b, CellSplit):
        return 1.0
    if not np.allclose(a.u, b.u, rtol=1e-9, atol=1e-12):
        return None
    size = float(np.trace(a.K))
    factor = float(np.trace(b.K)) / size if size > 0 else 1.0
    return factor if np.allclose(b.K, factor * a.K, rtol=1e-9, atol=1e-9 * factor * size) else None
