"""Workloads about measures: sums, numbers of records with a value, means, which are the one over the other, spreads."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace

from rowspace import operators as op
from rowspace.domain import Domain
from rowspace.exceptions import InvalidWorkload
from rowspace.workload.families import product_part
from rowspace.workload.part import Part
from rowspace.workload.sums import MeasureSum, Squares, Valued, factors_of, group_name, measured
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
    own = _own(domain, measure)
    return Workload(domain, [_part(MeasureSum(own), domain, by, {**(families or {}), **named})])


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
    own = _own(domain, measure)
    return Workload(domain, [_part(Valued(own), domain, by, {**(families or {}), **named})])


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
    return _made_of("mean", domain, measure, by, {**(families or {}), **named})


def variance(
    domain: Domain,
    measure: str,
    /,
    by: str | Iterable[str] = (),
    families: Families | None = None,
    *,
    sample: bool = False,
    **named: str | op.Operator,
) -> Workload:
    """The variance of a measure for every combination: its sums, numbers of records, and sums of squares.

    domain, measure, by, families, named: as for `sum`; the measure is declared with ``squares=True``. sample: whether
    records are a sample, so that their number less one is divided by (SQL's VAR_SAMP), rather than all there are
    (VAR_POP). `Release.variance` and the answers of a release have the variances.

    >>> import rowspace as rs
    >>> people = rs.Domain(sex=rs.Categorical(["F", "M"]), measures=[rs.Measure("income", 0, 200_000, squares=True)])
    >>> [part.group for part in variance(people, "income", ["sex"]).parts]
    ['sum of income by sex', 'records with income by sex', 'squares of income by sex']
    """
    figure = "sample variance" if sample else "variance"
    return _made_of(figure, domain, measure, by, {**(families or {}), **named})


def standard_deviation(
    domain: Domain,
    measure: str,
    /,
    by: str | Iterable[str] = (),
    families: Families | None = None,
    *,
    sample: bool = False,
    **named: str | op.Operator,
) -> Workload:
    """The standard deviation of a measure for every combination: the root of the `variance`.

    domain, measure, by, families, sample, named: as for `variance`.

    >>> import rowspace as rs
    >>> people = rs.Domain(measures=[rs.Measure("income", 0, 200_000, squares=True)])
    >>> standard_deviation(people, "income").labels()[2]
    'sum of squared distances of income from 100000'
    """
    figure = "sample standard deviation" if sample else "standard deviation"
    return _made_of(figure, domain, measure, by, {**(families or {}), **named})


def _made_of(
    figure: str, domain: Domain, measure: str, by: str | Iterable[str], families: Families
) -> Workload:
    """A group of means or spreads: all that they are made of."""
    names = [by] if isinstance(by, str) else list(by)
    parts = [_part(factor, domain, names, families) for factor in factors_of(figure, _own(domain, measure))]
    name = str(parts[0].name).replace(MeasureSum.word, figure, 1)
    return Workload(domain, [replace(part, mean=name) for part in parts])


def _own(domain: Domain, measure: str) -> Domain:
    """The measure by itself."""
    if not isinstance(domain, Domain):
        raise InvalidWorkload(f"a workload needs a Domain first, got {type(domain).__name__}")
    domain.measure(measure)
    return domain.subset([measure])


def _part(
    factor: MeasureSum | Valued | Squares, domain: Domain, by: str | Iterable[str], families: Families
) -> Part:
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
    return measured(replace(rest, name=group_name(factor, about)), factor)
