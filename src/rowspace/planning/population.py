"""Which records the answers are about, in words, where that is not all of them.

Every output says it from here: an interval covers the count among the records that are counted, and nothing else.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from rowspace.domain import Attribute, Domain, Numeric
from rowspace.privacy import PrivacyUnit

_NAMED = 12


def population(domain: Domain, units: Iterable[PrivacyUnit | None] = ()) -> str:
    """What is left out by what was declared: rows beyond a bound for each unit, values an attribute drops.

    Nothing, where every record is counted.

    >>> from rowspace.domain import Categorical
    >>> domain = Domain(age=Numeric(0, 100, bins=10, outside="drop"), sex=Categorical(["F", "M"], other="?"))
    >>> print(population(domain, [PrivacyUnit("person_id", rows=5)]))
    At most 5 rows of each person_id are counted, and no row without one. Records whose age is outside [0, 100) or \
missing are not counted.
    """
    capped = [_capped(unit) for unit in dict.fromkeys(units) if unit is not None]
    dropping = [(name, attribute) for name, attribute in domain.attributes if _drops(attribute)]
    return " ".join([*capped, *([_dropped(dropping)] if dropping else [])])


def summed_values(domain: Domain) -> str:
    """What becomes of the values of measures before they are summed; nothing, where there are none.

    >>> from rowspace.domain import Measure
    >>> print(summed_values(Domain(measures=[Measure("income", 0, 200_000, step=1_000)])))
    Values of income are clipped to [0, 200000] and rounded to steps of 1000 before they are added up, and those that \
are missing are in no sum: intervals cover these sums and their means.
    >>> print(summed_values(Domain(measures=[Measure("age", 0, 100, step=1, squares=True)])).partition("cover ")[2])
    these sums, their means and variances. Rounding moves a standard deviation by at most half a step.
    """
    if not domain.measures:
        return ""
    grids = [
        f"{own.name} are clipped to {own.bounds} and rounded to steps of {own.step:.12g}{_OF_UNITS[own.per_unit]}"
        for own in domain.measures
    ]
    covered = _VARIANCES if _has_squares(domain) else " and their means."
    if any(own.per_unit for own in domain.measures):
        covered = covered.partition(" Rounding")[0]  # a unit's value is rounded more than once
    return (
        f"Values of {', those of '.join(grids)} before they are added up, and those that are missing are in no sum: "
        f"intervals cover these sums{covered}"
    )


_OF_UNITS = {
    None: "",
    "sum": " (added up for each unit in a cell, and clipped again)",
    "mean": " (averaged for each unit in a cell, and rounded again)",
}
_VARIANCES = ", their means and variances. Rounding moves a standard deviation by at most half a step."


def _has_squares(domain: Domain) -> bool:
    return any(own.squares for own in domain.measures)


def interval_words(population: str, level: float, domain: Domain | None = None) -> str:
    """What an interval covers, and how surely.

    >>> interval_words("", 0.95)
    'Each interval by itself covers the true count with probability 0.95.'
    """
    what = "count"
    if domain is not None and domain.measures:
        what = "count, sum, mean or variance" if _has_squares(domain) else "count, sum or mean"
    covered = f"the {what} among the records that are counted" if population else f"the true {what}"
    return f"Each interval by itself covers {covered} with probability {level:g}."


def _capped(unit: PrivacyUnit) -> str:
    """What a bound on the rows of each unit leaves."""
    if unit.distinct:
        cells = "1 cell" if unit.rows == 1 else f"{unit.rows:,} cells"
        return (
            f"Each {unit.column} is counted at most once in a cell and in at most {cells}{unit.recurring}, and no row "
            "without one; "
            "where cells are summed, once for each of them."
        )
    rows = "1 row" if unit.rows == 1 else f"{unit.rows:,} rows"
    verb = "is" if unit.rows == 1 else "are"
    return f"At most {rows} of each {unit.column} {verb} counted{unit.recurring}, and no row without one."


def _drops(attribute: Attribute) -> bool:
    """Whether records with values the attribute does not know are left out of every answer."""
    return attribute.drops and getattr(attribute, "other", None) is None


def _dropped(attributes: Sequence[tuple[str, Attribute]]) -> str:
    """Values that some attributes drop, one sentence for all of them."""
    shown = attributes[:_NAMED]
    cases = [
        f"{name} is {_outside(attribute)}" for name, attribute in shown if isinstance(attribute, Numeric)
    ]
    listed = [name for name, attribute in shown if not isinstance(attribute, Numeric)]
    if listed:
        cases.append(f"{' or '.join(filter(None, (', '.join(listed[:-1]), listed[-1])))} is not listed")
    if len(attributes) == 1:
        return f"Records whose {cases[0]} or missing are not counted."
    more = f" (likewise {len(attributes) - _NAMED:,} more attributes)" if len(attributes) > _NAMED else ""
    return (
        f"Records whose {', or whose '.join(cases)}{more}, or where one of these is missing, are not counted."
    )


def _outside(attribute: Numeric) -> str:
    return f"outside [{attribute.format(attribute.low)}, {attribute.format(attribute.high)})"
