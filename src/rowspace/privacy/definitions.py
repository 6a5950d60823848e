"""What is promised: pure, approximate and zero-concentrated differential privacy, and the noise each needs.

The contract with the rest of the library: a strategy that touches data is an integer matrix A_int, and
`integer_norm` is its exact sensitivity for the chosen neighbours, the largest Σ|change| (norm 1) or
Σ change² (norm 2) that one record's step can make to the integer answers A_int·x. Where a `PrivacyUnit` has k
rows, its step is k times that (proved in `units`): the noise and its variance at unit sensitivity grow here, and
nothing that plans needs to know.
"""

from __future__ import annotations

import dataclasses
import math
from abc import ABC, abstractmethod
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from typing import Any, ClassVar

from .calibration import analytic_gaussian_sigma, paper_gaussian_variance
from .models import DiscreteGaussian, DiscreteLaplace, NoiseModel, RoundedGaussian
from .units import Neighbours, PrivacyUnit
from .validation import (
    drawable,
    dyadic_sqrt_ceiling,
    float_within,
    positive_finite,
    positive_integer,
    probability,
    stated,
    tagged_fields,
)


class Privacy(ABC):
    """A differential privacy guarantee. Subclasses are frozen dataclasses; equal parameters are equal."""

    __slots__ = ()

    kind: ClassVar[str]
    norm: ClassVar[int]
    """Which column norm of the strategy counts: 1 or 2."""

    neighbours: Neighbours
    unit: PrivacyUnit | None
    """Whose rows are protected together; None where every record is one by itself."""

    def __repr__(self) -> str:
        """As it is written: what is left at its default is left out."""
        given = (
            f"{field.name}={value.value!r}" if isinstance(value, Neighbours) else f"{field.name}={value!r}"
            for field in dataclasses.fields(self)  # type: ignore[arg-type]
            if (value := getattr(self, field.name)) != field.default
        )
        return f"{type(self).__name__}({', '.join(given)})"

    @property
    def unit_variance(self) -> float:
        """Variance of the continuous noise on each strategy answer, where one record moves them by norm 1."""
        rows = 1 if self.unit is None else self.unit.rows
        return self._variance * rows * rows

    @property
    def least_variance(self) -> float:
        """What no integer strategy's noise goes below per squared unit of sensitivity, drawn with this guarantee.

        Integer noise of a small scale has less variance than the continuous law of that scale, so a bound in continuous
        noise does not hold for it. This many times a bound in the unit of E does, for strategies whose rows have scales
        of their own too: proved in docs/design/014-what-is-drawn.md (`test_no_scale_has_less_variance`,
        `test_no_integer_strategy_beats_the_bound`). k different cells move answers by one column at least.

        >>> PureDP(5.0).unit_variance, PureDP(5.0).least_variance
        (0.08, 0.0136...)
        """
        return self._least_variance(1 if self.unit is None or self.unit.distinct else self.unit.rows)

    def _least_variance(self, rows: int) -> float:
        """The same where a unit has so many rows in one cell; of very large noise to all digits."""
        unit = self._variance * rows * rows
        return unit if unit > 2.0**60 else min(unit, self._noise(rows**self.norm).variance)

    @property
    def _rows_at_once(self) -> int:
        """For how many rows of one period in one cell noise is drawn."""
        if self.unit is None or (self.unit.distinct and self.unit.periods is None and self.norm == 2):
            return 1
        return self.unit.rows

    @property
    def is_coarse(self) -> bool:
        """Whether plain counts draw noticeably less noise than the continuous law: then real optima may lose."""
        return self._least_variance(self._rows_at_once) < 0.995 * self._variance * self._rows_at_once**2

    def noise(self, integer_norm: int) -> NoiseModel:
        """The integer noise that gives integer answers of this sensitivity the guarantee.

        `integer_norm`: largest Σ|change| (norm 1) or Σ change² (norm 2) by one record, at least 1.

        >>> PureDP(0.5).noise(3)
        DiscreteLaplace(scale=Fraction(6, 1))
        """
        advice = "a strategy whose answers no record can change needs no noise"
        return self.noise_of_step(self.step_norm(positive_integer("integer_norm", integer_norm, advice)))

    def noise_of_step(self, step_norm: int) -> NoiseModel:
        """The integer noise for answers that neighbours, units with all their rows, move by so much at most.

        step_norm: the largest change between neighbours, as `step_norm` has it or a strategy over periods knows it.

        >>> ZCDP(0.5, unit=PrivacyUnit("user_id", rows=3)).noise_of_step(18)
        DiscreteGaussian(sigma_squared=Fraction(18, 1))
        """
        return self._noise(positive_integer("step_norm", step_norm, "it is what `step_norm` returns"))

    def step_norm(self, integer_norm: int) -> int:
        """From the largest change by one record to the largest between neighbours: k or k² times that.

        Of a unit in several periods or cells it is a bound; `rowspace.strategy.participation` knows more.

        integer_norm: the largest change by one record.

        >>> ZCDP(0.5, unit=PrivacyUnit("user_id", rows=3)).step_norm(2)
        18
        """
        return integer_norm if self.unit is None else integer_norm * self.unit.most_rows**self.norm

    @property
    @abstractmethod
    def _variance(self) -> float:
        """Variance of the continuous noise at unit sensitivity."""

    @abstractmethod
    def _noise(self, integer_norm: int) -> NoiseModel:
        """The noise for neighbours that differ by this norm."""

    def to_dict(self) -> dict[str, Any]:
        """A JSON table, read back by `privacy_from_dict`.

        >>> PureDP(0.5).to_dict()
        {'privacy': 'pure', 'epsilon': 0.5, 'neighbours': 'add-remove'}
        """
        tree: dict[str, Any] = {"privacy": self.kind}
        for field in dataclasses.fields(self):  # type: ignore[arg-type]
            value = getattr(self, field.name)
            if isinstance(value, PrivacyUnit):
                tree[field.name] = value.to_dict()
            elif value is not None:  # files from before there were units have none
                tree[field.name] = value.value if isinstance(value, Neighbours) else value
        return tree

    @property
    def _step(self) -> str:
        """What neighbours differ in, in plain words."""
        return str(self.neighbours) if self.unit is None else self.unit.step(self.neighbours)

    def __post_init__(self) -> None:
        """Check every parameter and replace it by its plain form (float, enum)."""
        numbers = {"epsilon": positive_finite, "rho": positive_finite, "delta": probability}
        for field in dataclasses.fields(self):  # type: ignore[arg-type]
            value = getattr(self, field.name)
            if field.name in numbers:
                plain: object = numbers[field.name](field.name, value)
            else:
                plain = PrivacyUnit.of(value) if field.name == "unit" else Neighbours.of(value)
            object.__setattr__(self, field.name, plain)


