"""How much work the planner may spend: the sizes up to which each optimizer is tried."""

from __future__ import annotations

from dataclasses import dataclass

from rowspace.exceptions import InvalidInput

from .hierarchical import BRANCHINGS
from .p_identity_starts import MANY_CELLS


@dataclass(frozen=True)
class Effort:
    """Limits on the number of cells, chosen so that a plan takes about the stated time on two cores.

    `row_space_work`: operations for the optimum in the row space of few queries; `local_work`: for local searches.
    """

    branchings: tuple[int, ...]
    factor_branchings: tuple[int, ...]
    p_identity_cells: int
    p_identity_factor_cells: int
    p_identity_steps: int
    gaussian_cells: int
    gaussian_gap: float
    min_error_cells: int
    row_space_work: float
    local_work: float

    def p_identity_steps_over(self, cells: int) -> int:
        """Steps of p-Identity: fewer where each of them takes longer."""
        return max(1, int(self.p_identity_steps * min(1.0, (MANY_CELLS / cells) ** 3)))


EFFORTS = {
    # A second or two.
    "fast": Effort((2, 4, 16), (2, 16), 256, 64, 100, 256, 1e-3, 4, 4e10, 4e9),
    # Seconds; up to a minute at the limits.
    "normal": Effort(BRANCHINGS, (2, 4, 16), 16_384, 256, 300, 1024, 1e-4, 8, 4e12, 2e10),
    # Minutes at the limits.
    "best": Effort(BRANCHINGS, BRANCHINGS, 16_384, 1024, 2000, 4096, 1e-6, 10, 4e13, 4e11),
}


def effort_named(name: str) -> Effort:
    """The limits of a level of effort."""
    if name not in EFFORTS:
        raise InvalidInput(f"expected effort to be one of {', '.join(EFFORTS)}, got {name!r}")
    return EFFORTS[name]
