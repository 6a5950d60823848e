"""Answers to products from estimated tables: each query needs only the table over its own attributes."""

from __future__ import annotations

import numpy as np

from rowspace.operators import Identity, Vector

from .estimates import ComponentTables
from .lattice import mask_of
from .product_workload import ProductWorkload


def answer_products(estimate: ComponentTables, workload: ProductWorkload) -> Vector:
    """The answers to all queries, in the order of the workload; parts over tables of one shape are done together."""
    batches: dict[tuple[object, ...], list[int]] = {}
    known = {mask_of(own) for own in estimate.places}
    for number, part in enumerate(workload.parts):
        axes = workload.axes_of(part)
        if estimate.check is not None:
            estimate.check(workload, number)
        elif tuple(sorted(i for i in axes if workload.sizes[i] > 1)) not in estimate.places:
            workload.check_measured(number, known, estimate.splits)
        # Parts can share their work when tables have one shape and pieces do the same to them.
        shape = tuple(workload.sizes[i] for i in axes)
        key = tuple(
            0 if isinstance(workload.pieces[k].operator, Identity) else 1 + id(workload.pieces[k])
            for k in part
        )
        alone = number if list(axes) != sorted(axes) else None
        batches.setdefault((shape, key, alone), []).append(number)
    answers: list[Vector] = [np.empty(0)] * len(workload.parts)
    for numbers in batches.values():
        asked = [workload.axes_of(workload.parts[n]) for n in numbers]
        # What was not measured is not needed: see above.
        tables = estimate.tables([tuple(sorted(own)) for own in asked], unmeasured=True)
        tables = tables.transpose(0, *(1 + sorted(asked[0]).index(axis) for axis in asked[0]))
        for number, table in zip(numbers, asked_of(workload, numbers[0], tables), strict=True):
            answers[number] = table.ravel()
    return np.concatenate(answers)


def asked_of(workload: ProductWorkload, number: int, tables: Vector) -> Vector:
    """Stacked tables over a part's attributes, asked piece by piece: a piece's axes become one of its queries."""
    done = tables.reshape(len(tables), 1, *tables.shape[1:])
    for k in workload.parts[number]:
        piece = workload.pieces[k]
        width = len(piece.axes)
        lead, cells, rest = done.shape[:2], done.shape[2 : 2 + width], done.shape[2 + width :]
        flat = done.reshape(*lead, int(np.prod(cells)), int(np.prod(rest)))
        if not isinstance(piece.operator, Identity):
            by_cell = flat.transpose(2, 0, 1, 3).reshape(flat.shape[2], -1)
            asked = piece.operator @ by_cell
            flat = asked.reshape(-1, *lead, flat.shape[3]).transpose(1, 2, 0, 3)
        done = flat.reshape(lead[0], lead[1] * flat.shape[2], *rest)
    return done
