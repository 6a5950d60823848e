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

from rowspace.operators import Operator, Vector
from rowspace.strategy import (
    Measured,
    alike,
    averaged,
    least_squares,
    precisions,
    same_rows,
    split_alike,
    stacked,
    united,
    within_digits,
)
from rowspace.tables import (
    ComponentTables,
    ProductWorkload,
    Split,
    mask_of,
    members,
    subsets_in_order,
)


@dataclass(frozen=True, eq=False)
class Measurement(Measured):
    """values = strategy·x + noise."""

    values: Vector


def merged(measurements: Sequence[Measurement]) -> list[Measurement]:
    """The same evidence, with one measurement for all that asked the same strategy, in the order of the first ones."""
    each = [
        _average([measurements[number] for number in group]) if len(group) > 1 else measurements[group[0]]
        for group in alike(measurements)
    ]
    rows = ([each[number] for number in group] for group in alike(each, same_rows))
    return within_digits([_united(own) if len(own) > 1 else own[0] for own in rows])


def whitened(measurements: Sequence[Measurement]) -> tuple[Operator, Vector]:
    """All measurements as one strategy with noise of variance one, and its answers."""
    values = [measurement.values / np.sqrt(measurement.variance) for measurement in measurements]
    return stacked(measurements), np.concatenate(values)


def joint_estimate(measurements: Sequence[Measurement]) -> Vector:
    """The generalized least-squares estimate of every cell's count from all measurements."""
    return least_squares(*whitened(measurements))


def _average(group: Sequence[Measurement]) -> Measurement:
    measured, weights = averaged(group)
    values = np.asarray(sum(weight * own.values for weight, own in zip(weights, group, strict=True)))
    return Measurement(**vars(measured), values=values)


def _united(group: Sequence[Measurement]) -> Measurement:
    """Those of the same rows over joint cells as one."""
    measured, shares = united(group)
    values = np.zeros(measured.strategy.shape[0])
    for own, (places, share) in zip(group, shares, strict=True):
        values[places] += share * own.values
    return Measurement(**vars(measured), values=values)


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
    tables = split_alike([measurement.strategy for measurement in measurements])
    if tables is None:
        return None
    components: dict[int, Vector] = {}
    weights: dict[int, float] = {}
    told = precisions(measurements, tables)
    for measurement, (strategy, _), own in zip(measurements, tables, told, strict=True):
        estimate = strategy.component_tables(measurement.values)
        for mask, weight in own.items():
            stack, row = estimate.places[tuple(members(mask))]
            term = weight * estimate.stacks[stack][row]
            components[mask] = components[mask] + term if mask in components else term
            weights[mask] = weights.get(mask, 0.0) + weight
    first, _ = tables[0]
    return JointTables(
        first.sizes,
        first.splits,
        {mask: total / weights[mask] for mask, total in components.items()},
        {mask: 1 / weight for mask, weight in weights.items()},
    )
