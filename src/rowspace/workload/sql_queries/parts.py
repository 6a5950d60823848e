"""From one count for one set of keys to a part of a workload: a product of factors on separate attributes.

Conditions and keys that share attributes belong together; each such component becomes one factor. A key alone is the
family it names (every cell, every label of a level). Otherwise the factor has one 0/1 row for each group that the
condition leaves, over the joint cells of just the component's attributes.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from rowspace.domain import Domain
from rowspace.exceptions import TooLarge
from rowspace.workload.conditions import Conditions, check_entries
from rowspace.workload.factors import Cells, Factor, LevelCells
from rowspace.workload.predicate import Component
from rowspace.workload.predicate.meaning import check_joint_cells, check_work, holds, touched, work
from rowspace.workload.predicate.syntax import And, Condition, Not, Or, Test, conjuncts
from rowspace.workload.sql_queries.conditions import Truth, all_of
from rowspace.workload.sql_queries.grouping import CaseKey, Key, KeySet, NameKey
from rowspace.workload.sql_queries.text import SqlText
from rowspace.workload.sql_queries.wording import worded

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
        own = self.domain.subset(attributes)
        return self._rows(own, conditions, keys, position)

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
        cells = np.flatnonzero(mask)
        if not cells.size:
            raise self.text.error(
                "no cell of the domain satisfies this: the answer would always be 0", position
            )
        grouped = _Grouped(own, keys, self.text)
        chosen = grouped.codes(cells)
        order = np.argsort(chosen, kind="stable")
        starts = np.flatnonzero(np.diff(chosen[order], prepend=-1))
        rows = np.split(cells[order], starts[1:])
        self.limits.spend(len(cells), 0, len(rows))
        return Conditions.of([Component(own, grouped.condition(row, conditions), row) for row in rows])


class _Grouped:
    """Which group every joint cell of a component belongs to."""

    def __init__(self, domain: Domain, keys: list[Key], text: SqlText) -> None:
        self._domain = domain
        self._keys = keys
        self._by_key = [self._codes(key, text) for key in keys]

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
            shape = [1] * len(domain)
            shape[domain.position(name)] = len(own)
            return np.broadcast_to(own.reshape(shape), domain.shape)
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

    def _key_condition(self, key: Key, code: int, cell: tuple[np.intp, ...]) -> list[Condition]:
        """The condition that a key has the value it has on a cell."""
        if isinstance(key, NameKey):
            name, level = self._domain.resolve(key.name)
            at = int(cell[self._domain.position(name)])
            own = self._domain.subset([name])
            if level is not None:
                found = self._domain.level(key.name)
                return [Test(key.name, "=", (found.labels[int(found.groups[at])],))]
            single = worded(own, np.array([at]))
            return [] if single is None else [single]
        return [_branch_condition(key, code)]


def _branch_condition(key: CaseKey, code: int) -> Condition:
    """The condition that a CASE takes its value number `code`."""
    numbers: dict[tuple[type, object], int] = {}
    earlier: list[Condition] = []
    pieces: list[Condition] = []
    for branch in key.branches:
        number = numbers.setdefault((type(branch.value), branch.value), len(numbers))
        condition = branch.condition
        if number == code:
            own = [Not(c) for c in earlier] + ([] if isinstance(condition, bool) else [condition])
            pieces.append(own[0] if len(own) == 1 else And(tuple(own)))
        if isinstance(condition, bool):
            if condition:
                break
        else:
            earlier.append(condition)
    return pieces[0] if len(pieces) == 1 else Or(tuple(pieces))
