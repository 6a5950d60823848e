"""Which tables to replace by their union: the pair whose replacement gains most, by the error itself.

Under Laplace noise every table adds its weight to the sensitivity. Small tables share it in a union that costs
their queries little: two attributes of two cells are worth having in every table of a third one. With λ_R, the power
that the tables measure residual R with, kept for the residuals that are needed, one trial is one sum over them.
"""

from __future__ import annotations

import numpy as np

from rowspace.operators import Indices, Vector

from .covers import maximal
from .marginal_loss import TINY
from .table_demand import TableDemand

MOST_TABLES, MOST_ATTRIBUTES = 400, 62
"""Most tables whose pairs are all looked at, and the attributes that fit a machine's number."""

LARGEST_UNION = 12
"""Most attributes of a union: everything below a measured table is listed."""

PROMISING = 256
"""Unions tried, those first that would save most of the sensitivity."""

SCALES = (0.8, 1.0, 1.25)
"""Weights tried for a union, in units of the weight that keeps the error of what it replaces."""


def best_union(
    workload: TableDemand, weights: dict[int, float], norm: int, rng: np.random.Generator | None = None
) -> dict[int, float] | None:
    """The same tables with some replaced by their union, where that has less error before weights are adapted.

    With a generator gains are compared up to a random factor, so that several searches end in different places.
    """
    if not 2 <= len(weights) <= MOST_TABLES or len(workload.sizes) > MOST_ATTRIBUTES:
        return None
    tables, w = np.array(list(weights), dtype=np.int64), np.array(list(weights.values()))
    cells = np.array(workload.shares) ** -1.0
    unions = np.unique((tables[:, None] | tables)[np.triu_indices(len(tables), 1)])
    unions = unions[(np.bitwise_count(unions) <= LARGEST_UNION) & ~np.isin(unions, tables)]
    if not unions.size:
        return None
    inside = (tables & ~unions[:, None]) == 0
    # c_S/w_S² for every table at w_S ∝ c_S^(1/3): a union of |U| cells costs the queries of S |U|/|S| times as much.
    by_table, by_union = _sizes(tables, cells), _sizes(unions, cells)
    united = np.cbrt((inside @ (w**3 / by_table)) * by_union)
    order = np.argsort(united**norm - inside @ w**norm, kind="stable")[:PROMISING]
    unions, inside, united, by_union = unions[order], inside[order], united[order], by_union[order]
    residuals = np.array(workload.lattice.masks, dtype=np.int64)
    needed = workload.needs > 0
    residuals, needs = residuals[needed], workload.needs[needed]
    measured = ((residuals & ~tables[:, None]) == 0) * (w**2 / by_table)[:, None]
    rest = measured.sum(axis=0) - inside @ measured
    spent = np.sum(w**norm) - inside @ w**norm
    before = float(np.sum(w**norm)) ** (2 / norm) * float(np.sum(needs / measured.sum(axis=0)))
    told = (residuals & ~unions[:, None]) == 0
    own = np.multiply.outer(SCALES, united)
    power = rest + told * (own**2 / by_union)[..., None]
    values = (spent + own**norm) ** (2 / norm) * (needs / np.maximum(power, TINY)).sum(axis=-1)
    gains = before - values
    if rng is not None:
        gains *= np.exp(0.5 * rng.standard_normal(len(united)))
    scale, at = np.unravel_index(int(np.argmax(gains)), gains.shape)
    if gains[scale, at] <= 0:
        return None
    kept = dict(zip(tables[~inside[at]].tolist(), w[~inside[at]].tolist(), strict=True))
    return kept | {int(unions[at]): float(own[scale, at])}


def without_some(
    workload: TableDemand, weights: dict[int, float], rng: np.random.Generator
) -> dict[int, float]:
    """The tables without a random share of the unions among them, and the wanted tables that no other contains."""
    unions = [mask for mask in weights if mask not in workload.wanted]
    share = rng.uniform(0.2, 0.6)
    dropped = {mask for mask in unions if rng.random() < share}
    kept = {mask: weight for mask, weight in weights.items() if mask not in dropped}
    lost = [mask for mask in maximal(list(workload.wanted)) if all(mask & ~table for table in kept)]
    return kept | dict.fromkeys(lost, float(np.mean(list(weights.values()))))


def _sizes(masks: Indices, cells: Vector) -> Vector:
    """Cells of every table."""
    flags = (masks[:, None] >> np.arange(len(cells))) & 1
    return np.asarray(np.exp(flags @ np.log(cells)))
