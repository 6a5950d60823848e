"""The error profile of a strategy over two cells, as the paper draws it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy.typing as npt

from rowspace.exceptions import InvalidInput
from rowspace.operators import Operator

from .profile import decompose, profile

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def plot_profile(A: Operator | npt.ArrayLike, ax: Axes | None = None, *, label: str | None = None) -> Axes:
    """Draw the queries w = (w₁, w₂) whose profile term w M wᵗ is one; A is a strategy, or its profile M itself.

    Where one ellipse lies outside another its strategy has the smaller profile term; sensitivities come on top.

    >>> import matplotlib; matplotlib.use("agg")
    >>> ax = plot_profile([[2, -1.5], [-1.5, 2]], label="M₂")
    >>> ax.get_xlabel()
    'weight of the first cell'
    """
    from rowspace.drawing import ellipse

    M = profile(A) if isinstance(A, Operator) else A
    values = decompose(M).values
    if len(values) != 2:
        raise InvalidInput(
            f"expected a strategy over 2 cells, got {len(values)}: an ellipsoid in more dimensions cannot be drawn; "
            "look at error.decompose"
        )
    ax = ellipse(M, label=label, ax=ax)
    ax.set_xlabel("weight of the first cell")
    ax.set_ylabel("weight of the second cell")
    return ax
