"""Residuals: the exactly optimal Gaussian strategy for marginals, and its generalization to ranges and prefixes.

Blocks for different sets B of attributes are independent, so each gets the noise it deserves. With p_B the privacy cost
of block B at unit noise and v_B what its noise costs the workload, σ_B² ∝ √(p_B/v_B) is optimal by Cauchy–Schwarz, and
the error is (Σ_B √(p_B v_B))². For marginals (ResidualPlanner, Xiao et al. 2023) that is the singular value bound,
below which no strategy can go. For products of ranges and prefixes the contrasts of each attribute are chosen first
(see below), and the same formula holds. Where queries tie attributes together the sets below them have joint matrices
(`joint_residuals`).

What to ask along one attribute of a product: the cells alike, or contrasts made for its ranges and prefixes.

An attribute with Gram matrix G gets the Gaussian optimum X (unit diagonal) for G + ω·11ᵗ. X = c·11ᵗ + X_res with
c = 1/(1ᵗX⁻¹1): the first part is what the total tells, X_res = SᵗS are the contrasts. One number ω per attribute says
how much the total of this attribute is asked by way of the others; it is tuned on the error of the whole.
"""

from __future__ import annotations

import time
from collections.abc import Container, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Literal

import numpy as np
import scipy

from rowspace.error import noise_level
from rowspace.exceptions import InvalidInput, TooLarge
from rowspace.operators import CellContrasts, Dense, Operator, Vector
from rowspace.privacy import ZCDP, Privacy
from rowspace.tables import (
    CellSplit,
    ContrastSplit,
    ProductWorkload,
    Residuals,
    Split,
    TableOperator,
    piece_costs,
)

from .attribute_classes import Kinds, attribute_classes, effective
from .gaussian_optimal import GaussianOptimal, WorstQueryResult
from .joint_bound import joint_bound
from .joint_parts import Attributes, subsets, ties
from .joint_residuals import Joint
from .product_bounds import products_bound
from .result import Result
from .table_demand import judged_on_tables, read_products
from .worst_cell import worst_part

FAINTEST = 1e-9
"""The least weight of a table beside the largest: it costs next to nothing."""

HARDLY = 1e-8
"""What a set is worth whose table is public: its variance is then ten thousand times what it would be otherwise, which
64-bit floats still subtract, and it costs a ten-thousandth of what it would cost."""

_OMEGAS = (0.0, 0.1, 0.3, 1.0, 3.0, 10.0)
_LARGE_OMEGAS = (0.0, 1.0)
_LARGE = 256


@dataclass(frozen=True)
class Residual:
    """Any union of products under Gaussian noise, at any number of cells; for marginals proven optimal.

    Costs time in the number of sets of attributes below the asked ones, not in the cells. `objective="max"` minimizes
    the largest variance of a marginal's cell (of a part's mean, where parts are not marginals).

    >>> from itertools import combinations
    >>> from rowspace import ZCDP, operators as op
    >>> pairs = combinations([op.Identity(10)] * 3, 2)
    >>> W = op.Stack(*(op.Kronecker(a, b, op.Total(10)) for a, b in pairs), op.Kronecker(*[op.Total(10)] * 3))
    >>> result = Residual().optimize(W, ZCDP(0.5))
    >>> round(result.ratio, 9)
    1.0
    """

    objective: Literal["total", "max"] = "total"
    known: frozenset[Attributes] = frozenset()
    """Sets whose tables are public: they are measured, but hardly."""

    def propose(self, W: Operator | ProductWorkload, privacy: Privacy) -> TableOperator:
        """The strategy alone."""
        return self._solve(read_products(W), privacy)[0]

    def optimize(
        self, W: Operator | ProductWorkload, privacy: Privacy, rng: np.random.Generator | None = None
    ) -> Result:
        """The strategy, with the certificate."""
        started = time.perf_counter()
        workload = read_products(W)
        if self.objective == "total" and privacy.norm == 2 and ties(workload):
            with suppress(TooLarge):
                return _tied(workload, privacy, started)
        A, weights = self._solve(workload, privacy)
        status = "closed form given each attribute's contrasts"
        if workload.only_cells:
            status = "closed form, optimal for neighbours that add or remove a record"
        result = judged_on_tables(
            "residuals", A, workload, privacy, status=status, steps=1, seconds=time.perf_counter() - started
        )
        if weights is None:
            return result
        sizes = np.array(workload.sizes_of_parts, dtype=np.float64)
        means = workload.powers * A.totals_of_parts(workload) / sizes
        worst = noise_level(A, privacy) * float(means.max())
        # The largest variance is at least the mean of all with any weights: the total error of queries so weighted.
        weighted = replace(workload, powers=workload.powers * weights / sizes)
        return WorstQueryResult(
            **vars(replace(result, status="dual ascent", seconds=time.perf_counter() - started)),
            max_error=worst,
            max_lower_bound=min(worst, privacy.unit_variance * products_bound(weighted, privacy)),
        )

    def _solve(self, workload: ProductWorkload, privacy: Privacy) -> tuple[TableOperator, Vector | None]:
        """The strategy and, for the largest variance, the weights of the parts that it is certified by."""
        if privacy.norm != 2:
            raise InvalidInput(
                "expected a privacy guarantee with Gaussian noise for residuals; for Laplace noise use Marginals"
            )
        contrasts = _chosen(workload)
        costs, prices = _costs(workload, contrasts), _prices(workload, contrasts)
        by_part = None
        if self.objective == "max":
            matrix = workload.cost_matrix([c.split for c in contrasts]).multiply(_scales(workload, contrasts))
            sizes = np.array(workload.sizes_of_parts, dtype=np.float64) / workload.powers
            worst = worst_part(scipy.sparse.csr_array(matrix), sizes, prices)
            costs, by_part = worst.costs, worst.weights
        public = [own in self.known for own in workload.lattice.sets]
        costs = np.where(public, HARDLY * costs, costs)
        # λ_B = w_B² is to be √(v_B/p_B); scaled so that the largest weight is one. What is asked at all, however
        # unimportant, must be measured.
        weights = np.sqrt(np.sqrt(costs / prices))
        weights = np.where(costs > 0, np.maximum(weights / weights.max(), FAINTEST), 0.0)
        kept = np.flatnonzero(weights)
        sets = tuple(workload.lattice.sets[k] for k in kept.tolist())
        chosen = tuple(weights[kept].tolist())
        return Residuals(workload.sizes, sets, chosen, tuple(c.S for c in contrasts)), by_part


