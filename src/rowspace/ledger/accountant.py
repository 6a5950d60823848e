"""The privacy loss distributions of dp-accounting, for (ε, δ) budgets: ``pip install rowspace[accounting]``.

Composition tighter than sums is not written here by hand. What is chosen here is which distributions dominate our
mechanisms, each on the safe side:

- ε-DP: that of randomized response, which dominates every ε-DP mechanism (Kairouz, Oh & Viswanath 2015). The
  distribution of scalar Laplace noise would be smaller, but is not proven to dominate vectors.
- Gaussian noise rounded to integers: that of the Gaussian, since rounding is post-processing and a shift of a
  spherical Gaussian is one-dimensional. Its σ is rounded down.
- (ε, δ) promises: the worst case of them.

dp-accounting discretizes pessimistically (losses are rounded up, truncated mass counts as infinite loss). It works in
double precision; that its rounding errors, near 1e-15 in δ, are not accounted for is the one place of this ledger
where "at most" is not proven to the last bit.
"""

from __future__ import annotations

import math
from fractions import Fraction
from functools import cache
from importlib.util import find_spec
from typing import Any

from rowspace.privacy import ApproxDP, ApproxDPTheorem3, Privacy

from .amounts import float_above
from .costs import unit_variance


@cache
def is_installed() -> bool:
    """Whether dp-accounting is there."""
    return find_spec("dp_accounting") is not None


class PrivacyLoss:
    """The privacy loss of several mechanisms together."""

    def __init__(self) -> None:
        self._composed: Any = None

    def add(self, privacy: Privacy, epsilon: Fraction, times: int) -> None:
        """Add a mechanism, `times` over: Gaussian noise of a promise in (ε, δ), else an ε-DP mechanism."""
        if isinstance(privacy, ApproxDP | ApproxDPTheorem3):
            from dp_accounting.pld.privacy_loss_distribution import from_gaussian_mechanism

            sigma = math.nextafter(math.sqrt(math.nextafter(float(unit_variance(privacy)), 0.0)), 0.0)
            self._compose(from_gaussian_mechanism(sigma, pessimistic_estimate=True), times)
        else:
            self.add_promise(epsilon, Fraction(0), times)

    def add_promise(self, epsilon: Fraction, delta: Fraction, times: int = 1) -> None:
        """Add anything that is (ε, δ)-differentially private, `times` over."""
        from dp_accounting.pld.common import DifferentialPrivacyParameters
        from dp_accounting.pld.privacy_loss_distribution import from_privacy_parameters

        promise = DifferentialPrivacyParameters(float_above(epsilon), float_above(delta))
        self._compose(from_privacy_parameters(promise), times)

    def epsilon(self, delta: float) -> Fraction | None:
        """An ε, rounded up, at which all of it is (ε, δ)-differentially private; None if there is none."""
        found = float(self._composed.get_epsilon_for_delta(math.nextafter(delta, 0.0)))
        return Fraction(math.nextafter(found, math.inf)) if math.isfinite(found) else None

    def _compose(self, loss: Any, times: int) -> None:
        repeated = loss.self_compose(times) if times > 1 else loss
        self._composed = repeated if self._composed is None else self._composed.compose(repeated)
