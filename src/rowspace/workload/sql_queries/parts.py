"""From one count for one set of keys to a part of a workload: a product of factors on separate attributes.

Conditions and keys that share attributes belong together; each such component becomes one factor. A key alone is the
family it names (every cell, every label of a level). Otherwise the factor has one 0/1 row for each group that the
condition leaves, over the joint cells of just the component's attributes.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import pairwise

import numpy as np
import numpy.typing as npt

from rowspace.domain import Categorical, Dates, Dimension, Domain, Numeric
from rowspace.exceptions import TooLarge
from rowspace.workload.conditions import Conditions, check_entries
from rowspace.workload.factors import Cells, Factor, LevelCells
from rowspace.workload.predicate import JointCondition
from rowspace.workload.predicate.meaning import (
    check_joint_cells,
    check_work,
    holds,
    touched,
    with_places_for,
    work,
)
from rowspace.workload.predicate.syntax import And, Condition, Missing, Or, Test, Value, conjuncts
from rowspace.workload.sql_queries.counts import CaseKey, CellKey, Key, KeySet, NameKey
from rowspace.workload.sql_queries.statements import SqlText
from rowspace.workload.sql_queries.truths import Truth, all_of, untrue

_Indices = npt.NDArray[np.int64]

_MOST_PIECES = 4
_MOST_CATEGORIES = 40


def worded(domain: Domain, cells: _Indices) -> Condition | None:
    """A condition for sorted joint cells of a domain, or None when it has no short one.

    >>> from rowspace.domain import Numeric
    >>> str(worded(Domain(age=Numeric(0, 100, bins=10)), np.array([2, 3, 4])))
    'age >= 20 and age < 50'
    """
    along = [np.unique(axis) for axis in np.unravel_index(cells, domain.shape)]
    if int(np.prod([len(axis) for axis in along], dtype=object)) != len(cells):
        return None  # not a product of conditions on each attribute
    found: list[Condition] = []
    for name, chosen in zip(domain.names, along, strict=True):
        if len(chosen) == domain.shape[domain.position(name)] and len(domain) > 1:
            # It says nothing, but a saved condition must touch the attributes it is about.
            return None
        condition = _one(name, domain.dimension(name), chosen)
        if condition is None:
            return None
        found.extend(condition.conditions if isinstance(condition, And) else [condition])
    return found[0] if len(found) == 1 else And(tuple(found))


def _one(name: str, attribute: Dimension, cells: _Indices) -> Condition | None:
    """A condition on one attribute; the cell after its last is the place for missing values."""
    if cells[-1] == attribute.size:
        if len(cells) == 1:
            return Missing(name)
        known = _one(name, attribute, cells[:-1])
        if known is None:
            return None
        return Or((*(known.conditions if isinstance(known, Or) else (known,)), Missing(name)))
    if isinstance(attribute, Categorical):
        if len(cells) > _MOST_CATEGORIES:
            return None
        labels = tuple(attribute.cell_labels[cell] for cell in cells.tolist())
        return Test(name, "=", labels) if len(labels) == 1 else Test(name, "in", labels)
    breaks = np.flatnonzero(np.diff(cells) > 1) + 1
    bounds = [0, *breaks.tolist(), len(cells)]
    if len(bounds) > _MOST_PIECES + 1:
        return None
    pieces = [_span(name, attribute, int(cells[i]), int(cells[j - 1])) for i, j in pairwise(bounds)]
    return pieces[0] if len(pieces) == 1 else Or(tuple(pieces))


def _span(name: str, attribute: Numeric, first: int, last: int) -> Condition:
    """Some bins in a row."""
    low, high = _literal(attribute, first), _literal(attribute, last + 1)
    if attribute.integer and attribute.edge(last + 1) - attribute.edge(first) == 1:
        return Test(name, "=", (low,))
    ends: list[Condition] = []
    if first > 0 or last == attribute.size - 1:
        ends.append(Test(name, ">=", (low,)))
    if last < attribute.size - 1:
        ends.append(Test(name, "<", (high,)))
    return ends[0] if len(ends) == 1 else And(tuple(ends))


def _literal(attribute: Numeric, index: int) -> Value:
    """An edge as people write it."""
    edge = attribute.edge(index)
    if isinstance(attribute, Dates):
        return attribute.format(edge)
    return int(edge) if edge.is_integer() and abs(edge) < 2**53 else edge


#: Most groups with a condition of their own, over all statements: each takes a row and its words.
MAX_ROWS = 10**5

Codes = npt.NDArray[np.int64]


@dataclass
class Limits:
    """What the statements of a text may cost together."""

    entries: int = 0
    work: int = 0
    rows: int = 0

    def spend(self, entries: int, cells: int, rows: int) -> None:
        """Add up, and refuse past the limit."""
        self.entries += entries
        self.work += cells
        self.rows += rows
        check_entries(self.entries)
        check_work(self.work)
        if self.rows > MAX_ROWS:
            raise TooLarge(
                f"these statements have more than {MAX_ROWS:,} groups with conditions of their own; group by whole "
                "columns, or use coarser bins"
            )


@dataclass(frozen=True)
class PartBuilder:
    """Builds the factors of products over one domain; equal families are shared."""

    domain: Domain
    text: SqlText
    limits: Limits = field(default_factory=Limits)
    _families: dict[str, Factor] = field(default_factory=dict)

    def factors(self, truth: Truth, keys: KeySet, position: int) -> tuple[Factor, ...]:
        """The factors of the groups `keys` of the records where a truth holds; `position` is where errors point."""
        if truth is False:
            raise self.text.error("no record can satisfy this: the answer would always be 0", position)
        conditions = [] if truth is True else conjuncts(truth)
        found = [
            self._factor(attributes, own, own_keys, position)
            for attributes, own, own_keys in self._components(conditions, keys)
        ]
        kept = [factor for factor in found if factor is not None]
        return tuple(sorted(kept, key=lambda factor: self.domain.position(factor.attributes[0])))

    def _components(
        self, conditions: Sequence[Condition], keys: KeySet
    ) -> list[tuple[frozenset[str], list[Condition], list[Key]]]:
        """Conditions and keys gathered by the attributes they share, directly or through others."""
        groups: list[tuple[frozenset[str], list[Condition], list[Key]]] = []
        items: list[tuple[frozenset[str], list[Condition], list[Key]]] = [
            (frozenset(touched(condition, self.domain, self.text)), [condition], [])
            for condition in conditions
        ]
        items += [(frozenset(self.domain.resolve(name)[0] for name in key.names), [], [key]) for key in keys]
        for names, own, own_keys in items:
            sharing = [group for group in groups if group[0] & names]
            apart = [group for group in groups if not group[0] & names]
            merged = (
                names.union(*(group[0] for group in sharing)),
                [c for group in sharing for c in group[1]] + own,
                [k for group in sharing for k in group[2]] + own_keys,
            )
            groups = [*apart, merged]
        return groups

    def _factor(
        self, attributes: frozenset[str], conditions: list[Condition], keys: list[Key], position: int
    ) -> Factor | None:
        """One component as a factor; None when it groups by a constant."""
        if not attributes:
            return None
        if not conditions and len(keys) == 1 and isinstance(keys[0], NameKey):
            return self._family(keys[0].name)
        return self._rows(self._cells(attributes, conditions, keys), conditions, keys, position)

    def _cells(self, attributes: frozenset[str], conditions: list[Condition], keys: list[Key]) -> Domain:
        """The cells of a component, with the places for missing values that its conditions and keys tell apart."""
        own = self.domain.subset(attributes)
        for condition in conditions:
            own = with_places_for(condition, own)
        # CASE ... ELSE sees every record, so also those whose value is missing.
        return own.with_places() if any(isinstance(key, CaseKey) for key in keys) else own

    def _family(self, name: str) -> Factor:
        """Every cell of an attribute, or every label of a level."""
        if name not in self._families:
            attribute, level = self.domain.resolve(name)
            own = self.domain.subset([attribute])
            self._families[name] = Cells(own) if level is None else LevelCells(own, level)
        return self._families[name]

    def _rows(self, own: Domain, conditions: list[Condition], keys: list[Key], position: int) -> Factor:
        """One row for each group that is not empty, over the joint cells of a component."""
        check_joint_cells(own)
        condition = all_of(conditions)
        looked = sum(work(c, own) for c in conditions) + own.size * len(keys)
        self.limits.spend(0, looked, 0)
        mask = (
            np.ones(own.shape, dtype=np.bool_)
            if isinstance(condition, bool)
            else holds(condition, own, self.text)
        )
        grouped = _Grouped(own, keys, self.text)
        # As in all tables, no group for missing values; where the condition leaves nothing else, they are meant.
        cells = np.flatnonzero(mask & grouped.known)
        cells = cells if cells.size else np.flatnonzero(mask)
        if not cells.size:
            raise self.text.error(
                "no cell of the domain satisfies this: the answer would always be 0", position
            )
        chosen = grouped.codes(cells)
        order = np.argsort(chosen, kind="stable")
        starts = np.flatnonzero(np.diff(chosen[order], prepend=-1))
        rows = np.split(cells[order], starts[1:])
        self.limits.spend(len(cells), 0, len(rows))
        return Conditions.of([JointCondition(own, grouped.condition(row, conditions), row) for row in rows])


class _Grouped:
    """Which group every joint cell of a component belongs to."""

    def __init__(self, domain: Domain, keys: list[Key], text: SqlText) -> None:
        self._domain = domain
        self._text = text
        self._keys = keys
        self._by_key = [self._codes(key, text) for key in keys]

    @property
    def known(self) -> npt.NDArray[np.bool_]:
        """The joint cells where all columns that are grouped by have a value."""
        found = np.ones(self._domain.shape, dtype=np.bool_)
        for key in self._keys:
            if isinstance(key, CaseKey):
                continue
            name = self._domain.resolve(key.name)[0] if isinstance(key, NameKey) else key.subject.name
            if name in self._domain.places:
                found[(slice(None),) * self._domain.position(name) + (-1,)] = False
        return found

    def codes(self, cells: npt.NDArray[np.int64]) -> Codes:
        """Number the groups of some cells, in the order of the keys."""
        found = np.zeros(len(cells), dtype=np.int64)
        for codes in self._by_key:
            along = codes.ravel()[cells]
            # Renumbered each time, so that products of many keys stay small.
            found = np.unique(found * (int(along.max()) + 1) + along, return_inverse=True)[1].astype(np.int64)
        return found

    def condition(self, row: npt.NDArray[np.int64], conditions: list[Condition]) -> Condition:
        """The words for one group: short ones for its cells, or those of the statement."""
        if self._keys:
            short = worded(self._domain, row)
            if short is not None:
                return short
        first = np.unravel_index(int(row[0]), self._domain.shape)
        own = [
            condition
            for key, codes in zip(self._keys, self._by_key, strict=True)
            for condition in self._key_condition(key, int(codes[first]), first)
        ]
        found = all_of([*own, *conditions])
        assert not isinstance(found, bool)
        return found

    def _codes(self, key: Key, text: SqlText) -> Codes:
        """The group of every joint cell by one key."""
        domain = self._domain
        if isinstance(key, NameKey):
            name, level = domain.resolve(key.name)
            own = np.arange(domain[name].size) if level is None else domain.level(key.name).groups
            return self._along(own, name)
        if isinstance(key, CellKey):
            return self._along(key.codes(domain[key.subject.name], text), key.subject.name)
        numbers: dict[tuple[type, object], int] = {}
        codes = np.full(domain.shape, -1, dtype=np.int64)
        for branch in key.branches:
            number = numbers.setdefault((type(branch.value), branch.value), len(numbers))
            where: npt.NDArray[np.bool_] | bool = (
                branch.condition
                if isinstance(branch.condition, bool)
                else holds(branch.condition, domain, text)
            )
            codes[(codes < 0) & where] = number
        return codes

    def _along(self, codes: Codes, name: str) -> Codes:
        """Codes along the axis of an attribute; its place for missing values is a group of its own."""
        axis = self._domain.position(name)
        found = codes - codes.min()
        if len(found) < self._domain.shape[axis]:
            found = np.append(found, found.max() + 1)
        shape = [1] * len(self._domain)
        shape[axis] = len(found)
        return np.broadcast_to(found.reshape(shape), self._domain.shape)

    def _key_condition(self, key: Key, code: int, cell: tuple[np.intp, ...]) -> list[Condition]:
        """The condition that a key has the value it has on a cell."""
        if isinstance(key, NameKey):
            name, level = self._domain.resolve(key.name)
            at = int(cell[self._domain.position(name)])
            own = self._domain.subset([name])
            if level is not None and at < self._domain[name].size:
                found = self._domain.level(key.name)
                return [Test(key.name, "=", (found.labels[int(found.groups[at])],))]
            single = worded(own, np.array([at]))
            return [] if single is None else [single]
        if isinstance(key, CellKey):
            return self._step_condition(key, cell)
        return [_branch_condition(key, code, self._domain)]

    def _step_condition(self, key: CellKey, cell: tuple[np.intp, ...]) -> list[Condition]:
        """The condition that a cell has the part of a date, or lies on the step, that it does."""
        name = key.subject.name
        attribute, at = self._domain[name], int(cell[self._domain.position(name)])
        if at == attribute.size:
            return [Missing(name)]
        codes = key.codes(attribute, self._text)
        if key.subject.part is not None:
            return [Test(name, "=", (int(codes[at]),), part=key.subject.part)]
        step = worded(self._domain.subset([name]), np.flatnonzero(codes == codes[at]))
        return [] if step is None else [step]


def _branch_condition(key: CaseKey, code: int, domain: Domain) -> Condition:
    """The condition that a CASE takes its value number `code`."""
    numbers: dict[tuple[type, object], int] = {}
    earlier: list[Condition] = []
    pieces: list[Condition] = []
    for branch in key.branches:
        number = numbers.setdefault((type(branch.value), branch.value), len(numbers))
        condition = branch.condition
        if number == code:
            own = all_of([*(untrue(c, domain) for c in earlier), condition])
            assert not isinstance(own, bool)
            pieces.append(own)
        if isinstance(condition, bool):
            if condition:
                break
        else:
            earlier.append(condition)
    return pieces[0] if len(pieces) == 1 else Or(tuple(pieces))
