"""Factors: queries about some attributes, with the words for them."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Container
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy

from rowspace import operators as op
from rowspace.domain import MISSING, Dimension, Domain, Level, Numeric
from rowspace.exceptions import InvalidWorkload
from rowspace.operators import Indices

#: Row numbers: int64, or Python integers (dtype object) where there are more rows than that.
Rows = npt.NDArray[Any]


class Factor(ABC):
    """Queries about the attributes of a small `domain`; a product of factors is a part of a workload.

    A factor stores how its queries are named and built, never the queries: its rows are labelled on demand.
    """

    domain: Domain

    unit = 1.0
    """What its answers are multiplied by to be compared with counts: one over what a record adds at most."""

    leads = False
    """Whether what it asks comes first in words, before the conditions of others."""

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

    def over(self, domain: Domain) -> Factor:
        """The same queries over the same attributes with other places for missing values.

        A condition may hold where a value is missing (``sex = 'F' or age < 18``), so that its cells are found anew.
        """
        return replace(self, domain=domain)  # type: ignore[type-var]

    @property
    def unseen(self) -> frozenset[str]:
        """The attributes whose place for missing values none of its queries sees."""
        return self.domain.places

    @abstractmethod
    def phrases(self, rows: Rows, *, joined: bool) -> list[str]:
        """Return the readable condition of each row; `joined` when it will stand next to others."""

    @abstractmethod
    def entries(self, rows: Rows) -> list[str]:
        """Return what stands in its table columns for each row."""


class Labelled(Factor):
    """One query per label, of an attribute or of a level of it; with `missing`, one more for its place."""

    missing: bool

    def __post_init__(self) -> None:
        if self.missing:
            object.__setattr__(self, "domain", with_place(self.domain))

    @property
    @abstractmethod
    def labelled(self) -> Dimension | Level:
        """What has the labels."""

    @property
    def size(self) -> int:
        """Number of labels."""
        return self.labelled.size + self.missing

    @property
    def unseen(self) -> frozenset[str]:
        """Its place, unless it is asked for."""
        return frozenset() if self.missing else self.domain.places

    def _names(self, rows: Indices) -> list[str]:
        """The labels of some rows, none of them the one for missing values."""
        return [self.labelled.label(row) for row in rows.tolist()]

    def phrases(self, rows: Rows, *, joined: bool) -> list[str]:
        """Write ``age = 18``."""
        name = self.columns[0]
        return self._written(rows, lambda label: phrase(name, self.labelled, label), f"{name} is missing")

    def entries(self, rows: Rows) -> list[str]:
        """Write ``18``."""
        return self._written(rows, str, missing_label(self.labelled))

    def _written(self, rows: Rows, write: Callable[[str], str], missing: str) -> list[str]:
        known = rows < self.labelled.size
        names = map(write, self._names(rows[known].astype(np.int64)))
        return [next(names) if is_known else missing for is_known in known.tolist()]


@dataclass(frozen=True)
class Cells(Labelled):
    """One query per cell of an attribute: the identity; with `missing`, one more for its place."""

    domain: Domain
    missing: bool = False

    @property
    def labelled(self) -> Dimension:
        """The attribute."""
        return only_attribute(self.domain)[1]

    @cached_property
    def operator(self) -> op.Operator:
        """The identity."""
        return op.Padded.right(op.Identity(self.size), self.domain.size)

    def _names(self, rows: Indices) -> list[str]:
        return self.labelled.span_labels(rows, rows)


@dataclass(frozen=True)
class LevelCells(Labelled):
    """One query per label of a taxonomy level: each sums the cells below it."""

    domain: Domain
    level_name: str
    missing: bool = False

    @cached_property
    def labelled(self) -> Level:
        """The level itself."""
        return self.domain.level(self.level_name)

    @cached_property
    def operator(self) -> op.Operator:
        """The 0/1 matrix that adds up the cells of each label."""
        groups = self.labelled.groups
        if self.missing:
            groups = np.append(groups, self.labelled.size)
        ones = (np.ones(len(groups)), (groups, np.arange(len(groups))))
        return op.Sparse(scipy.sparse.csr_array(ones, shape=(self.size, self.domain.size)))

    @property
    def columns(self) -> tuple[str, ...]:
        """The level's own column."""
        return (self.level_name,)


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

    def over(self, domain: Domain) -> Factor:
        """The same rows: a place that was not there is not seen; one that goes must not have been."""
        return Matrix(domain, replaced(self.given, self.domain, domain))

    @property
    def unseen(self) -> frozenset[str]:
        """The places whose columns are zero."""
        return unseen_places(self.given, self.domain)

    def phrases(self, rows: Rows, *, joined: bool) -> list[str]:
        """Write ``row 7``, with the attribute when there may be others."""
        prefix = f"{', '.join(self.attributes)}: " if joined else ""
        return [prefix + entry for entry in self.entries(rows)]

    def entries(self, rows: Rows) -> list[str]:
        """Write ``row 7``."""
        return [f"row {row}" for row in rows.tolist()]


