"""Random questions. Each says what it asks in every language it can be asked in, and the truth by the oracle."""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pandas as pd

import rowspace as rs
from rowspace.domain import Domain, Numeric

from . import oracle
from .oracle import Condition


@dataclass(frozen=True)
class Question:
    """Some queries over a domain, in the order that a workload of them answers in."""

    domain: Domain

    def rows(self, table: pd.DataFrame) -> np.ndarray:
        """The coefficient of every record of a (known) table in every query: queries × records."""
        raise NotImplementedError

    def workload(self) -> rs.Workload:
        """The queries as a workload."""
        raise NotImplementedError

    @cached_property
    def cells(self) -> np.ndarray:
        """The queries as rows over the cells, found by asking a record of every cell."""
        return self.rows(oracle.known_cells(self.domain))

    def truth(self, raw: pd.DataFrame) -> np.ndarray:
        """What the raw table answers."""
        return self.rows(oracle.known(raw, self.domain)).sum(axis=1)


@dataclass(frozen=True)
class Count(Question):
    """How many records meet a condition."""

    condition: Condition

    @property
    def text(self) -> str:
        """As a predicate."""
        return self.condition.text("`")

    @property
    def sql(self) -> str:
        """As a statement."""
        return f"SELECT COUNT(*) FROM people WHERE {self.condition.text(chr(34))}"

    def rows(self, table: pd.DataFrame) -> np.ndarray:
        return self.condition.mask(table)[None].astype(float)

    def workload(self) -> rs.Workload:
        return rs.workload.predicates(self.domain, [self.text])


@dataclass(frozen=True)
class Table(Question):
    """Counts by one to three attributes or levels, as a person names them, perhaps of some records only."""

    names: tuple[str, ...]
    where: Condition | None = None

    @property
    def ordered(self) -> tuple[str, ...]:
        """The names in the order of the domain."""
        return tuple(sorted(self.names, key=lambda n: self.domain.position(self.domain.resolve(n)[0])))

    def labels(self, name: str) -> list[str]:
        """The labels of one of the names."""
        return oracle.labels_of(self.domain, name)

    def arrays(self, table: pd.DataFrame, names: tuple[str, ...]) -> np.ndarray:
        """One axis for each name in the order given, then one for the records."""
        held = np.ones(len(table), bool) if self.where is None else self.where.mask(table)
        found = held.astype(float)
        for axis, name in enumerate(names):
            own = np.arange(len(self.labels(name)))[:, None] == oracle.codes(table, self.domain, name)
            found = found[..., None, :] * own.reshape([1] * axis + list(own.shape))
        return found

    def rows(self, table: pd.DataFrame) -> np.ndarray:
        found = self.arrays(table, self.ordered)
        return found.reshape(-1, len(table))

    def cells_by(self, *names: str) -> np.ndarray:
        """Rows over the cells with an axis for each name."""
        return self.arrays(oracle.known_cells(self.domain), names)

    @property
    def condition_text(self) -> str | None:
        """The condition as a predicate."""
        return None if self.where is None else self.where.text("`")

    @property
    def sql(self) -> str:
        """As a statement."""
        keys = ", ".join(f'"{name}"' for name in self.names)
        where = "" if self.where is None else f" WHERE {self.where.text(chr(34))}"
        return f"SELECT {keys}, COUNT(*) FROM people{where} GROUP BY {keys}"

    def workload(self) -> rs.Workload:
        assert self.where is None
        return rs.workload.marginal(self.domain, *self.names)


@dataclass(frozen=True)
class Family(Question):
    """All ranges, prefixes or windows of an attribute, perhaps for each label of another."""

    name: str
    kind: str
    by: str | None = None
    width: int = 1

    def _spans(self) -> list[tuple[int, int]]:
        n = len(self.labels(self.name))
        ends = itertools.combinations_with_replacement(range(n), 2)
        if self.kind == "prefixes":
            return [(0, last) for last in range(n)]
        if self.kind == "widths":
            return [(first, first + self.width - 1) for first in range(n - self.width + 1)]
        return list(ends)

    def labels(self, name: str) -> list[str]:
        return oracle.labels_of(self.domain, name)

    def rows(self, table: pd.DataFrame) -> np.ndarray:
        code = oracle.codes(table, self.domain, self.name)
        spans = np.array([(first <= code) & (code <= last) for first, last in self._spans()], dtype=float)
        if self.by is None:
            return spans
        own = np.arange(len(self.labels(self.by)))[:, None] == oracle.codes(table, self.domain, self.by)
        owner = self.domain.resolve(self.by)[0]
        pair = (spans, own) if self.domain.position(self.name) < self.domain.position(owner) else (own, spans)
        return (pair[0][:, None, :] * pair[1][None, :, :]).reshape(-1, len(table))

    def workload(self) -> rs.Workload:
        if self.kind == "widths":
            return rs.workload.widths(self.domain, self.name, self.width)
        if self.by is not None:
            return rs.workload.product(self.domain, {self.name: self.kind, self.by: "identity"})
        make = rs.workload.ranges if self.kind == "ranges" else rs.workload.prefixes
        return make(self.domain, self.name)


