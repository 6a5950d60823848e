"""Factors: queries about some attributes, with the words for them."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy

from rowspace import operators as op
from rowspace.domain import Attribute, Categorical, Domain, Level, Numeric
from rowspace.exceptions import InvalidWorkload

#: Row numbers: int64, or Python integers (dtype object) where there are more rows than that.
Rows = npt.NDArray[Any]


class Factor(ABC):
    """Queries about the attributes of a small `domain`; a product of factors is a part of a workload.

    A factor stores how its queries are named and built, never the queries: its rows are labelled on demand.
    """

    domain: Domain

    @property
    def attributes(self) -> tuple[str, ...]:
        """Names of the attributes it is about, in the order of the domain."""
        return self.domain.names

    @property
    @abstractmethod
    def operator(self) -> op.Operator:
        """Its queries over the joint cells of its attributes."""

    @property
    def size(self) -> int:
        """Number of queries."""
        return self.operator.shape[0]

    @property
    def columns(self) -> tuple[str, ...]:
        """Names of the table columns it fills: attributes, or a level of a taxonomy."""
        return self.attributes

    @abstractmethod
    def phrases(self, rows: Rows, *, joined: bool) -> list[str]:
        """Return the readable condition of each row; `joined` when it will stand next to others."""

    @abstractmethod
    def entries(self, rows: Rows) -> list[str]:
        """Return what stands in its table columns for each row."""


@dataclass(frozen=True)
class Cells(Factor):
    """One query per cell of an attribute: the identity."""

    domain: Domain

    @cached_property
    def operator(self) -> op.Operator:
        """The identity."""
        return op.Identity(self.domain.size)

    def phrases(self, rows: Rows, *, joined: bool) -> list[str]:
        """Write ``age = 18``."""
        name, attribute = only_attribute(self.domain)
        return [span_phrase(name, attribute, row, row) for row in rows.tolist()]

    def entries(self, rows: Rows) -> list[str]:
        """Write ``18``."""
        attribute = only_attribute(self.domain)[1]
        return [attribute.label(row) for row in rows.tolist()]


@dataclass(frozen=True)
class LevelCells(Factor):
    """One query per label of a taxonomy level: each sums the cells below it."""

    domain: Domain
    level_name: str

    @cached_property
    def level(self) -> Level:
        """The level itself."""
        return self.domain.level(self.level_name)

    @cached_property
    def operator(self) -> op.Operator:
        """The 0/1 matrix that adds up the cells of each label."""
        cells = self.domain.size
        ones = (np.ones(cells), (self.level.groups, np.arange(cells)))
        return op.Sparse(scipy.sparse.csr_array(ones, shape=(self.level.size, cells)))

    @property
    def size(self) -> int:
        """Number of labels."""
        return self.level.size

    @property
    def columns(self) -> tuple[str, ...]:
        """The level's own column."""
        return (self.level_name,)

    def phrases(self, rows: Rows, *, joined: bool) -> list[str]:
        """Write ``state = CA``."""
        return [f"{self.level_name} = {label}" for label in self.entries(rows)]

    def entries(self, rows: Rows) -> list[str]:
        """Write ``CA``."""
        return [self.level.label(row) for row in rows.tolist()]


@dataclass(frozen=True)
class Matrix(Factor):
    """The rows of a matrix over the joint cells of some attributes, known by their number."""

    domain: Domain
    given: op.Operator

    def __post_init__(self) -> None:
        if self.given.shape[1] != self.domain.size:
            raise InvalidWorkload(
                f"a matrix over {', '.join(self.domain.names)} needs {self.domain.size:,} columns, "
                f"got {self.given.shape[1]:,}"
            )

    @property
    def operator(self) -> op.Operator:
        """The matrix as given."""
        return self.given

    def phrases(self, rows: Rows, *, joined: bool) -> list[str]:
        """Write ``row 7``, with the attribute when there may be others."""
        prefix = f"{', '.join(self.attributes)}: " if joined else ""
        return [prefix + entry for entry in self.entries(rows)]

    def entries(self, rows: Rows) -> list[str]:
        """Write ``row 7``."""
        return [f"row {row}" for row in rows.tolist()]


def only_attribute(domain: Domain) -> tuple[str, Attribute]:
    """Return the attribute of a domain that has one."""
    ((name, attribute),) = domain.attributes
    return name, attribute


def span_phrase(name: str, attribute: Attribute, first: int, last: int) -> str:
    """Say that an attribute lies in the cells ``first`` to ``last``."""
    label = attribute.span_label(first, last)
    match attribute:
        case Numeric():
            return f"{name} in {label}" if label.startswith("[") else f"{name} = {label}"
        case Categorical():
            return f"{name} = {label}" if first == last else f"{name} from {label}"
