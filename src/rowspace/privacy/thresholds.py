"""Noise and the least noisy count that a key may be shown with: what finding unknown keys privately needs.

A key (a diagnosis, a pair of town and diagnosis) is found when its noisy count reaches a threshold. Between neighbours
at most m counts differ, each by one: m = k where a unit that counts in at most k keys comes or goes, m = 2k where it is
replaced. Keys that nobody has are never looked at, so it must not show that somebody brought one into being.

**Truncated Laplace.** P(X = j) ∝ q^|j| for |j| ≤ L, with q = e^(−1/scale), scale ≥ m/ε; found from T = L + 1 on. It is
(ε, δ)-private in both directions where m·τ ≤ δ, τ = P(X = L) = q^L (1 − q)/(1 + q − 2q^(L+1)).

Proof. Give every key of the infinite universe a count, nearly all of them zero, and noise of its own. A count of zero
has a noisy count of at most L < T, so nothing changes when keys of no count are left out: the mechanism is this
histogram, thresholded, and thresholding is post-processing. Take two neighbours; m′ ≤ m counts differ by one, the rest
cancel. Let P and P′ be the laws of the m′ noisy counts. In a coordinate with c and c + 1 the supports are c − L … c + L
and one further. On the points of both the ratio of probabilities is q or 1/q; those of P alone are one point, c − L, of
probability τ, and the same the other way round. So outside a set of P-probability 1 − (1 − τ)^m′ ≤ mτ the ratio of P to
P′ is at most q^(−m′) ≤ e^ε, and for any event P(E) ≤ e^ε P′(E) + mτ. P and P′ may change places: which of them has the
larger counts was not used. ∎ For m = 1 no (ε, τ)-private mechanism finds any key with a larger probability
(Desfontaines, Voss, Gipson & Mandayam 2022: these are the probabilities of their optimal one); L is whole, so what
of δ is beyond τ stays unused, which moves the threshold by less than one count.

**Rounded Gaussian**, for many keys of one unit: noise of ApproxDP(ε, δ₁).noise(m), found from T on. It is
(ε, δ₁ + δ₂)-private where m·p/(1 − m·p) ≤ δ₂, p = P(1 + X ≥ T).

Proof. Let S be the keys that only D has, S′ those that only D′ has, j + j′ ≤ m of them; all have count one. Let q, q′
be the probabilities that none of them is found: 1 − q ≤ jp, 1 − q′ ≤ j′p. What is found of all other keys has laws P₁,
P₁′ with P₁(F) ≤ e^ε P₁′(F) + δ₁ (at most m counts differ, each by one). Of an event E let F be the part in which
nothing of S and S′ is found. P(E) ≤ 1 − q + q·P₁(F), and P′(E) ≥ q′·P₁′(F). So P(E) − e^ε P′(E) ≤ 1 − q + g(F), where
g = q·P₁ − e^ε q′·P₁′ is largest on F* = {q·P₁ > e^ε q′·P₁′}, on which e^ε P₁′(F*) ≤ q/q′. There g(F*) =
q·(P₁ − e^ε P₁′)(F*) + e^ε (q − q′) P₁′(F*) ≤ δ₁ + max(0, q − q′)·q/q′ ≤ δ₁ + (1 − q′)/q′. In all
δ₁ + jp + j′p/(1 − j′p) ≤ δ₁ + mp/(1 − mp). D and D′ may change places. ∎

Which of the two is taken depends on ε, δ and m alone: the one with the lower threshold.

Guarantees
- m·τ ≤ δ, and m·p/(1 − m·p) ≤ δ/2, certified in interval arithmetic; no lower threshold has that
  (tests/privacy/test_thresholds.py::test_the_threshold_is_the_least_that_is_private).
- The exact privacy curve of small cases stays within (ε, δ), in both directions and for both neighbour relations
  (tests/privacy/test_thresholds.py::test_every_pair_of_neighbours_is_private).
- The optimum for one key a unit (tests/privacy/test_thresholds.py::test_no_mechanism_finds_a_key_more_often).
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from functools import lru_cache
from typing import ClassVar

import numpy as np
import numpy.typing as npt
import scipy

from rowspace.exceptions import IntegerOverflow, InvalidPrivacy

from .definitions import ApproxDP, Privacy
from .models import RoundedGaussian, Vector
from .normal_tail import Interval, Precision, mills_ratio
from .units import Neighbours
from .validation import drawable, float_within, stated

_DIGITS = 60
_FARTHEST = 2**60
"""No threshold is beyond this: counts and noise are added in 64 bits."""

_SUMMED = 2**20
"""Widest noise whose moments are summed term by term."""

_DENSITY = Decimal("0.3989422804014326779399461")
"""1/√(2π), rounded up."""


class Threshold(ABC):
    """Noise on the integers, and the least noisy count that is shown."""

    __slots__ = ()

    name: ClassVar[str]
    """What people call the noise."""

    @property
    @abstractmethod
    def least(self) -> int:
        """The least noisy count that may be shown."""

    @property
    @abstractmethod
    def std_error(self) -> float:
        """The standard deviation of the noise."""

    @abstractmethod
    def at_least(self, value: npt.ArrayLike) -> Vector:
        """P(X ≥ value) for integers, to double precision: for error bars, not for privacy."""


@dataclass(frozen=True, slots=True)
class TruncatedLaplace(Threshold):
    """P(X = j) ∝ e^(−|j|/scale) for |j| ≤ reach; found from reach + 1 on.

    >>> threshold(ApproxDP(1.0, 1e-8))
    TruncatedLaplace(scale=Fraction(1, 1), reach=18)
    """

    scale: Fraction
    reach: int

    name: ClassVar[str] = "truncated discrete Laplace noise"

    @property
    def least(self) -> int:
        """One more than the noise can reach by itself."""
        return self.reach + 1

    @property
    def std_error(self) -> float:
        """√(Σ j² P(X = j)): at most that of the noise before it is truncated."""
        scale = float(self.scale)
        if self.reach <= _SUMMED:
            j = np.arange(1.0, self.reach + 1)
            weight = np.exp(-j / scale)
            return float(np.sqrt((j * j * weight).sum() / (weight.sum() + 0.5)))
        # So wide that the continuous law has the same variance, to ten digits.
        a = self.reach / scale
        return scale * math.sqrt(2.0 - a * (a + 2.0) * math.exp(-a) / -math.expm1(-a))

    def at_least(self, value: npt.ArrayLike) -> Vector:
        """P(X ≥ j) = (q^j − q^(L+1))/(1 + q − 2q^(L+1)) for j ≥ 1, and 1 − P(X ≥ 1 − j) below."""
        j = np.asarray(value, dtype=np.float64)
        rate, reach = 1.0 / float(self.scale), float(self.reach)
        whole = 1.0 + math.exp(-rate) - 2.0 * math.exp(-rate * (reach + 1))
        steps = np.clip(np.where(j >= 1, j, 1 - j), 1, reach + 1)
        tail = np.exp(-rate * steps) * -np.expm1(-rate * (reach + 1 - steps)) / whole
        return np.asarray(np.where(j >= 1, tail, 1.0 - tail))


@dataclass(frozen=True, slots=True)
class GaussianThreshold(Threshold):
    """Gaussian noise rounded to whole numbers; found from `least` on.

    >>> threshold(ApproxDP(1.0, 1e-8), keys=100).least < 400
    True
    """

    noise: RoundedGaussian
    passing: int

    name: ClassVar[str] = RoundedGaussian.name

    @property
    def least(self) -> int:
        """The least noisy count that may be shown."""
        return self.passing

    @property
    def std_error(self) -> float:
        """That of the noise."""
        return math.sqrt(self.noise.variance)

    def at_least(self, value: npt.ArrayLike) -> Vector:
        """P(round(σG) ≥ j) = P(σG ≥ j − ½)."""
        j = np.asarray(value, dtype=np.float64)
        return np.asarray(scipy.special.ndtr(-(j - 0.5) / float(self.noise.sigma)))


def changed_keys(privacy: Privacy, keys: int = 1) -> int:
    """How many counts differ between neighbours, each by one: see the module.

    keys: in how many keys a unit, or a record, counts at most.
    """
    return keys * (2 if privacy.neighbours is Neighbours.REPLACE_ONE else 1)


def threshold(privacy: Privacy, keys: int = 1) -> TruncatedLaplace | GaussianThreshold:
    """The noise and threshold that find most keys under a guarantee in (ε, δ).

    keys: in how many keys a unit counts at most.

    >>> threshold(ApproxDP(1.0, 1e-8)).least
    19
    """
    if type(privacy) is not ApproxDP:
        raise InvalidPrivacy(
            f"expected privacy=ApproxDP(epsilon, delta), got {type(privacy).__name__}: that a key exists at all can be "
            "hidden only up to a delta, which is stated beside epsilon"
        )
    return _threshold(privacy.epsilon, privacy.delta, changed_keys(privacy, keys))


@lru_cache(maxsize=256)
def _threshold(epsilon: float, delta: float, changed: int) -> TruncatedLaplace | GaussianThreshold:
    laplace = _laplace(epsilon, delta, changed)
    if changed == 1:
        return laplace
    try:
        gaussian = _gaussian(epsilon, delta, changed)
    except (InvalidPrivacy, IntegerOverflow):  # noise that no sampler draws, where Laplace's is still drawn
        return laplace
    return gaussian if gaussian.least < laplace.least else laplace


def _laplace(epsilon: float, delta: float, changed: int) -> TruncatedLaplace:
    """The least reach L with m·q^L·(1 − q) ≤ δ·(1 + q − 2q^(L+1)): the left side falls in L, the right one rises."""
    scale = drawable(changed / stated(epsilon))
    precision = Precision(_DIGITS)
    one = precision.exact(1)
    rate = _enclosed(1 / scale, precision)
    q = (-rate).exp()
    allowed = _enclosed(stated(delta) / changed, precision)

    def is_private(reach: int) -> bool:
        power = (-(rate * precision.exact(reach))).exp()
        # Never in our favour: the left side at its largest, the right one at its least.
        left = power * (one - q)
        right = allowed * (one + q - (power + power) * q)
        return left.high <= right.low

    return TruncatedLaplace(scale, _least(is_private))


def _gaussian(epsilon: float, delta: float, changed: int) -> GaussianThreshold:
    """Half of δ for the noise, half for keys that only one unit has; m·p ≤ δ₂/(1 + δ₂) is the condition above."""
    half = float_within(delta) / 2
    noise = ApproxDP(epsilon, half).noise(changed)
    assert isinstance(noise, RoundedGaussian)
    precision = Precision(_DIGITS)
    share = Fraction(half)
    allowed = _enclosed(share / (1 + share) / changed, precision)

    def is_private(least: int) -> bool:
        # 1 + round(σG) ≥ T is σG ≥ T − 3/2, up to ties, which have no probability.
        x = _enclosed((least - Fraction(3, 2)) / noise.sigma, precision) if least > 1 else None
        return x is not None and _upper_tail(x).high <= allowed.low

    return GaussianThreshold(noise, _least(is_private))


def _upper_tail(x: Interval) -> Interval:
    """1 − Φ(x) = φ(x)·M(x), for x > 0; only the upper end is used."""
    precision = x.precision
    return (-(x.squared() / precision.exact(2))).exp() * precision.exact(_DENSITY) * mills_ratio(x)


def _enclosed(value: Fraction, precision: Precision) -> Interval:
    """A fraction, between two decimals."""
    return precision.exact(value.numerator) / precision.exact(value.denominator)


def _least(is_private: Callable[[int], bool]) -> int:
    """The least positive integer that passes a test which all larger ones pass."""
    high = 1
    while not is_private(high):
        high *= 2
        if high > _FARTHEST:
            raise IntegerOverflow(
                "expected a budget whose threshold fits 64 bits, got one that needs more; use a larger epsilon, or "
                "let each unit count in fewer keys"
            )
    low = high // 2
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if is_private(middle) else (middle, high)
    return high
