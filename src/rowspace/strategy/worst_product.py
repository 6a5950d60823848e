"""The worst answer of products: one product is solved attribute by attribute, a union through reweighted residuals.

*One product.* Errors of products multiply and so do sensitivities, so the worst answer of ⊗W_i under ⊗A_i is the
product of the worst ones. So are the bounds of `worst_query`: with λ = ⊗λ_i and μ = ⊗μ_i the singular values of
⊗(M_i^½W_iΛ_i^½) are products. Hence optimal factors make an optimal product, with a proof.

*A union.* Residuals know totals. The largest error of a part is at least its mean with any importances; those of each
attribute's own worst answer, multiplied, come near. They are put into the rows, and residuals balance the parts.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, replace
from math import prod

import numpy as np

from rowspace.error import max_error
from rowspace.exceptions import InvalidInput
from rowspace.operators import Dense, Identity, Kronecker, Operator, Total
from rowspace.privacy import Privacy
from rowspace.tables import Piece, ProductWorkload

from .gaussian_optimal import GaussianOptimal, WorstQueryResult
from .residual import Residual
from .result import judged
from .table_demand import judged_on_tables, read_products
from .worst_query import ascend_worst, weighing_of

BALANCED_CELLS, BALANCED_ROWS = 256, 2**15
"""Most cells and queries of an attribute whose queries are given importances of their own: a second or so."""

_GAP, _STEPS = 1e-2, 50


@dataclass(frozen=True)
class WorstProduct:
    """The least worst answer of one product under Gaussian noise: every factor's own optimum, to a factor 1 + gap."""

    gap: float = 1e-4

    def optimize(
        self, W: Operator, privacy: Privacy, rng: np.random.Generator | None = None
    ) -> WorstQueryResult:
        """The product of the optima, certified by the product of their bounds."""
        started = time.perf_counter()
        if not isinstance(W, Kronecker):
            raise InvalidInput(f"expected a product, got {type(W).__name__}; use GaussianOptimal")
        solver = GaussianOptimal(gap=self.gap, max_steps=100, objective="max")
        factors, bounds = [], []
        for factor in W.factors:
            plain = isinstance(factor, Identity | Total)  # its own optimum: every answer has error 1
            result = None if plain else solver.optimize(factor, privacy)
            factors.append(factor if result is None else result.strategy)
            if isinstance(result, WorstQueryResult):
                bounds.append(result.max_lower_bound / privacy.unit_variance)
        A = Kronecker(*factors)
        worst = max_error(A, W, privacy)
        seconds = time.perf_counter() - started
        judgement = judged(
            "product of optima", A, W, privacy, status="one optimum per attribute", steps=1, seconds=seconds
        )
        bound = privacy.unit_variance * prod(bounds)
        return WorstQueryResult(**vars(judgement), max_error=worst, max_lower_bound=min(bound, worst))


@dataclass(frozen=True)
class BalancedResidual:
    """Residuals for the worst answer of a union of products: importances within each part, then among the parts."""

    def optimize(
        self, W: Operator | ProductWorkload, privacy: Privacy, rng: np.random.Generator | None = None
    ) -> WorstQueryResult:
        """Residuals for the reweighted rows, judged on the rows as they are."""
        started = time.perf_counter()
        workload = read_products(W)
        balanced = replace(workload, pieces=tuple(map(_balanced, workload.pieces)))
        found = Residual(objective="max").optimize(balanced, privacy)
        assert isinstance(found, WorstQueryResult)
        seconds = time.perf_counter() - started
        judgement = judged_on_tables(
            "residuals, balanced",
            found.strategy,
            workload,
            privacy,
            status="dual ascent",
            steps=1,
            seconds=seconds,
        )
        return WorstQueryResult(
            **vars(judgement), max_error=found.max_error, max_lower_bound=found.max_lower_bound
        )


def _balanced(piece: Piece) -> Piece:
    """The queries times the roots of their importances, which are one in the mean."""
    W = piece.operator
    m, n = W.shape
    if isinstance(W, Identity | Total) or m == 1 or n > BALANCED_CELLS or m > BALANCED_ROWS:
        return piece
    importance = ascend_worst(weighing_of(W), _GAP, _STEPS).certificate.importance
    return Piece(piece.axes, Dense(np.sqrt(m * importance)[:, None] * W.to_dense()))
