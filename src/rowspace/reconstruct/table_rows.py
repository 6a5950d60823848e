"""Records that follow given tables, attribute by attribute: each drawn given those before it that it depends on most.

The order is greedy, as in a maximum spanning tree: the next attribute is the one that some table ties most closely to
attributes already there (most mutual information). Given these it is drawn from the table, independently of all others.
So tables along this tree are preserved up to rounding, and other tables as far as they follow from them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from rowspace.operators.base import Vector
from rowspace.tables import ComponentTables

Codes = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Step:
    """One attribute, and the earlier ones that it is drawn given."""

    attribute: int
    given: tuple[int, ...]


def drawn_rows(
    tables: ComponentTables,
    sets: Sequence[tuple[int, ...]],
    sizes: Sequence[int],
    rows: int,
    rng: np.random.Generator,
) -> Codes:
    """Cell numbers (attributes, rows) that follow the tables over `sets`; attributes of no table are all zero.

    Within every group of records that are alike in what an attribute is drawn given, its values are dealt out in
    proportion to the table, each within one of its share: no more randomness than rounding needs.
    """
    codes = np.zeros((len(sizes), rows), dtype=np.int64)
    for step in chosen_order(tables, sets):
        own = (*step.given, step.attribute)
        ascending = tuple(sorted(own))
        table = np.maximum(tables.table(ascending), 0.0).transpose([ascending.index(i) for i in own])
        table = table.reshape(-1, sizes[step.attribute])
        group = np.zeros(rows, dtype=np.int64)
        for i in step.given:
            group = group * sizes[i] + codes[i]
        codes[step.attribute] = _dealt(table, group, rng)
    return codes


def chosen_order(tables: ComponentTables, sets: Sequence[tuple[int, ...]]) -> Iterator[Step]:
    """All attributes of the sets, each with the earlier ones that a table ties it to most closely."""
    left = sorted({i for own in sets for i in own})
    there: set[int] = set()
    known: dict[tuple[int, tuple[int, ...]], float] = {}
    while left:
        best: tuple[float, int, tuple[int, ...]] | None = None
        for own in sets:
            given = tuple(i for i in own if i in there)
            for attribute in own:
                if attribute in there:
                    continue
                key = (attribute, given)
                if key not in known:
                    known[key] = _information(tables, attribute, given)
                # The first attribute has nothing to be tied to: the lowest of equals, so that the order is fixed.
                if best is None or known[key] > best[0] + 1e-12:
                    best = (known[key], attribute, given)
        assert best is not None
        yield Step(best[1], best[2])
        there.add(best[1])
        left.remove(best[1])


def _information(tables: ComponentTables, attribute: int, given: tuple[int, ...]) -> float:
    """Mutual information of an attribute and some others together, in nats, from their table."""
    if not given:
        return 0.0
    own = tuple(sorted((attribute, *given)))
    table = np.maximum(tables.table(own), 0.0)
    total = table.sum()
    if total <= 0:
        return 0.0
    joint = np.moveaxis(table, own.index(attribute), 0).reshape(table.shape[own.index(attribute)], -1) / total
    apart = np.multiply.outer(joint.sum(axis=1), joint.sum(axis=0))
    seen = joint > 0
    return float(np.sum(joint[seen] * np.log(joint[seen] / apart[seen])))


def _dealt(table: Vector, group: Codes, rng: np.random.Generator) -> Codes:
    """A value for every record, in proportion to its group's row of the table, dealt out in random order."""
    groups, values = table.shape
    shares = table.sum(axis=1, keepdims=True)
    # Groups that the table says are empty follow the attribute's own distribution.
    overall = table.sum(axis=0) if table.sum() > 0 else np.ones(values)
    table = np.where(shares > 0, table, overall)
    cumulative = np.cumsum(table, axis=1)
    cumulative /= cumulative[:, -1:]
    order = rng.permutation(len(group))
    order = order[np.argsort(group[order], kind="stable")]
    sizes = np.bincount(group, minlength=groups)
    rank = np.arange(len(group)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    mine = group[order]
    starts: Vector = rng.random(size=(groups,))
    place = (rank + starts[mine]) / sizes[mine]
    marks = (cumulative + np.arange(groups)[:, None]).ravel()
    found = np.searchsorted(marks, mine + place, side="right") - mine * values
    dealt = np.empty_like(group)
    dealt[order] = np.clip(found, 0, values - 1)
    return dealt
