"""The search for a rotation of least sensitivity: where to start, what to try again, when to polish."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from rowspace.operators import Vector

from .rotation_polish import polish, quick_to_polish
from .rotations import anneal, orthonormal, random_rotations

STEPS = 100
"""L-BFGS steps per level of smoothing."""

FIRST_WIDTH = 0.1
"""Widest first smoothing over ‖A‖₂. Starts differ in it, down to a tenth: wide ones find good valleys more surely,
narrow ones find more of them. From 0.3 all starts end in the same poor one."""

SMALL = 16
"""Past this rank a first width below a third of the widest leaves more steps to go than there are."""

LAST_WIDTH = 1e-3
"""Final width where linear programs do the rest."""

FINE_WIDTH = 1e-5
"""Final width where they are too large."""

GENERATIONS = 3
"""How often the best rotations are shaken and followed down again."""

PARENTS = 4
SHAKES = (0.1, 0.3, 0.8)
"""Sizes of the random changes, as the norm of a changed column."""

POLISHED = 2
"""How many distinct minima are polished."""

POLISHING_ROUNDS = 30
NUDGE = 0.05
"""Structured starts are moved off the symmetric points where the gradient vanishes, by this norm per column."""


def default_restarts(m: int, r: int) -> int:
    """As many starts as take a few seconds, but at least four."""
    return int(np.clip(2**14 // (m * r), 4, 64))


def search_rotations(
    Q: Vector, R: Vector, C: Vector, m: int, restarts: int, rng: np.random.Generator
) -> Iterator[tuple[Vector, int]]:
    """Rotations with up to m rows of small max_j ‖· c_j‖₁ as they are found, each with the steps since the last.

    The given strategy is QR. Later ones are usually, not always, better.
    """
    scale = float(np.linalg.norm(C, axis=0).max())
    pool, least, taken = anneal(
        _starts(Q, R, m, restarts, rng), C, scale * _widths(restarts, len(R), rng), scale * LAST_WIDTH, STEPS
    )
    yield pool[np.argmin(least)], taken
    for _ in range(GENERATIONS):
        parents = pool[np.argsort(least)[np.arange(restarts) % min(PARENTS, restarts)]]
        shake = rng.choice(SHAKES, restarts)[:, None, None] / np.sqrt(m)
        # A row of zeros stays one: a square rotation is not traded for a wide one by shaking.
        noise = rng.standard_normal(parents.shape) * (np.abs(parents).sum(axis=2, keepdims=True) > 0)
        widths = scale * _widths(restarts, len(R), rng) / 3
        children, reached, taken = anneal(
            orthonormal(parents + shake * noise), C, widths, scale * LAST_WIDTH, STEPS
        )
        pool, least = np.concatenate((pool, children)), np.concatenate((least, reached))
        order = np.argsort(least)[:restarts]
        pool, least = pool[order], least[order]
        yield pool[0], taken
    # Equal to four digits is the same minimum, but for symmetries.
    _, distinct = np.unique(np.round(least / least[0], 4), return_index=True)
    for candidate in pool[distinct[:POLISHED]]:
        used = candidate[np.abs(candidate).sum(axis=1) > 0]
        if quick_to_polish(len(used), C.shape[1]):
            yield polish(used, C, POLISHING_ROUNDS), POLISHING_ROUNDS
        else:
            fine, _, taken = anneal(used[None], C, np.array([scale * LAST_WIDTH]), scale * FINE_WIDTH, STEPS)
            yield fine[0], taken


def _widths(count: int, r: int, rng: np.random.Generator) -> Vector:
    return np.asarray(FIRST_WIDTH * 10 ** -rng.uniform(0.0, 1.0 if r <= SMALL else 0.5, count))


def _starts(Q: Vector, R: Vector, m: int, count: int, rng: np.random.Generator) -> Vector:
    """The given rotation, the factors with structure, then random ones: square and wide in turn."""
    r = len(R)
    structured = [Q] if len(Q) <= m else []
    # QᵗR upper triangular: the kind of factor the paper improves Y₄ with. Then the same from below.
    structured += [np.linalg.qr(R)[0].T, np.linalg.qr(R[:, ::-1])[0].T[::-1]]
    # R = D·P has orthogonal rows, so PᵗR = PᵗDP is the symmetric root.
    symmetric = (R / np.linalg.norm(R, axis=1)[:, None]).T
    structured += [symmetric] if len(symmetric) <= m else []
    starts = np.zeros((count, m, r))
    for start, rotation in zip(starts, structured, strict=False):
        start[: len(rotation)] = rotation
    left = max(0, count - len(structured))
    wide = left // 2 if m > r else 0
    starts[count - left : count - wide, :r] = random_rotations(left - wide, r, r, rng)
    starts[count - wide :] = random_rotations(wide, m, r, rng)
    nudge = NUDGE / np.sqrt(m) * rng.standard_normal(starts.shape)
    return orthonormal(starts + nudge * (np.abs(starts).sum(axis=2, keepdims=True) > 0))