def _tied(workload: ProductWorkload, privacy: Privacy, started: float) -> Result:
    """Joint matrices for all sets below queries that tie attributes together, products for the others."""
    sets = workload.lattice.sets
    below: set[Attributes] = set()
    for part in workload.parts:
        if any(len(workload.pieces[k].axes) > 1 for k in part):
            below.update(subsets([i for i in sorted(workload.axes_of(part)) if workload.sizes[i] > 1]))
    inside = {i for own in below for i in own}
    contrasts = _chosen(workload, inside)
    joint = Joint(workload, below, {i: c.split.u for i, c in enumerate(contrasts) if i not in inside})
    others = [k for k, own in enumerate(sets) if own not in joint.tables]
    # Sets of J about which nothing is asked have no table, and no cost.
    costs, prices = np.zeros(len(sets)), np.ones(len(sets))
    if any(sets[k] not in below for k in others):
        costs, prices = _costs(workload, contrasts), _prices(workload, contrasts)
        costs[[own in below for own in sets]] = 0.0
    found = joint.search(float(np.sqrt(costs * prices).sum()))
    weights = {sets[k]: float((costs[k] / prices[k]) ** 0.25) for k in others if costs[k] > 0}
    weights |= {own: (root / J.integer_norm(2)) ** 0.5 for own, (J, root) in found.items()}
    largest = max(weights.values())
    A = Residuals(
        workload.sizes,
        tuple(weights),
        tuple(max(weight / largest, FAINTEST) for weight in weights.values()),
        tuple(c.S for c in contrasts),
        tuple(found[own][0] if own in found else None for own in weights),
    )
    # The weights of a table are not unique where few functions of its cells are asked: half of them may do better.
    cells = joint.cell_weights()
    tried = cells, {i: (own + 1 / len(own)) / 2 for i, own in cells.items()}
    return judged_on_tables(
        "residuals",
        A,
        workload,
        privacy,
        status="a matrix for every set of attributes that queries tie together, searched",
        steps=1,
        seconds=time.perf_counter() - started,
        unit_bound=max(joint_bound(workload, weights) for weights in tried),
    )


def _prices(workload: ProductWorkload, contrasts: Sequence[Contrasts]) -> Vector:
    """p_B for every set of the lattice."""
    return workload.lattice.products(
        [c.cost if n > 1 else 1.0 for c, n in zip(contrasts, workload.sizes, strict=True)]
    )


def _scales(workload: ProductWorkload, contrasts: Sequence[Contrasts]) -> Vector:
    return workload.lattice.products([c.scale for c in contrasts])


def _costs(workload: ProductWorkload, contrasts: Sequence[Contrasts]) -> Vector:
    """v_B for every set of the lattice."""
    return workload.costs([c.split for c in contrasts]) * _scales(workload, contrasts)


