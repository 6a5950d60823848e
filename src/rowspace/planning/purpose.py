"""What answers are for. Tables that are estimated afterwards need other weights than answers that are used as they are.

Estimates lean on small tables where large ones drown in noise (`reconstruct.table_estimate`), and the mean error of
tables should not be that of the largest one. So every table is asked by the weight cells^(−1/4), and the tables of one
attribute, which all others are modelled by, more: by how far the noise of a cell, if all tables had equal shares of the
budget, exceeds `QUIET` records. Nothing here depends on data; docs/design/016-believable-tables.md has the search.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from math import sqrt
from typing import Literal

from rowspace.exceptions import InvalidInput, InvalidWorkload
from rowspace.privacy import Privacy
from rowspace.tables import subsets_in_order
from rowspace.workload import Workload, marginals

Purpose = Literal["answers", "tables"]

PURPOSES = ("answers", "tables")

SIZE = -0.25
"""Power of a table's cells that it is weighted by."""

QUIET = 30.0
"""Noise, in records, up to which tables of one attribute need no more weight than their size gives them."""

MARGINS = 0.8
"""Power of the noise over `QUIET` that these are weighted by."""


def for_purpose(workload: Workload, privacy: Privacy, purpose: str) -> Workload:
    """The workload to plan for: as it is, or with the weights of tables that are estimated afterwards.

    For tables the total and the tables of single attributes are asked too, where they are not yet.

    >>> import rowspace as rs
    >>> domain = rs.Domain(a=rs.Categorical(["x", "y", "z"]), b=rs.Categorical(["u", "v"]))
    >>> found = for_purpose(rs.workload.marginal(domain, "a", "b"), rs.ZCDP(1.0), "tables")
    >>> [(part.group, round(part.weight, 3)) for part in found.parts]
    [('a × b', 0.639), ('total', 1.0), ('a', 0.76), ('b', 0.841)]
    """
    if purpose not in PURPOSES:
        raise InvalidInput(f"expected purpose as one of {', '.join(PURPOSES)}, got {purpose!r}")
    if purpose == "answers":
        return workload
    tables = [part for part in workload.parts if part.is_table]
    if not tables:
        raise InvalidWorkload(
            'purpose="tables" is for workloads of tables, such as rs.workload.marginals(domain, up_to=2); this one has '
            "none"
        )
    asked = {part.attributes for part in tables}
    names = [name for name in workload.domain.names if any(name in own for own in asked)]
    missing = [own for own in [(), *((name,) for name in names)] if own not in asked]
    extra = marginals(workload.domain, sets=missing).parts if missing else ()
    margins = _margins(_tables(workload, asked), privacy)
    return Workload(
        workload.domain,
        [
            replace(part, weight=part.weight * part.size**SIZE * (margins if len(part.factors) == 1 else 1.0))
            if part.is_table
            else part
            for part in (*workload.parts, *extra)
        ],
    )


def _tables(workload: Workload, asked: Iterable[tuple[str, ...]]) -> int:
    """How many tables these and all below them are."""
    axes = ([workload.domain.position(name) for name in own] for own in asked)
    return len({below for own in axes for below in subsets_in_order(own)} | {()})


def _margins(tables: int, privacy: Privacy) -> float:
    """How much more tables of one attribute count."""
    noise = sqrt(privacy.unit_variance) * tables ** (1 / privacy.norm)
    return float(max(1.0, noise / QUIET) ** MARGINS)
