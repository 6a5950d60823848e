"""Product strategies for workloads over several attributes: one factor per attribute, chosen in turn.

For a union of products W = ∪ c_k ⊗ W_ki and a product strategy ⊗A_i,

    E = Π_i sens(A_i)² · Σ_k c_k² Π_i tr((A_iᵗA_i)⁺ W_kiᵗW_ki),

so with all other factors fixed, attribute i sees an ordinary one-dimensional workload: the union of its W_ki, each
weighted by what the other attributes make of it. Any one-dimensional optimizer then improves A_i.
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import prod

import numpy as np

from rowspace.exceptions import InvalidWorkload, UnsupportedWorkload
from rowspace.operators import DECOMPOSITION_LIMIT, Identity, Kronecker, Operator
from rowspace.privacy import Privacy
from rowspace.tables import ProductWorkload

from .result import Result, judged
from .terms import Terms

Chooser = Callable[[int, Operator], Sequence[Operator]]
"""Given an attribute's number and its effective workload: strategies to consider for it."""


@dataclass(frozen=True)
class Product:
    """Coordinate descent over attributes from the identity.

    `choose` proposes cheap factors for one attribute until they settle; `refine`, if given, then proposes better
    ones that take longer to find. Left out, both are the planner's (see `selection`).
    """

    choose: Chooser | None = None
    refine: Chooser | None = None
    rounds: int = 8
    refining_rounds: int = 3
    tolerance: float = 1e-3

    def propose(self, W: Operator | ProductWorkload, privacy: Privacy) -> Kronecker:
        """The product strategy of least total error found."""
        if self.choose is None:
            from .selection import Select  # the planner builds on products, so it cannot be imported above

            return Select().product(range(DECOMPOSITION_LIMIT), privacy).propose(W, privacy)
        terms = Terms.of(W)
        if terms is None:
            raise InvalidWorkload("expected a union of products over the same two or more attributes")
        start = [Identity(n) for n in terms.sizes]
        chosen = self._descend(start, terms, privacy, self.choose, self.rounds)
        if self.refine is not None:
            chosen = self._descend(chosen, terms, privacy, self.refine, self.refining_rounds)
        return Kronecker(*chosen)

    def _descend(
        self, start: Sequence[Operator], terms: Terms, privacy: Privacy, choose: Chooser, rounds: int
    ) -> Sequence[Operator]:
        """Replace one factor after the other by the best proposal, until a round gains less than the tolerance."""
        chosen = list(start)
        # Column i: what attribute i contributes to the error of every term.
        costs = np.column_stack([axis.traces(A) for axis, A in zip(terms.axes, chosen, strict=True)])
        value = self._value(chosen, costs, terms, privacy)
        for _ in range(rounds):
            before = value
            for i, axis in enumerate(terms.axes):
                powers = np.square(terms.weights) * np.prod(np.delete(costs, i, axis=1), axis=1)
                for A in choose(i, axis.effective(powers)):
                    trial, trial_costs = [*chosen[:i], A, *chosen[i + 1 :]], costs.copy()
                    try:
                        trial_costs[:, i] = axis.traces(A)
                    except UnsupportedWorkload:
                        continue
                    trial_value = self._value(trial, trial_costs, terms, privacy)
                    if trial_value < value * (1 - 1e-12):
                        chosen, costs, value = trial, trial_costs, trial_value
            if value > before * (1 - self.tolerance):
                break
        return chosen

    def optimize(self, W: Operator, privacy: Privacy, rng: np.random.Generator | None = None) -> Result:
        """The best product, judged."""
        started = time.perf_counter()
        A = self.propose(W, privacy)
        name = " × ".join(_in_words(factor) for factor in A.factors)
        status, seconds = "one factor per attribute, chosen in turn", time.perf_counter() - started
        return judged(f"product: {name}", A, W, privacy, status=status, steps=self.rounds, seconds=seconds)

    @staticmethod
    def _value(
        chosen: list[Operator],
        costs: np.ndarray[tuple[int, int], np.dtype[np.float64]],
        terms: Terms,
        privacy: Privacy,
    ) -> float:
        # Column norms multiply, so the product of the factors' sensitivities is the product's (add/remove);
        # for replace-one it is the common yardstick by which factors are compared.
        squared = prod(A.max_column_norm(privacy.norm) ** 2 for A in chosen)
        return float(squared * np.sum(np.square(terms.weights) * costs.prod(axis=1)))


def _in_words(factor: Operator) -> str:
    """The name of a structure: p-identity, haar."""
    return re.sub(r"(?<=.)(?=[A-Z])", "-", type(factor).__name__).lower()
