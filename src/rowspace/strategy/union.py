"""Union strategies: a workload about different sets of attributes, each set measured with its share of the budget.

Queries are grouped by the attributes they touch. Group k gets its own strategy A_k (sensitivity Δ_k, error t_k at unit
noise), weighted by c_k, and all measurements are used together by least squares. If each group used its own
measurements only, the error would be (Σ c_kΔ_k)² Σ t_k/c_k² for Laplace and (Σ c_k²Δ_k²) Σ t_k/c_k² for Gaussian
noise, least at

    c_k ∝ (t_k/Δ_k)^(1/3):  E = (Σ (Δ_k²t_k)^(1/3))³        c_k ∝ (t_k/Δ_k²)^(1/4):  E = (Σ (Δ_k²t_k)^(1/2))²

so each group has one number that adds up, and merging two groups pays when it lowers the sum. The weights are then
tuned on the true joint error, in the row space of the measurements.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
import scipy

from rowspace.error import profile_trace
from rowspace.exceptions import InvalidWorkload
from rowspace.operators import Identity, Kronecker, Operator, Scaled, Stack, Total, Vector
from rowspace.privacy import Privacy
from rowspace.tables import Piece, ProductWorkload, gather

from .result import Result, judged
from .terms import Terms

TUNING_RANK = 1024
"""Largest row space in which the groups' weights are tuned on the joint error (cubic cost a step)."""

Attributes = frozenset[int]


@dataclass(frozen=True)
class Group:
    """The queries about one set of attributes with a strategy of their own, over those attributes only."""

    attributes: Attributes
    strategy: Operator
    sensitivity: float
    trace: float

    def price(self, norm: int) -> float:
        """What this group adds to the sum that the union's error is a power of."""
        return float((self.sensitivity**2 * self.trace) ** (1 / 3 if norm == 1 else 1 / 2))


@dataclass(frozen=True)
class Union:
    """One strategy per group of attributes; `choose` finds a group's strategy, left out it is the planner's."""

    choose: Callable[[Attributes, ProductWorkload], Operator] | None = None

    def optimize(self, W: Operator, privacy: Privacy, rng: np.random.Generator | None = None) -> Result:
        """The union of group strategies of least joint error found."""
        if self.choose is None:
            from .selection import Select  # the planner builds on unions, so it cannot be imported above

            return Select().union(privacy).optimize(W, privacy, rng)
        started = time.perf_counter()
        terms = Terms.of(W)
        if terms is None:
            raise InvalidWorkload("expected a union of products over the same two or more attributes")
        groups = self._merge_while_it_pays(self._groups(terms, privacy.norm), terms, privacy.norm)
        if len(groups) < 2:
            raise InvalidWorkload("all queries are about the same attributes: nothing to split")
        placed = [_over_all(g.strategy, sorted(g.attributes), terms.sizes) for g in groups]
        weights = tuned_weights(placed, split_weights(groups, privacy.norm), W, privacy.norm)
        # A group whose weight vanishes is answered by the others better than by itself.
        kept = [(w, A) for w, A in zip(weights, placed, strict=True) if w > 1e-4 * max(weights)]
        A = Stack(*(Scaled.of_product(w, A) for w, A in kept)) if len(kept) > 1 else kept[0][1]
        return judged(
            f"union of {len(kept)} groups",
            A,
            W,
            privacy,
            status="budget split over groups of attributes",
            steps=len(groups),
            seconds=time.perf_counter() - started,
        )

    def _groups(self, terms: Terms, norm: int) -> list[Group]:
        touched: dict[Attributes, None] = {}
        for factors in terms.factors:
            touched[_touched(factors)] = None
        return [self._group(attributes, [attributes], terms, norm) for attributes in touched]

    def _group(
        self, attributes: Attributes, members: Collection[Attributes], terms: Terms, norm: int
    ) -> Group:
        """The group of all terms whose touched attributes are among `members`, measured over `attributes`."""
        axes = sorted(attributes)
        parts = []
        for weight, factors in zip(terms.weights, terms.factors, strict=True):
            if _touched(factors) in members:
                asked = (Piece((k,), factors[i]) for k, i in enumerate(axes))
                parts.append(
                    (weight, tuple(piece for piece in asked if not isinstance(piece.operator, Total)))
                )
        workload = gather([terms.sizes[i] for i in axes] or [1], parts)
        assert self.choose is not None
        A = self.choose(attributes, workload) if axes else Total(1)
        trace = profile_trace(A, workload.weighted_operator())
        return Group(attributes, A, A.max_column_norm(norm), trace)

    def _merge_while_it_pays(self, groups: list[Group], terms: Terms, norm: int) -> list[Group]:
        members = {group.attributes: [group.attributes] for group in groups}
        known: dict[frozenset[Attributes], Group] = {}
        while True:
            best: tuple[float, Group, Group, Group] | None = None
            for a, b in combinations(groups, 2):
                together = a.attributes | b.attributes
                # Merging is worth a look only when one set contains the other: a product over unrelated attributes
                # multiplies cells and noise.
                if together not in (a.attributes, b.attributes):
                    continue
                # All that a merged group depends on: `together` is the largest of them.
                both = frozenset(members[a.attributes] + members[b.attributes])
                if both not in known:
                    known[both] = self._group(together, both, terms, norm)
                merged = known[both]
                gain = a.price(norm) + b.price(norm) - merged.price(norm)
                if gain > 0 and (best is None or gain > best[0]):
                    best = (gain, a, b, merged)
            if best is None:
                return groups
            _, a, b, merged = best
            members[merged.attributes] = members[a.attributes] + members[b.attributes]
            groups = [merged, *(g for g in groups if g not in (a, b))]


