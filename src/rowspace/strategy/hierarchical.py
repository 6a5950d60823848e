"""Hierarchical strategies: any branching factor, or a declared taxonomy, with the best weight for every level."""

from __future__ import annotations

import time
from dataclasses import dataclass, field

import numpy as np

from rowspace.error import noise_level, profile_trace
from rowspace.exceptions import InvalidInput
from rowspace.operators import Haar, Hierarchy, Operator, Permuted, Tree
from rowspace.privacy import Privacy

from .level_weights import level_energies, optimal_level_weights
from .result import Result, judged

BRANCHINGS = (2, 3, 4, 5, 6, 8, 10, 12, 16, 24, 32)
"""Branching factors tried by default; the best one for ranges grows slowly, and weights can skip levels."""


@dataclass(frozen=True)
class Hierarchical:
    """The best weighted tree over the given branching factors. O(n · levels) each, to 2²⁰ cells and more."""

    branchings: tuple[int, ...] = field(default=BRANCHINGS)

    def __post_init__(self) -> None:
        if not self.branchings or any(not isinstance(b, int) or b < 2 for b in self.branchings):
            raise InvalidInput(f"expected branching factors >= 2, got {self.branchings!r}")

    def propose(self, W: Operator, privacy: Privacy) -> Hierarchy:
        """The weighted tree of least total error."""
        n = W.shape[1]
        trees = []
        for branching in sorted({min(b, max(n, 2)) for b in self.branchings}):
            tree = Hierarchy(n, branching)
            energies = level_energies(W, tree.levels)
            sizes = np.array([n / count for count in tree.levels.counts])
            weights = optimal_level_weights(energies, sizes, privacy.norm)
            trees.append(Hierarchy(n, branching, tuple(weights)))
        return min(trees, key=lambda A: noise_level(A, privacy) * profile_trace(A, W))

    def optimize(self, W: Operator, privacy: Privacy, rng: np.random.Generator | None = None) -> Result:
        """The best tree, judged."""
        started = time.perf_counter()
        best = self.propose(W, privacy)
        name, status = (
            f"hierarchy, branching {best.branching}",
            f"best of {len(self.branchings)} branching factors",
        )
        seconds = time.perf_counter() - started
        return judged(name, best, W, privacy, status=status, steps=len(self.branchings), seconds=seconds)


@dataclass(frozen=True)
class Taxonomy:
    """The weighted tree along a declared taxonomy; give the tree with any weights (see `Domain`)."""

    tree: Operator

    def propose(self, W: Operator, privacy: Privacy) -> Operator:
        """The taxonomy's tree with the best level weights."""
        ordered, order = (
            (self.tree.of, self.tree.order) if isinstance(self.tree, Permuted) else (self.tree, None)
        )
        if not isinstance(ordered, Tree):
            raise InvalidInput(f"expected a Tree, got {type(ordered).__name__}")
        in_order = W if order is None else Permuted(W, np.argsort(order))
        energies = level_energies(in_order, ordered.levels)
        sizes = np.array([ordered.levels.n / count for count in ordered.levels.counts])
        weighted = Tree(ordered.bounds, tuple(optimal_level_weights(energies, sizes, privacy.norm)))
        return weighted if order is None else Permuted(weighted, order)

    def optimize(self, W: Operator, privacy: Privacy, rng: np.random.Generator | None = None) -> Result:
        """The weighted taxonomy, judged."""
        started = time.perf_counter()
        A = self.propose(W, privacy)
        seconds = time.perf_counter() - started
        return judged("taxonomy", A, W, privacy, status="level weights optimized", steps=1, seconds=seconds)


@dataclass(frozen=True)
class Wavelet:
    """The Haar wavelet with its best level weights, in closed form; n must be a power of two.

    The rows are orthogonal, so level ℓ costs c_ℓ/w_ℓ² with c_ℓ fixed by the workload. Under L2 sensitivity
    w ∝ c^(1/4) is optimal, under L1 w ∝ c^(1/3) (set the gradient of the product to zero).
    """

    def propose(self, W: Operator, privacy: Privacy) -> Haar:
        """The weighted wavelet of least total error."""
        costs = self._level_costs(W)
        weights = costs ** (1 / 3 if privacy.norm == 1 else 1 / 4)
        # A level the workload never asks about still needs a little weight to keep full rank.
        weights = np.maximum(weights, 1e-3 * weights.max())
        return Haar(W.shape[1], tuple(weights / weights.max()))

    def optimize(self, W: Operator, privacy: Privacy, rng: np.random.Generator | None = None) -> Result:
        """The best wavelet, judged."""
        started = time.perf_counter()
        A = self.propose(W, privacy)
        seconds = time.perf_counter() - started
        return judged("wavelet", A, W, privacy, status="closed form", steps=1, seconds=seconds)

    @staticmethod
    def _level_costs(W: Operator) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
        n = W.shape[1]
        Haar(n)  # refuses a size that is no power of two
        ones, block = np.ones(n), n
        energy = W.segment_energy(ones, np.array([0, n]))
        costs = [float(energy[0]) / n**2]
        while block > 1:
            halves = W.segment_energy(ones, np.arange(0, n + 1, block // 2))
            costs.append(max(0.0, float((2 * (halves[0::2] + halves[1::2]) - energy).sum())) / block**2)
            block, energy = block // 2, halves
        return np.array(costs)
