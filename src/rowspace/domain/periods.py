"""An ordered attribute as periods of time: the first of them, for what is known so far."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from rowspace.domain.calendar import has_equal_steps
from rowspace.domain.categorical import Categorical
from rowspace.domain.dates import Dates, DayOfWeek, HourOfDay
from rowspace.domain.numeric import Numeric
from rowspace.domain.schema import Dimension, Domain
from rowspace.exceptions import InvalidDomain


def with_periods(domain: Domain, name: str) -> Domain:
    """The same attributes, where a record without a known period is not counted: no instalment could hold it.

    >>> domain = Domain(month=Dates("2024-01-01", "2025-01-01", every="month"))
    >>> with_periods(domain, "month")["month"].outside
    'drop'
    """
    attribute = domain.dimension(name)
    if isinstance(attribute, HourOfDay | DayOfWeek) or getattr(attribute, "other", None) is not None:
        raise InvalidDomain(f"expected periods that follow one another, such as Dates; {name!r} recurs")
    if isinstance(attribute, Numeric) and attribute.outside == "clip":
        raise InvalidDomain(
            f"expected outside='drop' for {name!r}: clipped records would be added to periods that were released"
        )
    return _with(domain, name, first_periods(attribute, attribute.size))


def until_period(domain: Domain, name: str, periods: int, after: int = 0) -> Domain:
    """The same attributes, of which one has its first periods only, or those `after` some; no others are counted.

    >>> domain = Domain(month=Dates("2024-01-01", "2025-01-01", every="month", outside="drop"))
    >>> until_period(domain, "month", 3).shape, until_period(domain, "month", 3, after=2)["month"].label(0)
    ((3,), '2024-03')
    """
    return _with(domain, name, first_periods(domain.dimension(name), periods, after))


def first_periods(attribute: Dimension, periods: int, after: int = 0) -> Dimension:
    """The first cells of an attribute, or those after some of them, with all other records dropped."""
    whole = periods - after == attribute.size
    if whole and attribute.outside == "drop":
        return attribute
    if isinstance(attribute, Dates):
        place: dict[str, Any] = {
            "column": attribute.column,
            "zone": attribute.zone,
            "times": attribute.times,
            "outside": "drop",
        }
        if attribute.every is not None and (whole or has_equal_steps(attribute.every)):
            start, end = attribute.format(attribute.edge(after)), attribute.format(attribute.edge(periods))
            return Dates(start, end, every=attribute.every, **place)
        return Dates(edges=[attribute.format(attribute.edge(i)) for i in range(after, periods + 1)], **place)
    if isinstance(attribute, Numeric):
        edges = [attribute.edge(i) for i in range(after, periods + 1)]
        return Numeric(edges=edges, outside="drop", integer=attribute.integer)
    values = attribute.values[after:periods]
    levels = {
        level: {value: label for value, label in of.items() if value in values}
        for level, of in attribute.levels.items()
    }
    return Categorical(values, outside="drop", levels=levels or None)


def one_after_another(domains: Sequence[Domain], name: str) -> Domain:
    """The attributes of domains that differ in the periods of one alone, with all periods: each goes on where one ends.

    >>> first = Domain(month=Dates("2024-01-01", "2025-01-01", every="month", outside="drop"))
    >>> second = Domain(month=Dates("2025-01-01", "2025-04-01", every="month", outside="drop"))
    >>> print(one_after_another([first, second], "month")["month"])
    dates in [2024-01-01, 2025-04-01), 15 months, zone UTC, others dropped
    """
    whole = domains[0]
    for other in domains[1:]:
        attribute = _joined(whole.dimension(name), other.dimension(name))
        if attribute is None or _with(other, name, attribute) != _with(whole, name, attribute):
            raise InvalidDomain(
                f"expected attributes declared alike, and periods of {name!r} that begin where those before end"
            )
        whole = _with(whole, name, attribute)
    return whole


def _joined(one: Dimension, other: Dimension) -> Dimension | None:
    """The periods of one, followed by those of the other; None where they do not follow."""
    if type(one) is not type(other):
        return None
    if isinstance(one, Categorical) and isinstance(other, Categorical):
        apart = not (one.levels or other.levels or set(one.values) & set(other.values))
        return Categorical((*one.values, *other.values), outside="drop") if apart else None
    if not (isinstance(one, Numeric) and isinstance(other, Numeric)) or one.edge(one.size) != other.edge(0):
        return None
    if isinstance(one, Dates) and isinstance(other, Dates):
        place = {"column": one.column, "zone": one.zone, "times": one.times}
        if place != {"column": other.column, "zone": other.zone, "times": other.times}:
            return None
        if one.every is not None and one.every == other.every:
            start, end = one.format(one.low), one.format(other.high)
            return Dates(start, end, every=one.every, outside="drop", **place)  # type: ignore[arg-type]
        edges = [one.format(edge) for edge in (*one.edges.tolist(), *other.edges.tolist()[1:])]
        return Dates(edges=edges, outside="drop", **place)  # type: ignore[arg-type]
    if one.integer != other.integer:
        return None
    return Numeric(
        edges=[*one.edges.tolist(), *other.edges.tolist()[1:]], outside="drop", integer=one.integer
    )


def _with(domain: Domain, name: str, attribute: Dimension) -> Domain:
    changed = Domain((own, attribute if own == name else other) for own, other in domain.attributes)
    return changed.with_places(domain.places - {name})