@dataclass(frozen=True, slots=True, repr=False)
class PureDP(Privacy):
    """ε-differential privacy, by discrete Laplace noise.

    epsilon: how far the probability of any output may change, as a power of e; positive.
    neighbours: what tables that must stay hard to tell apart differ in, "add-remove" or "replace-one".
    unit: whose rows are protected together, a `PrivacyUnit`; every record by itself unless given.

    Guarantees:
        - changing integer answers by Σ|change| ≤ integer_norm changes the probability of any output by a
          factor of at most e^ε, for ε the float and the decimal that names it: the log-ratio is at most
          Σ|change|/scale, and scale ≥ integer_norm/ε in exact rational arithmetic
          (`test_discrete_laplace_is_pure`, `test_scales_are_rounded_up`);
        - the scale is at most 2⁻⁵⁰ (relative) above that, or 2⁻²⁰ (`test_scales_are_rounded_up`).

    >>> print(PureDP(1.0))
    1-differential privacy (add or remove one record)
    >>> PureDP(0.5, neighbours="replace-one").noise(integer_norm=3)
    DiscreteLaplace(scale=Fraction(6, 1))
    >>> print(PureDP(1.0, unit=PrivacyUnit("user_id", rows=3)))
    1-differential privacy (add or remove one 'user_id', of which at most 3 rows are counted)
    """

    epsilon: float
    neighbours: Neighbours = Neighbours.ADD_REMOVE
    unit: PrivacyUnit | None = None

    kind: ClassVar[str] = "pure"
    norm: ClassVar[int] = 1

    @property
    def _variance(self) -> float:
        """2/ε²."""
        return 2.0 / self.epsilon / self.epsilon

    def _noise(self, integer_norm: int) -> DiscreteLaplace:
        """Discrete Laplace noise of scale integer_norm/ε, rounded up."""
        return DiscreteLaplace(drawable(integer_norm / stated(self.epsilon)))

    def __str__(self) -> str:
        return f"{_plain(self.epsilon)}-differential privacy ({self._step})"


