"""Places for missing values that no query of a workload sees: measured beside the strategy, at no cost.

Where every query names an attribute and asks for known values, the columns of its place are zero, and the strategy is
chosen without them. Asking each of those cells by itself, with a weight that no column exceeds, leaves the sensitivity
and every planned error as they are, and later questions (how many records in all?) have an answer.
"""

from __future__ import annotations

from math import isqrt, prod

from rowspace.domain import Domain
from rowspace.operators import Extended, Operator
from rowspace.privacy import Neighbours, Privacy, integer_norm
from rowspace.strategy import dropped_bits, is_spread, step_over
from rowspace.workload import Workload

MOST_BESIDE = 2**20
"""Most cells that are measured beside a strategy, unless its own are as many."""


def without_unseen(workload: Workload) -> Workload:
    """The same workload without the places that none of its queries sees."""
    domain = workload.domain
    return workload.over(domain.with_places(domain.places - workload.unseen))


def with_cells_beside(integers: Operator, own: Domain, whole: Domain, privacy: Privacy) -> Operator | None:
    """The integer strategy over `own`, with every other cell of `whole` asked beside it; None where that costs."""
    if whole.size - own.size > max(MOST_BESIDE, own.size):
        return None
    extended = asked_beside(integers, whole.shape, own.shape, privacy, whole.parts)
    return extended if step_over(extended, privacy, None) <= step_over(integers, privacy, None) else None


def asked_beside(
    integers: Operator, sizes: tuple[int, ...], box: tuple[int, ...], privacy: Privacy, parts: int
) -> Extended:
    """The integer strategy on a box of cells, the others with the largest weight that costs nothing, at least one.

    The weight is a multiple of the parts that a record is counted in, as the strategy is.
    """
    weight = _weight(integers, privacy)
    return Extended(integers, sizes, box, max(parts, weight - weight % parts))


def own_cells(strategy: Extended, domain: Domain) -> Domain:
    """The domain whose cells the inner strategy is asked of."""
    kept = [
        name for name, box, size in zip(domain.names, strategy.box, domain.shape, strict=True) if box == size
    ]
    return domain.with_places(domain.places & frozenset(kept))


def is_over_box(strategy: Operator, domain: Domain) -> bool:
    """Whether a strategy asks some cells of a domain one by one: the places of some attributes."""
    return (
        isinstance(strategy, Extended)
        and strategy.sizes == domain.shape
        and prod(strategy.box) == own_cells(strategy, domain).size
    )


def _weight(integers: Operator, privacy: Privacy) -> int:
    """The largest weight of a cell that leaves the sensitivity as it is."""
    largest = integers.integer_norm(privacy.norm)
    if privacy.neighbours is Neighbours.REPLACE_ONE:
        # Two records may be in two such cells, or one of them in a cell of the strategy's own.
        pair = integer_norm(integers, privacy)
        largest = min(largest, pair - largest, pair // 2)
    if privacy.unit is not None and is_spread(privacy):
        # A unit may be in k of these cells, too, or in some; a little less, since columns of integers differ.
        pairs = 1 if privacy.neighbours is Neighbours.ADD_REMOVE else 2
        largest = min(largest, step_over(integers, privacy, None) * 9 // (10 * pairs * privacy.unit.rows))
    weight = isqrt(max(0, largest)) if privacy.norm == 2 else largest
    bits = dropped_bits(integers)
    return weight if bits == 0 else weight >> bits << bits
