"""Hierarchical strategies: any branching factor, or a declared taxonomy, with the best weight for every level.

The best weight for every level of a tree, from one energy per level of the workload.

For a regular tree AᵗA has one eigenvalue per level, λ_j = Σ_{ℓ≥j} w_ℓ²·size_ℓ (finer levels ℓ), on the vectors that
are constant on level j's blocks and sum to zero over level j−1's. So the trace is Σ_j s_j/λ_j with
s_j = tr(P_j WᵗW), and the sensitivity is a norm of w. That is a smooth problem in as many variables as levels;
for a tree whose last blocks are cut short it is an excellent guide, and the true error is computed afterwards.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, field

import numpy as np
import scipy

from rowspace.error import noise_level, profile_trace
from rowspace.exceptions import InvalidInput
from rowspace.operators import Haar, Hierarchy, Levels, Operator, Permuted, Tree, Vector
from rowspace.privacy import Privacy

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


def level_energies(W: Operator, levels: Levels) -> Vector:
    """s_j for every level: the energy of W on what level j adds to level j−1."""
    ones = np.ones(levels.n)
    within = [float(np.sum(W.segment_energy(ones, b) / np.diff(b))) for b in levels.bounds]
    return np.maximum(np.diff(np.concatenate(([0.0], within))), 0.0)


def optimal_level_weights(energies: Vector, sizes: Vector, norm: int) -> Vector:
    """Weights w ≥ 0, the finest level's at 1, that minimize ‖w‖² · Σ_j s_j/λ_j in the noise's norm."""
    finest = len(energies) - 1
    if finest == 0:
        return np.ones(1)

    def objective(head: Vector) -> tuple[float, Vector]:
        w = np.append(head, 1.0)
        eigenvalues = np.cumsum((w**2 * sizes)[::-1])[::-1]
        trace = float(np.sum(energies / eigenvalues))
        slope = -2 * w * sizes * np.cumsum(energies / eigenvalues**2)
        power = w.sum() if norm == 1 else np.sqrt(np.sum(w**2))
        power_slope = np.ones_like(w) if norm == 1 else w / power
        # The logarithm makes the problem scale-free, whatever the size of the workload.
        value = 2 * np.log(power) + np.log(trace)
        return float(value), np.asarray(2 * power_slope / power + slope / trace)[:-1]

    # L1 sensitivity makes the problem non-convex: start from equal weights and from a nearly flat tree.
    starts = [np.ones(finest), np.full(finest, 0.1)]
    found = [
        scipy.optimize.minimize(objective, start, jac=True, method="L-BFGS-B", bounds=[(0.0, None)] * finest)
        for start in starts
    ]
    best = min(found, key=lambda result: float(result.fun))
    return np.append(best.x, 1.0)
