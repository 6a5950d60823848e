"""Moments of an answer's coefficients on the strategy's noise, and how they join."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, fields

import numpy as np

from rowspace.operators.base import Vector


@dataclass(frozen=True)
class Moments:
    """Per query: Σc², Σc⁴, max|c|, and the spacing g such that every c is a whole multiple of g (0: none found)."""

    second: Vector
    fourth: Vector
    largest: Vector
    spacing: Vector

    def scaled(self, factor: float) -> Moments:
        """The moments of `factor` times the queries."""
        size = abs(factor)
        return Moments(size**2 * self.second, size**4 * self.fourth, size * self.largest, size * self.spacing)


def alike(values: Vector, counts: Vector, queries: int) -> Moments:
    """The moments of queries that all have the same coefficients, each value as often as counted."""
    squares = values**2
    one = (squares @ counts, squares**2 @ counts, np.abs(values).max(), spacings(values[None, :])[0])
    return Moments(*(np.full(queries, float(moment)) for moment in one))


def spacings(C: Vector) -> Vector:
    """The smallest coefficient of a row if it divides the others, else one if all are integers, else zero."""
    magnitude = np.abs(C)
    tiny = 1e-9 * magnitude.max(axis=1, keepdims=True)
    smallest = np.where(magnitude > tiny, magnitude, np.inf).min(axis=1)
    spacing = np.zeros(len(C))
    for candidate in (np.where(np.isfinite(smallest), smallest, 0.0), np.ones(len(C))):
        with np.errstate(divide="ignore", invalid="ignore"):
            multiples = magnitude / candidate[:, None]
        # What is no rounding error must be one multiple at least: coefficients of 10⁻⁸ are not multiples of one.
        nearest = np.maximum(np.rint(multiples), magnitude > tiny)
        whole = (np.abs(multiples - nearest) <= 1e-7 * np.maximum(multiples, 1.0)).all(axis=1)
        spacing = np.where((spacing == 0) & whole, candidate, spacing)
    return spacing


def joined(parts: list[Moments], join: Callable[[list[Vector]], Vector]) -> Moments:
    """Moments of a union or a product from those of its parts: the same operation on every field."""
    return Moments(*(join([getattr(part, field.name) for part in parts]) for field in fields(Moments)))


def outer(a: Vector, b: Vector) -> Vector:
    """All products of a number of each, in C order."""
    return np.multiply.outer(a, b).ravel()
