"""How much work the planner may spend: the sizes up to which each optimizer is tried."""

from __future__ import annotations

from dataclasses import dataclass

from rowspace.exceptions import InvalidInput

from .hierarchical import BRANCHINGS


@dataclass(frozen=True)
class Effort:
    """Limits on the number of cells, chosen so that a plan takes about the stated time on two cores."""

    branchings: tuple[int, ...]
    factor_branchings: tuple[int, ...]
    p_identity_cells: int
    p_identity_factor_cells: int
    p_identity_steps: int
    gaussian_cells: int
    gaussian_gap: float
    worst_query_cells: int
    min_error_cells: int


EFFORTS = {
    # A second or two.
    "fast": Effort((2, 4, 16), (2, 16), 256, 64, 100, 256, 1e-3, 64, 0),
    # Seconds; up to a minute at the limits.
    "normal": Effort(BRANCHINGS, (2, 4, 16), 4096, 256, 300, 1024, 1e-4, 256, 0),
    # Minutes at the limits.
    "best": Effort(BRANCHINGS, BRANCHINGS, 16_384, 1024, 2000, 4096, 1e-6, 1024, 8),
}


def effort_named(name: str) -> Effort:
    """The limits of a level of effort."""
    if name not in EFFORTS:
        raise InvalidInput(f"expected effort to be one of {', '.join(EFFORTS)}, got {name!r}")
    return EFFORTS[name]
