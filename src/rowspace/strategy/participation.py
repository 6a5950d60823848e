"""How far a person who comes back in several periods can move the answers of a strategy over time.

A unit has at most r rows in a period, in at most k periods S, each at least s after the one before. The counts move by
d = Σ_{t∈S} d_t, where d_t are r cells of period t, and the answers by Ad. With X = AᵗA

    L2:  ‖Ad‖² = Σ_{t,u∈S} d_tᵗ X d_u ≤ r²·Σ_{t,u∈S} Y_tu,    Y_tu = max of X over the cells of t and those of u,
    L1:  ‖Ad‖₁ ≤ r·Σ_{t∈S} y_t,                              y_t = the longest column of period t.

Both are attained where periods have one cell each (L1: of a strategy without negative entries), and by a unit that
stays in its cell under a product C ⊗ T with CᵗC ≥ 0 (Y = CᵗC·Δ², Δ the longest column of T). What is left is the
largest Σ over sets S: `most_moved` searches them all where it can, and proves a bound where it cannot. All in
integers. Two units in each other's place move the answers by A(d − d′): at most twice as far, and √2 times in L2 if
no entry of X is negative.

A unit that is counted once in a cell and in at most k cells, at one time, is alike: S is a set of any k cells, and the
answers move by ‖A1_S‖ in L2, √k for plain counts, where k rows in one cell would move one by k. With measures they
move by a mixture of columns for each cell; the norm is convex in each, so it is largest at k columns, all different.
With d, d′ ≥ 0 of at most k ones, ‖A(d − d′)‖² ≤ dᵗXd + d′ᵗXd′ + 2k²·max(−X, 0). Over many cells ‖A1_S‖² is at most k
times the largest entry on the diagonal of X and k(k − 1) times the largest beside it, which tables know.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass
from math import prod

import numpy as np
import numpy.typing as npt

from rowspace import operators as op
from rowspace.operators import Vector
from rowspace.privacy import Neighbours, Privacy, PrivacyUnit, integer_norm
from rowspace.tables import Residuals

from .timing import by_period, factor_of_time

Integers = npt.NDArray[np.int64]

SEARCHED = 2**23
"""Most numbers that one step of the search over sets of periods may look at."""

SPREAD_CELLS = 1024
"""Most cells over which sets of cells are looked at; beyond, pairs of cells are, of strategies made of tables."""

SPREAD_PATTERNS = 2**16
"""Most sets of attributes in which two cells may differ, times tables, that are looked at for it."""

SPREAD_ENTRIES = 2**23
"""Most entries of a strategy that is written out for it."""

_NEVER = -(2**60)
_LARGEST = 2**58
_EXACT = 2**53


@dataclass(frozen=True)
class Horizon:
    """The cells of a plan over periods, and which of its attributes is time."""

    sizes: tuple[int, ...]
    axis: int


def step_over(A: op.Operator, privacy: Privacy, horizon: Horizon | None) -> int:
    """The largest Σ|change| or Σ change² of the integer answers A·x between neighbours, or a proven bound on it.

    Guarantees
    - Never below the largest, for units in several periods
      (tests/strategy/test_participation.py::test_no_unit_moves_answers_further), and for units in several cells
      (tests/strategy/test_spread.py::test_no_unit_moves_answers_further).
    - Equal to it where that is said above (tests/strategy/test_participation.py::test_exact_where_it_is_said).
    """
    unit, p = privacy.unit, privacy.norm
    general = privacy.step_norm(max(1, integer_norm(A, privacy)))
    if horizon is None and is_spread(privacy):
        return min(general, _spread(A, privacy) or general)
    if horizon is None or unit is None or unit.periods is None:
        return general
    factor = 1
    while isinstance(A, op.Scaled) and float(A.factor).is_integer():
        factor, A = factor * abs(int(A.factor)) ** p, A.of
    found = _longest(A, unit, horizon) if p == 1 else _farthest(A, unit, horizon)
    if found is None:
        return general
    norm, signed = found
    pairs = 1 if privacy.neighbours is Neighbours.ADD_REMOVE else 4 if signed and p == 2 else 2
    return min(general, max(1, int(pairs * factor * unit.rows**p * norm)))


def is_spread(privacy: Privacy) -> bool:
    """Whether noise is for what a unit moves that is in several cells, in each of them once."""
    return privacy.norm == 2 and in_several_cells(privacy)


def in_several_cells(privacy: Privacy) -> bool:
    """Whether a unit is in several cells, in each of them once, whatever noise is drawn for it."""
    unit = privacy.unit
    return unit is not None and unit.distinct and unit.rows > 1 and unit.periods is None


def _spread(A: op.Operator, privacy: Privacy) -> int | None:
    """The largest squared change of the answers by units in several cells; None where it is not looked for."""
    factor, most = 1, 1 if privacy.unit is None else min(privacy.unit.rows, A.shape[1])
    while isinstance(A, op.Scaled) and float(A.factor).is_integer():
        factor, A = factor * int(A.factor) ** 2, A.of
    found = _written_out(A, most) if A.shape[1] <= SPREAD_CELLS else None
    if found is None:
        found = _by_pairs(A, most)
    if found is None:
        return None
    alone, negative = found
    if privacy.neighbours is not Neighbours.ADD_REMOVE:
        alone = min(4 * alone, 2 * alone + 2 * most**2 * negative)
    return max(1, factor * alone)


def _written_out(A: op.Operator, most: int) -> tuple[int, int] | None:
    """The largest squared change by one unit, and by how much AᵗA is negative; None where A is too large."""
    if A.shape[0] * A.shape[1] > SPREAD_ENTRIES or A.largest_entry() >= _EXACT:
        return None
    entries = A.integer_matrix().astype(np.float64)
    # As in `_farthest`: exact below 2⁵³.
    if not float(np.square(entries).sum(axis=0).max()) < _EXACT:
        return None
    X = (entries.T @ entries).astype(np.int64)
    return most_moved(X, most, 1), max(0, -int(X.min()))


def _by_pairs(A: op.Operator, most: int) -> tuple[int, int] | None:
    """The same as a bound, from the largest entries of AᵗA on and off its diagonal; None where they are not known."""
    found = _entries_of_gram(A)
    if found is None:
        return None
    on, off, least = found
    return most * on + most * (most - 1) * max(0, off), max(0, -least)


def _entries_of_gram(A: op.Operator) -> tuple[int, int, int] | None:
    """The largest entry of AᵗA on its diagonal, and the largest and the least beside it; of what is made of tables."""
    if isinstance(A, op.Identity):
        return 1, 0, 0
    if isinstance(A, op.Extended):
        found = _entries_of_gram(A.of)
        if found is None:
            return None
        on, off, least = found  # a cell outside the box shares no row with another
        return max(on, int(A.weight) ** 2), max(off, 0), min(least, 0)
    if (
        not isinstance(A, Residuals)
        or A.joint
        or not all(isinstance(S, op.CellContrasts) for S in A.contrasts)
    ):
        return None
    used = sorted({i for own in A.sets for i in own})
    if len(A.sets) << len(used) > SPREAD_PATTERNS:
        return None
    # SᵗS = n²·I − n·11ᵗ: what matters is in which attributes two cells differ.
    differ = np.arange(1 << len(used))
    entry = np.zeros(len(differ), dtype=object)
    for own, weight in zip(A.sets, A.weights, strict=True):
        term = np.full(len(differ), int(weight) ** 2, dtype=object)
        for i in own:
            n = A.sizes[i]
            term *= np.where(differ >> used.index(i) & 1, -n, n * (n - 1)).astype(object)
        entry += term
    seen = prod(A.sizes[i] for i in used) == A.shape[1]
    beside = [*entry[1:], *([] if seen else [entry[0]])]  # some cells differ in nothing that is asked
    return int(entry[0]), int(max(beside, default=0)), int(min(beside, default=0))


def _longest(A: op.Operator, unit: PrivacyUnit, horizon: Horizon) -> tuple[int, bool] | None:
    """The L1 norm that one row in each of its periods can reach."""
    found = _by_time(A, horizon)
    if found is None:
        return None
    C, others, _ = found
    columns = np.abs(C.array).sum(axis=0).reshape(horizon.sizes[horizon.axis], -1).max(axis=1)
    if not columns.sum() < _EXACT:
        return None
    spread = best_sum(columns.astype(np.int64), unit.periods or 1, unit.apart)
    return spread * prod(T.integer_norm(1) for T in others), False


def _farthest(A: op.Operator, unit: PrivacyUnit, horizon: Horizon) -> tuple[int, bool] | None:
    """The squared L2 norm that one row in each of its periods can reach, and whether entries of AᵗA are negative."""
    found = _by_time(A, horizon)
    # Below 2⁵³ sums of products of integers are exact in floating point, in any order (Cauchy–Schwarz).
    if found is None or not float(np.square(found[0].array).sum(axis=0).max()) < _EXACT:
        return None
    C, others, alone = found
    periods = horizon.sizes[horizon.axis]
    X = (C.array.T @ C.array).astype(np.int64)
    cells = len(X) // periods
    Y = X if cells == 1 else X.reshape(periods, cells, periods, cells).max(axis=(1, 3))
    signed = bool((X < 0).any()) or not all(T.nonnegative for T in others)
    if not alone:
        # Entries of TᵗT lie between 0, or −Δ², and Δ².
        Y = np.maximum(Y, 0) if all(T.nonnegative for T in others) else np.abs(Y)
    scale = prod(T.integer_norm(2) for T in others)
    return most_moved(Y, unit.periods or 1, unit.apart) * scale, signed


def _by_time(A: op.Operator, horizon: Horizon) -> tuple[op.Dense, list[op.Operator], bool] | None:
    """The triangle of a strategy by period, its other factors, and whether time is all there is."""
    periods = horizon.sizes[horizon.axis]
    if isinstance(A, op.Kronecker):
        k = factor_of_time(A, horizon.sizes, horizon.axis)
        if k is None:
            return None
        C, others = A.factors[k], [f for i, f in enumerate(A.factors) if i != k]
    else:
        C, others = (A.of if isinstance(A, op.Permuted) else A), []
        order = A.order if isinstance(A, op.Permuted) else np.arange(A.shape[1])
        if not np.array_equal(order, by_period(horizon.sizes, horizon.axis)):
            return None
    if isinstance(C, op.Identity):
        if C.shape[1] > op.DECOMPOSITION_LIMIT:
            return None
        C = op.Dense(np.eye(C.shape[1]))
    if not isinstance(C, op.Dense) or C.shape[1] % periods:
        return None
    return C, others, not others


def best_sum(values: Integers, most: int, apart: int) -> int:
    """The largest sum of at most so many of these values, each at least `apart` places after the one before.

    >>> best_sum(np.array([5, 4, 3]), 2, 2)
    8
    """
    most = min(most, (len(values) - 1) // apart + 1)
    best = [np.zeros(most + 1, dtype=np.int64)]
    for p, value in enumerate(values):
        new = best[p].copy()
        new[1:] = np.maximum(new[1:], best[max(p + 1 - apart, 0)][:-1] + value)
        best.append(new)
    return int(best[-1][-1])


def most_moved(Y: Integers, most: int, apart: int) -> int:
    """The largest Σ_{t,u∈S} Y_tu over sets S of at most `most` places, each at least `apart` after the one before.

    Or a bound on it: where the search has too many sets to look at, and, by 2⁻³⁰, where sums would not fit 64 bits.

    >>> most_moved(np.array([[2, 1, 0], [1, 2, 1], [0, 1, 2]]), 2, 1), most_moved(np.eye(3, dtype=np.int64), 2, 3)
    (6, 1)
    """
    most = min(most, (len(Y) - 1) // apart + 1)
    largest, shift = int(np.abs(Y).max()), 0
    while (largest >> shift) * most * most >= _LARGEST:
        shift += 1
    Y = -(-Y >> shift)  # rounded up
    positive = np.maximum(Y - np.diag(np.diagonal(Y)), 0)
    rows = np.diagonal(Y) + np.partition(positive, len(Y) - most, axis=1)[:, len(Y) - most + 1 :].sum(axis=1)
    bound = int(np.sort(rows)[len(Y) - most :].sum())
    if most > 1 and len(Y) ** 2 * most <= 8 * SEARCHED:
        bound = min(bound, _Search(Y, most, apart).bound())
    return bound << shift


class _Search:
    """Sets of places built up from their first, all of one size at a time; those that cannot be best are dropped."""

    def __init__(self, Y: Integers, most: int, apart: int) -> None:
        self._Y, self._most, self._apart = Y, most, apart
        self._before = _nearby(Y, most, apart)
        self._after = _nearby(Y[::-1, ::-1], most, apart)[:, ::-1]

    def bound(self) -> int:
        """The largest sum, or no less where there are too many sets."""
        Y, n = self._Y, len(self._Y)
        likely = farther(Y.astype(np.float64), regular(n, self._most, self._apart), self._most, self._apart)
        known = int(likely @ Y @ likely)
        value, last = np.zeros(1, dtype=np.int64), np.array([-self._apart])
        beside = np.zeros((1, n), dtype=np.int64)  # twice the sum of Y over the set, for every place
        bounds = self._extended(value, last, beside, self._most)
        for size in range(1, self._most + 1):
            own, place = np.nonzero(np.arange(n) >= last[:, None] + self._apart)
            if len(own) * n * self._most > SEARCHED:
                return max(known, int(bounds.max()))
            value = value[own] + beside[own, place] + Y[place, place]
            last, beside = place, beside[own] + 2 * Y[place]
            known = max(known, int(value.max(initial=0)))
            bounds = self._extended(value, last, beside, self._most - size)
            open_ = bounds > known
            if not open_.any():
                return known
            value, last, beside, bounds = value[open_], last[open_], beside[open_], bounds[open_]
        return known

    def _extended(self, value: Integers, last: Integers, beside: Integers, more: int) -> Integers:
        """What no set goes beyond that begins so and has at most so many places more.

        The b-th of c more places j adds Y_jj, what lies between it and the set, and between it and the other new ones:
        at most the best b places before it and c − 1 − b after it.
        """
        if not more:
            return value
        n, rank = len(self._Y), np.arange(more)
        own = np.diagonal(self._Y) + self._before[rank] + self._after[more - 1 - rank]
        start = np.full((len(value), more + 1), _NEVER, dtype=np.int64)
        start[:, 0] = 0
        kept = deque([start] * self._apart, maxlen=self._apart)
        for place in range(n):
            new = kept[-1].copy()
            added = kept[0][:, :-1] + (beside[:, place, None] + own[:, place])
            added[place < last + self._apart] = _NEVER
            new[:, 1:] = np.maximum(new[:, 1:], added)
            kept.append(new)
        return np.asarray(value + kept[-1].max(axis=1))


def _nearby(Y: Integers, most: int, apart: int) -> Integers:
    """[e, j]: the largest sum of Y_ij over at most e places i before j, apart from it and from one another."""
    n = len(Y)
    found = np.zeros((most, n), dtype=np.int64)
    kept = deque([np.zeros((most, n), dtype=np.int64)] * apart, maxlen=apart)
    for place in range(n):
        found[:, place] = kept[0][:, place]
        new = kept[-1].copy()
        new[1:] = np.maximum(new[1:], kept[0][:-1] + Y[place])
        kept.append(new)
    return found


def regular(n: int, most: int, apart: int) -> Integers:
    """Sets of places that follow one another as closely as they may, one row for each first place.

    >>> regular(3, 2, 1).tolist()
    [[1, 1, 0], [0, 1, 1], [0, 0, 1]]
    """
    late = np.subtract.outer(np.arange(n), np.arange(n)).T
    found: Integers = ((late >= 0) & (late % apart == 0) & (late < most * apart)).astype(np.int64)
    return found


def pattern_values(Y: Vector, patterns: Integers) -> Vector:
    """Σ_{t,u∈S} Y_tu for every row of ones and zeros."""
    sets = patterns.astype(np.float64)
    return np.asarray(np.einsum("ij,ij->i", sets @ Y, sets))


def farther(Y: Vector, patterns: Integers, most: int, apart: int) -> Integers:
    """The best of some sets, made better by one place at a time: one more, one less, or one moved."""
    best: Integers = patterns[int(np.argmax(pattern_values(Y, patterns)))].copy()
    n, own = len(best), np.diagonal(Y)
    ends, starts = np.minimum(np.arange(n) + apart, n), np.maximum(np.arange(n) - apart + 1, 0)
    for _ in range(4 * most):
        beside, inside = Y @ best, np.flatnonzero(best)
        until = np.concatenate([[0], np.cumsum(best)])
        near = until[ends] - until[starts]  # how many of the set are too close to each place
        more = np.where(near == 0, 2 * beside + own, -np.inf)
        less = own[inside] - 2 * beside[inside]
        close = np.abs(inside[:, None] - np.arange(n)) < apart
        moved = less[:, None] + 2 * beside + own - 2 * Y[inside]
        moved = np.where((near - close == 0) & (best == 0), moved, -np.inf)
        gains = [more.max() if len(inside) < most else -np.inf, less.max(), moved.max()]
        if max(gains) <= 1e-12 * float(beside @ best):
            return best
        kind = int(np.argmax(gains))
        taken, place = divmod(int(np.argmax(moved)), n)
        if kind == 0:
            best[int(np.argmax(more))] = 1
        elif kind == 1:
            best[inside[int(np.argmax(less))]] = 0
        else:
            best[inside[taken]], best[place] = 0, 1
    return best
