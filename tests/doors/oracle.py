"""The truth, by pandas on the raw table, with the meaning SQL gives to values that are not there.

A value that the domain does not know (NULL, outside, unlisted) is NA: in no category, in no range, in no negation of
one either, and in totals and in tables of other attributes. Nothing of the library is used but the declarations.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
import pandas as pd

from rowspace.domain import Categorical, Domain, Numeric

UNLISTED = {str: "not in any list", int: 987_654, bool: None}


def known(raw: pd.DataFrame, domain: Domain) -> pd.DataFrame:
    """What the domain knows of every value: numbers; numbers of categories and of labels of levels; or NA."""
    columns: dict[str, Any] = {}
    for name, attribute in domain.attributes:
        if isinstance(attribute, Numeric):
            columns[name] = _numbers(raw[name], attribute)
            continue
        numbers = {value: at for at, value in enumerate(attribute.values)}
        rest = pd.NA if attribute.other is None else len(attribute.values)
        given = [rest if _is_null(value) else numbers.get(value, rest) for value in raw[name]]
        columns[name] = pd.array(given, dtype="Int64")
        for level in attribute.levels:
            groups = attribute.level(level).groups
            columns[level] = pd.array(
                [pd.NA if at is pd.NA else int(groups[at]) for at in given], dtype="Int64"
            )
    return pd.DataFrame(columns)


def _numbers(column: pd.Series, attribute: Numeric) -> Any:
    values = pd.array([pd.NA if _is_null(value) else float(value) for value in column], dtype="Float64")
    if attribute.integer:
        values = np.floor(values)
    below, above = ((values < attribute.low).fillna(False), (values >= attribute.high).fillna(False))
    if attribute.outside == "clip":
        values = pd.Series(values).mask(below, attribute.low).mask(above, attribute.edges[-2]).array
        return values
    return pd.Series(values).mask(below | above, pd.NA).array


def _is_null(value: object) -> bool:
    return value is None or value is pd.NA or (isinstance(value, float) and np.isnan(value))


def values_of(attribute: Numeric | Categorical, place: bool) -> list[Any]:
    """A raw value for every cell of an attribute, in order; None for its place, if it has one."""
    if isinstance(attribute, Numeric):
        found: list[Any] = [int(e) if attribute.integer else float(e) for e in attribute.edges[:-1]]
    else:
        found = [*attribute.values, *([] if attribute.other is None else [UNLISTED[attribute.type]])]
    return found + [None] * place


def every_cell(domain: Domain) -> pd.DataFrame:
    """One raw record for every cell, in the order of the cells."""
    records = list(
        itertools.product(
            *(values_of(attribute, name in domain.places) for name, attribute in domain.attributes)
        )
    )
    return pd.DataFrame(
        {name: [r[at] for r in records] for at, name in enumerate(domain.names)}, dtype=object
    )


@lru_cache(maxsize=8)
def known_cells(domain: Domain) -> pd.DataFrame:
    """What the domain knows of one record of every cell."""
    return known(every_cell(domain), domain)


def labels_of(domain: Domain, name: str) -> list[str]:
    """The labels of an attribute or a level that a table shows, in order."""
    attribute, level = domain.resolve(name)
    if level is not None:
        found = domain.level(level)
        return [found.label(at) for at in range(found.size)]
    declared = domain[attribute]
    if isinstance(declared, Numeric):
        return [declared.span_label(at, at) for at in range(len(declared.edges) - 1)]
    return [declared.label(at) for at in range(len(declared.cell_labels))]


def codes(table: pd.DataFrame, domain: Domain, name: str) -> np.ndarray:
    """The number of every record's label, -1 where it has none."""
    attribute = domain[domain.resolve(name)[0]]
    if isinstance(attribute, Numeric):
        values = table[name].to_numpy(dtype=float, na_value=np.nan)
        found = np.searchsorted(attribute.edges, values, side="right") - 1
        return np.where(np.isnan(values), -1, found)
    return table[name].to_numpy(dtype=np.int64, na_value=-1)


@dataclass(frozen=True)
class Condition:
    """A condition as text and as a mask; subclasses say how. NA is neither true nor false."""

    def text(self, quote: str) -> str:
        raise NotImplementedError

    def truth(self, table: pd.DataFrame) -> Any:
        raise NotImplementedError

    def mask(self, table: pd.DataFrame) -> np.ndarray:
        """The records that are counted."""
        return pd.array(self.truth(table), dtype="boolean").fillna(False).to_numpy(dtype=bool)


@dataclass(frozen=True)
class Compare(Condition):
    """A number against a bound."""

    name: str
    sign: str
    bound: float

    def text(self, quote: str) -> str:
        return f"{quote}{self.name}{quote} {self.sign} {self.bound:g}"

    def truth(self, table: pd.DataFrame) -> Any:
        values = table[self.name].array
        compared = {"<": values < self.bound, "<=": values <= self.bound, ">": values > self.bound}
        return (compared | {">=": values >= self.bound})[self.sign]


@dataclass(frozen=True)
class Between(Condition):
    """Whole numbers from one to another, both included."""

    name: str
    low: int
    high: int

    def text(self, quote: str) -> str:
        return f"{quote}{self.name}{quote} BETWEEN {self.low} AND {self.high}"

    def truth(self, table: pd.DataFrame) -> Any:
        values = table[self.name].array
        return (values >= self.low) & (values <= self.high)


@dataclass(frozen=True)
class Among(Condition):
    """One of some categories: their numbers, and the same as literals."""

    name: str
    numbers: tuple[int, ...]
    literals: tuple[str, ...]

    def text(self, quote: str) -> str:
        left = f"{quote}{self.name}{quote}"
        one = len(self.literals) == 1
        return f"{left} = {self.literals[0]}" if one else f"{left} IN ({', '.join(self.literals)})"

    def truth(self, table: pd.DataFrame) -> Any:
        column = table[self.name]
        return column.isin(self.numbers).astype("boolean").mask(column.isna(), pd.NA).array


@dataclass(frozen=True)
class Not(Condition):
    """Negated; what is not known stays so."""

    inner: Condition

    def text(self, quote: str) -> str:
        return f"NOT ({self.inner.text(quote)})"

    def truth(self, table: pd.DataFrame) -> Any:
        return ~pd.array(self.inner.truth(table), dtype="boolean")


@dataclass(frozen=True)
class Joined(Condition):
    """Two conditions under AND or OR."""

    word: str
    left: Condition
    right: Condition

    def text(self, quote: str) -> str:
        return f"({self.left.text(quote)}) {self.word} ({self.right.text(quote)})"

    def truth(self, table: pd.DataFrame) -> Any:
        left, right = (pd.array(part.truth(table), dtype="boolean") for part in (self.left, self.right))
        return left & right if self.word == "AND" else left | right


def names_in(condition: Condition) -> set[str]:
    """The attributes and levels that a condition is about."""
    match condition:
        case Not(inner):
            return names_in(inner)
        case Joined(_, left, right):
            return names_in(left) | names_in(right)
        case Compare(name) | Between(name) | Among(name):
            return {name}
    raise AssertionError(condition)


def conjuncts(condition: Condition) -> list[Condition]:
    """The parts of a condition that all must hold."""
    if isinstance(condition, Joined) and condition.word == "AND":
        return [*conjuncts(condition.left), *conjuncts(condition.right)]
    return [condition]
