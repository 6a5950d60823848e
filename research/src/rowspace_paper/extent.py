"""How far a reproduction goes: the same claims, on larger or smaller domains."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Extent:
    """Sizes, as powers of two where the paper's n is one."""

    name: str
    growth_power: int
    """Largest n = 2^k for the growth of errors on ranges."""
    predicate_power: int
    """Largest n = 2^k for the worst 0/1 query, which takes n² steps."""
    rotated: tuple[int, ...]
    """Domains whose Hₙ and Yₙ are rotated."""
    rotation_starts: int | None
    program_cells: tuple[int, ...]
    """Domains for Program 1; its optimum is the yardstick of the approximations."""
    open_cells: tuple[int, ...]
    """Domains of one attribute in the table of best strategies."""
    trials: int
    """Random strategies and queries in the checks of theorems."""


FULL = Extent(
    name="full",
    growth_power=16,
    predicate_power=12,
    rotated=(4, 8, 16, 32, 64),
    rotation_starts=None,
    program_cells=(2, 4, 6, 8),
    open_cells=(64, 256, 1024),
    trials=400,
)
QUICK = Extent(
    name="quick",
    growth_power=16,
    predicate_power=12,
    rotated=(4, 8),
    rotation_starts=None,
    program_cells=(2, 4),
    open_cells=(64,),
    trials=60,
)