def only_attribute(domain: Domain) -> tuple[str, Dimension]:
    """Return the attribute of a domain that has one, to count by."""
    (name,) = domain.names
    return name, domain.dimension(name)


def with_place(domain: Domain) -> Domain:
    """The domain of one attribute with its place for missing values, or `InvalidWorkload` where it has none."""
    name, attribute = only_attribute(domain)
    if not attribute.keeps_missing:
        raise InvalidWorkload(
            f"attribute {name!r} has no place for missing values: it is declared to drop them or to count them as "
            "another category; declare it with outside='missing' and without other="
        )
    return domain.with_places()


def missing_label(of: Dimension | Level) -> str:
    """What stands in a table where a value is missing; in brackets where a category is called so."""
    labels: Container[object] = of.labels if isinstance(of, Level) else getattr(of, "values", ())
    return f"({MISSING})" if MISSING in labels else MISSING


def replaced(matrix: op.Operator, old: Domain, new: Domain) -> op.Operator:
    """A matrix over the cells of `old` as one over those of `new`, the same attributes with other places."""
    _check_not_lost(matrix, old, new)
    if isinstance(matrix, op.Sparse):
        return with_moved_columns(matrix, old, new)
    if len(old) == 1 and isinstance(matrix, op.Padded) and matrix.of.shape[1] == new.size:
        return matrix.of
    if len(old) == 1 and new.size > old.size:
        return op.Padded.right(matrix, new.size)
    common = [min(a, b) for a, b in zip(old.shape, new.shape, strict=True)]
    cut = [op.Padded.right(op.Identity(c), n) for c, n in zip(common, old.shape, strict=True)]
    spread = [op.Padded.right(op.Identity(c), n) for c, n in zip(common, new.shape, strict=True)]
    return op.Composed(matrix, op.Kronecker(*(op.Composed(a.T, b) for a, b in zip(cut, spread, strict=True))))


def _check_not_lost(matrix: op.Operator, old: Domain, new: Domain) -> None:
    """Refuse to lose a place that some query sees."""
    if lost := (old.places - new.places) - unseen_places(matrix, old):
        raise InvalidWorkload(
            f"the queries ask for records where {min(lost)!r} is missing, which are not counted here"
        )


def with_moved_columns(matrix: op.Sparse, old: Domain, new: Domain) -> op.Sparse:
    """The same entries in the columns of another domain; those of places that are gone are zero."""
    _check_not_lost(matrix, old, new)
    box = tuple(slice(min(a, b)) for a, b in zip(old.shape, new.shape, strict=True))
    column = np.zeros(old.shape, dtype=np.int64)
    column[box] = np.arange(new.size).reshape(new.shape)[box]
    entries = matrix.csr().copy()  # what is stored is never written to
    entries.eliminate_zeros()
    moved = (entries.data, column.ravel()[entries.indices], entries.indptr)
    return op.Sparse(scipy.sparse.csr_array(moved, shape=(matrix.shape[0], new.size)))