def _chosen(workload: ProductWorkload, plain: Container[int] = ()) -> list[Contrasts]:
    """The contrasts of every attribute: cells alike unless ranges or the like are asked and others do better.

    For attributes that are `plain` nothing else is tried.
    """
    alike = [cells_alike(n) for n in workload.sizes]
    classes = [] if workload.only_cells else attribute_classes(workload)
    classes = [(kinds, own) for kinds, all_own in classes if (own := {i for i in all_own if i not in plain})]
    if not classes:
        return alike
    choice = _Choice.of(workload, alike)
    for kinds, attributes in classes:
        choice = choice.tuned(kinds, attributes)
    return choice.contrasts


@dataclass(frozen=True, eq=False)
class _Choice:
    """Contrasts, and what they cost every piece."""

    workload: ProductWorkload
    contrasts: list[Contrasts]
    by_piece: list[Vector]

    @classmethod
    def of(cls, workload: ProductWorkload, contrasts: list[Contrasts]) -> _Choice:
        """Contrasts, judged."""
        splits = [own.split for own in contrasts]
        return cls(workload, contrasts, [piece_costs(piece, splits) for piece in workload.pieces])

    @cached_property
    def error(self) -> float:
        """(Σ √(p_B v_B))², the error with the best noise for each block."""
        costs = self.workload.summed(self.by_piece) * _scales(self.workload, self.contrasts)
        return float(np.sqrt(_prices(self.workload, self.contrasts) * costs).sum() ** 2)

    def with_contrasts(self, found: Contrasts, attributes: set[int]) -> _Choice:
        """The same with others for some attributes: only what is asked about these is judged again."""
        contrasts = [found if i in attributes else own for i, own in enumerate(self.contrasts)]
        splits = [own.split for own in contrasts]
        by_piece = list(self.by_piece)
        known: dict[Operator, Vector] = {}
        for number, piece in enumerate(self.workload.pieces):
            if attributes.isdisjoint(piece.axes):
                continue
            if len(piece.axes) > 1:
                by_piece[number] = piece_costs(piece, splits)
                continue
            if piece.operator not in known:
                known[piece.operator] = piece_costs(piece, splits)
            by_piece[number] = known[piece.operator]
        return _Choice(self.workload, contrasts, by_piece)

    def tuned(self, kinds: Kinds, attributes: set[int]) -> _Choice:
        """The best ω for some attributes asked alike: of a few values, then of a line search around the best."""
        best = self

        def attempt(omega: float) -> float:
            nonlocal best
            trial = self.with_contrasts(fitted(kinds, omega), attributes)
            if trial.error < best.error:
                best = trial
            return trial.error

        large = kinds[0][1].shape[1] > _LARGE
        tried = {omega: attempt(omega) for omega in (_LARGE_OMEGAS if large else _OMEGAS)}
        if not large:
            middle = np.log10(max(min(tried, key=lambda omega: tried[omega]), 0.03))
            scipy.optimize.minimize_scalar(
                lambda power: attempt(10.0**power),
                bounds=(middle - 0.5, middle + 0.5),
                method="bounded",
                options={"maxiter": 8},
            )
        return best


_GAP = 1e-4
_RIDGE = 1e-3
_UNIT = ZCDP(0.5)


@dataclass(frozen=True, eq=False)
class Contrasts:
    """The contrasts S of one attribute, their split and their largest squared column norm."""

    S: Operator
    split: Split

    @cached_property
    def cost(self) -> float:
        """Privacy cost of S at unit noise."""
        return self.S.max_column_norm(2) ** 2

    @cached_property
    def scale(self) -> float:
        """What K is to be multiplied with: a cell's split leaves the factor n of n·I − 11ᵗ out."""
        return 1 / self.S.shape[1] ** 2 if isinstance(self.split, CellSplit) else 1.0


def cells_alike(n: int) -> Contrasts:
    """n·I − 11ᵗ; for an attribute of one cell it stands for nothing."""
    return Contrasts(CellContrasts(n), CellSplit(n))


def fitted(kinds: Kinds, omega: float) -> Contrasts:
    """Contrasts for weighted queries about one attribute; ω in units of their mean squared norm per cell."""
    n = kinds[0][1].shape[1]
    A = GaussianOptimal(gap=_GAP).optimize(effective(kinds, omega, _RIDGE), _UNIT).strategy
    X = A.gram().to_dense()
    X /= X.diagonal().max()
    c = 1 / np.linalg.solve(X, np.ones(n)).sum()
    values, vectors = scipy.linalg.eigh(X - c)
    # The smallest eigenvalue is zero: its vector is u, which the contrasts do not see.
    S = Dense(np.sqrt(np.clip(values[1:], 0.0, None))[:, None] * vectors[:, 1:].T)
    return Contrasts(S, ContrastSplit(S))
