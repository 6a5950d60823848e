"""Probability masses of the noise models straight from their definitions: the truth the tests compare with."""

import mpmath

from rowspace.privacy import DiscreteGaussian, DiscreteLaplace, NoiseModel, RoundedGaussian


def masses(model: NoiseModel, reach: int | None = None) -> dict[int, mpmath.mpf]:
    """P(k) for |k| ≤ reach (default: until 1e-40 of the largest), at mpmath's current precision."""
    if isinstance(model, DiscreteLaplace):
        scale = _exact(model.scale)
        reach = reach or int(120 * model.scale) + 2
        weights = {k: mpmath.exp(-abs(k) / scale) for k in range(-reach, reach + 1)}
        # Normalized over all integers, not only those in reach.
        q = mpmath.exp(-1 / scale)
        return {k: w * (1 - q) / (1 + q) for k, w in weights.items()}
    if isinstance(model, DiscreteGaussian):
        variance = _exact(model.sigma_squared)
        reach = reach or int(16 * mpmath.sqrt(variance)) + 4
        weights = {k: mpmath.exp(-(mpmath.mpf(k) ** 2) / (2 * variance)) for k in range(-reach, reach + 1)}
        total = mpmath.fsum(weights.values())
        return {k: w / total for k, w in weights.items()}
    assert isinstance(model, RoundedGaussian)
    sigma = _exact(model.sigma)
    reach = reach or int(16 * model.sigma) + 4
    half = mpmath.mpf(1) / 2
    # By symmetry, always a difference of two lower tails: no cancellation against 1.
    upper = {
        k: mpmath.ncdf((half - k) / sigma) - mpmath.ncdf((-half - k) / sigma)
        if k
        else 1 - 2 * mpmath.ncdf(-half / sigma)
        for k in range(reach + 1)
    }
    return {k: upper[abs(k)] for k in range(-reach, reach + 1)}


def _exact(value: object) -> mpmath.mpf:
    return mpmath.mpf(value.numerator) / value.denominator  # type: ignore[attr-defined]
