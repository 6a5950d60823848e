"""A bound for unions of products at any number of cells: no matrix larger than an attribute's is decomposed.

*Weights that multiply.* Let u = ⊗u_i be weights on the cells, Σu = 1, and D = diag(u). By the dual of Program 2
(`dual`) every strategy has E ≥ ‖W D^½‖₁² (sum of singular values), and that sum is at least ⟨Z, W D^½⟩ for any ‖Z‖ ≤ 1.

*A Z that multiplies.* A part of power c asks ⊗_{i∈S} R_i and sums the other attributes out. With h_i = √u_i, a unit
vector, it is √c ⊗_{i∈S} R_iD_i^½ ⊗_{i∉S} h_iᵗ. Let the rows of Z for this part be

    Σ_{T⊆S} α_T ⊗_{i∈T} U_i ⊗_{i∈S∖T} e_ih_iᵗ ⊗_{i∉S} h_iᵗ

with unit vectors e_i and partial isometries U_i, U_ih_i = 0 and U_iᵗe_i = 0. Different T are orthogonal on both sides,
so ‖Z‖ ≤ 1 if for every T the α_T² of all parts sum to at most 1. The best U_i has ⟨U_i, R_iD_i^½⟩ = τ_i =
‖(I − e_ie_iᵗ)R_iD_i^½(I − h_ih_iᵗ)‖₁, with η_i = e_iᵗR_iu_i, and the best α give

    E ≥ (Σ_T (Σ_parts c Π_{i∈T} τ_i² Π_{i∈S∖T} η_i²)^½)².

For marginals, equal weights and e ∝ R1 this is the optimum. An attribute that all parts ask about may be in every
T, and then needs no U_ih_i = 0. Queries that tie attributes together are left out.

*Neighbours that replace a record.* Let a_j be the strategy's columns and ā = Σu_ja_j. Then Σu_ju_k‖a_j − a_k‖² =
2Σu_j‖a_j − ā‖² = 2‖A D^½(I − hhᵗ)‖² is at most 1 − Σu_j² times the squared sensitivity, and ⟨Z, W D^½(I − hhᵗ)⟩ is at
most ‖WA⁺‖·‖A D^½(I − hhᵗ)‖ by Cauchy–Schwarz. Of Z only T = ∅ is lost to I − hhᵗ, h = ⊗h_i: with a the sum over T ≠ ∅,
2a²/(1 − Σu²) is a bound. A record may also be replaced by one that is not counted (`privacy.sensitivities`), so the
squared sensitivity is at least ‖A D^½‖² as well. With share θ of the one and 1 − θ of the other, c = 2/(1 − Σu²) − 1
and b the term of T = ∅, E ≥ (a(1 + cθ)^½ + b(1 − θ)^½)². The best θ gives (1 + c)(a² + b²/c), or is 0.

*What is lost.* The product of U_i cannot see what ties e_i to the cells. `coupled_bound` can, at the same weights,
where there are not too many sets; there little is lost.

*The search.* The logarithm of the sum is convex in the logarithms of all τ_i and η_i: its tangent is below it, and is a
sum over the attributes. So raising each attribute's own share (`attribute_bound`) raises the bound, round after round.
Whatever u and e are found, the bound holds; it is lowered by more than rounding can have added.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from math import prod

import numpy as np

from rowspace.operators import Identity, Operator, Vector
from rowspace.privacy import Neighbours, Privacy
from rowspace.tables import ProductWorkload, is_cells

from .attribute_bound import (
    AttributePoint,
    Tangent,
    dual_weights,
    gram_root,
    level_and_resolution,
    standing_for_total,
)
from .bounds import add_remove_bound, singular_value_bound
from .coupled_bound import coupled_root
from .even_bound import even_bound

SEARCHED_CELLS = 128
"""Most cells of an attribute whose weights are searched for by the bound itself: each step costs a decomposition."""

WEIGHTED_CELLS = 512
"""Most cells of an attribute with weights of its own; beyond, they are equal."""

ROUNDS = 8
LEAST_GAIN = 1e-3
"""Share that a round must gain for another to follow."""

EVENED = (0.1, 0.2, 0.4, 0.7)
"""Shares of equal weights that the bound with what ties attributes to their totals is tried at, while it rises."""

SAFETY = 2e-7
"""Share of the bound given away for every attribute of the largest part: where a matrix is deficient, eigenvalues of
zero come out as 1e-16 of the largest, and their roots as 1e-8."""


def products_bound(workload: ProductWorkload, privacy: Privacy) -> float:
    """A bound in the unit of E that no strategy goes below; for marginals it is the optimum under Gaussian noise.

    The best of the bounds above and the sum of the parts' own bounds, since one strategy serves them all.

    Guarantees:
        - no strategy goes below it (`test_no_strategy_goes_below_the_bound`), whatever the weights found
          (`test_any_weights_and_directions_give_a_bound`).
    """
    return union_bound(workload, privacy.neighbours is Neighbours.REPLACE_ONE)


@lru_cache(maxsize=4)
def union_bound(workload: ProductWorkload, replacing: bool) -> float:
    """The same for neighbours that replace a record, or that add or remove one."""
    # One replaced by none: whatever holds for removing a record holds for replacing one.
    least = union_bound(workload, False) if replacing else 0.0
    if workload.only_cells:
        return max(least, Choice.even(workload, replacing, alone=False).bound)
    starts = [Choice.even(workload, replacing, alone) for alone in (False, True)]
    choice = searched(max(starts, key=lambda choice: choice.bound))
    found = _evened_bound(choice)
    if any(attribute.is_large for attribute in choice.attributes):
        choice = _with_dual_weights(choice)
        found = max(found, choice.bound, choice.coupled_bound)
    if not replacing and any(always := _always_asked(workload)):
        found = max(found, searched(Choice.even(workload, replacing, False, always)).bound)
    return max(found, least if replacing else _sum_of_parts(workload))


def _sum_of_parts(workload: ProductWorkload) -> float:
    each = np.array([add_remove_bound(piece.operator) for piece in workload.pieces] or [1.0])
    by_part = [float(np.prod(each[list(part)])) for part in workload.parts]
    return float(workload.powers @ by_part)


@dataclass(frozen=True, eq=False)
class Attribute:
    """The kinds of queries about one attribute, and where they are taken apart."""

    pieces: tuple[int, ...]
    operators: tuple[Operator, ...]
    split: bool
    point: AttributePoint | None
    """None: equal weights, in closed form."""

    @property
    def is_large(self) -> bool:
        """Whether its weights would be searched for, but for its size."""
        return self.point is not None and len(self.point.weights) > SEARCHED_CELLS and not self.asked

    @cached_property
    def asked(self) -> int:
        """How many cells, the first, are asked for one by one, if that is all; equal weights for them are best."""
        asked = {min(W.shape) if is_cells(W) else 0 for W in self.operators}
        return asked.pop() if len(asked) == 1 else 0


@dataclass(frozen=True, eq=False)
class Choice:
    """Weights and directions for every attribute, and the bound they give."""

    workload: ProductWorkload
    replacing: bool
    attributes: tuple[Attribute, ...]
    alone: bool

    @classmethod
    def even(
        cls, workload: ProductWorkload, replacing: bool, alone: bool, whole: Sequence[bool] = ()
    ) -> Choice:
        """Equal weights everywhere; `alone`: what stands for the total is chosen to cost no resolution.

        `whole` says which attributes are not taken apart: some of those that every part asks about.
        """
        pieces: list[list[int]] = [[] for _ in workload.sizes]
        for number, piece in enumerate(workload.pieces):
            if len(piece.axes) == 1:
                pieces[piece.axes[0]].append(number)
        found = [
            _even_attribute(workload, tuple(own), not any(whole[axis : axis + 1]), alone)
            for axis, own in enumerate(pieces)
        ]
        return cls(workload, replacing, tuple(found), alone)

    @cached_property
    def numbers(self) -> list[Vector]:
        """(level², resolution²) of every piece; nothing for one about several attributes."""
        out = [np.zeros(2 ** len(piece.axes)) for piece in self.workload.pieces]
        known: dict[tuple[int, Operator, bool], Vector] = {}
        for attribute in self.attributes:
            for kind, (number, W) in enumerate(zip(attribute.pieces, attribute.operators, strict=True)):
                key = (id(attribute.point), W, attribute.split)
                if key not in known:
                    known[key] = self._of_kind(attribute, kind)
                out[number] = known[key]
        return out

    def _of_kind(self, attribute: Attribute, kind: int) -> Vector:
        W, point = attribute.operators[kind], attribute.point
        if point is not None:
            direction = point.directions[kind] if attribute.split else None
            return level_and_resolution(_root(W), point.weights, direction)
        return even_bound(W, self.alone) if attribute.split else np.array([0.0, singular_value_bound(W)])

    def evened(self, share: float) -> Choice:
        """The same with equal weights for a share of every attribute's; what is alike stays alike."""
        points: dict[int, AttributePoint] = {}
        attributes = []
        for own in self.attributes:
            if (point := own.point) is not None:
                weights = (1 - share) * point.weights + share / len(point.weights)
                own = replace(own, point=points.setdefault(id(point), replace(point, weights=weights)))
            attributes.append(own)
        return replace(self, attributes=tuple(attributes))

    @cached_property
    def roots(self) -> Vector:
        """√ of what every set T adds up to."""
        return np.sqrt(self.workload.summed(self.numbers))

    @cached_property
    def bound(self) -> float:
        """In the unit of E."""
        return self.kept * self._of_sums(float(self.roots[1:].sum()), float(self.roots[0]))

    @cached_property
    def coupled_bound(self) -> float:
        """The same at these weights, with what ties attributes to their totals; all must be taken apart."""
        return self.kept * self._of_sums(coupled_root(self), 0.0)

    @property
    def kept(self) -> float:
        """The share of a bound that rounding cannot have added; all of it where tables are in closed form."""
        if self.workload.only_cells:
            return 1.0
        return 1 - (1 + max(len(self.workload.axes_of(part)) for part in self.workload.parts)) * SAFETY

    def _of_sums(self, rest: float, total: float) -> float:
        """The bound from the sum over T ≠ ∅ and the term of T = ∅."""
        if not self.replacing:
            return (rest + total) ** 2
        concentration = prod(
            1 / n if a.point is None else float(np.sum(a.point.weights**2))
            for a, n in zip(self.attributes, self.workload.sizes, strict=True)
        )
        if concentration == 1:
            return (rest + total) ** 2
        c = (1 + concentration) / (1 - concentration)
        return (1 + c) * (rest**2 + total**2 / c) if c * rest > total else (rest + total) ** 2

    @cached_property
    def shares(self) -> list[Vector]:
        """The derivatives of log Σ√ by the logarithms of the numbers, twice."""
        roots = self.roots.copy()
        if self.replacing:
            roots[0] = 0.0
        total = float(roots.sum())
        weights = np.divide(1.0, roots, out=np.zeros_like(roots), where=roots > 0)
        return self.workload.shares(self.numbers, weights / total if total > 0 else weights)


