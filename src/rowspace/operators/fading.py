"""A lower triangle over very many periods that remembers them in few numbers: older ones in longer blocks.

Row t sees the periods before it in blocks [a, a + h) (`fading_memory`). Its entries along a block lie on a line,

    C_ts = α + β·(2(s − a) − (h − 1)),

with integers α, β, so that row t is answered from Σx and Σ(2(s − a) − (h − 1))·x of each block: exactly, and with no
more than 2 log₂ n numbers. Lines are drawn through two points of

    weights(s)·k(t, s),   k² = λ(0)·q(T)·8/5 / (q(λ/2)·q(T − λ/2)),   q(x) = 16x(1 − x)/(5 − 4x(1 − x)) ≈ sin πx,

with T = (t + 1)/(horizon + 1) and λ the lag t − s in the same unit, corrected where it is small. That is the causal
root of prefixes' own root in the limit of many periods. Entries are made of sums, products, quotients and square roots
of 64-bit floats, which are the same on all machines.

The inverse of a triangle over very many periods, and the errors of what is answered from it, some steps at a time.

The estimate of a period follows from its noisy answer and what is remembered of earlier estimates, so that whatever
runs forwards takes O(n log n) time, and little memory.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import scipy

from rowspace.exceptions import InvalidInput, TooLarge

from .base import Array, Indices, Operator, Vector
from .checks import check_size, read_only
from .diagonal import Identity
from .fading_memory import along, as_before, blocks_before, condensed
from .ranges import Prefix
from .total import Total

LARGEST_WEIGHT = 2**30
"""A billion records' answers then fit 64 bits."""

_MOST_COEFFICIENTS = 2**28
"""Most coefficients of queries that are solved for one by one."""

_Seen = list[tuple[int, list[Array]]]
"""Coefficients of a polynomial along every block, from the middle of it: one list for each length."""

GROUP = 2**13
"""Rows whose lines are drawn together: they stay in a processor's cache."""