def unseen_places(matrix: op.Operator, domain: Domain) -> frozenset[str]:
    """The attributes whose place has only zero columns.

    A column that is not zero has a random combination of its entries that is not, but with probability 0.
    """
    if not domain.places:
        return frozenset()
    random = np.random.default_rng(0).standard_normal(matrix.shape[0])
    seen = (matrix.T @ random).reshape(domain.shape) != 0
    return frozenset(name for name in domain.places if not seen.take(-1, axis=domain.position(name)).any())


def phrase(name: str, of: Dimension | Level, label: str, *, several: bool = False) -> str:
    """Say that an attribute lies in the cells of a label; `several` where that is of more than one."""
    if isinstance(of, Numeric):
        return f"{name} in {label}" if label.startswith("[") else f"{name} = {label}"
    return f"{name} from {label}" if several else f"{name} = {label}"


class Intervals(Factor):
    """Queries that each count the cells from one to another; none holds a missing value."""

    @property
    def cells(self) -> int:
        """Number of cells that the intervals are made of."""
        return only_attribute(self.domain)[1].size

    @abstractmethod
    def ends(self, rows: Rows) -> tuple[Rows, Rows]:
        """Return the first and last cell of every row, both included."""

    def phrases(self, rows: Rows, *, joined: bool) -> list[str]:
        """Write ``age in [18, 65)``."""
        name, attribute = only_attribute(self.domain)
        first, last = self.ends(rows)
        words = zip(self.entries(rows), (first != last).tolist(), strict=True)
        return [phrase(name, attribute, label, several=several) for label, several in words]

    def entries(self, rows: Rows) -> list[str]:
        """Write ``[18, 65)``."""
        first, last = (ends.astype(np.int64) for ends in self.ends(rows))
        return only_attribute(self.domain)[1].span_labels(first, last)


@dataclass(frozen=True)
class AllRanges(Intervals):
    """All n(n+1)/2 ranges, those from the first cell first."""

    domain: Domain

    @cached_property
    def operator(self) -> op.Operator:
        """All ranges, implicitly."""
        return op.Padded.right(op.Ranges(self.cells), self.domain.size)

    def ends(self, rows: Rows) -> tuple[Rows, Rows]:
        """Ranges are numbered as their operator numbers them."""
        return op.Ranges(self.cells).ends(rows)


@dataclass(frozen=True)
class Prefixes(Intervals):
    """The n ranges that begin at the first cell."""

    domain: Domain

    @cached_property
    def operator(self) -> op.Operator:
        """All prefixes, implicitly."""
        return op.Padded.right(op.Prefix(self.cells), self.domain.size)

    def ends(self, rows: Rows) -> tuple[Rows, Rows]:
        """Prefix i is the cells 0 to i."""
        return 0 * rows, rows


@dataclass(frozen=True)
class Widths(Intervals):
    """The n-k+1 ranges of k cells."""

    domain: Domain
    width: int

    def __post_init__(self) -> None:
        if isinstance(self.width, bool) or not isinstance(self.width, int):
            raise InvalidWorkload(f"width must be a whole number of cells, got {type(self.width).__name__}")
        if not 1 <= self.width <= self.cells:
            raise InvalidWorkload(f"width must be between 1 and {self.cells:,} cells, got {self.width}")

    @cached_property
    def operator(self) -> op.Operator:
        """All ranges of the width, implicitly."""
        return op.Padded.right(op.WidthRanges(self.cells, self.width), self.domain.size)

    def ends(self, rows: Rows) -> tuple[Rows, Rows]:
        """Window i is the cells i to i+k-1."""
        return rows, rows + (self.width - 1)
