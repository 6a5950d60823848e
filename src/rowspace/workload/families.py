"""Named families of queries: ranges, marginals and their products."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from itertools import combinations

from rowspace import operators as op
from rowspace.domain import Domain
from rowspace.exceptions import InvalidWorkload, TooLarge
from rowspace.workload.factors import AllRanges, Cells, Factor, LevelCells, Prefixes, Widths
from rowspace.workload.matrices import factor_of
from rowspace.workload.part import Part
from rowspace.workload.union import MAX_PARTS, Workload

_FAMILIES = ("identity", "ranges", "prefixes", "total")


def ranges(domain: Domain, attribute: str) -> Workload:
    """All n(n+1)/2 ranges of an attribute; other attributes are summed out.

    >>> from rowspace.domain import Numeric
    >>> w = ranges(Domain(age=Numeric(0, 100, bins=100, integer=True)), "age")
    >>> w.size, w.label(0), w.label(w.size - 2)
    (5050, 'age = 0', 'age in [98, 100)')
    """
    return _one(domain, AllRanges(_own(domain, attribute)), f"ranges of {attribute}")


def prefixes(domain: Domain, attribute: str) -> Workload:
    """All n ranges of an attribute that begin at its first cell: the cumulative counts.

    domain: the attributes. attribute: which of them, or a level of a taxonomy.

    >>> from rowspace.domain import Numeric
    >>> domain = Domain(x=Numeric(0, 4, bins=4), y=Numeric(0, 3, bins=3, integer=True))
    >>> prefixes(domain, "y").labels()
    ['y = 0', 'y in [0, 2)', 'y in [0, 3)']
    """
    return _one(domain, Prefixes(_own(domain, attribute)), f"prefixes of {attribute}")


def widths(domain: Domain, attribute: str, width: int) -> Workload:
    """All n-k+1 ranges of `width` = k cells of an attribute: the sliding windows.

    domain: the attributes. attribute: which of them. width: how many cells.

    >>> from rowspace.domain import Numeric
    >>> domain = Domain(x=Numeric(0, 4, bins=4), y=Numeric(0, 3, bins=3, integer=True))
    >>> widths(domain, "x", 2).labels()
    ['x in [0, 2)', 'x in [1, 3)', 'x in [2, 4)']
    """
    return _one(domain, Widths(_own(domain, attribute), width), f"ranges of {attribute} of {width} cells")


def marginal(domain: Domain, *names: str, missing: bool = False) -> Workload:
    """Count every combination of some attributes (or taxonomy levels); no names is the total.

    Records whose value is missing are in no combination; with `missing`, they have rows of their own.

    >>> from rowspace.domain import Categorical
    >>> d = Domain(sex=Categorical(["F", "M"]), job=Categorical(["yes", "no"]), age=Categorical([1, 2, 3]))
    >>> marginal(d, "job", "sex").labels(0, 2)
    ['sex = F and job = yes', 'sex = F and job = no']
    """
    return Workload(domain, [_LowMarginals(domain, missing).part(names)])


def marginals(
    domain: Domain,
    *,
    up_to: int | None = None,
    exactly: int | None = None,
    sets: Iterable[Iterable[str]] | None = None,
    missing: bool = False,
) -> Workload:
    """Several marginals: of all sets of at most `up_to` attributes, of `exactly` so many, or of given `sets`.

    `up_to` includes the total, the marginal of no attribute. `missing` adds rows for records whose value is missing.

    Factors are shared: all 2-way marginals of 30 attributes take about 100 kB.

    >>> from rowspace.domain import Categorical
    >>> d = Domain(sex=Categorical(["F", "M"]), job=Categorical(["yes", "no"]))
    >>> [part.group for part in marginals(d, up_to=2).parts]
    ['total', 'sex', 'job', 'sex × job']
    """
    if sum(choice is not None for choice in (up_to, exactly, sets)) != 1:
        raise InvalidWorkload("marginals needs exactly one of up_to=, exactly= and sets=")
    build = _LowMarginals(domain, missing)
    if sets is not None:
        listed = list(sets)
        if any(isinstance(names, str) or not isinstance(names, Iterable) for names in listed):
            raise InvalidWorkload("sets must be a list of lists of names, such as [['age', 'sex'], ['age']]")
        return Workload(domain, [build.part(names) for names in listed])
    ways = range(_check_way(up_to, domain) + 1) if exactly is None else [_check_way(exactly, domain)]
    number = sum(math.comb(len(domain.dimensions), k) for k in ways)
    if number > MAX_PARTS:
        raise TooLarge(f"these are {number:,} marginals, the limit is {MAX_PARTS:,}; choose fewer with sets=")
    # Combinations come in the order of the domain and without repetition: nothing to sort or refuse.
    factors = [build.factor(name) for name in domain.dimensions]
    return Workload(domain, [Part(chosen) for k in ways for chosen in combinations(factors, k)])


def cube(domain: Domain, *, missing: bool = False) -> Workload:
    """All marginals of all subsets of the attributes: the data cube, for at most 20 attributes.

    domain: the attributes. missing: whether missing values have rows.

    >>> from rowspace.domain import Numeric
    >>> domain = Domain(x=Numeric(0, 4, bins=4), y=Numeric(0, 3, bins=3, integer=True))
    >>> cube(domain).size
    20
    """
    return marginals(domain, up_to=len(domain.dimensions), missing=missing)


def identity(domain: Domain, *, missing: bool = False) -> Workload:
    """Every cell of the domain: the marginal of all attributes.

    domain: the attributes. missing: whether missing values have rows.

    >>> from rowspace.domain import Numeric
    >>> domain = Domain(x=Numeric(0, 4, bins=4), y=Numeric(0, 3, bins=3, integer=True))
    >>> identity(domain).size
    12
    """
    return marginal(domain, *domain.dimensions, missing=missing)


def total(domain: Domain) -> Workload:
    """The number of records.

    domain: the attributes.

    >>> from rowspace.domain import Numeric
    >>> domain = Domain(x=Numeric(0, 4, bins=4), y=Numeric(0, 3, bins=3, integer=True))
    >>> total(domain).labels()
    ['all records']
    """
    return marginal(domain)


def product(
    domain: Domain,
    families: Mapping[str, str | op.Operator] | None = None,
    /,
    **named: str | op.Operator,
) -> Workload:
    """Every combination of one-dimensional queries: ``product(domain, age="ranges", sex="identity")``.

    Each attribute gets ``"identity"`` (also for a taxonomy level), ``"ranges"``, ``"prefixes"``, ``"total"`` or
    an operator over its cells; those not named are summed out. `families` is the same as a mapping, for names that are
    not Python identifiers. Two with ``"ranges"`` make all rectangles.

    >>> from rowspace.domain import Numeric
    >>> domain = Domain(x=Numeric(0, 4, bins=4), y=Numeric(0, 3, bins=3, integer=True))
    >>> w = product(domain, x="ranges", y="ranges")
    >>> w.size, w.label(10)
    (60, 'x in [0, 2) and y in [1, 3)')
    """
    chosen = {**(families or {}), **named}
    if not chosen:
        raise InvalidWorkload("product needs at least one attribute, such as product(domain, age='ranges')")
    return Workload(domain, [product_part(domain, chosen)])


def product_part(domain: Domain, chosen: Mapping[str, str | op.Operator]) -> Part:
    """Return the product of the families of some attributes; of none it is the total."""
    factors = [_family(domain, name, family) for name, family in chosen.items()]
    words = [f"{name} {family}" if isinstance(family, str) else name for name, family in chosen.items()]
    kept = [factor for factor in factors if factor is not None]
    _refuse_repetition(domain, list(chosen))
    return Part(_in_order(domain, kept), name=" × ".join(words))


class _LowMarginals:
    """Builds marginals that share their factors."""

    def __init__(self, domain: Domain, missing: bool) -> None:
        if not isinstance(domain, Domain):
            raise InvalidWorkload(f"a workload needs a Domain first, got {type(domain).__name__}")
        if not isinstance(missing, bool):
            raise InvalidWorkload(f"missing must be True or False, got {type(missing).__name__}")
        self._domain = domain
        self._missing = missing
        self._factors: dict[str, Factor] = {}

    def part(self, names: Iterable[str]) -> Part:
        """Return the marginal of some attributes or levels."""
        names = list(names)
        _refuse_repetition(self._domain, names)
        return Part(_in_order(self._domain, [self.factor(name) for name in names]))

    def factor(self, name: str) -> Factor:
        """Return the one factor of a name."""
        if name not in self._factors:
            self._factors[name] = _cells(self._domain, name, self._missing)
        return self._factors[name]


def _one(domain: Domain, factor: Factor, name: str) -> Workload:
    """Return the workload of a single factor."""
    return Workload(domain, [Part((factor,), name=name)])


def _own(domain: Domain, name: str) -> Domain:
    """Return the domain of one attribute to count by."""
    own = domain.subset([name])
    domain.resolve(name)  # which no measure does
    return own


def _cells(domain: Domain, name: str, missing: bool = False) -> Factor:
    """Return the identity on an attribute, or the sums of a level; `missing` where values can be."""
    attribute, level = domain.resolve(name)
    own = domain.subset([attribute])
    missing = missing and domain[attribute].keeps_missing
    return Cells(own, missing) if level is None else LevelCells(own, level, missing)


def _family(domain: Domain, name: str, family: str | op.Operator) -> Factor | None:
    """Return the factor of a family by its name or operator; None is the total."""
    if isinstance(family, op.Operator):
        own = domain.subset([name])
        if family.shape[1] == domain[name].size:
            own = own.without_places()  # over the known cells: nothing is said about missing values
        return (
            None
            if isinstance(family, op.Total) and family.n == domain.subset([name]).size
            else factor_of(own, family)
        )
    match family:
        case "identity":
            return _cells(domain, name)
        case "total":
            domain.resolve(name)
            return None
        case "ranges":
            return AllRanges(_own(domain, name))
        case "prefixes":
            return Prefixes(_own(domain, name))
    raise InvalidWorkload(f"{name!r} needs one of {', '.join(_FAMILIES)} or an operator, got {family!r}")


def _in_order(domain: Domain, factors: list[Factor]) -> tuple[Factor, ...]:
    """Sort factors in the order of the domain."""
    return tuple(sorted(factors, key=lambda factor: domain.position(factor.attributes[0])))


def _refuse_repetition(domain: Domain, names: list[str]) -> None:
    """Refuse an attribute twice in one product, also through its levels."""
    taken: dict[str, str] = {}
    for name in names:
        attribute, _ = domain.resolve(name)
        if attribute not in taken:
            taken[attribute] = name
            continue
        first = taken[attribute]
        if first == name:
            raise InvalidWorkload(f"{name!r} is named twice in one product; name it once")
        order = [attribute, *getattr(domain[attribute], "levels", ())]
        fine, coarse = sorted((first, name), key=order.index)
        raise InvalidWorkload(
            f"{fine!r} already determines {coarse!r}, a coarser level of the same attribute: "
            f"name {fine!r} only, or unite two workloads with +"
        )


def _check_way(way: int | None, domain: Domain) -> int:
    """Return a number of attributes to combine."""
    most = len(domain.dimensions)
    if isinstance(way, bool) or not isinstance(way, int) or not 0 <= way <= most:
        raise InvalidWorkload(f"marginals can combine 0 to {most} attributes here, got {way!r}")
    return way
