"""What one release costs a budget: an exact fraction that the noise of its plan is proven to stay within.

Guarantees
- The cost is the larger of what the plan states and what its noise really costs: for Laplace noise norm/scale, for
  Gaussian noise norm/(2·sigma²), in exact arithmetic (tests/ledger/test_costs.py::test_costs_cover_the_noise,
  ::test_a_plan_that_states_too_little_pays_for_its_noise).
- ε-differential privacy costs ε²/2 of a ρ budget (Bun & Steinke 2016, Proposition 1.4), Gaussian noise of σ at unit
  sensitivity 1/(2σ²) (Proposition 1.6) (tests/ledger/test_costs.py::test_conversions).
- What finds unknown values costs its ε and δ, and only where these are summed up
  (tests/ledger/test_costs.py::test_thresholds_cost_epsilon_and_delta).
- A promise that does not imply the budget's is refused, and so are other neighbours and other privacy units
  (tests/ledger/test_costs.py::test_what_cannot_be_charged, tests/ledger/test_costs.py::test_units_must_agree).

Amounts of budget: exact fractions, read as they were written and shown without flattery.

A float such as 0.1 is not 1/10 but 0.1000000000000000055…, so ten of them exceed 1. What a person wrote is 1/10: the
shortest decimal that names the float. `rowspace.ledger.costs` says when that reading may be charged.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from decimal import ROUND_DOWN, ROUND_UP, Context, Decimal, Inexact
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
    RoundedGaussian,
    gaussian_limit,
    gaussian_rho,
    on_grid,
    paper_gaussian_variance,
    pure_rho,
)
from rowspace.strategy import step_over

_EXACT_DIGITS = 12
_ROUNDED_DIGITS = 6


def written(number: float) -> Fraction:
    """The shortest decimal that names the float, exactly: what was typed.

    >>> written(0.1), Fraction(0.1) > Fraction(1, 10)
    (Fraction(1, 10), True)
    """
    return Fraction(repr(float(number)))


def at_least(amount: Fraction) -> str:
    """A decimal that is exact or a little too large: for what is spent or asked.

    >>> at_least(Fraction(3, 10)), at_least(Fraction(1, 3)), at_least(Fraction(1, 10**9))
    ('0.3', '0.333334', '1e-9')
    """
    return _decimal(amount, ROUND_UP)


def at_most(amount: Fraction) -> str:
    """A decimal that is exact or a little too small: for what remains.

    >>> at_most(Fraction(2, 3))
    '0.666666'
    """
    return _decimal(amount, ROUND_DOWN)


def float_above(amount: Fraction) -> float:
    """The least float that is not below the amount."""
    nearest = float(amount)
    return nearest if Fraction(nearest) >= amount else math.nextafter(nearest, math.inf)


def _decimal(amount: Fraction, rounding: str) -> str:
    """Up to twelve digits if they are exact, else six, rounded the given way."""
    context = Context(prec=_EXACT_DIGITS, rounding=rounding, traps=[])
    value = context.divide(Decimal(amount.numerator), Decimal(amount.denominator))
    if context.flags[Inexact]:
        value = Context(prec=_ROUNDED_DIGITS, rounding=rounding).plus(value)
    value = value.normalize()
    return f"{value:f}" if value == 0 or -6 <= value.adjusted() < 15 else f"{value:e}".replace("e+", "e")


@dataclass(frozen=True)
class Cost:
    """What a release adds to each of three sums; a budget looks at those of its own kind."""

    epsilon: Fraction = Fraction(0)
    delta: Fraction = Fraction(0)
    rho: Fraction = Fraction(0)

    def __str__(self) -> str:
        named = (("ε", self.epsilon), ("δ", self.delta), ("ρ", self.rho))
        return ", ".join(f"{symbol} {at_least(amount)}" for symbol, amount in named if amount) or "nothing"


def cost_in(guarantee: Privacy, composition: str, privacy: Privacy, amount: Fraction) -> Cost | None:
    """What noise of so much ε (pure) or ρ (Gaussian of any kind) adds to a budget; None if it cannot count it.

    The discrete Gaussian is concentrated, but not proven to be Gaussian private.
    """
    pure, discrete = isinstance(privacy, PureDP), isinstance(privacy, ZCDP)
    match guarantee, composition:
        case PureDP(), _:
            return Cost(epsilon=amount) if pure else None
        case (ZCDP(), _) | (_, "concentrated"):
            return Cost(rho=amount**2 / 2 if pure else amount)
        case _, "gaussian":
            return None if discrete else Cost(rho=pure_rho(amount) if pure else amount)
    if isinstance(privacy, ApproxDP | ApproxDPTheorem3):
        # Noise that costs more ρ than the promise allows does not keep it, and has no (ε, δ) to add.
        kept = amount <= gaussian_limit(privacy.epsilon, privacy.delta)
        return Cost(written(privacy.epsilon), written(privacy.delta)) if kept else None
    return Cost(epsilon=amount) if pure else None


def threshold_cost(guarantee: Privacy, composition: str, privacy: ApproxDP) -> Cost | None:
    """What finding unknown values adds to a budget; None if it cannot count it.

    A threshold fails to hide a value with some probability: that is no Gaussian noise, and no ρ has room for it. Only a
    budget that sums up ε and δ has. (Were one δ for both, earlier answers could decide whether to spend it on ρ or on
    thresholds, and a limit on what each costs together is then no filter.)
    """
    if isinstance(guarantee, ApproxDP) and composition == "basic":
        return Cost(written(privacy.epsilon), written(privacy.delta))
    return None


def proven(plan: Plan) -> Fraction:
    """The ε of a plan's Laplace noise, or the ρ of its Gaussian noise: as stated, or as achieved if that is more."""
    privacy, noise = plan.privacy, plan.noise
    change = step_over(plan.strategy, privacy, plan.horizon)
    match privacy, noise:
        case PureDP(), DiscreteLaplace(scale=scale):
            return _not_less(stated(privacy), change / scale)
        case ZCDP(), DiscreteGaussian(sigma_squared=variance):
            return _not_less(stated(privacy), change / (2 * variance))
        case ((ApproxDP() | ApproxDPTheorem3()), RoundedGaussian(sigma=sigma)):
            return _not_less(stated(privacy), change / (2 * sigma**2))
    raise LedgerError(f"expected a plan with the noise that {privacy} needs, got {noise}")


