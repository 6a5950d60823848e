"""The ellipse of a quadratic form in two variables."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from .axes import axes_or_new, literal

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def ellipse(M: npt.ArrayLike, *, label: str | None = None, ax: Axes | None = None) -> Axes:
    """All points w with w M wᵗ = 1, for a positive definite 2 × 2 matrix; equal scales on both axes."""
    ax = axes_or_new(ax, size=(4.4, 4.4))
    values, vectors = np.linalg.eigh(np.asarray(M, dtype=float))
    angle = np.linspace(0, 2 * np.pi, 361)
    circle = np.stack([np.cos(angle), np.sin(angle)])
    x, y = vectors @ (circle / np.sqrt(values)[:, None])
    ax.plot(x, y, label=None if label is None else literal(label))
    ax.axhline(0, color="0.8", linewidth=0.8, zorder=0)
    ax.axvline(0, color="0.8", linewidth=0.8, zorder=0)
    ax.set_aspect("equal", adjustable="datalim")
    if label is not None:
        ax.legend(frameon=False)
    return ax
