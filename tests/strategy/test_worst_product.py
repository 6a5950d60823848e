"""The worst answer of products: optimal factor by factor, and unions never below their bound."""

from __future__ import annotations

import numpy as np
import pytest

import rowspace as rs
from rowspace import ZCDP
from rowspace import operators as op
from rowspace.exceptions import InvalidInput
from rowspace.strategy import GaussianOptimal, Strategy, WorstQueryResult
from rowspace.strategy.worst_product import BalancedResidual, WorstProduct

UNIT = ZCDP(0.5)


def test_one_product_is_as_good_as_the_optimum_over_all_cells() -> None:
    W = op.Kronecker(op.Prefix(6), op.Total(3), op.Ranges(4))
    product = WorstProduct(gap=1e-6).optimize(W, UNIT)
    whole = GaussianOptimal(gap=1e-5, max_steps=2000, objective="max").optimize(W, UNIT)
    assert isinstance(whole, WorstQueryResult)
    assert product.max_error == pytest.approx(whole.max_error, rel=1e-4)
    assert product.max_ratio < 1 + 1e-5
    assert whole.max_lower_bound <= product.max_error * (1 + 1e-9)
    with pytest.raises(InvalidInput, match="product"):
        WorstProduct().optimize(op.Prefix(6), UNIT)


@pytest.mark.parametrize("kind", ["prefixes", "ranges"])
def test_unions_of_products(kind: str) -> None:
    domain = rs.Domain({name: rs.Numeric(0, n, bins=n) for name, n in {"a": 6, "b": 5, "c": 4}.items()})
    pairs = [("a", "b"), ("b", "c"), ("a", "c")]
    parts = [rs.workload.product(domain, dict.fromkeys(pair, kind)) for pair in pairs]
    W = sum(parts[1:], parts[0]).products()
    result = BalancedResidual().optimize(W, UNIT)
    worst = result.strategy.max_column_norm(2) ** 2 * Strategy.of(result.strategy).variances(W).max()
    best = GaussianOptimal(gap=1e-3, objective="max").optimize(W.operator(), UNIT)
    assert isinstance(best, WorstQueryResult)
    assert result.max_lower_bound <= best.max_error * (1 + 1e-9)
    assert best.max_lower_bound <= worst <= 1.35 * best.max_error


def test_a_weighted_union_counts_rows_with_their_weights() -> None:
    """Optimizers are given matrices: a row three times as large must be three times as accurate."""
    W = op.Stack(3 * op.Kronecker(op.Prefix(6), op.Identity(3)), op.Kronecker(op.Identity(6), op.Prefix(3)))
    best = GaussianOptimal(gap=1e-4, objective="max").optimize(W, UNIT)
    result = BalancedResidual().optimize(W, UNIT)
    assert isinstance(best, WorstQueryResult)
    assert result.max_lower_bound <= best.max_error
    M = np.linalg.inv(result.strategy.gram().to_dense())
    rows = W.to_dense()
    worst = result.strategy.max_column_norm(2) ** 2 * np.einsum("ij,jk,ik->i", rows, M, rows).max()
    assert worst >= best.max_lower_bound
