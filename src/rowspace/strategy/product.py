"""Product strategies for workloads over several attributes: one factor per attribute, chosen in turn.

For a union of products W = ∪ c_k ⊗ W_ki and a product strategy ⊗A_i,

    E = Π_i sens(A_i)² · Σ_k c_k² Π_i tr((A_iᵗA_i)⁺ W_kiᵗW_ki),

so with all other factors fixed, attribute i sees an ordinary one-dimensional workload: the union of its W_ki, each
weighted by what the other attributes make of it. Any one-dimensional optimizer then improves A_i.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import prod

import numpy as np

from rowspace.exceptions import InvalidWorkload, UnsupportedWorkload
from rowspace.operators import Identity, Kronecker, Operator
from rowspace.privacy import Privacy

from .result import Result, judged
from .terms import Terms

Chooser = Callable[[int, Operator], Sequence[Operator]]
"""Given an attribute's number and its effective workload: strategies to consider for it."""


@dataclass(frozen=True)
class Product:
    """Coordinate descent over attributes from the identity; `choose` proposes factors for one attribute."""

    choose: Chooser
    rounds: int = 8
    tolerance: float = 1e-4

    def propose(self, W: Operator, privacy: Privacy) -> Kronecker:
        """The product strategy of least total error found."""
        terms = Terms.of(W)
        if terms is None:
            raise InvalidWorkload("expected a union of products over the same two or more attributes")
        chosen: list[Operator] = [Identity(n) for n in terms.sizes]
        # Column i: what attribute i contributes to the error of every term.
        costs = np.column_stack([axis.traces(A) for axis, A in zip(terms.axes, chosen, strict=True)])
        value = self._value(chosen, costs, terms, privacy)
        for _ in range(self.rounds):
            before = value
            for i, axis in enumerate(terms.axes):
                powers = np.square(terms.weights) * np.prod(np.delete(costs, i, axis=1), axis=1)
                for A in self.choose(i, axis.effective(powers)):
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
        return Kronecker(*chosen)

    def optimize(self, W: Operator, privacy: Privacy, rng: np.random.Generator | None = None) -> Result:
        """The best product, judged."""
        started = time.perf_counter()
        A = self.propose(W, privacy)
        name = " × ".join(type(factor).__name__.lower() for factor in A.factors)
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
