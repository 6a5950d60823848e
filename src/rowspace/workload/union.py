"""The workload: a weighted union of products, over one domain."""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import accumulate, chain, repeat
from typing import Any

from rowspace import operators as op
from rowspace.domain import Domain
from rowspace.exceptions import InvalidWorkload, TooLarge
from rowspace.notebook import overview, whole
from rowspace.tables import ProductWorkload
from rowspace.workload.codec import Arrays, decode_parts, encode_parts
from rowspace.workload.factors import Factor
from rowspace.workload.part import Part, Positions, check_weight, products
from rowspace.workload.sums import Means, means_in

#: Most parts of one workload (the cube of 20 attributes, all sets of up to 3 of 228).
MAX_PARTS = 2_000_000
#: Most queries that are labelled at once.
MAX_LABELS = 10**7
#: Most columns of a table of queries: with more, almost all entries would be "all".
MAX_COLUMNS = 24
_GROUPS_SHOWN = 20


@dataclass(frozen=True, init=False)
class Workload:
    """The counting queries to answer, in the user's words.

    A union of parts, each a product of implicit factors, so that all ranges over 2²⁰ cells or all 2-way
    marginals of 30 attributes take kilobytes. Workloads are values: ``+`` unites them and ``*`` weights them.

    >>> import rowspace.workload as workload
    >>> from rowspace.domain import Categorical, Domain, Numeric
    >>> domain = Domain(age=Numeric(0, 100, bins=100), sex=Categorical(["F", "M"]))
    >>> w = workload.ranges(domain, "age") + 4 * workload.marginal(domain, "sex")
    >>> print(w)
    Workload of 5,052 queries about age, sex (200 cells)
      group          queries  weight
      ranges of age    5,050       1
      sex                  2       4
    >>> w.label(5050), w.weighted_operator().shape
    ('sex = F', (5052, 200))
    """

    domain: Domain
    parts: tuple[Part, ...]

    def __init__(self, domain: Domain, parts: Iterable[Part]) -> None:
        if not isinstance(domain, Domain):
            raise InvalidWorkload(f"a workload needs a Domain first, got {type(domain).__name__}")
        checked = tuple(parts)
        _check_number_of_parts(len(checked))
        positions = Positions(domain)
        for part in checked:
            check_weight(part.weight)
            positions.check(part)
        object.__setattr__(self, "domain", domain)
        object.__setattr__(self, "parts", checked)

    @cached_property
    def size(self) -> int:
        """Number of queries, however large."""
        return self._offsets[-1]

    def __len__(self) -> int:
        if self.size >= 2**63:
            raise TooLarge("len() cannot hold this number of queries; use .size")
        return self.size

    @cached_property
    def attributes(self) -> tuple[str, ...]:
        """The attributes that some query is about, in the order of the domain."""
        used = {name for factor in self._factors for name in factor.attributes}
        return tuple(name for name in self.domain.names if name in used)

    @cached_property
    def columns(self) -> tuple[str, ...]:
        """The columns of `table` after the first: attributes and levels used, in the order of the domain."""
        used = {name for factor in self._factors for name in factor.columns}
        known = [(name, *getattr(attribute, "levels", ())) for name, attribute in self.domain.attributes]
        return tuple(name for names in known for name in names if name in used)

    @property
    def means(self) -> list[Means]:
        """The groups of means among its queries: a sum, and the number of records that it is divided by."""
        return means_in(self.parts)

    @property
    def alike(self) -> Workload:
        """The same with all queries equally important, a sum in units of the largest value.

        >>> import rowspace as rs
        >>> domain = rs.Domain(measures=[rs.Measure("income", 0, 200)])
        >>> [part.weight for part in (3 * rs.workload.mean(domain, "income")).alike.parts]
        [0.005, 1.0]
        """
        return self._with_parts(tuple(replace(part, weight=part.unit) for part in self.parts))

    @property
    def shown(self) -> Workload:
        """The same with a group for every group of means after all others: for labels, since means are not linear."""
        means = tuple(own.words for own in self.means)
        return self._with_parts((*self.parts, *means)) if means else self

    def __add__(self, other: Workload) -> Workload:
        """Return the union: the queries of both, the left ones first."""
        if not isinstance(other, Workload):
            return NotImplemented
        if other.domain != self.domain:
            raise InvalidWorkload(
                "workloads can be united over one domain only; build both from the same Domain object"
            )
        _check_number_of_parts(len(self.parts) + len(other.parts))
        return self._with_parts((*self.parts, *other.parts))

    def __radd__(self, other: int) -> Workload:
        """Let ``sum(workloads)`` work, which starts from 0."""
        return self if isinstance(other, int) and other == 0 else NotImplemented

    def __mul__(self, weight: float) -> Workload:
        """Return the same queries with their importance multiplied by a positive weight."""
        number = check_weight(weight)
        return self._with_parts(
            tuple(replace(part, weight=check_weight(part.weight * number)) for part in self.parts)
        )

    __rmul__ = __mul__

    def reduced(self) -> Workload:
        """Return the same workload over the attributes it is about, all others summed out beforehand.

        A workload about no attribute (the total) keeps the smallest one.

        >>> import rowspace as rs
        >>> domain = rs.Domain(age=rs.Numeric(0, 4, bins=4), sex=rs.Categorical(["F", "M"]))
        >>> w = 2.0 * rs.workload.marginal(domain, "sex")
        >>> w.reduced().domain.names
        ('sex',)
        """
        every = self.domain.dimensions or self.domain.names
        names = self.attributes or (min(every, key=lambda name: self.domain[name].size),)
        if names == self.domain.names:
            return self
        return self.about(self.domain.subset(names))

    def about(self, domain: Domain) -> Workload:
        """Return the same queries over other attributes: those they are about, declared alike, and any others.

        domain: the attributes.

        >>> import rowspace as rs
        >>> domain = rs.Domain(age=rs.Numeric(0, 4, bins=4), sex=rs.Categorical(["F", "M"]))
        >>> rs.workload.marginal(domain, "sex").about(domain.subset(["sex"])).domain.names
        ('sex',)
        """
        return self._with_parts(self.parts, domain)

    def over(self, domain: Domain) -> Workload:
        """Return the same queries over a domain with the attributes they are about, and with its places.

        domain: the attributes, each declared as here; it may have other places for missing values.

        >>> import rowspace as rs
        >>> domain = rs.Domain(sex=rs.Categorical(["F", "M"]))
        >>> rs.workload.total(domain).over(domain.with_places()).weighted_operator().to_dense()
        array([[1., 1., 1.]])
        """
        if all(factor.domain == domain.subset(factor.attributes) for factor in self._factors):
            return self if domain == self.domain else self._with_parts(self.parts, domain)
        known: dict[int, Factor] = {}
        return self._with_parts(tuple(part.over(domain, known) for part in self.parts), domain)

    @property
    def factors(self) -> tuple[Factor, ...]:
        """The factors of all parts, each once."""
        return self._factors

    @cached_property
    def _factors(self) -> tuple[Factor, ...]:
        """The factors of all parts, each once: a million parts may share a few hundred."""
        return tuple({id(factor): factor for part in self.parts for factor in part.factors}.values())

    @property
    def unseen(self) -> frozenset[str]:
        """The attributes whose place for missing values no query sees: each names them, and asks for known values."""
        found = self.domain.places
        known: dict[int, frozenset[str]] = {}
        for part in self._cells.parts:
            if not found:
                break
            for factor in part.factors:
                known.setdefault(id(factor), factor.unseen)
            found &= frozenset().union(*(known[id(factor)] for factor in part.factors))
        return found

    @cached_property
    def _cells(self) -> Workload:
        """The same workload with one domain for all: with the places of its own and of any of its factors."""
        places = self.domain.places.union(*(factor.domain.places for factor in self._factors))
        return self.over(self.domain.with_places(places))

    def operator(self) -> op.Operator:
        """Return the queries as a matrix over all cells, as they are answered.

        A stack of Kronecker products; built in O(parts × attributes), whatever the number of cells.

        >>> import rowspace as rs
        >>> domain = rs.Domain(age=rs.Numeric(0, 4, bins=4), sex=rs.Categorical(["F", "M"]))
        >>> w = 2.0 * rs.workload.marginal(domain, "sex")
        >>> w.operator() @ [1, 2, 3, 4, 5, 6, 7, 8]
        array([16, 20])
        """
        return self.products().operator()

    def weighted_operator(self) -> op.Operator:
        """Return the same, rows multiplied by their importance weights: what the total error is of.

        >>> import rowspace as rs
        >>> domain = rs.Domain(age=rs.Numeric(0, 4, bins=4), sex=rs.Categorical(["F", "M"]))
        >>> w = 2.0 * rs.workload.marginal(domain, "sex")
        >>> w.weighted_operator() @ [1, 2, 3, 4, 5, 6, 7, 8]
        array([32, 40])
        """
        return self.products().weighted_operator()

    @cached_property
    def _products(self) -> ProductWorkload:
        return products(self._cells)

    def products(self) -> ProductWorkload:
        """Return the same as products that name only the attributes they are about, for domains of any size.

        >>> import rowspace as rs
        >>> domain = rs.Domain(age=rs.Numeric(0, 4, bins=4), sex=rs.Categorical(["F", "M"]))
        >>> w = 2.0 * rs.workload.marginal(domain, "sex")
        >>> len(w.products().sizes_of_parts)
        1
        """
        return self._products

    def label(self, index: int) -> str:
        """Return the readable form of one query.

        index: its place, from 0.

        >>> import rowspace as rs
        >>> domain = rs.Domain(age=rs.Numeric(0, 4, bins=4), sex=rs.Categorical(["F", "M"]))
        >>> w = 2.0 * rs.workload.marginal(domain, "sex")
        >>> w.label(1)
        'sex = M'
        """
        return self.labels(index, index + 1)[0]

    def labels(self, start: int = 0, stop: int | None = None) -> list[str]:
        """Return the readable form of the queries ``start`` to ``stop - 1``.

        >>> import rowspace as rs
        >>> domain = rs.Domain(age=rs.Numeric(0, 4, bins=4), sex=rs.Categorical(["F", "M"]))
        >>> w = 2.0 * rs.workload.marginal(domain, "sex")
        >>> w.labels()
        ['sex = F', 'sex = M']
        """
        return [
            label for part, first, last in self._slices(start, stop) for label in part.labels(first, last)
        ]

    def table(
        self, start: int = 0, stop: int | None = None, columns: Sequence[str] | None = None
    ) -> dict[str, list[str]]:
        """Return the queries ``start`` to ``stop - 1`` as columns: group, then each attribute or level used.

        ``"all"`` stands where an attribute is summed out. The first column is called ``group`` (``query group``
        when an attribute has that name). `columns` gives the columns after it, where they must be those of a larger
        workload. Past `MAX_COLUMNS` of them, one column ``query`` says it in words.

        >>> import rowspace as rs
        >>> domain = rs.Domain(age=rs.Numeric(0, 4, bins=4), sex=rs.Categorical(["F", "M"]))
        >>> w = 2.0 * rs.workload.marginal(domain, "sex")
        >>> w.table()
        {'group': ['sex', 'sex'], 'sex': ['F', 'M']}
        """
        names = self.columns if columns is None else tuple(columns)
        group = "query group" if "group" in names else "group"
        if len(names) > MAX_COLUMNS:
            slices = self._slices(start, stop)
            groups = chain.from_iterable(repeat(part.group, last - first) for part, first, last in slices)
            return {group: list(groups), "query": self.labels(start, stop)}
        table: dict[str, list[str]] = {name: [] for name in (group, *names)}
        for part, first, last in self._slices(start, stop):
            entries = part.entries(first, last)
            table[group].extend(repeat(part.group, last - first))
            for name in names:
                table[name].extend(entries.get(name, repeat("all", last - first)))
        return table

    def __str__(self) -> str:
        about = ", ".join(self.attributes[:6]) + (", …" if len(self.attributes) > 6 else "")
        plural = "y" if self.size == 1 else "ies"
        cells = whole(math.prod(self.domain[name].size for name in self.attributes))
        lines = [
            f"Workload of {whole(self.size)} quer{plural} about {about or 'all records'} ({cells} cells)"
        ]
        shown = [("group", "queries", "weight")]
        shown += [(p.group, whole(p.size), f"{p.weight:.6g}") for p in self.parts[:_GROUPS_SHOWN]]
        widths = [max(len(row[column]) for row in shown) for column in range(3)]
        lines += [f"  {g:<{widths[0]}}  {q:>{widths[1]}}  {w:>{widths[2]}}" for g, q, w in shown]
        if len(self.parts) > _GROUPS_SHOWN:
            lines.append(f"  … and {len(self.parts) - _GROUPS_SHOWN:,} more groups")
        return "\n".join(lines)

    def __repr__(self) -> str:
        return f"<Workload of {whole(self.size)} queries in {len(self.parts):,} parts>"

    def _repr_html_(self) -> str:
        shown = self.parts[:_GROUPS_SHOWN]
        rows = [[part.group, f"{part.size:,}", f"{part.weight:.6g}"] for part in shown]
        return overview(self, ["group", "queries", "weight"], rows, len(self.parts), "more groups")

    def to_dict(self) -> tuple[dict[str, Any], Arrays]:
        """Return a JSON-safe tree and the arrays it refers to by name (none but for plain matrices).

        >>> import rowspace as rs
        >>> domain = rs.Domain(age=rs.Numeric(0, 4, bins=4), sex=rs.Categorical(["F", "M"]))
        >>> w = 2.0 * rs.workload.marginal(domain, "sex")
        >>> Workload.from_dict(*w.to_dict()) == w
        True
        """
        tree, arrays = encode_parts(self.parts)
        return {"domain": self.domain.to_dict(), **tree}, arrays

    @classmethod
    def from_dict(cls, tree: Mapping[str, Any], arrays: Arrays) -> Workload:
        """Rebuild from `to_dict`, checking everything: the file may come from anyone.

        tree, arrays: what `to_dict` returned.

        Raises:
            RowspaceError: `InvalidDomain`, `InvalidWorkload`, `TooLarge` or `FileError`, by what is wrong.

        >>> import rowspace as rs
        >>> domain = rs.Domain(age=rs.Numeric(0, 4, bins=4), sex=rs.Categorical(["F", "M"]))
        >>> w = 2.0 * rs.workload.marginal(domain, "sex")
        >>> Workload.from_dict(*w.to_dict()) == w
        True
        """
        if not isinstance(tree, Mapping) or "domain" not in tree:
            raise InvalidWorkload("a saved workload needs a domain, factors and parts")
        domain = Domain.from_dict(tree["domain"])
        return cls(domain, decode_parts(tree, arrays, domain, MAX_PARTS))

    @cached_property
    def _offsets(self) -> list[int]:
        """Where each part's queries begin, and the number of queries at the end."""
        return list(accumulate((part.size for part in self.parts), initial=0))

    def _slices(self, start: int, stop: int | None) -> list[tuple[Part, int, int]]:
        """Cut a run of queries into the parts it covers: (part, first, last + 1)."""
        end = self.size if stop is None else stop
        if not 0 <= start <= end <= self.size:
            raise InvalidWorkload(f"expected queries between 0 and {whole(self.size)}, got {start} to {end}")
        if end - start > MAX_LABELS:
            raise TooLarge(
                f"{whole(end - start)} queries are too many to label at once, the limit is {MAX_LABELS:,}; "
                "give start and stop"
            )
        slices = []
        at = bisect_right(self._offsets, start) - 1
        while at < len(self.parts) and self._offsets[at] < end:
            first, last = self._offsets[at], self._offsets[at + 1]
            slices.append((self.parts[at], max(start - first, 0), min(end, last) - first))
            at += 1
        return slices

    def _with_parts(self, parts: tuple[Part, ...], domain: Domain | None = None) -> Workload:
        """Return a workload of parts that are known to fit."""
        workload = object.__new__(Workload)
        object.__setattr__(workload, "domain", domain or self.domain)
        object.__setattr__(workload, "parts", parts)
        return workload


def _check_number_of_parts(number: int) -> None:
    """Refuse an empty union and one that would not fit."""
    if number == 0:
        raise InvalidWorkload("a workload needs at least one query")
    if number > MAX_PARTS:
        raise TooLarge(f"{number:,} groups of queries are too many, the limit is {MAX_PARTS:,}")