def _evened_bound(choice: Choice) -> float:
    """The best bound at weights between those of a choice and equal ones.

    Where queries leave something out, as tables of records without missing values do, the search leaves it no weight:
    it does not see that the total is asked with it. The coupled bound does.
    """
    best = max(choice.bound, choice.coupled_bound)
    for share in EVENED:
        bound = choice.evened(share).coupled_bound
        if bound <= best:
            break
        best = bound
    return best


def _even_attribute(
    workload: ProductWorkload, pieces: tuple[int, ...], split: bool, alone: bool
) -> Attribute:
    operators = tuple(workload.pieces[n].operator for n in pieces)
    n = operators[0].shape[1] if operators else 1
    if n == 1 or n > WEIGHTED_CELLS or all(isinstance(W, Identity) for W in operators):
        return Attribute(pieces, operators, split, None)
    asked = Attribute(pieces, operators, split, None).asked or n
    weights = np.where(np.arange(n) < asked, 1 / asked, 0.0)
    return Attribute(pieces, operators, split, _point(operators, weights, split, alone))


def _point(operators: Sequence[Operator], weights: Vector, split: bool, alone: bool) -> AttributePoint:
    directions = (standing_for_total(_root(W), weights)[int(alone)] for W in operators)
    return AttributePoint(weights, tuple(directions) if split else ())