@dataclass(frozen=True, eq=False)
class Fading(Operator):
    """The triangle for a horizon, or its first rows and columns: its diagonal are the weights, one for each column.

    Guarantees
    - Products with integers and norms of columns are exact (tests/operators/test_fading.py::test_exact).
    - A row is answered from what is remembered as from all counts (tests/operators/test_fading.py::test_memory).

    >>> C = Fading(6, [8, 8, 8, 8, 8, 8])
    >>> C @ np.array([1, 0, 0, 0, 0, 1])
    array([ 8,  5,  4,  3,  2, 10])
    """

    horizon: int
    weights: Indices

    integral = True
    full_column_rank = True

    def __post_init__(self) -> None:
        weights = read_only(self.weights, np.int64)
        object.__setattr__(self, "weights", weights)
        object.__setattr__(self, "horizon", check_size("horizon", self.horizon))
        if weights.ndim != 1 or not 1 <= len(weights) <= self.horizon < 2**31:
            raise InvalidInput(
                "expected a weight for each column, and no more of them than the horizon has periods"
            )
        if weights.min() < 1 or weights.max() > LARGEST_WEIGHT:
            raise InvalidInput(f"expected weights from 1 to {LARGEST_WEIGHT}")

    @property
    def shape(self) -> tuple[int, int]:
        return len(self.weights), len(self.weights)

    def until(self, n: int) -> Fading:
        """The first rows and columns; what is known of their variances is kept."""
        first = Fading(self.horizon, self.weights[:n])
        if "_variances" in vars(self):
            vars(first)["_variances"] = tuple(of[:n] for of in self._variances)
        return first

    # What a row sees.

    def _values(self, t: Indices, s: Indices) -> Vector:
        """weights(s)·k(t, s) for s < t."""
        unit = 1.0 / (self.horizon + 1)
        k = (t - s).astype(np.float64)
        lag = (k + 0.25 + 1.0 / (32.0 * k + 14.6)) * unit
        T = np.asarray((t + 1) * unit, np.float64)
        squared = (1.6 / np.pi * unit) * _hump(T) / (_hump(lag / 2) * _hump(T - lag / 2))
        return np.asarray(np.sqrt(squared) * self.weights[s])

    def _line(self, t: Indices, a: Indices, h: int) -> tuple[Indices, Indices]:
        """(α, β) of the blocks [a, a + h) in the rows t."""
        inside = 27 * h // 128  # near the two points of Gauss
        early, late = self._values(t, a + inside), self._values(t, a + (h - 1 - inside))
        slope = (late - early) / (2 * max(1, h - 1 - 2 * inside))
        return np.rint((early + late) / 2).astype(np.int64), np.rint(slope).astype(np.int64)

    def _lines(self, t: Indices, h: int) -> Iterator[tuple[Indices, Indices, Indices, Indices]]:
        """(which of the rows t, the start of the block that they see, α, β): the first of a pair of blocks, the second.

        There is one at most of each; h is at least 2.
        """
        phase = t % (2 * h)
        first = t - phase - np.where(phase < h, 2 * h, 0)
        seen = (first >= 0) & ((phase < h) | (2 * phase >= 3 * h))
        for a, there in ((first, seen), (first + h, seen & (phase < h) & (2 * phase >= h))):
            rows = np.flatnonzero(there)
            yield rows, a[rows], *self._line(t[rows], a[rows], h)

    def _singles(self, t: Indices) -> Iterator[tuple[Indices, Indices, Indices]]:
        """(which of the rows t, the period that they see by itself, its entry), their own aside."""
        for rows, lag in ((np.flatnonzero(t >= 1), 1), (np.flatnonzero((t >= 2) & (t % 2 == 0)), 2)):
            yield rows, t[rows] - lag, np.rint(self._values(t[rows], t[rows] - lag)).astype(np.int64)

    def _rows_in_groups(self) -> Iterator[Indices]:
        for start in range(0, len(self.weights), GROUP):
            yield np.arange(start, min(start + GROUP, len(self.weights)))

    def _lengths(self) -> list[int]:
        """The lengths of blocks, from 2 on."""
        return [2**j for j in range(1, len(self.weights).bit_length())]

    # Memory.

    def past(self, memory: Array) -> Array:
        """The answer of the last row to all periods but its own, from what is remembered of them."""
        row = np.array([len(self.weights) - 1])
        return np.tensordot(self.seen(row, 1)[0][0, :-1], memory, axes=1)

    def seen(self, t: Indices, step: int) -> list[Array]:
        """For every `step` rows of t: their coefficients on what is remembered before the first of them, and on it.

        The periods of the step itself are the last columns.
        """
        starts = t[::step]
        near = np.zeros((len(t), 3 * step), dtype=np.int64)
        origin = np.repeat(starts - 2 * step, step)[: len(t)]
        near[np.arange(len(t)), t - origin] = self.weights[t]
        for rows, s, entry in self._singles(t):
            near[rows, s - origin[rows]] = entry
        far = {}
        for h in self._lengths():
            far[h] = np.zeros((len(t), 2, 2), dtype=np.int64)
            for second, (rows, a, alpha, beta) in enumerate(self._lines(t, h)):
                if h <= step:
                    where = (a - origin[rows])[:, None] + np.arange(h)
                    near[rows[:, None], where] = alpha[:, None] + beta[:, None] * along(h)
                else:
                    far[h][rows, second] = np.stack([alpha, beta], axis=1)
        found = []
        for number, start in enumerate(starts.tolist()):
            own = slice(number * step, (number + 1) * step)
            blocks = [(a, h) for a, h in blocks_before(start, step) if h > 1]
            singly = start - sum(h for _, h in blocks)
            columns = [far[h][own, a // h % 2] for a, h in blocks]
            found.append(np.concatenate([*columns, near[own, 2 * step - singly :]], axis=1))
        return found

    # The matrix.

    def _apply(self, x: Array) -> Array:
        weights = self.weights if x.dtype.kind == "i" else self.weights.astype(np.float64)
        y = weights * x
        sums, slopes = x, np.zeros_like(x)
        for t in self._rows_in_groups():
            for rows, s, entry in self._singles(t):
                y[..., t[rows]] += entry * x[..., s]
        for h in self._lengths():
            sums, slopes = _paired(sums, slopes, h // 2)
            for t in self._rows_in_groups():
                for rows, a, alpha, beta in self._lines(t, h):
                    y[..., t[rows]] += alpha * sums[..., a // h] + beta * slopes[..., a // h]
        return np.asarray(y)

    def _adjoint(self, y: Array) -> Array:
        cells = self.weights * y
        seen: _Seen = [(1, [cells, np.zeros_like(cells)])]
        for t in self._rows_in_groups():
            for rows, s, entry in self._singles(t):
                cells[..., s] += entry * y[..., t[rows]]
        for h in self._lengths():
            own = [np.zeros((*y.shape[:-1], len(self.weights) // h), dtype=y.dtype) for _ in range(2)]
            for t in self._rows_in_groups():
                for rows, a, alpha, beta in self._lines(t, h):
                    for into, times in zip(own, (alpha, beta), strict=True):
                        np.add.at(into, (..., a // h), times * y[..., t[rows]])  # type: ignore[arg-type]
            seen.append((h, own))
        return _spread(seen, lambda q, g: [q[0] + g * q[1], q[1]])

    def pinv(self) -> Operator:
        return FadingInverse(self)

    def _rows(self, start: int, stop: int) -> Vector:
        units = np.zeros((stop - start, len(self.weights)), dtype=np.int64)
        units[np.arange(stop - start), np.arange(start, stop)] = 1
        return self._adjoint(units).astype(np.float64)

    def _integers(self) -> Indices:
        return self._adjoint(np.eye(len(self.weights), dtype=np.int64))

    # Norms.

    def _column_sums(self, p: int) -> Vector:
        return super()._column_sums(1) if p == 1 else self.squared_norms.astype(np.float64)

    def _integer_norm(self, p: int) -> int:
        return super()._integer_norm(1) if p == 1 else int(self.squared_norms.max())

    def _exact_column_sums(self, p: int) -> list[int]:
        return super()._exact_column_sums(1) if p == 1 else [int(s) for s in self.squared_norms.tolist()]

    @property
    def squared_norms(self) -> Indices:
        """The squared norm of every column."""
        return self._measured[0]

    @cached_property
    def _measured(self) -> tuple[Indices, int]:
        """Squared norms of all columns, exactly, and a bound of all entries and of what they are summed up from."""
        n, squares, largest = len(self.weights), self.weights**2, int(self.weights.max())
        # Nowhere below: integers are exact modulo 2⁶⁴, so that only what they add up to must fit.
        above = squares.astype(np.float64)
        seen: _Seen = [(1, [squares, np.zeros_like(squares), np.zeros_like(squares)])]
        for t in self._rows_in_groups():
            for _, s, entry in self._singles(t):
                squares[s] += entry**2
                above[s] += entry.astype(np.float64) ** 2
                largest = max(largest, int(entry.max(initial=0)))
        for h in self._lengths():
            own, most = [np.zeros(n // h, dtype=np.int64) for _ in range(3)], np.zeros(n // h)
            for t in self._rows_in_groups():
                for _, a, alpha, beta in self._lines(t, h):
                    for into, product in zip(own, (alpha**2, alpha * beta, beta**2), strict=True):
                        np.add.at(into, a // h, product)
                    ends = np.abs(alpha) + (h - 1) * np.abs(beta)
                    np.add.at(most, a // h, ends.astype(np.float64) ** 2)
                    largest = max(largest, int(ends.max(initial=0)))
            above[: n // h * h] += np.repeat(most, h)
            seen.append((h, own))
        if above.max() >= 2.0**62:
            raise InvalidInput("expected smaller weights: a column's squared norm does not fit 64 bits")
        total = _spread(seen, lambda q, g: [q[0] + 2 * g * q[1] + g * g * q[2], q[1] + g * q[2], q[2]])
        return read_only(total, np.int64), largest

    def largest_entry(self) -> float:
        return float(self._measured[1])

    def largest_inner_entry(self) -> int:
        return self._measured[1]

    # Errors.

    @cached_property
    def _variances(self) -> tuple[Vector, Vector]:
        """The variance of every prefix and of every period's count, at unit noise."""
        return variances(self)

    def row_variances(self, W: Operator) -> Vector | None:
        if isinstance(W, Total):
            return self._variances[0][-1:]
        if isinstance(W, Prefix | Identity):
            return self._variances[0 if isinstance(W, Prefix) else 1]
        return None

    def _profile_trace(self, W: Operator) -> float:
        known, inverse = self.row_variances(W), self.pinv()
        if known is not None:
            return float(known.sum())
        if W.shape[0] * W.shape[1] > _MOST_COEFFICIENTS:
            raise TooLarge(
                f"over {W.shape[1]} periods {W.shape[0]} queries are too many, but for counts of each period and of "
                "all periods so far; ask for fewer, or for longer periods"
            )
        return float(sum(np.square(inverse._adjoint(rows)).sum() for _, rows in W.row_blocks()))


def _hump(x: Vector) -> Vector:
    """sin πx to 0.2 %, without the sine, whose last digit differs between machines."""
    both = x * (1.0 - x)
    return np.asarray(16.0 * both / (5.0 - 4.0 * both))


def _paired(sums: Array, slopes: Array, g: int) -> tuple[Array, Array]:
    """The sums of blocks of length 2g from those of length g."""
    pairs = sums.shape[-1] // 2 * 2
    left, right = sums[..., :pairs:2], sums[..., 1:pairs:2]
    return left + right, slopes[..., :pairs:2] + slopes[..., 1:pairs:2] + g * (right - left)


def _spread(seen: _Seen, moved: Callable[[list[Array], int], list[Array]]) -> Array:
    """Polynomials along blocks of all lengths, from 1 on, added up for every period.

    moved: one from the middle of a block to that of its half, which is so far away.
    """
    total = [values[..., :0] for values in seen[-1][1]]
    for h, own in reversed(seen):
        for into, left, right in zip(own, moved(total, -h), moved(total, h), strict=True):
            pairs = np.stack([left, right], axis=-1)
            into[..., : 2 * left.shape[-1]] += pairs.reshape(*into.shape[:-1], -1)
        total = own
    return total[0]


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
