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
from itertools import accumulate
from math import prod
from operator import mul

import numpy as np

from rowspace.error import profile_trace
from rowspace.exceptions import InvalidWorkload
from rowspace.operators import Identity, Kronecker, Operator, Scaled, Stack
from rowspace.privacy import Privacy

from .result import Result, judged

Chooser = Callable[[int, Operator], Sequence[Operator]]
"""Given an attribute's number and its effective workload: strategies to consider for it."""


@dataclass(frozen=True)
class Terms:
    """A workload as a union of weighted products over the same attributes."""

    weights: tuple[float, ...]
    factors: tuple[tuple[Operator, ...], ...]

    @classmethod
    def of(cls, W: Operator) -> Terms | None:
        """The terms of W, or None when W is no union of products over the same two or more attributes."""
        weights, factors = [], []
        for part in W.parts if isinstance(W, Stack) else (W,):
            weight, body = (part.factor, part.of) if isinstance(part, Scaled) else (1.0, part)
            weights.append(weight)
            factors.append(body.factors if isinstance(body, Kronecker) else (body,))
        # Some part may treat neighbouring attributes as one (a predicate that ties them together): an attribute
        # boundary survives only if every part has it.
        common = set.intersection(*(_boundaries(term) for term in factors))
        merged = tuple(_merged(term, common) for term in factors)
        return cls(tuple(weights), merged) if len(merged[0]) >= 2 else None

    @property
    def sizes(self) -> tuple[int, ...]:
        """Cells of every attribute."""
        return tuple(f.shape[1] for f in self.factors[0])

    def effective(self, attribute: int, others: np.ndarray[tuple[int], np.dtype[np.float64]]) -> Operator:
        """What one attribute must answer: equal factors are merged so that the union stays short."""
        merged: dict[Operator, float] = {}
        for weight, term, cost in zip(self.weights, self.factors, others, strict=True):
            merged[term[attribute]] = merged.get(term[attribute], 0.0) + weight**2 * cost
        parts = [Scaled.of_product(float(np.sqrt(power)), W) for W, power in merged.items() if power > 0]
        return parts[0] if len(parts) == 1 else Stack(*parts)


def _boundaries(factors: Sequence[Operator]) -> set[int]:
    """Numbers of cells up to each attribute boundary."""
    return set(accumulate((f.shape[1] for f in factors), mul))


def _merged(factors: Sequence[Operator], common: set[int]) -> tuple[Operator, ...]:
    """Factors multiplied together where a boundary is not common to all parts."""
    groups: list[list[Operator]] = [[]]
    cells = 1
    for factor in factors:
        if cells in common and groups[-1] and factor.shape[1] > 1:
            groups.append([])
        groups[-1].append(factor)
        cells *= factor.shape[1]
    return tuple(group[0] if len(group) == 1 else Kronecker(*group) for group in groups)


@dataclass(frozen=True)
class Product:
    """Coordinate descent over attributes from the identity; `choose` proposes factors for one attribute."""

    choose: Chooser
    rounds: int = 8
    tolerance: float = 1e-4

    def optimize(self, W: Operator, privacy: Privacy, rng: np.random.Generator | None = None) -> Result:
        """The product strategy of least total error found."""
        started = time.perf_counter()
        terms = Terms.of(W)
        if terms is None:
            raise InvalidWorkload("expected a union of products over the same two or more attributes")
        chosen: list[Operator] = [Identity(n) for n in terms.sizes]
        costs = np.array(
            [[profile_trace(a, w) for a, w in zip(chosen, t, strict=True)] for t in terms.factors]
        )
        value, steps = self._value(chosen, costs, terms, privacy), 0
        for _ in range(self.rounds):
            before = value
            for i in range(len(chosen)):
                others = np.prod(np.delete(costs, i, axis=1), axis=1)
                for A in self.choose(i, terms.effective(i, others)):
                    steps += 1
                    trial, trial_costs = [*chosen[:i], A, *chosen[i + 1 :]], costs.copy()
                    trial_costs[:, i] = [profile_trace(A, t[i]) for t in terms.factors]
                    trial_value = self._value(trial, trial_costs, terms, privacy)
                    if trial_value < value * (1 - 1e-12):
                        chosen, costs, value = trial, trial_costs, trial_value
            if value > before * (1 - self.tolerance):
                break
        name = " × ".join(type(A).__name__.lower() for A in chosen)
        return judged(
            f"product: {name}",
            Kronecker(*chosen),
            W,
            privacy,
            status="one factor per attribute, chosen in turn",
            steps=steps,
            seconds=time.perf_counter() - started,
        )

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