@dataclass(frozen=True, slots=True, repr=False)
class ApproxDP(Privacy):
    """(ε, δ)-differential privacy, by Gaussian noise with the analytic (tight) calibration, rounded.

    epsilon: as for `PureDP`.
    delta: the probability by which that may fail, between 0 and 1.
    neighbours: what tables that must stay hard to tell apart differ in, "add-remove" or "replace-one".
    unit: whose rows are protected together, a `PrivacyUnit`; every record by itself unless given.

    Guarantees:
        - integer answers that change by at most integer_norm in squared L2 norm are (ε, δ)-private: sigma
          is at least σ(ε, δ)·√integer_norm, the first factor certified in interval arithmetic, the root by
          integers (`test_analytic_sigma_is_least`, `test_scales_are_rounded_up`);
        - rounding to integers costs nothing (`test_rounded_gaussian_is_approximate`).

    >>> print(ApproxDP(1.0, 1e-6))
    (1, 1e-06)-differential privacy (add or remove one record)
    >>> ApproxDP(1.0, 1e-6).unit_variance
    17.8479...
    """

    epsilon: float
    delta: float
    neighbours: Neighbours = Neighbours.ADD_REMOVE
    unit: PrivacyUnit | None = None

    kind: ClassVar[str] = "approximate"
    norm: ClassVar[int] = 2

    @property
    def _variance(self) -> float:
        """σ(ε, δ)², the least that will do."""
        return self._sigma * self._sigma

    def _noise(self, integer_norm: int) -> RoundedGaussian:
        """Rounded Gaussian noise of deviation σ(ε, δ)·√integer_norm, rounded up."""
        return RoundedGaussian(drawable(dyadic_sqrt_ceiling(Fraction(self._sigma) ** 2 * integer_norm)))

    @property
    def _sigma(self) -> float:
        return analytic_gaussian_sigma(float_within(self.epsilon), float_within(self.delta))

    def __str__(self) -> str:
        return f"({_plain(self.epsilon)}, {_plain(self.delta)})-differential privacy ({self._step})"


@dataclass(frozen=True, slots=True, repr=False)
class ApproxDPTheorem3(Privacy):
    """(ε, δ)-differential privacy with the calibration of the paper's Theorem 3, for comparison.

    Noise variance 8 ln(2/δ)/ε² at unit L2 sensitivity, valid for ε ≤ 8 ln(2/δ) (else `InvalidPrivacy`).
    `ApproxDP` promises the same with less noise.

    Guarantees:
        - the variance is at least that of `ApproxDP` (`test_theorem_3_is_private`).

    >>> ApproxDPTheorem3(1.0, 1e-6).unit_variance / ApproxDP(1.0, 1e-6).unit_variance
    6.50...
    """

    epsilon: float
    delta: float
    neighbours: Neighbours = Neighbours.ADD_REMOVE
    unit: PrivacyUnit | None = None

    kind: ClassVar[str] = "approximate, theorem 3"
    norm: ClassVar[int] = 2

    def __post_init__(self) -> None:
        Privacy.__post_init__(self)
        paper_gaussian_variance(self.epsilon, self.delta)

    @property
    def _variance(self) -> float:
        """8 ln(2/δ)/ε²."""
        return float(self._exact_variance)

    def _noise(self, integer_norm: int) -> RoundedGaussian:
        """Rounded Gaussian noise of deviation √(8 ln(2/δ)·integer_norm)/ε, rounded up."""
        return RoundedGaussian(drawable(dyadic_sqrt_ceiling(Fraction(self._exact_variance) * integer_norm)))

    @property
    def _exact_variance(self) -> Decimal:
        return paper_gaussian_variance(float_within(self.epsilon), float_within(self.delta)).high

    def __str__(self) -> str:
        return (
            f"({_plain(self.epsilon)}, {_plain(self.delta)})-differential privacy by the paper's Theorem 3 "
            f"({self._step})"
        )


