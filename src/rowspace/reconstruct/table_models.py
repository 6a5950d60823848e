"""Models of a table from others: products of its faces, paths through a third attribute, its neighbouring cells.

All are estimates that do not use the noise of the cell they are about (products and paths: not of the table at all), so
the distance to the noisy table says without bias which is nearest to the true one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import combinations

import numpy as np

from rowspace.operators import Array

Attributes = tuple[int, ...]
Tables = Callable[[Attributes], Array]

BANDWIDTHS = (0.7, 1.0, 1.5, 2.5, 4.0, 8.0)
"""How far, in cells, neighbours along an ordered attribute count in a table of one attribute."""

COARSE_BANDWIDTHS = (0.7, 1.5, 3.0)
"""The same in larger tables."""

TRUSTED = (0.3, 2.0)
"""Squared relative deviations from the model that neighbours are believed to show."""

BACKGROUND = 0.03
"""Share of the plain model in every other one: no cell is impossible because neighbours or paths say so."""


def products(own: Attributes, table: Tables) -> Iterator[Array]:
    """Two faces joined by what they share, for every two: of a table of two attributes, the product of its margins."""
    for a, b in combinations(range(len(own)), 2):
        one, other, shared = (
            np.expand_dims(table(tuple(i for k, i in enumerate(own) if k not in left_out)), left_out)
            for left_out in ((a,), (b,), (a, b))
        )
        yield one * other * _inverse(shared)


def paths(own: Attributes, others: Sequence[int], table: Tables) -> Iterator[tuple[int, Array]]:
    """Two attributes independent given a third: Σ_c t(a, c)·t(b, c)/t(c), for every third one."""
    a, b = own
    for c in others:
        by_a = table((a, c)) if a < c else table((c, a)).T
        by_b = table((b, c)) if b < c else table((c, b)).T
        yield c, (by_a * _inverse(table((c,)))) @ by_b.T


def smoothed(plain: Array, noisy: Array, variance: Array, ordered: Sequence[bool]) -> Iterator[Array]:
    """The plain model times what neighbouring cells have beyond it, each without its own, for several bandwidths."""
    widths = BANDWIDTHS if plain.ndim == 1 else COARSE_BANDWIDTHS
    choices = [
        (0.0, *widths) if is_ordered and n > 4 else (0.0,)
        for is_ordered, n in zip(ordered, plain.shape, strict=True)
    ]
    grids = np.meshgrid(*choices, indexing="ij")
    for chosen in np.stack([grid.ravel() for grid in grids], axis=1)[1:]:
        expected, found, noise = plain, noisy, variance
        for axis, width in enumerate(chosen):
            if width > 0:
                kernel = _kernel(plain.shape[axis], float(width))
                expected, found = _along(expected, kernel, axis), _along(found, kernel, axis)
                noise = _along(noise, kernel**2, axis)
        expected = np.maximum(expected - plain, 1e-9)
        beyond = np.clip((found - noisy) / expected, 0.0, 1e3) - 1
        doubt = np.maximum(noise - variance, 0.0) / expected**2
        for trusted in TRUSTED:
            yield plain * (1 + beyond * trusted / (trusted + doubt))


def with_background(model: Array, plain: Array) -> Array:
    """The model, a little of the plain one mixed in, with its total."""
    total = model.sum()
    scale = plain.sum() / total if total > 0 else 0.0
    return np.asarray((1 - BACKGROUND) * scale * np.maximum(model, 0.0) + BACKGROUND * plain)


def _along(array: Array, kernel: Array, axis: int) -> Array:
    return np.moveaxis(np.tensordot(kernel, array, axes=(1, axis)), 0, axis)


def _kernel(n: int, width: float) -> Array:
    place = np.arange(n)
    return np.asarray(np.exp(-0.5 * ((place[:, None] - place) / width) ** 2))


def _inverse(table: Array) -> Array:
    return np.divide(1.0, table, out=np.zeros_like(table), where=table > 1e-9)


ROUNDS = 50
"""Rounds of each of the two."""

ACCURACY = 1e-7
"""Largest difference from the sums, as a share of all records, at which it stops."""


def fitted_to_faces(table: Array, variance: Array, faces: Sequence[Array]) -> Array:
    """The table whose sum along axis k is faces[k]: least squares weighted by 1/variance, then proportional fitting.

    Where the faces belong to no table at all, as three of a cube may, the sums are met as nearly as the rounds allow.

    >>> fitted_to_faces(np.ones((2, 2)), np.ones((2, 2)), [np.array([3.0, 3.0]), np.array([2.0, 4.0])])
    array([[1., 1.],
           [2., 2.]])
    """
    total = float(faces[0].sum())
    if total <= 0:
        return np.zeros_like(table)
    # No cell is out of reach: where all of a line is certain, proportions decide.
    known = variance + 1e-6 * variance.mean() + 1e-9 * total / table.size
    shares = [known / known.sum(axis=axis, keepdims=True) for axis in range(table.ndim)]
    for _ in range(ROUNDS):
        for axis, face in enumerate(faces):
            missing = np.expand_dims(face - table.sum(axis=axis), axis)
            table = np.maximum(table + shares[axis] * missing, 0.0)
        if _off(table, faces) <= ACCURACY * total:
            return table
    table = table + 1e-9 * total / table.size
    for _ in range(4 * ROUNDS):
        for axis, face in enumerate(faces):
            sums = table.sum(axis=axis)
            factors = np.divide(face, sums, out=np.zeros_like(sums), where=sums > 0)
            table = table * np.expand_dims(factors, axis)
        if _off(table, faces) <= ACCURACY * total:
            break
    return table


def _off(table: Array, faces: Sequence[Array]) -> float:
    return float(max(np.abs(table.sum(axis=axis) - face).sum() for axis, face in enumerate(faces)))
