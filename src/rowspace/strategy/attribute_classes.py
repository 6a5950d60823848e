"""Attributes of a product workload that are asked alike, and so may share what is found for one of them."""

from __future__ import annotations

import numpy as np
import scipy

from rowspace.operators import Dense, Identity, Operator, Scaled, Stack, Total
from rowspace.tables import ProductWorkload, is_cells

LARGEST_ATTRIBUTE = 1024
"""Most cells of an attribute for which more than its cells is tried."""

MANY_KINDS = 4
"""More kinds of queries than that are handled through their common Gram matrix."""

FEW_PLACED, FEW_WAYS = 32, 3
"""Up to so many cells beside the one for missing values, in tables of so many attributes, that one is told apart."""

Kinds = list[tuple[float, Operator]]
"""Queries about one attribute, weighted."""


def effective(kinds: Kinds, omega: float, ridge: float = 0.0) -> Operator:
    """One workload for an attribute: its kinds at unit mean square, ω times the total and a little of every cell."""
    n = kinds[0][1].shape[1]
    power = sum(weight**2 * W.squared_frobenius() for weight, W in kinds) / n
    parts = [Scaled.of_product(weight / power**0.5, W) for weight, W in kinds]
    if ridge > 0:
        parts.append(Scaled.of_product(ridge**0.5, Identity(n)))
    if omega > 0:
        parts.append(Scaled.of_product(omega**0.5, Total(n)))
    if len(parts) <= MANY_KINDS:
        return Stack(*parts) if len(parts) > 1 else parts[0]
    # Only the Gram matrix matters, so many kinds are one square matrix: its root.
    values, vectors = scipy.linalg.eigh(np.sum([part.gram().to_dense() for part in parts], axis=0))
    return Dense(np.sqrt(np.clip(values, 0.0, None))[:, None] * vectors.T)


def attribute_classes(workload: ProductWorkload) -> list[tuple[Kinds, set[int]]]:
    """Attributes that are asked more than their cells, those asked alike together: (weighted kinds, attributes)."""
    ways = max(map(len, workload.parts))
    mass = np.array([_mean_square(piece.operator) for piece in workload.pieces])
    found: dict[int, dict[int, float]] = {}
    for part, power in zip(workload.parts, workload.powers.tolist(), strict=True):
        total = power * float(np.prod(mass[list(part)]))
        for number in part:
            piece = workload.pieces[number]
            if len(piece.axes) == 1:
                by_piece = found.setdefault(piece.axes[0], {})
                by_piece[number] = by_piece.get(number, 0.0) + total / mass[number]
    classes: dict[object, tuple[Kinds, set[int]]] = {}
    for axis, pieces in found.items():
        n = workload.sizes[axis]
        if n <= 2 or n > LARGEST_ATTRIBUTE or all(_alike(workload.pieces[k].operator, ways) for k in pieces):
            continue
        largest = max(pieces.values())
        kinds = [((power / largest) ** 0.5, workload.pieces[k].operator) for k, power in pieces.items()]
        # Equal kinds at equal importance (to 1 %) make attributes alike, whatever their size: they share contrasts.
        key = tuple((round(100 * weight), W) for weight, W in kinds)
        classes.setdefault(key, (kinds, set()))[1].add(axis)
    return list(classes.values())


def _alike(W: Operator, ways: int) -> bool:
    """Whether queries are all cells of an attribute, or so nearly that telling the unasked cell apart gains little.

    Tables of many attributes leave few bits for matrices of their own: there the unasked cell is like the others.
    """
    if isinstance(W, Identity):
        return True
    return is_cells(W) and (W.shape[0] > FEW_PLACED or ways > FEW_WAYS)


def _mean_square(W: Operator) -> float:
    return W.squared_frobenius() / W.shape[1]
