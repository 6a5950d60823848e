"""Descent over matrices with orthonormal columns: many starts at once, on a smoothed largest column norm.

The L1 sensitivity of Q·C as a function of Q is a maximum of sums of absolute values. Smoothed at width μ, |b| becomes
√(b² + μ²) and the maximum becomes μ·log Σ exp(·/μ): an upper bound that exceeds it by at most μ(m + log k). Following
its minimum while μ falls leads to a minimum of the sensitivity itself; *which* one depends on the start and on the
first μ: a wide one leads all starts into the same few valleys, a narrow one keeps them apart.

All functions act on stacks: Q is (starts, m, r), C is (r, k), and one number belongs to each start.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from rowspace.operators import Vector

MEMORY = 8
"""Pairs of steps and gradient changes that L-BFGS remembers."""

SUFFICIENT_DECREASE = 1e-4
SHRINK = 0.4
LINE_SEARCH_TRIALS = 20
FALL = 10**-0.5
"""Each level of smoothing is this much of the one before."""

STALLED = 1e-7
"""A start is done with a level when a step gains less than this share of μ."""


def sensitivities(Q: Vector, C: Vector) -> Vector:
    """max_j ‖Q c_j‖₁ for every start."""
    return np.asarray(np.abs(Q @ C).sum(axis=-2).max(axis=-1))


def smoothed(Q: Vector, C: Vector, width: Vector) -> tuple[Vector, Vector]:
    """The smoothed sensitivity at width μ (one per start) and its Euclidean gradient in Q."""
    B = Q @ C
    entries = np.sqrt(B * B + width[:, None, None] ** 2)
    sums = entries.sum(axis=-2)
    top = sums.max(axis=-1, keepdims=True)
    shares = np.exp((sums - top) / width[:, None])
    total = shares.sum(axis=-1, keepdims=True)
    value = top[:, 0] + width * np.log(total[:, 0])
    B /= entries
    B *= (shares / total)[:, None, :]
    return value, B @ C.T


def tangent(Q: Vector, G: Vector) -> Vector:
    """The part of G that keeps QᵗQ to first order."""
    S = _transposed(Q) @ G
    return np.asarray(G - Q @ (0.5 * (S + _transposed(S))))


def orthonormal(X: Vector) -> Vector:
    """The Q of X = QR for columns that are not far from orthonormal: X R⁻¹ with R the Cholesky factor of XᵗX.

    As a retraction, X = Q + D with D tangent, XᵗX = I + DᵗD is well conditioned; and since XᵗX itself is factored,
    rounding does not build up from step to step.
    """
    lower = np.linalg.cholesky(_transposed(X) @ X)
    return np.asarray(_transposed(np.linalg.solve(lower, _transposed(X))))


def random_rotations(starts: int, m: int, r: int, rng: np.random.Generator) -> Vector:
    """Uniformly random m × r matrices with orthonormal columns."""
    Q, R = np.linalg.qr(rng.standard_normal((starts, m, r)))
    return np.asarray(Q * np.sign(np.diagonal(R, axis1=-2, axis2=-1))[:, None, :])


def anneal(Q: Vector, C: Vector, first: Vector, last: float, steps: int) -> tuple[Vector, Vector, int]:
    """Follow the minimum from width `first` (one per start) down to `last`, `steps` at most on every level.

    Returns the best Q met at the end of a level for every start (the start itself included), its sensitivity, and
    the number of steps taken.
    """
    best, least, taken = Q.copy(), sensitivities(Q, C), 0
    width = np.maximum(first, last)
    while True:
        Q, used = descend(Q, C, width, steps)
        taken += used
        reached = sensitivities(Q, C)
        better = reached < least
        best[better], least[better] = Q[better], reached[better]
        if width.max() <= last:
            return best, least, taken
        width = np.maximum(width * FALL, last)


def descend(Q: Vector, C: Vector, width: Vector, steps: int) -> tuple[Vector, int]:
    """L-BFGS on the manifold at one width; a start that gains nothing any more is set aside.

    Remembered steps are used where they were made: carrying them from tangent space to tangent space costs more than
    it gains, as the direction is projected in the end.
    """
    result, alive = Q.copy(), np.arange(len(Q))
    value, G = smoothed(Q, C, width)
    gradient = tangent(Q, G)
    memory = _Memory()
    taken = 0
    while taken < steps and len(alive):
        taken += 1
        direction = tangent(Q, -memory.applied(gradient, width))
        slope = _dot(direction, gradient)
        uphill = slope >= -1e-12 * np.sqrt(_dot(direction, direction) * _dot(gradient, gradient))
        direction[uphill] = -(width[:, None, None] * gradient)[uphill]
        trial, trial_value, trial_gradient = _line_search(Q, C, width, value, gradient, direction)
        memory.add(trial - Q, trial_gradient - gradient)
        going = value - trial_value > STALLED * width
        result[alive] = trial
        Q, value, gradient = trial[going], trial_value[going], trial_gradient[going]
        alive, width = alive[going], width[going]
        memory.keep(going)
    return result, taken


def _line_search(
    Q: Vector, C: Vector, width: Vector, value: Vector, gradient: Vector, direction: Vector
) -> tuple[Vector, Vector, Vector]:
    """Shorten every start's step until it gains enough; where none does, the start stays where it is."""
    slope = _dot(direction, gradient)
    # Past a length of one the retraction bends the step beyond recognition.
    length = np.minimum(1.0, 1.0 / np.maximum(np.sqrt(_dot(direction, direction)), 1e-300))
    reached, reached_value, reached_gradient = Q.copy(), value.copy(), gradient.copy()
    open_ = np.arange(len(Q))
    for _ in range(LINE_SEARCH_TRIALS):
        trial = orthonormal(Q[open_] + length[open_, None, None] * direction[open_])
        trial_value, G = smoothed(trial, C, width[open_])
        enough = trial_value <= value[open_] + SUFFICIENT_DECREASE * length[open_] * slope[open_]
        closed = open_[enough]
        reached[closed], reached_value[closed] = trial[enough], trial_value[enough]
        reached_gradient[closed] = tangent(trial[enough], G[enough])
        open_ = open_[~enough]
        if not len(open_):
            break
        length[open_] *= SHRINK
    return reached, reached_value, reached_gradient


