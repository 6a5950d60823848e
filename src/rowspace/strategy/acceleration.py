"""Anderson acceleration: the fixed point of a slowly converging map from its last few steps."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from rowspace.operators import Vector

MEMORY = 6
"""Steps remembered. On prefix sums 2 take 8 steps to a gap of 1e-6, 4 and more take 7 (without: 14)."""

LARGEST_RISE, LARGEST_FALL = 8.0, 2.0
"""How far extrapolation may carry a logarithm from where the plain map puts it. A weight that fell too far comes back
slowly, so falling is held on the shorter leash."""


@dataclass
class Anderson:
    """Combines past steps of t ← g(t) so that the residual g(t) − t, taken as linear, is least in mean square.

    One instance serves one run; `forget` starts afresh after a step that was turned down.
    """

    memory: int = MEMORY
    _residuals: list[Vector] = field(default_factory=list)
    _images: list[Vector] = field(default_factory=list)

    def forget(self) -> None:
        """Drop the past."""
        self._residuals.clear()
        self._images.clear()

    def propose(self, point: Vector, image: Vector, weight: Vector) -> Vector:
        """The next point, given g(point) = image and how much each coordinate's residual matters."""
        self._residuals = [*self._residuals, image - point][-self.memory - 1 :]
        self._images = [*self._images, image][-self.memory - 1 :]
        if len(self._images) == 1:
            return image
        scale = np.sqrt(weight)[:, None]
        residuals, images = np.diff(self._residuals, axis=0).T, np.diff(self._images, axis=0).T
        mix = np.linalg.lstsq(scale * residuals, scale[:, 0] * self._residuals[-1], rcond=1e-10)[0]
        return np.asarray(image + np.clip(-images @ mix, -LARGEST_FALL, LARGEST_RISE))