@dataclass(frozen=True, slots=True, repr=False)
class ZCDP(Privacy):
    """ρ-zero-concentrated differential privacy, by discrete Gaussian noise.

    rho: how far outputs may diverge, in Rényi divergence of order α by αρ at most; positive.
    neighbours: what tables that must stay hard to tell apart differ in, "add-remove" or "replace-one".
    unit: whose rows are protected together, a `PrivacyUnit`; every record by itself unless given.

    Guarantees:
        - integer answers that change by at most integer_norm in squared L2 norm have Rényi divergence at
          most αρ for every order α: it is at most α·integer_norm/(2·sigma_squared) (Canonne, Kamath &
          Steinke 2020), and sigma_squared ≥ integer_norm/(2ρ) in exact rational arithmetic
          (`test_discrete_gaussian_is_concentrated`, `test_scales_are_rounded_up`).

    >>> print(ZCDP(0.5))
    0.5-zero-concentrated differential privacy (add or remove one record)
    >>> ZCDP(0.5).noise(integer_norm=100)
    DiscreteGaussian(sigma_squared=Fraction(100, 1))
    """

    rho: float
    neighbours: Neighbours = Neighbours.ADD_REMOVE
    unit: PrivacyUnit | None = None

    kind: ClassVar[str] = "zero-concentrated"
    norm: ClassVar[int] = 2

    @property
    def _variance(self) -> float:
        """1/(2ρ)."""
        return 0.5 / self.rho

    def _noise(self, integer_norm: int) -> DiscreteGaussian:
        """Discrete Gaussian noise with sigma_squared = integer_norm/(2ρ), rounded up."""
        return DiscreteGaussian(drawable(integer_norm / (2 * stated(self.rho)), power=2))

    def __str__(self) -> str:
        return f"{_plain(self.rho)}-zero-concentrated differential privacy ({self._step})"


_DEFINITIONS: dict[str, type[PureDP] | type[ApproxDP] | type[ApproxDPTheorem3] | type[ZCDP]] = {
    definition.kind: definition for definition in (PureDP, ApproxDP, ApproxDPTheorem3, ZCDP)
}


def privacy_from_dict(tree: object) -> Privacy:
    """The guarantee a saved table describes; `InvalidPrivacy` for anything but an exact match.

    >>> privacy_from_dict({"privacy": "zero-concentrated", "rho": 0.5, "neighbours": "add-remove"})
    ZCDP(rho=0.5)
    """
    if isinstance(tree, dict) and "unit" not in tree:
        tree = {**tree, "unit": None}
    kinds = {
        kind: frozenset(field.name for field in dataclasses.fields(definition))
        for kind, definition in _DEFINITIONS.items()
    }
    kind, fields = tagged_fields(tree, "privacy", kinds)
    return _DEFINITIONS[kind](**fields)


def _plain(number: float) -> str:
    """The shortest exact spelling: 1 rather than 1.0."""
    return repr(number).removesuffix(".0")


RARE = 1e-6
"""The chance with which a concentrated promise may be exceeded where its odds are stated."""


@dataclass(frozen=True)
class OddsBound:
    """The odds of any statement about one person change by a factor of e^epsilon at most, except with this chance."""

    epsilon: float
    chance: float


def odds_bound(privacy: Privacy) -> OddsBound | None:
    """The bound on odds that a guarantee gives; None for (ε, δ), which bounds tests and not odds.

    Let P and P′ be the laws of what is released for two neighbours, Z = ln(P(y)/P′(y)). By Bayes' rule the odds move
    by e^Z. Pure privacy has |Z| ≤ ε always. ρ-zCDP has E e^((α−1)Z) ≤ e^((α−1)αρ) under P, for all α > 1, so by Markov
    P(Z > ρ + t) ≤ e^(−t²/(4ρ)) (α − 1 = t/(2ρ)). With t = 2√(ρ ln(2/δ)) that is δ/2. The other way round,
    P(Z < −ε) ≤ e^(−ε) P′(Z < −ε) ≤ δ/2 by the same bound under P′. Together: at most δ.

    >>> odds_bound(PureDP(1.0))
    OddsBound(epsilon=1.0, chance=0.0)
    >>> odds_bound(ZCDP(0.1))
    OddsBound(epsilon=2.50..., chance=1e-06)
    """
    match privacy:
        case PureDP(epsilon=epsilon):
            return OddsBound(epsilon, 0.0)
        case ZCDP(rho=rho):
            # Rounded up by far more than the error of a few operations on floats.
            return OddsBound((rho + 2 * math.sqrt(rho * math.log(2 / RARE))) * (1 + 1e-12), RARE)
    return None