@dataclass
class _Memory:
    """The last steps and gradient changes of every start: an approximate inverse Hessian."""

    moves: list[Vector] = field(default_factory=list)
    changes: list[Vector] = field(default_factory=list)
    inverses: list[Vector] = field(default_factory=list)

    def add(self, move: Vector, change: Vector) -> None:
        curvature = _dot(move, change)
        size = np.sqrt(_dot(move, move) * _dot(change, change))
        usable = curvature > 1e-10 * size
        self.moves.append(move)
        self.changes.append(change)
        self.inverses.append(np.divide(1.0, curvature, out=np.zeros_like(curvature), where=usable))
        for kept in (self.moves, self.changes, self.inverses):
            del kept[:-MEMORY]

    def keep(self, going: npt.NDArray[np.bool_]) -> None:
        if not going.all():
            self.moves = [move[going] for move in self.moves]
            self.changes = [change[going] for change in self.changes]
            self.inverses = [inverse[going] for inverse in self.inverses]

    def applied(self, gradient: Vector, width: Vector) -> Vector:
        """The two-loop recursion; before anything is remembered, a step of length 0.1."""
        if not self.moves:
            return np.asarray(
                0.1 * gradient / np.maximum(np.sqrt(_dot(gradient, gradient)), 1e-300)[:, None, None]
            )
        q = gradient.copy()
        weights = []
        for move, change, inverse in zip(
            self.moves[::-1], self.changes[::-1], self.inverses[::-1], strict=True
        ):
            weight = inverse * _dot(move, q)
            weights.append(weight)
            q -= weight[:, None, None] * change
        latest = self.changes[-1]
        usable = self.inverses[-1] > 0
        # 1/μ is the size of the smoothed function's curvature: the scale where nothing better is known.
        scale = np.where(
            usable, _dot(self.moves[-1], latest) / np.maximum(_dot(latest, latest), 1e-300), width
        )
        q *= scale[:, None, None]
        for move, change, inverse, weight in zip(
            self.moves, self.changes, self.inverses, weights[::-1], strict=True
        ):
            q += (weight - inverse * _dot(change, q))[:, None, None] * move
        return q


def _transposed(X: Vector) -> Vector:
    return np.swapaxes(X, -1, -2)


def _dot(X: Vector, Y: Vector) -> Vector:
    return np.asarray(np.einsum("kij,kij->k", X, Y))
