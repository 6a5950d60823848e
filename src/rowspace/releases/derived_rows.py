"""Queries that are combinations of others: what a difference or a quantile asks, as rows of one workload.

The noise of q₁ − q₂ is that of one query, the row q₁ − q₂, so its error bars come from where all others do, exactly:
no covariance is estimated. Rows are over the joint cells of the attributes involved, never over the domain.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from rowspace.domain import Dates, Domain, Numeric
from rowspace.exceptions import InvalidInput, TooLarge
from rowspace.operators import Dense, Vector
from rowspace.workload import Factor, Matrix, Part, Workload, marginal, predicates

MAX_ROW_CELLS = 10**7
"""Most joint cells of the attributes that a combined query is about."""

MAX_BINS = 2048
"""Most bins of an attribute whose distribution is asked for: it takes a row for every bin."""

Query = str | Workload


def single_query(domain: Domain, query: Query, what: str) -> Workload:
    """A query given as text or as a workload of one query."""
    found = predicates(domain, [query]) if isinstance(query, str) else query
    if not isinstance(found, Workload) or found.size != 1:
        got = f"{found.size} queries" if isinstance(found, Workload) else type(found).__name__
        raise InvalidInput(f'expected {what} as one query such as "age >= 65", got {got}')
    return found


def combined(
    domain: Domain, queries: Sequence[Workload], coefficients: Sequence[Sequence[float]]
) -> Workload:
    """One query for each list of coefficients: that combination of single queries, over the attributes they touch."""
    names = {name for query in queries for name in query.attributes}
    own = domain.subset(names or {min(domain.dimensions or domain.names, key=lambda name: domain[name].size)})
    if own.size > MAX_ROW_CELLS:
        raise TooLarge(
            f"these queries are about {', '.join(own.names)} together: {own.size:,} joint cells, the limit is "
            f"{MAX_ROW_CELLS:,}; ask about fewer attributes"
        )
    rows = np.vstack([Workload(own, query.parts).operator().to_dense() for query in queries])
    mixed = np.asarray(coefficients, dtype=float) @ rows
    return Workload(domain, [Part((Matrix(own, Dense(mixed)),), name="combined")])


def along(domain: Domain, attribute: str, rows: Vector, where: str | None) -> Workload:
    """Rows over the bins of one attribute, among the records where a condition holds."""
    own = domain.subset([attribute])
    (bins,) = marginal(domain, attribute).parts[0].factors
    # Over cells: those of the bins, and what else the attribute has a place for.
    rows = (bins.operator.T @ rows.T).T
    factors: list[Factor] = [] if where is None else list(predicates(domain, [where]).parts[0].factors)
    sharing = [factor for factor in factors if attribute in factor.attributes]
    apart = [factor for factor in factors if attribute not in factor.attributes]
    found: Factor = Matrix(own, Dense(rows))
    if sharing:
        (factor,) = sharing
        if len(rows) * factor.domain.size > MAX_ROW_CELLS:
            raise TooLarge(
                f"the condition couples {attribute!r} with too many other cells; ask for coarser ones"
            )
        mask = factor.operator.to_dense().reshape(factor.domain.shape)
        shape = [len(rows)] + [1] * mask.ndim
        shape[1 + factor.domain.position(attribute)] = own.size
        joint = (rows.reshape(shape) * mask[None]).reshape(len(rows), -1)
        found = Matrix(factor.domain, Dense(joint))
    ordered = sorted([*apart, found], key=lambda factor: domain.position(factor.attributes[0]))
    return Workload(domain, [Part(tuple(ordered), name=f"distribution of {attribute}")])


def numeric(domain: Domain, attribute: str) -> Numeric:
    """An attribute that has a distribution: numbers in bins, not too many."""
    found = domain[attribute]
    if isinstance(found, Dates):
        raise InvalidInput(
            f"expected a numeric attribute, got {attribute!r}, which holds dates; ask for its prefixes"
        )
    if not isinstance(found, Numeric):
        raise InvalidInput(f"expected a numeric attribute, got {attribute!r}: its categories have no order")
    if found.size > MAX_BINS:
        raise TooLarge(
            f"{attribute!r} has {found.size:,} bins, the limit is {MAX_BINS:,}; declare coarser bins"
        )
    return found
