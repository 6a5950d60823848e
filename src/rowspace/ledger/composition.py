"""Filter: how the charges of a budget add up, fixed when the budget is created.

    budget in ε                       Σ ε
    budget in ρ                       Σ ρ
    budget in (ε, δ)  "gaussian"      Σ ρ against the most ρ of Gaussian noise that is (ε, δ)-private: exact
                      "concentrated"  Σ ρ against a ρ whose zCDP is (ε, δ)-private: pays for every kind of noise
                      "basic"         Σ ε and Σ δ

What is asked, whether to go on, and how much is spent next may depend on all earlier answers: each of these sums is a
*privacy filter*. For Σ ε, and Σ ε with Σ δ, see Rogers, Roth, Ullman & Vadhan 2016; for Σ ρ, Feldman &
Zrnic 2021; for Gaussian noise, Smith & Thakurta 2022. `rowspace.privacy.filters` states them, with the proofs of the
limits. A filter must not be changed on the way, nor the better of two be taken: that is why it is fixed at creation.

Guarantees
- What a filter lets through is private as the budget says, also where an adversary chooses every amount by the answers
  so far (tests/ledger/test_composition.py::test_an_adversary_who_chooses_amounts_by_answers_never_wins).
- Sums and comparisons are exact: one unit in the last place over is refused
  (tests/ledger/test_composition.py::test_one_unit_in_the_last_place_over_is_refused).
- Never below the exact δ, after any number of charges
  (tests/ledger/test_composition.py::test_thousands_of_charges_never_fall_below_the_exact_delta).
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction

from rowspace.exceptions import InvalidInput, LedgerError
from rowspace.planning import DiscoveryPlan, Plan
from rowspace.privacy import ZCDP, ApproxDP, Privacy, PureDP, concentrated_limit, gaussian_limit

from .costs import Cost, cost_in, proven, require_same_promise, stated, threshold_cost, written

SUMS = "sums"
"""How budgets in ε or in ρ add up."""

COMPOSITIONS = ("gaussian", "concentrated", "basic")
"""How budgets in (ε, δ) may add up; the first unless another is asked for."""


@dataclass(frozen=True)
class Filter:
    """What a budget promises in all, and how its charges add up."""

    guarantee: Privacy
    composition: str

    @classmethod
    def of(cls, guarantee: Privacy, composition: str | None = None) -> Filter:
        """The filter of a new budget; `LedgerError` for one that there is not."""
        if type(guarantee) not in (PureDP, ZCDP, ApproxDP):
            raise InvalidInput(
                f"expected a budget in PureDP, ZCDP or ApproxDP, got {type(guarantee).__name__}"
            )
        known = COMPOSITIONS if isinstance(guarantee, ApproxDP) else (SUMS,)
        if composition is not None and composition not in known:
            raise InvalidInput(
                f"expected composition to be one of {', '.join(map(repr, known))} for a budget of {guarantee}, got "
                f"{str(composition)[:20]!r}"
            )
        return cls(guarantee, composition or known[0])

    @property
    def limit(self) -> Cost:
        """The most that may be spent, in each sum that counts."""
        match self.guarantee, self.composition:
            case PureDP(epsilon=epsilon), _:
                return Cost(epsilon=written(epsilon))
            case ZCDP(rho=rho), _:
                return Cost(rho=written(rho))
            case ApproxDP(epsilon=epsilon, delta=delta), "gaussian":
                return Cost(rho=gaussian_limit(epsilon, delta))
            case ApproxDP(epsilon=epsilon, delta=delta), "concentrated":
                return Cost(rho=concentrated_limit(epsilon, delta))
            case ApproxDP(epsilon=epsilon, delta=delta), "basic":
                return Cost(written(epsilon), written(delta))
        raise LedgerError(f"there is no composition {self.composition!r} of {self.guarantee}")

    @property
    def unit(self) -> str:
        """What is counted: "epsilon" or "rho"."""
        return "epsilon" if self.limit.epsilon else "rho"

    def cost_of(self, plan: Plan | DiscoveryPlan | Privacy) -> Cost:
        """What releasing a plan costs; `LedgerError` if this budget cannot count it.

        A promise alone, without a plan, costs the least that any plan under it does.
        """
        privacy = plan if isinstance(plan, Privacy) else plan.privacy
        require_same_promise(privacy, self.guarantee)
        if isinstance(plan, DiscoveryPlan):
            cost = threshold_cost(self.guarantee, self.composition, plan.privacy)
            if cost is None:
                raise LedgerError(
                    f"finding unknown values costs epsilon and delta, and a budget of {self.guarantee} that adds up as "
                    f"{self.composition!r} has no delta to give; create the budget with epsilon, delta and the "
                    "composition 'basic'"
                )
            return cost
        amount = stated(privacy) if isinstance(plan, Privacy) else proven(plan)
        cost = cost_in(self.guarantee, self.composition, privacy, amount)
        if cost is None:
            raise LedgerError(self._refusal(privacy))
        return cost

    def fits(self, total: Cost) -> bool:
        """Whether so much may be spent: an exact comparison of every sum that counts."""
        limit = self.limit
        return total.epsilon <= limit.epsilon and total.delta <= limit.delta and total.rho <= limit.rho

    def _refusal(self, privacy: Privacy) -> str:
        if isinstance(self.guarantee, PureDP):
            return (
                f"a budget of {self.guarantee} cannot pay for Gaussian noise, which has no finite pure epsilon; plan "
                "with PureDP, or create a budget with rho or with epsilon and delta"
            )
        return (
            f"a budget of {self.guarantee} that adds up as {self.composition!r} cannot pay for {privacy}; plan with "
            "ApproxDP, or create the budget with rho, or with the composition 'concentrated'"
        )


def total(costs: Iterable[tuple[Cost, int]]) -> Cost:
    """The sum of costs, each with how many times it was paid."""
    epsilon = delta = rho = Fraction(0)
    for cost, times in costs:
        epsilon += times * cost.epsilon
        delta += times * cost.delta
        rho += times * cost.rho
    return Cost(epsilon, delta, rho)
