"""Queries about units rather than records, and where their answers are what they say."""

from __future__ import annotations

from collections.abc import Iterable
from math import prod

import numpy as np

from rowspace.domain import Domain
from rowspace.exceptions import InvalidWorkload
from rowspace.privacy import PrivacyUnit
from rowspace.workload import Part, Workload


def check_people(queries: Workload, units: Iterable[PrivacyUnit | None]) -> None:
    """Raise where queries count units and their answers would count something else.

    A unit is counted once in a cell. Over several cells that is once for each, so that the number of units is known
    where a query is about one cell of all that is counted, or where every unit is counted in one cell only.

    queries: over all attributes that are counted. units: whose records were bounded, in each release.
    """
    asked = [part for part in queries.parts if part.people is not None]
    for part in asked:
        for unit in units:
            if unit is None or not unit.distinct or unit.column.lower() != str(part.people).lower():
                raise InvalidWorkload(
                    f"COUNT(DISTINCT {part.people}) counts units, each once: that needs a promise to them, as "
                    f"rs.PureDP(epsilon, unit=rs.PrivacyUnit({part.people!r}, rows=1, distinct=True)), in a study "
                    f'privacy_unit = "{part.people}" with distinct_units = true; COUNT(*) counts records'
                )
            alone = unit.rows == 1 and unit.periods in (None, 1)
            if not alone and (names := _summed_out(part, queries)):
                raise InvalidWorkload(
                    f"COUNT(DISTINCT {part.people}) here adds up cells of {', '.join(names)}, and one {unit.column} "
                    f"can be counted in {unit.rows} of them: GROUP BY all attributes that the plan counts by, plan "
                    "these queries by themselves, or count every unit in one cell, rows=1"
                )


def check_values_of_units(domain: Domain, unit: PrivacyUnit | None) -> None:
    """Raise where a measure is one of units, and records are counted."""
    for own in domain.measures:
        if own.per_unit is not None and (unit is None or not unit.distinct):
            raise InvalidWorkload(
                f"measure {own.name!r} is the {own.per_unit} of each unit's values: that needs a promise to units that "
                "are counted once in a cell, rs.PrivacyUnit(column, rows, distinct=True); leave out per_unit= to add "
                "up the values of records"
            )


def values_of_measures(domain: Domain) -> int:
    """How many cells in a row are the values of measures at one cell, of which a unit has one in each cell it is in."""
    return prod(domain.shape[len(domain.dimensions) :])


def _summed_out(part: Part, queries: Workload) -> list[str]:
    """The attributes of which some query adds up several cells."""
    found = [name for name in queries.domain.dimensions if name not in part.attributes]
    for factor in part.factors:
        if (factor.operator @ np.ones(factor.operator.shape[1])).max(initial=0) > 1:
            found.extend(factor.attributes)
    return found
