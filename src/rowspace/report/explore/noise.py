"""From moments to half-widths, as far as it can be told in advance: `rowspace.error.intervals` at one level."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from rowspace.error import COARSE, FEW_TERMS, RARE, Moments, half_widths, normal_quantile, standard_quantile
from rowspace.operators import Vector
from rowspace.privacy import NoiseModel
from rowspace.strategy import Measured, widest_shape

from .packing import Packer

_SHARES, _RELATIVES = 41, 9
"""The grid on which quantiles are interpolated, as `standard_quantile` does."""


def noise_view(noise: NoiseModel, level: float, pack: Packer) -> dict[str, Any]:
    """The noise of one answer, quantiles of sums of it, and exact steps of sums of few where it is coarse."""
    steps = pack.array(_steps(noise, level)) if _has_steps(noise, level) else None
    return _view(noise.variance, noise.excess_kurtosis, 1.0, level, pack) | {"steps": steps}


def average_view(own: Measured, level: float, pack: Packer) -> dict[str, Any]:
    """The noise of an average of equal questions, in steps of its own or of nothing known (`Pooled.error_bars`)."""
    view = _view(own.variance, own.excess_kurtosis, own.step or 1.0, level, pack)
    return view | {"spacing": own.step}


def widest_view(measured: Sequence[Measured], level: float, pack: Packer) -> dict[str, Any]:
    """Noise of variance one that needs the widest interval of several measurements' (`strategy.pooled.widest`)."""
    kurtosis, step = widest_shape(measured)
    return _view(1.0, kurtosis, step, level, pack) | {"spacing": 0.0, "floor": normal_quantile(level)}


def _view(variance: float, kurtosis: float, step: float, level: float, pack: Packer) -> dict[str, Any]:
    """step: what the noise is a multiple of. spacing: the same, for the lattice of answers. floor: least quantile."""
    return {
        "variance": variance,
        "normal": normal_quantile(level),
        "floor": 0.0,
        "grid": pack.array(_grid(kurtosis, level)) if kurtosis >= 1e-3 else None,
        "shares": _SHARES,
        "relatives": _RELATIVES,
        "steps": None,
        "step": step,
        "spacing": step,
        "rare": variance < RARE * step**2,
        "level": level,
    }


def _grid(kurtosis: float, level: float) -> Vector:
    """Quantiles in standard errors over (share of the largest coefficient, relative fourth moment of the rest)."""
    share = np.repeat(np.linspace(0.0, 1.0, _SHARES), _RELATIVES)
    relative = np.tile(np.linspace(0.0, 1.0, _RELATIVES), _SHARES)
    rest, most = np.maximum(1 - share, 1e-9), np.minimum(1.0, share / np.maximum(1 - share, 1e-12))
    # The moments that stand for this point of the grid, from the definitions in `standard_quantile`.
    parts = Moments(np.ones_like(share), share**2 + relative * most * rest**2, np.sqrt(share), 0.0 * share)
    return standard_quantile(parts, kurtosis, level)


def _has_steps(noise: NoiseModel, level: float) -> bool:
    return noise.variance < COARSE and 1 - level > 1e-12


def _steps(noise: NoiseModel, level: float) -> Vector:
    """Half-widths of sums of 1, 2, … noises."""
    terms = np.arange(1.0, FEW_TERMS + 1)
    ones = np.ones_like(terms)
    return half_widths(Moments(terms, terms, ones, ones), noise, level)
