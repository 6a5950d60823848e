"""Sampling: exact discrete noise from a cryptographic source."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np

from rowspace.noise import SecureRandom, discrete_gaussian, discrete_laplace

from ..harness import Case, Contender, Work
from ..records import OURS

SCALE = 20
SIZES = (2**10, 2**13, 2**16, 2**19, 2**21)
OPENDP_MOST = 2**16


def ours(sampler: Callable[..., Any], parameter: int) -> Contender:
    def prepare(size: int) -> Work:
        random = SecureRandom()
        return lambda: sampler(Fraction(parameter), size, random)

    return Contender(OURS, prepare)


def opendp(mechanism: str, distance: str, of: type) -> Contender:
    def prepare(size: int) -> Work:
        import opendp.prelude as dp

        dp.enable_features("contrib")
        vectors = dp.vector_domain(dp.atom_domain(T=int)), getattr(dp, distance)(T=of)
        measurement = vectors >> getattr(dp.m, mechanism)(float(SCALE))
        zeros = [0] * size
        return lambda: measurement(zeros)

    return Contender("OpenDP", prepare, needs="opendp", largest=OPENDP_MOST)


def numpy_floor(method: str) -> Contender:
    def prepare(size: int) -> Work:
        draw = getattr(np.random.default_rng(), method)
        return lambda: draw(0.0, SCALE, size)

    return Contender(f"numpy's Generator.{method}, no guarantee", prepare)


CASES = (
    Case(
        "sampling",
        "discrete Laplace noise of scale 20",
        "samples",
        SIZES,
        2**10,
        numpy_floor("laplace"),
        (ours(discrete_laplace, SCALE), opendp("then_laplace", "l1_distance", int)),
    ),
    Case(
        "sampling",
        "discrete Gaussian noise of standard deviation 20",
        "samples",
        SIZES,
        2**10,
        numpy_floor("normal"),
        (ours(discrete_gaussian, SCALE**2), opendp("then_gaussian", "l2_distance", float)),
    ),
)