def _with_dual_weights(choice: Choice) -> Choice:
    """The choice with weights for its large attributes that suit them by themselves."""
    known: dict[object, AttributePoint] = {}
    attributes = []
    for own in choice.attributes:
        if own.is_large:
            key = (own.operators, own.split)
            if key not in known:
                known[key] = _point(own.operators, dual_weights(own.operators), own.split, alone=False)
            own = replace(own, point=known[key])
        attributes.append(own)
    return replace(choice, attributes=tuple(attributes))


def _always_asked(workload: ProductWorkload) -> list[bool]:
    """The attributes, of more than one cell, that every part asks about by a piece of their own."""
    asking = np.zeros(len(workload.sizes), dtype=np.int64)
    for part in workload.parts:
        asking[[workload.pieces[n].axes[0] for n in part if len(workload.pieces[n].axes) == 1]] += 1
    return [
        bool(count == len(workload.parts)) and n > 1
        for count, n in zip(asking.tolist(), workload.sizes, strict=True)
    ]


@lru_cache(maxsize=16)
def _root(W: Operator) -> Vector:
    return gram_root(W)


def searched(choice: Choice) -> Choice:
    """The choice after a few rounds of raising the bound; attributes asked alike stay alike."""
    groups = _alike(choice)
    for _ in range(ROUNDS if groups else 0):
        attributes = list(choice.attributes)
        for group in groups:
            first = attributes[group[0]]
            importance = [
                np.sum([choice.shares[attributes[axis].pieces[kind]] for axis in group], axis=0)
                for kind in range(len(first.pieces))
            ]
            tangent = Tangent(tuple(_root(W) for W in first.operators), first.split, importance)
            assert first.point is not None
            point = tangent.raised(first.point, _steps(len(first.point.weights)))
            for axis in group:
                attributes[axis] = replace(attributes[axis], point=point)
        raised = replace(choice, attributes=tuple(attributes))
        if not raised.bound > choice.bound:
            return choice
        gain, choice = raised.bound / choice.bound - 1, raised
        if gain < LEAST_GAIN:
            break
    return choice


def _steps(n: int) -> int:
    """Steps a round: an attribute's decompositions are to take no longer than the rest of its planning."""
    return 12 if n <= 64 else 6


def _alike(choice: Choice) -> list[list[int]]:
    """Attributes to be searched, those with the same queries and (to 2 %) the same shares together."""
    groups: dict[object, list[int]] = {}
    for axis, attribute in enumerate(choice.attributes):
        if attribute.point is None or attribute.is_large or attribute.asked:
            continue
        own = np.array([choice.shares[number] for number in attribute.pieces])
        if own.sum() > 0:
            key = (
                attribute.operators,
                attribute.split,
                tuple(np.round(50 * own / own.sum()).ravel().tolist()),
            )
            groups.setdefault(key, []).append(axis)
    return list(groups.values())
