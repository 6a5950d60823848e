"""The worst range and the worst 0/1 query under Hₙ and Yₙ, exactly, from their common eigenvectors.

Both profiles are Σ over nodes of the binary tree of (left − right)²/(2ʲλ_j), where left and right are the sums of the
query over the halves of a node of 2ʲ cells, plus total²/(nλ): Table 1's eigenvectors and eigenvalues. So the worst
query is found by recursion over the levels, not by looking at all n² ranges or 2ⁿ predicates.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from rowspace.operators import Vector


@dataclass(frozen=True)
class Spectrum:
    """Eigenvalues of AᵗA: of the differences of each level, fine to coarse, and of the total; n = 2^len(levels)."""

    levels: tuple[float, ...]
    total: float

    @property
    def sensitivity(self) -> int:
        """log n + 1, for both strategies."""
        return len(self.levels) + 1

    @property
    def weights(self) -> Vector:
        """1/(2ʲλ_j): what a squared difference at each level costs."""
        return np.array([1 / (2.0**j * value) for j, value in enumerate(self.levels, start=1)])

    @property
    def total_weight(self) -> float:
        """1/(nλ): what the squared total costs."""
        return 1 / (2.0 ** len(self.levels) * self.total)


def hierarchy(k: int) -> Spectrum:
    """H of 2^k cells: 2ʲ − 1, and 2^(k+1) − 1 for the total."""
    return Spectrum(tuple(2.0**j - 1 for j in range(1, k + 1)), 2.0 ** (k + 1) - 1)


def wavelet(k: int) -> Spectrum:
    """Y of 2^k cells: 2ʲ, and 2^k for the total."""
    return Spectrum(tuple(2.0**j for j in range(1, k + 1)), 2.0**k)


def profile_term(spectrum: Spectrum, w: Vector) -> float:
    """w(AᵗA)⁻¹wᵗ, level by level in O(n)."""
    sums, term = np.asarray(w, dtype=float), 0.0
    for weight in spectrum.weights:
        left, right = sums[0::2], sums[1::2]
        term += weight * float(np.sum((left - right) ** 2))
        sums = left + right
    return term + spectrum.total_weight * float(sums[0] ** 2)


def worst_range(spectrum: Spectrum) -> float:
    """The largest profile term of a range, O(n log n).

    The last node that holds the whole range splits it into a cells at the end of its left half and b at the start of
    the right half. Nodes above see all a + b cells on one side; those below are cut by one end each, which costs what a
    prefix of a or b cells costs in a half (`inside`).
    """
    weights = spectrum.weights
    above = np.append(np.cumsum(weights[::-1])[::-1][1:], 0.0) + spectrum.total_weight
    inside, largest = np.zeros(2), float(weights.sum() + spectrum.total_weight)
    for weight, outer in zip(weights, above, strict=True):
        half = len(inside) - 1
        length = np.arange(half + 1.0)
        # weight·(a − b)² + outer·(a + b)² = (weight + outer)(a² + b²) + 2(outer − weight)ab
        own = inside + (weight + outer) * length**2
        largest = max(largest, _best_pair(own, 2 * (outer - weight)))
        inside = np.concatenate((inside + weight * length**2, (inside + weight * (half - length) ** 2)[1:]))
    return largest


def _best_pair(own: Vector, coupling: float) -> float:
    """max over a, b of own[a] + own[b] + coupling·ab: for every a the best b is a corner of own's upper hull."""
    hull: list[int] = []
    for b, height in enumerate(own):
        while len(hull) > 1 and _below(own, hull[-2], hull[-1], b, height):
            hull.pop()
        hull.append(b)
    corners = np.array(hull)
    slopes = np.diff(own[corners]) / np.diff(corners)
    a = np.arange(len(own))
    # Going right pays as long as the hull rises faster than −coupling·a.
    best = corners[np.searchsorted(-slopes, coupling * a)]
    return float(np.max(own + own[best] + coupling * a * best))


def _below(own: Vector, first: int, middle: int, last: int, height: float) -> bool:
    """Whether the middle point is not above the line from the first to the last."""
    return bool((own[middle] - own[first]) * (last - middle) <= (height - own[middle]) * (middle - first))


def worst_predicate(spectrum: Spectrum) -> float:
    """The largest profile term of a 0/1 query, O(n²): by the number of ones in a node, all nodes of a level alike."""
    most = np.zeros(2)
    for weight in spectrum.weights:
        count = np.arange(len(most))
        both = np.full(2 * len(most) - 1, -np.inf)
        for ones in count:
            split = most[ones] + most + weight * (ones - count) ** 2
            both[ones : ones + len(most)] = np.maximum(both[ones : ones + len(most)], split)
        most = both
    return float(np.max(most + spectrum.total_weight * np.arange(len(most)) ** 2))