def stated(privacy: Privacy) -> Fraction:
    """The ε or ρ that a promise states; of a promise in (ε, δ) the ρ of its Gaussian noise at unit sensitivity."""
    match privacy:
        case PureDP(epsilon=amount) | ZCDP(rho=amount):
            return written(amount)
        case ApproxDP(epsilon=epsilon, delta=delta):
            return gaussian_limit(epsilon, delta)
        case ApproxDPTheorem3(epsilon=epsilon, delta=delta):
            return gaussian_rho(Fraction(paper_gaussian_variance(epsilon, delta).low))
    raise LedgerError(f"expected PureDP, ZCDP or ApproxDP, got {type(privacy).__name__}")


def require_same_promise(privacy: Privacy, guarantee: Privacy) -> None:
    """Refuse other neighbours, and a promise to records where the budget is one of persons or the other way round."""
    if privacy.neighbours is not guarantee.neighbours:
        raise LedgerError(
            f"the budget counts neighbours that {guarantee.neighbours}, the plan promises for those that "
            f"{privacy.neighbours}; the two do not add up: plan with neighbours={guarantee.neighbours.value!r}"
        )
    wanted, got = guarantee.unit, privacy.unit
    if (wanted and wanted.column) != (got and got.column):
        raise LedgerError(
            f"the budget protects {_protected(guarantee)}, the plan {_protected(privacy)}; the two do not add up: plan "
            "with the budget's privacy unit, or create a budget for this one"
        )
    if wanted is not None and got is not None and got.most_rows > wanted.most_rows:
        raise LedgerError(
            f"the budget lets at most {wanted.most_rows} rows of each {wanted.column!r} be counted, the plan counts up "
            f"to {got.most_rows}; plan with fewer"
        )


def _protected(privacy: Privacy) -> str:
    """Whom a promise is to."""
    return "single records" if privacy.unit is None else f"each {privacy.unit.column!r} with all its rows"


def _not_less(promised: Fraction, achieved: Fraction) -> Fraction:
    """What is promised, unless the noise costs more: then that, on the grid of all long fractions."""
    return promised if achieved <= promised else on_grid(achieved)