def split_weights(groups: Sequence[Group], norm: int) -> Vector:
    """The budget split that is best when every group uses its own measurements only."""
    traces = np.array([group.trace for group in groups])
    sensitivities = np.array([group.sensitivity for group in groups])
    if norm == 1:
        return np.asarray((traces / sensitivities) ** (1 / 3))
    return np.asarray((traces / sensitivities**2) ** (1 / 4))


def tuned_weights(strategies: Sequence[Operator], start: Vector, W: Operator, norm: int) -> Vector:
    """Weights of least joint error, from `start`; unchanged when the row space is too large to work in."""
    dense = np.concatenate([c * A.to_dense() for c, A in zip(start, strategies, strict=True)])
    _, s, basis = scipy.linalg.svd(dense, full_matrices=False)
    basis = basis[s > 1e-9 * s[0]]
    if len(basis) > TUNING_RANK:
        return start
    grams = [basis @ (A.gram() @ basis.T) for A in strategies]
    V = basis @ (W.gram() @ basis.T)
    sensitivities = np.array([A.max_column_norm(norm) for A in strategies])

    def objective(logs: Vector) -> tuple[float, Vector]:
        c = np.exp(logs)
        M = scipy.linalg.inv(sum(weight**2 * G for weight, G in zip(c, grams, strict=True)))
        MV = M @ V
        MVM = MV @ M
        trace = float(np.trace(MV))
        slopes = np.array([-2 * weight**2 * np.sum(MVM * G) for weight, G in zip(c, grams, strict=True)])
        power = (c * sensitivities) ** norm
        return 2 / norm * float(np.log(power.sum())) + float(
            np.log(trace)
        ), 2 * power / power.sum() + slopes / trace

    logs = np.log(start)
    found = scipy.optimize.minimize(
        objective,
        logs,
        jac=True,
        method="L-BFGS-B",
        bounds=[(x - 12, x + 12) for x in logs],
        options={"maxiter": 60},
    )
    return np.exp(found.x if found.fun <= objective(logs)[0] else logs)


def _touched(factors: Sequence[Operator]) -> Attributes:
    return frozenset(i for i, factor in enumerate(factors) if not isinstance(factor, Total))


def _over_all(A: Operator, axes: Sequence[int], sizes: Sequence[int]) -> Operator:
    """A strategy over some attributes as one over all of them, the others summed out."""
    if isinstance(A, Stack):
        return Stack(*(_over_all(part, axes, sizes) for part in A.parts))
    if isinstance(A, Scaled):
        return Scaled.of_product(A.factor, _over_all(A.of, axes, sizes))
    if isinstance(A, Identity) and len(axes) > 1:
        A = Kronecker(*(Identity(sizes[i]) for i in axes))
    own = A.factors if isinstance(A, Kronecker) and len(axes) > 1 else (A,)
    factors = dict(zip(axes, own, strict=True)) if axes else {}
    return Kronecker(*(factors.get(i, Total(n)) for i, n in enumerate(sizes)))
