"""Differences, ratios and shares of answers, with error bars. Functions of the released numbers: they cost no privacy.

A difference is a query itself, so its interval is as good as any answer's. A ratio is not: its interval is by the delta
method, or by Fieller's where the denominator is noisy, and says which.

Queries that are combinations of others: what a difference or a quantile asks, as rows of one workload.

The noise of q₁ − q₂ is that of one query, the row q₁ − q₂, so its error bars come from where all others do, exactly:
no covariance is estimated. Rows are over the joint cells of the attributes involved, never over the domain.

Guarantees
- Nothing here sees anything but the release (by construction: this room may not import `sources`).
- Stated intervals cover the truth (tests/releases/test_derived_coverage.py, benchmarks/coverage.py).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from math import sqrt
from typing import TYPE_CHECKING, Any

import numpy as np

from rowspace.domain import Dates, Domain, Numeric
from rowspace.exceptions import InvalidInput, TooLarge
from rowspace.notebook import one_line
from rowspace.operators import Dense, Vector
from rowspace.workload import Factor, Matrix, Part, Workload, marginal, predicates, total

if TYPE_CHECKING:
    from .release import Release

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


DELTA_METHOD = "delta method"
FIELLER = "Fieller's method"
LINEAR = "exact, a linear query"

STEADY_DENOMINATOR = 20.0
"""Standard errors from zero from which the delta method is used: its interval is then off by less than a percent."""


@dataclass(frozen=True)
class Estimate:
    """A number derived from a release: value, standard error, interval at `level`, and how it was found.

    value: the estimate.
    std_error: its standard error; None where the noise has none, as that of a median between edges of bins.
    low, high: the ends of the interval.
    level: the confidence level of the interval.
    method: how the interval was found.
    population: which records are left out of it, in words; empty where every record is counted.

    >>> print(Estimate(0.5, 0.01, 0.48, 0.52, 0.95, DELTA_METHOD))
    0.5 (95 % interval 0.48 to 0.52; standard error 0.01; delta method)
    """

    value: float
    std_error: float | None
    low: float
    high: float
    level: float
    method: str
    population: str = ""

    def to_dict(self) -> dict[str, Any]:
        """The figures, JSON-safe.

        >>> Estimate(0.5, 0.01, 0.48, 0.52, 0.95, DELTA_METHOD).to_dict()["low"]
        0.48
        """
        return asdict(self)

    def __repr__(self) -> str:
        return one_line(f"<Estimate {self}>")

    def _repr_html_(self) -> str:
        from .display import estimate_html  # here: only notebooks need it

        return estimate_html(self)

    def __str__(self) -> str:
        error = "" if self.std_error is None else f"standard error {self.std_error:.3g}; "
        left_out = f". {self.population}" if self.population else ""
        return (
            f"{self.value:.6g} ({100 * self.level:g} % interval {self.low:.6g} to {self.high:.6g}; {error}"
            f"{self.method}){left_out}"
        )


def difference(release: Release, a: Query, b: Query, level: float = 0.95) -> Estimate:
    """See `Release.difference`: what both share cancels, noise and all."""
    pair = [single_query(release.plan.domain, a, "a"), single_query(release.plan.domain, b, "b")]
    row = release.ask(combined(release.plan.domain, pair, [[1.0, -1.0]]), level).iloc[0]
    return Estimate(
        float(row["answer"]), float(row["std_error"]), float(row["low"]), float(row["high"]), level, LINEAR
    )


def ratio(release: Release, a: Query, b: Query, level: float = 0.95) -> Estimate:
    """The count of `a` over the count of `b`.

    With r = A/B, the noise of A − rB is that of one query; over B it is the error of r to first order (the delta
    method). Where B is closer to zero than `STEADY_DENOMINATOR` standard errors, the interval is Fieller's: all r for
    which A − rB is compatible with 0. `InvalidInput` where B itself is: then no finite interval is honest.
    """
    domain = release.plan.domain
    pair = [single_query(domain, a, "the numerator"), single_query(domain, b, "the denominator")]
    parts = release.ask(combined(domain, pair, [[1, 0], [0, 1], [1, -1]]), level)
    A, B, _ = parts["answer"].tolist()
    variance_a, variance_b, variance_difference = (parts["std_error"] ** 2).tolist()
    covariance = (variance_a + variance_b - variance_difference) / 2
    reach = (float(parts["high"].iloc[1]) - float(parts["low"].iloc[1])) / 2
    if abs(B) <= reach:
        raise InvalidInput(
            f"the denominator is {B:.4g} ± {reach:.4g}, not distinguishable from zero, so the ratio has no finite "
            "interval; use a larger group, or a release with more privacy budget"
        )
    r = A / B
    row = release.ask(combined(domain, pair, [[1.0, -r]]), level).iloc[0]
    std_error, half = float(row["std_error"]) / abs(B), float(row["high"] - row["low"]) / 2
    if abs(B) >= STEADY_DENOMINATOR * sqrt(variance_b) or std_error == 0.0:
        return Estimate(r, std_error, r - half / abs(B), r + half / abs(B), level, DELTA_METHOD)
    # The roots of (A − rB)² = z²(V_A − 2rC + r²V_B), z in standard errors of this combination's own noise.
    z = max(half / float(row["std_error"]), reach / sqrt(variance_b))
    leading = B * B - z * z * variance_b
    middle = A * B - z * z * covariance
    root = sqrt(max(0.0, middle**2 - leading * (A * A - z * z * variance_a)))
    return Estimate(r, std_error, (middle - root) / leading, (middle + root) / leading, level, FIELLER)


def share(release: Release, part: str, of: str | None = None, level: float = 0.95) -> Estimate:
    """See `Release.share`."""
    if not isinstance(part, str) or not (of is None or isinstance(of, str)):
        raise InvalidInput('expected conditions as text, such as share("sex = \'F\'", of="age >= 65")')
    if of is None:
        return ratio(release, part, total(release.plan.domain), level)
    return ratio(release, f"({part}) and ({of})", of, level)
