"""Samples per second of the exact noise samplers, next to OpenDP's exact ones and numpy's inexact ones, in one run.

    python -m benchmarks.sampler_throughput

One core. Each figure is the best of several runs; OpenDP draws fewer samples because it is slower. numpy's
Generator is no alternative (floating point, not cryptographic): it shows what a sampler without any guarantee costs.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import partial

import numpy as np
import opendp.prelude as dp

from rowspace.noise import SecureRandom, discrete_gaussian, discrete_laplace, rounded_gaussian

from .harness import best_seconds

SAMPLES = 1 << 21
OPENDP_SAMPLES = 1 << 14
REPEATS = 5
SCALES = {"20": 20, "2^20": 2**20}


@dataclass(frozen=True)
class Row:
    sampler: str
    scale: str
    ours: float
    opendp: float | None
    numpy: float

    def __str__(self) -> str:
        cells = [f"{self.sampler:<18} {self.scale:>6} {self.ours / 1e6:10.1f}"]
        for theirs in (self.opendp, self.numpy):
            cells.append(
                "         -          -"
                if theirs is None
                else f"{theirs / 1e6:10.2f} {self.ours / theirs:9.2f}x"
            )
        return " ".join(cells)


def rate(draw: Callable[[], object], samples: int) -> float:
    """Return samples per second, the best of a few runs after one to warm up."""
    return samples / best_seconds(draw, REPEATS)


def opendp_rate(measurement: Callable[[list[int]], object]) -> float:
    zeros = [0] * OPENDP_SAMPLES
    return rate(lambda: measurement(zeros), OPENDP_SAMPLES)


def rows() -> list[Row]:
    random, generator = SecureRandom(), np.random.default_rng()
    integers = dp.vector_domain(dp.atom_domain(T=int))
    result = []
    for name, s in SCALES.items():
        laplace = (integers, dp.l1_distance(T=int)) >> dp.m.then_laplace(float(s))
        gaussian = (integers, dp.l2_distance(T=float)) >> dp.m.then_gaussian(float(s))
        numpy_laplace = rate(partial(generator.laplace, 0, s, SAMPLES), SAMPLES)
        numpy_normal = rate(partial(generator.normal, 0, s, SAMPLES), SAMPLES)
        exact = Fraction(s)
        result += [
            Row(
                "discrete_laplace",
                name,
                rate(partial(discrete_laplace, exact, SAMPLES, random), SAMPLES),
                opendp_rate(laplace),
                numpy_laplace,
            ),
            Row(
                "discrete_gaussian",
                name,
                rate(partial(discrete_gaussian, exact * exact, SAMPLES, random), SAMPLES),
                opendp_rate(gaussian),
                numpy_normal,
            ),
            Row(
                "rounded_gaussian",
                name,
                rate(partial(rounded_gaussian, exact, SAMPLES, random), SAMPLES),
                None,  # OpenDP has no such sampler
                numpy_normal,
            ),
        ]
    return result


def main() -> None:
    dp.enable_features("contrib")
    print("million samples a second, one core; ratios are ours to theirs")
    print(
        f"{'sampler':<18} {'scale':>6} {'ours':>10} {'OpenDP':>10} {'ratio':>10} {'numpy':>10} {'ratio':>10}"
    )
    for row in rows():
        print(row)


if __name__ == "__main__":
    main()
