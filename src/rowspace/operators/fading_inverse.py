"""The inverse of a triangle over very many periods, and the errors of what is answered from it, some steps at a time.

The estimate of a period follows from its noisy answer and what is remembered of earlier estimates, so that whatever
runs forwards takes O(n log n) time, and little memory.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import scipy

from .base import Array, Operator, Vector
from .checks import read_only
from .fading import GROUP, Fading
from .fading_memory import as_before, condensed

STEP = 32
"""Periods that are solved for together."""


@dataclass(frozen=True, eq=False)
class FadingInverse(Operator):
    """The inverse of such a triangle, step by step."""

    of: Fading

    full_column_rank = True

    @property
    def shape(self) -> tuple[int, int]:
        return self.of.shape

    def pinv(self) -> Operator:
        return self.of

    def _apply(self, x: Array) -> Array:
        y = np.ascontiguousarray(x.reshape(-1, x.shape[-1]).T, dtype=np.float64)
        out, memory = np.empty_like(y), np.empty((0, y.shape[1]))
        for start, own, L, G in _steps(self.of):
            memory = condensed(memory, start, STEP)
            now = scipy.linalg.solve_triangular(L, y[start : start + own] - G @ memory, lower=True)
            out[start : start + own] = now
            memory = np.concatenate([memory, now])
        return np.ascontiguousarray(out.T).reshape(x.shape)

    def _adjoint(self, y: Array) -> Array:
        w = np.ascontiguousarray(y.reshape(-1, y.shape[-1]).T, dtype=np.float64)
        out = np.empty_like(w)
        memory: Array | None = None
        for start, own, L, G in _steps(self.of, backwards=True):
            if memory is None:  # nothing comes after the last step
                memory = np.zeros((G.shape[1] + own, w.shape[1]))
            now = scipy.linalg.solve_triangular(
                L, w[start : start + own] + memory[-own:], lower=True, trans="T"
            )
            out[start : start + own] = now
            memory = as_before(memory[:-own] - G.T @ now, start, STEP)
        return np.ascontiguousarray(out.T).reshape(y.shape)


def variances(C: Fading) -> tuple[Vector, Vector]:
    """The variance of every prefix and of every period's count, at unit noise.

    What is remembered of the estimate, and the prefix so far, are random; from one step to the next their
    covariance is carried along.
    """
    n = len(C.weights)
    prefixes, cells = np.empty(n), np.empty(n)
    P = np.zeros((1, 1))  # the prefix so far is the first
    for start, own, L, G in _steps(C):
        P = np.concatenate([P[:1], condensed(P[1:], start, STEP)])
        P = np.concatenate([P[:, :1], condensed(P[:, 1:].T, start, STEP).T], axis=1)
        inverse = scipy.linalg.solve_triangular(L, np.eye(own), lower=True)
        forwards = -(inverse @ G)
        of_past = forwards @ P[1:]
        now = inverse @ inverse.T + of_past[:, 1:] @ forwards.T
        cells[start : start + own] = np.diagonal(now)
        sums = np.cumsum(np.cumsum(now, axis=0), axis=1)
        prefixes[start : start + own] = P[0, 0] + 2 * np.cumsum(of_past[:, 0]) + np.diagonal(sums)
        P = np.block([[P, of_past.T], [of_past, now]])
        P[0] += P[-own:].sum(axis=0)
        P[:, 0] += P[:, -own:].sum(axis=1)
    return read_only(prefixes, np.float64), read_only(cells, np.float64)


def _steps(C: Fading, *, backwards: bool = False) -> Iterator[tuple[int, int, Vector, Vector]]:
    """(first row, rows, their triangle, their coefficients on what is remembered before them) of every step."""
    n = len(C.weights)
    groups = range(0, n, GROUP)
    for first in reversed(groups) if backwards else groups:
        seen = C.seen(np.arange(first, min(first + GROUP, n)), STEP)
        steps = list(zip(range(first, n, STEP), seen, strict=False))
        for start, found in reversed(steps) if backwards else steps:
            own, rows = len(found), found.astype(np.float64)
            past = rows.shape[1] - STEP
            yield start, own, rows[:, past : past + own], rows[:, :past]
