"""What one release costs a budget: an exact fraction that the noise of its plan is proven to stay within.

Guarantees
- The cost is never below what the noise really costs: for Laplace noise norm/scale, for the discrete Gaussian
  norm/(2·sigma²), in exact arithmetic (tests/ledger/test_costs.py::test_costs_cover_the_noise).
- ε-differential privacy costs ε²/2 of a ρ budget (Bun & Steinke 2016, Proposition 1.4), Gaussian noise of σ at unit
  sensitivity 1/(2σ²) (Proposition 1.6) (tests/ledger/test_costs.py::test_conversions).
- A promise that does not imply the budget's is refused, and so are other neighbours and other privacy units
  (tests/ledger/test_costs.py::test_what_cannot_be_charged, tests/ledger/test_costs.py::test_units_must_agree).
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from rowspace.exceptions import LedgerError
from rowspace.planning import Plan
from rowspace.privacy import (
    ZCDP,
    ApproxDP,
    ApproxDPTheorem3,
    DiscreteGaussian,
    DiscreteLaplace,
    Privacy,
    PureDP,
    analytic_gaussian_sigma,
    integer_norm,
)
from rowspace.privacy.calibration import paper_gaussian_variance

from .amounts import at_least, written


@dataclass(frozen=True)
class Cost:
    """What a release adds to each of three sums; a budget looks at those of its own kind."""

    epsilon: Fraction = Fraction(0)
    delta: Fraction = Fraction(0)
    rho: Fraction = Fraction(0)

    def __str__(self) -> str:
        named = (("ε", self.epsilon), ("δ", self.delta), ("ρ", self.rho))
        return ", ".join(f"{symbol} {at_least(amount)}" for symbol, amount in named if amount) or "nothing"


def cost_of(plan: Plan | Privacy, guarantee: Privacy) -> Cost:
    """What releasing the plan costs a budget that promises `guarantee` in all; `LedgerError` if it cannot count it.

    A promise alone, without a plan, costs the least that any plan under it does: enough to refuse before planning.
    """
    privacy = plan if isinstance(plan, Privacy) else plan.privacy
    if privacy.neighbours is not guarantee.neighbours:
        raise LedgerError(
            f"the budget counts neighbours that {guarantee.neighbours}, the plan promises for those that "
            f"{privacy.neighbours}; the two do not add up: plan with neighbours={guarantee.neighbours.value!r}"
        )
    _require_same_unit(privacy, guarantee)
    match guarantee, privacy:
        case (PureDP() | ApproxDP(), PureDP()):
            return Cost(epsilon=_epsilon(plan, privacy))
        case (ZCDP(), PureDP()):
            return Cost(rho=_epsilon(plan, privacy) ** 2 / 2)
        case (ZCDP() | ApproxDP(), ZCDP()):
            return Cost(rho=_rho(plan, privacy))
        case (ZCDP(), ApproxDP() | ApproxDPTheorem3()):
            return Cost(rho=1 / (2 * unit_variance(privacy)))
        case (
            ApproxDP(),
            ApproxDP(epsilon=epsilon, delta=delta) | ApproxDPTheorem3(epsilon=epsilon, delta=delta),
        ):
            return Cost(_not_below(epsilon), _not_below(delta))
    raise LedgerError(
        f"a budget of {guarantee} cannot pay for Gaussian noise, which has no finite pure epsilon; plan with "
        "PureDP, or create a budget with rho or with epsilon and delta"
    )


def _require_same_unit(privacy: Privacy, guarantee: Privacy) -> None:
    """Refuse a promise to records where the budget is one of persons, and the other way round: they do not add up."""
    wanted, got = guarantee.unit, privacy.unit
    if (wanted and wanted.column) != (got and got.column):
        raise LedgerError(
            f"the budget protects {_protected(guarantee)}, the plan {_protected(privacy)}; the two do not add up: plan "
            "with the budget's privacy unit, or create a budget for this one"
        )
    if wanted is not None and got is not None and got.rows > wanted.rows:
        raise LedgerError(
            f"the budget lets at most {wanted.rows} rows of each {wanted.column!r} be counted, the plan counts up to "
            f"{got.rows}; plan with rows={wanted.rows} or fewer"
        )


def _protected(privacy: Privacy) -> str:
    """Whom a promise is to."""
    return "single records" if privacy.unit is None else f"each {privacy.unit.column!r} with all its rows"


def unit_variance(privacy: ApproxDP | ApproxDPTheorem3) -> Fraction:
    """A variance that the Gaussian noise is not below, where neighbours differ by norm 1, exactly."""
    if isinstance(privacy, ApproxDP):
        return Fraction(analytic_gaussian_sigma(privacy.epsilon, privacy.delta)) ** 2
    return Fraction(paper_gaussian_variance(privacy.epsilon, privacy.delta).high)


def _epsilon(plan: Plan | Privacy, privacy: PureDP) -> Fraction:
    """ε as written, if the noise is proven to stay within it, else the exact value of the float."""
    reading = written(privacy.epsilon)
    if isinstance(plan, Privacy):
        return reading
    # Noise is calibrated to the float and then rounded up, so it nearly always covers the decimal beside it as well.
    if reading >= Fraction(privacy.epsilon) or achieved_epsilon(plan) <= reading:
        return reading
    return Fraction(privacy.epsilon)


def _rho(plan: Plan | Privacy, privacy: ZCDP) -> Fraction:
    """ρ, likewise."""
    reading = written(privacy.rho)
    if isinstance(plan, Privacy):
        return reading
    if reading >= Fraction(privacy.rho) or achieved_rho(plan) <= reading:
        return reading
    return Fraction(privacy.rho)


def achieved_epsilon(plan: Plan) -> Fraction:
    """norm/scale: the exact ε of the plan's discrete Laplace noise."""
    if not isinstance(plan.noise, DiscreteLaplace):
        raise LedgerError("expected a plan with Laplace noise, as its promise of pure privacy needs")
    return _largest_change(plan) / plan.noise.scale


def achieved_rho(plan: Plan) -> Fraction:
    """norm/(2·sigma²): the exact ρ of the plan's discrete Gaussian noise."""
    if not isinstance(plan.noise, DiscreteGaussian):
        raise LedgerError("expected a plan with discrete Gaussian noise, as its promise needs")
    return _largest_change(plan) / (2 * plan.noise.sigma_squared)


def _largest_change(plan: Plan) -> int:
    """By how much the integer answers of neighbours differ at most, in the norm of the noise."""
    return plan.privacy.step_norm(max(1, integer_norm(plan.strategy, plan.privacy)))


def _not_below(number: float) -> Fraction:
    """The larger of the float's two readings."""
    return max(written(number), Fraction(number))