@dataclass(frozen=True, eq=False)
class Rows(Question):
    """Any rows over the cells."""

    matrix: np.ndarray

    def rows(self, table: pd.DataFrame) -> np.ndarray:
        raise AssertionError("cells alone")

    @cached_property
    def cells(self) -> np.ndarray:
        return self.matrix

    def truth(self, raw: pd.DataFrame) -> np.ndarray:
        table = oracle.known(raw, self.domain)
        code = [oracle.codes(table, self.domain, name) for name in self.domain.names]
        # A record that some attribute does not know lies in that attribute's last place.
        shape = self.domain.shape
        placed = [np.where(own < 0, size - 1, own) for own, size in zip(code, shape, strict=True)]
        cell = np.ravel_multi_index(placed, shape)
        return self.matrix[:, cell].sum(axis=1)

    def workload(self) -> rs.Workload:
        return rs.workload.matrix(self.matrix, self.domain)


def random_condition(domain: Domain, rng: np.random.Generator, depth: int = 2) -> Condition:
    """A condition that holds on some cell, each of whose parts says something.

    A part that always holds is answered only where its attribute was measured beside the others.
    """
    table = oracle.known_cells(domain)
    while True:
        found = _condition(domain, rng, depth)
        says_nothing = any(part.mask(table).all() for part in oracle.conjuncts(found))
        if found.mask(table).any() and not says_nothing:
            return found


def _condition(domain: Domain, rng: np.random.Generator, depth: int) -> Condition:
    if depth and rng.random() < 0.5:
        if rng.random() < 0.25:
            return oracle.Not(_condition(domain, rng, depth - 1))
        parts = (_condition(domain, rng, depth - 1) for _ in range(2))
        return oracle.Joined(str(rng.choice(["AND", "OR"])), *parts)
    name = str(rng.choice(all_names(domain)))
    attribute = domain[domain.resolve(name)[0]]
    if isinstance(attribute, Numeric):
        edges = attribute.edges
        at = int(rng.integers(0, len(edges) - 1))
        if attribute.integer and rng.random() < 0.5:
            last = int(rng.integers(at + 1, len(edges)))
            if rng.random() < 0.5:
                return oracle.Between(name, int(edges[at]), int(edges[last]) - 1)
            return oracle.Compare(
                name, *((">", edges[at] - 1), ("<=", edges[last] - 1))[int(rng.integers(2))]
            )
        return oracle.Compare(name, str(rng.choice(["<", ">="])), float(edges[max(at, 1)]))
    level = domain.resolve(name)[1]
    values = attribute.values if level is None else domain.level(level).labels
    number = int(rng.integers(1, max(2, len(values))))
    chosen = sorted(rng.choice(len(values), number, replace=False).tolist())
    literals = tuple(_literal(values[at]) for at in chosen)
    return oracle.Among(name, tuple(chosen), literals)


def _literal(value: object) -> str:
    if isinstance(value, bool):
        return "TRUE" if value else "FALSE"
    return str(value) if isinstance(value, int) else "'" + str(value).replace("'", "''") + "'"


def all_names(domain: Domain) -> list[str]:
    """Attributes and levels."""
    levels = [level for _, attribute in domain.attributes for level in getattr(attribute, "levels", ())]
    return [*domain.names, *levels]


def random_table(domain: Domain, rng: np.random.Generator, *, most: int = 3, where: bool = True) -> Table:
    """A table by different attributes, in any order."""
    attributes = rng.permutation(list(domain.names)).tolist()
    attributes = attributes[: int(rng.integers(1, min(most, len(attributes)) + 1))]
    names = tuple(str(rng.choice([name, *getattr(domain[name], "levels", ())])) for name in attributes)
    condition = random_condition(domain, rng, 1) if where and rng.random() < 0.4 else None
    return Table(domain, names, condition)


def random_family(domain: Domain, rng: np.random.Generator) -> Family:
    """Ranges, prefixes or windows."""
    name = str(rng.choice(list(domain.names)))
    kind = str(rng.choice(["ranges", "prefixes", "widths"]))
    others = [other for other in all_names(domain) if domain.resolve(other)[0] != name]
    by = str(rng.choice(others)) if kind != "widths" and others and rng.random() < 0.5 else None
    most = len(oracle.labels_of(domain, name))
    return Family(domain, name, kind, by, int(rng.integers(1, most + 1)))


def random_rows(domain: Domain, rng: np.random.Generator) -> Rows:
    """A few rows of small whole numbers, none of them zero."""
    matrix = rng.integers(-1, 3, (int(rng.integers(1, 4)), domain.size)).astype(float)
    matrix[:, 0] = 1
    return Rows(domain, matrix)


def random_question(domain: Domain, rng: np.random.Generator) -> Question:
    """Any of them."""
    draw = rng.random()
    if draw < 0.4:
        return Count(domain, random_condition(domain, rng))
    if draw < 0.75:
        return random_table(domain, rng)
    return random_family(domain, rng) if draw < 0.9 else random_rows(domain, rng)
