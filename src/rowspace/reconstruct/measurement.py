"""Noisy answers with what is known of their noise: the evidence that estimates are made from."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from rowspace.operators import Operator, Scaled, Stack
from rowspace.operators.base import Vector
from rowspace.strategy import least_squares

LEAST_VARIANCE = 1e-30
"""Noise that is never drawn as anything but zero counts as this much: measurements are weighted by 1/variance."""


@dataclass(frozen=True, eq=False)
class Measurement:
    """values = strategy·x + independent noise of this variance and shape on every answer.

    `step`: the noise is a whole multiple of it (0: of nothing known).
    """

    strategy: Operator
    values: Vector
    variance: float
    excess_kurtosis: float
    step: float

    def __post_init__(self) -> None:
        if self.variance < LEAST_VARIANCE:
            object.__setattr__(self, "variance", LEAST_VARIANCE)
            object.__setattr__(self, "excess_kurtosis", 1 / LEAST_VARIANCE)


def merged(measurements: Sequence[Measurement]) -> list[Measurement]:
    """The same evidence, with one measurement for all that asked the same strategy, in the order of the first ones.

    Equal questions are averaged with weights 1/variance: that is least squares, and the noise of the averages is
    independent again.
    """
    groups: list[list[Measurement]] = []
    for measurement in measurements:
        for group in groups:
            if group[0].strategy == measurement.strategy:
                group.append(measurement)
                break
        else:
            groups.append([measurement])
    return [_averaged(group) if len(group) > 1 else group[0] for group in groups]


def whitened(measurements: Sequence[Measurement]) -> tuple[Operator, Vector]:
    """All measurements as one strategy with noise of variance one: each divided by its noise's standard deviation."""
    scales = [1 / np.sqrt(measurement.variance) for measurement in measurements]
    parts = [Scaled.of_product(c, m.strategy) for c, m in zip(scales, measurements, strict=True)]
    values = [c * m.values for c, m in zip(scales, measurements, strict=True)]
    return (parts[0] if len(parts) == 1 else Stack(*parts)), np.concatenate(values)


def joint_estimate(measurements: Sequence[Measurement]) -> Vector:
    """The generalized least-squares estimate of every cell's count from all measurements."""
    return least_squares(*whitened(measurements))


def _averaged(group: Sequence[Measurement]) -> Measurement:
    variances = np.array([measurement.variance for measurement in group])
    variance = 1 / float(np.sum(1 / variances))
    weights = variance / variances
    # Cumulants of independent noise add up; the fourth is kurtosis · variance².
    fourth = sum(
        w**4 * m.excess_kurtosis * m.variance**2 for w, m in zip(weights.tolist(), group, strict=True)
    )
    steps = weights * [measurement.step for measurement in group]
    alike = bool(np.all(np.abs(steps - steps[0]) <= 1e-12 * steps[0]))
    return Measurement(
        group[0].strategy,
        np.asarray(sum(w * m.values for w, m in zip(weights, group, strict=True))),
        variance,
        float(fourth / variance**2),
        float(steps[0]) if alike else 0.0,
    )
