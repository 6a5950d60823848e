"""Workloads about measures: sums, numbers of records with a value, and means, which are the one over the other."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace

from rowspace import operators as op
from rowspace.domain import Domain
from rowspace.exceptions import InvalidWorkload
from rowspace.workload.families import product_part
from rowspace.workload.part import Part
from rowspace.workload.sums import Sum, Valued, group_name, measured
from rowspace.workload.union import Workload

Families = Mapping[str, str | op.Operator]


def sum(  # what people ask for: Python's own is not needed here
    domain: Domain,
    measure: str,
    /,
    by: str | Iterable[str] = (),
    families: Families | None = None,
    **named: str | op.Operator,
) -> Workload:
    """The sum of a measure for every combination of some attributes, or of families of queries about them.

    domain: the attributes and measures. measure: the name of one. by: attributes or levels. families, named: other
    queries for an attribute, as in `product`: ``sum(domain, "income", age="ranges")``.

    The importance of a sum is one over the largest size of a value, so that one record matters as much in it as in a
    count; ``*`` changes it.

    >>> import rowspace as rs
    >>> people = rs.Domain(sex=rs.Categorical(["F", "M"]), measures=[rs.Measure("income", 0, 200_000)])
    >>> sum(people, "income", ["sex"]).labels()
    ['sum of income, sex = F', 'sum of income, sex = M']
    """
    return Workload(domain, [_part(Sum, domain, measure, by, {**(families or {}), **named})])


def valued(
    domain: Domain,
    measure: str,
    /,
    by: str | Iterable[str] = (),
    families: Families | None = None,
    **named: str | op.Operator,
) -> Workload:
    """How many records have a value of a measure, for every combination: what a mean divides by.

    domain, measure, by, families, named: as for `sum`.

    >>> import rowspace as rs
    >>> people = rs.Domain(sex=rs.Categorical(["F", "M"]), measures=[rs.Measure("income", 0, 200_000)])
    >>> valued(people, "income").labels()
    ['records with a value of income']
    """
    return Workload(domain, [_part(Valued, domain, measure, by, {**(families or {}), **named})])


def mean(
    domain: Domain,
    measure: str,
    /,
    by: str | Iterable[str] = (),
    families: Families | None = None,
    **named: str | op.Operator,
) -> Workload:
    """The mean of a measure for every combination: its sums, and the numbers of records with a value.

    domain, measure, by, families, named: as for `sum`. `Release.mean` and `Release.means` divide them.

    >>> import rowspace as rs
    >>> people = rs.Domain(sex=rs.Categorical(["F", "M"]), measures=[rs.Measure("income", 0, 200_000)])
    >>> [part.group for part in mean(people, "income", ["sex"]).parts]
    ['sum of income by sex', 'records with income by sex']
    """
    chosen = {**(families or {}), **named}
    names = [by] if isinstance(by, str) else list(by)
    halves = [_part(kind, domain, measure, names, chosen) for kind in (Sum, Valued)]
    name = str(halves[0].name).replace(Sum.word, "mean", 1)
    return Workload(domain, [replace(half, mean=name) for half in halves])


def _part(
    kind: type[Sum] | type[Valued],
    domain: Domain,
    measure: str,
    by: str | Iterable[str],
    families: Families,
) -> Part:
    if not isinstance(domain, Domain):
        raise InvalidWorkload(f"a workload needs a Domain first, got {type(domain).__name__}")
    domain.measure(measure)
    names = [by] if isinstance(by, str) else list(by)
    if repeated := [name for name in names if name in families]:
        raise InvalidWorkload(f"{repeated[0]!r} is named twice in one product; name it once")
    rest = product_part(domain, {**dict.fromkeys(names, "identity"), **families})
    about = " × ".join(
        [
            *names,
            *(
                f"{family} of {name}" if isinstance(family, str) else name
                for name, family in families.items()
            ),
        ]
    )
    factor = kind(domain.subset([measure]))
    return measured(replace(rest, name=group_name(factor, about)), factor)
