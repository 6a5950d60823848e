"""Attributes compared with each other: ``a <= b``, ``a + b <= 5``, where the cells decide it.

They do where every cell holds one value: whole numbers in bins of width one, categories that are integers, days. Text
categories can be equal or not. Bins of several values would leave the answer open inside a cell, so they are refused.
"""

from __future__ import annotations

from dataclasses import replace
from functools import reduce
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from rowspace.domain import Categorical, Dates, Domain, Numeric
from rowspace.exceptions import PredicateError, TooLarge
from rowspace.workload.predicate.syntax import MIRRORED, Comparison, Relation, Source, Term, name_text

#: Most joint cells of attributes that are compared with each other.
MAX_RELATED_CELLS = 2**20
# Sums of values up to this size are exact, however many attributes there are.
_LARGEST_VALUE = 2**40
_DAY = 86_400

_COMPARE: dict[Comparison, np.ufunc] = {
    "=": np.equal,
    "!=": np.not_equal,
    "<": np.less,
    "<=": np.less_equal,
    ">": np.greater,
    ">=": np.greater_equal,
}


class LinearSum(NamedTuple):
    """Attributes and a number, added up."""

    terms: tuple[Term, ...]
    constant: int | float


class _Values(NamedTuple):
    """The one value of every cell, and what kind of value that is: "numbers", "days" or "text"."""

    kind: str
    values: npt.NDArray[np.generic]


def related(
    left: LinearSum, comparison: Comparison, right: LinearSum, position: int, source: Source
) -> Relation:
    """One sum compared with another, all attributes brought to the left."""
    terms = (*left.terms, *(replace(term, sign=-term.sign) for term in right.terms))
    constant = right.constant - left.constant
    if not terms:
        raise source.error(
            "two numbers are compared, which says nothing about a record; name an attribute", position
        )
    if all(term.sign < 0 for term in terms):  # written the other way round, without signs
        terms = tuple(replace(term, sign=1) for term in terms)
        return Relation(terms, MIRRORED[comparison], -constant, position)
    return Relation(terms, comparison, constant, position)


def relation_cells(relation: Relation, domain: Domain, source: Source) -> npt.NDArray[np.bool_]:
    """Where a relation holds on the known cells of its attributes; axes of other attributes have length 1."""
    names = {term.name for term in relation.terms}
    cells = int(np.prod([domain[name].size for name in names], dtype=object))
    if cells > MAX_RELATED_CELLS:
        raise TooLarge(
            f"{relation} compares attributes of {cells:,} joint cells, the limit is {MAX_RELATED_CELLS:,}; "
            "ask for coarser attributes"
        )
    if len(relation.terms) == 1 and isinstance(domain.dimension(relation.terms[0].name), Dates):
        name = relation.terms[0].name
        raise source.error(
            f"expected a date in quotes beside {name!r}, as in {name} >= '2024-03-01'", relation.position
        )
    found = [_values(term, domain, source) for term in relation.terms]
    kinds = {values.kind for values in found}
    if len(kinds) > 1:
        raise source.error(f"{relation} compares {' with '.join(sorted(kinds))}", relation.position)
    if kinds == {"text"}:
        return _same_text(relation, found, domain, source)
    if kinds == {"days"} and sum(term.sign for term in relation.terms) != 0:
        raise source.error("days can be compared or taken from each other, not added", relation.position)
    total = reduce(
        np.add,
        (
            term.sign * _along(values.values, term.name, domain)
            for term, values in zip(relation.terms, found, strict=True)
        ),
    )
    return np.asarray(_COMPARE[relation.comparison](total, relation.constant), dtype=np.bool_)


def _same_text(
    relation: Relation, found: list[_Values], domain: Domain, source: Source
) -> npt.NDArray[np.bool_]:
    signs = sorted(term.sign for term in relation.terms)
    if signs != [-1, 1] or relation.constant or relation.comparison not in ("=", "!="):
        raise source.error("text has no order and no sum; compare the two with = or !=", relation.position)
    first, second = (
        _along(values.values, term.name, domain) for term, values in zip(relation.terms, found, strict=True)
    )
    return np.asarray(_COMPARE[relation.comparison](first, second), dtype=np.bool_)


def _values(term: Term, domain: Domain, source: Source) -> _Values:
    """The values of an attribute's cells, or the reason why a cell does not have one."""
    attribute = domain.dimension(term.name)
    match attribute:
        case Dates() if not attribute.times and _width(attribute) == _DAY:
            return _Values("days", (attribute.edges[:-1] // _DAY).astype(np.int64))
        case Dates():
            raise _undecided(
                term, source, 'its cells are longer than a day, or hold times; declare every = "day"'
            )
        case Numeric() if attribute.integer and _width(attribute) == 1 and _is_small(attribute):
            return _Values("numbers", attribute.edges[:-1].astype(np.int64))
        case Numeric():
            advice = "declare bins of width 1 and integer = true, if its values are whole"
            raise _undecided(term, source, f"its bins hold several values; {advice}")
        case Categorical() if attribute.other is not None:
            raise _undecided(term, source, f"its bucket {attribute.other!r} holds several values")
        case Categorical() if attribute.type is int and all(
            abs(int(value)) <= _LARGEST_VALUE for value in attribute.values
        ):
            return _Values("numbers", np.array(attribute.values, dtype=np.int64))
    return _Values("text", np.array([str(value) for value in attribute.values], dtype=object))


def cell_values(name: str, domain: Domain) -> tuple[str, npt.NDArray[np.generic]]:
    """The kind of value that cells of an attribute hold, and that of each; `PredicateError` where one holds several."""
    return _values(Term(1, name), domain, Source(name))


def _undecided(term: Term, source: Source, reason: str) -> PredicateError:
    message = (
        f"the cells of {name_text(term.name)} do not decide how it compares with another attribute: {reason}"
    )
    return source.error(message, term.position)


def _width(attribute: Numeric) -> float:
    """The width of all bins, or NaN where they differ."""
    widths = np.diff(attribute.edges)
    return float(widths[0]) if np.all(widths == widths[0]) else float("nan")


def _is_small(attribute: Numeric) -> bool:
    return max(abs(attribute.low), abs(attribute.high)) <= _LARGEST_VALUE


def _along(values: npt.NDArray[np.generic], name: str, domain: Domain) -> npt.NDArray[np.generic]:
    """Values along the axis of their attribute."""
    shape = [1] * len(domain)
    shape[domain.position(name)] = len(values)
    return values.reshape(shape)
