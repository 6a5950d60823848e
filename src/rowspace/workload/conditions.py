"""Queries given by conditions, one row each, over the joint cells of the attributes they touch."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise

import numpy as np
import numpy.typing as npt

from rowspace import operators as op
from rowspace.domain import Dimension, Domain, Numeric
from rowspace.exceptions import InvalidWorkload, TooLarge
from rowspace.workload.factors import (
    Factor,
    Rows,
    missing_label,
    only_attribute,
    unseen_places,
    with_moved_columns,
)
from rowspace.workload.predicate import Condition, JointCondition, parse, read
from rowspace.workload.predicate.meaning import check_work, with_places_for, work
from rowspace.workload.predicate.syntax import Or

#: Most non-zero entries that conditions may have together.
MAX_ENTRIES = 2**24
# A condition is saved in its full form, longer than what was typed: `b` becomes `not b = true`.
_LONGEST_SAVED = 160_000
_PIECES_SHOWN = 4


@dataclass(frozen=True)
class Conditions(Factor):
    """One 0/1 row for each condition; all touch the same attributes. Stored sparsely, saved as text."""

    domain: Domain
    conditions: tuple[Condition, ...]
    rows: op.Sparse = field(compare=False, repr=False)

    @classmethod
    def of(cls, components: Sequence[JointCondition]) -> Conditions:
        """Put together conditions on the same attributes."""
        domain = components[0].domain
        cells = [component.cells for component in components]
        check_entries(sum(map(len, cells)))
        rows = op.Sparse.of_cells(cells, domain.size)
        return cls(domain, tuple(component.condition for component in components), rows)

    @classmethod
    def from_texts(cls, domain: Domain, texts: Sequence[str]) -> Conditions:
        """Rebuild from saved texts, which say everything about the rows."""
        own, conditions, to_look_at = domain, [], 0
        for text in texts:
            condition = parse(text, longest=_LONGEST_SAVED)
            to_look_at += work(condition, own)
            check_work(to_look_at)  # before the next text is parsed: a file may have millions of tests
            own = with_places_for(condition, own)  # rows of one matrix are over the same cells
            conditions.append(condition)
        components: list[JointCondition] = []
        entries = 0
        for condition, text in zip(conditions, texts, strict=True):
            component = read(condition, text, own)
            if component.domain != own:
                raise InvalidWorkload(f"saved conditions must all be about {', '.join(domain.names)}")
            components.append(component)
            entries += len(component.cells)
            check_entries(entries)
        if not components:
            raise InvalidWorkload("a saved list of conditions is empty")
        return cls.of(components)

    def over(self, domain: Domain) -> Factor:
        """The same conditions, where they hold among the cells of the other domain.

        One that asks whether a value is missing is read with a place for it, which goes again where none is counted:
        "sex is not missing" never holds there.
        """
        own = domain
        for condition in self.conditions:
            own = with_places_for(condition, own)  # rows of one matrix are over the same cells
        found = Conditions.of([read(condition, str(condition), own) for condition in self.conditions])
        if found.domain == domain:
            return found
        return replace(found, domain=domain, rows=with_moved_columns(found.rows, found.domain, domain))

    @property
    def unseen(self) -> frozenset[str]:
        """The places where no condition holds."""
        return unseen_places(self.rows, self.domain)

    @property
    def texts(self) -> list[str]:
        """Return the conditions as text, from which `from_texts` rebuilds them."""
        return [str(condition) for condition in self.conditions]

    @property
    def operator(self) -> op.Operator:
        """The rows."""
        return self.rows

    def phrases(self, rows: Rows, *, joined: bool) -> list[str]:
        """Write ``age >= 65``."""
        found = [self.conditions[row] for row in rows.tolist()]
        return [
            f"({condition})" if joined and isinstance(condition, Or) else str(condition)
            for condition in found
        ]

    def entries(self, rows: Rows) -> list[str]:
        """Write the cells, ``[65, 100)``, when they are few intervals of one attribute; else the condition."""
        if len(self.domain) > 1:
            return self.phrases(rows, joined=False)
        attribute = only_attribute(self.domain)[1]
        indices, indptr = self.rows.indices, self.rows.indptr
        names = [_cell_names(attribute, indices[indptr[row] : indptr[row + 1]]) for row in rows.tolist()]
        return [
            " or ".join(pieces) if len(pieces) <= _PIECES_SHOWN else str(self.conditions[row])
            for row, pieces in zip(rows.tolist(), names, strict=True)
        ]


def check_entries(entries: int) -> None:
    """Refuse conditions that hold on too many cells, before memory runs out."""
    if entries > MAX_ENTRIES:
        raise TooLarge(
            f"these conditions hold on more than {MAX_ENTRIES:,} cells together; "
            "use ranges or prefixes, or coarser bins"
        )


def _cell_names(attribute: Dimension, cells: npt.NDArray[np.int64]) -> list[str]:
    """The names of sorted cells: of spans of known values, and of the place for missing ones, which comes last."""
    known = cells[cells < attribute.size]
    found = (
        [attribute.span_label(first, last) for first, last in _spans(attribute, known)] if known.size else []
    )
    return found if len(known) == len(cells) else [*found, missing_label(attribute)]


def _spans(attribute: Dimension, cells: npt.NDArray[np.int64]) -> list[tuple[int, int]]:
    """Cut sorted cells into spans that have a name: runs of bins, single categories."""
    if not isinstance(attribute, Numeric):
        return [(cell, cell) for cell in cells.tolist()]
    breaks = np.flatnonzero(np.diff(cells) > 1) + 1
    bounds = [0, *breaks.tolist(), len(cells)]
    return [(int(cells[start]), int(cells[stop - 1])) for start, stop in pairwise(bounds)]
