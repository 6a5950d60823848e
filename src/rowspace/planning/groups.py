"""What to expect of the groups of a workload."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import sqrt

from rowspace.exceptions import TooLarge
from rowspace.notebook import one_line
from rowspace.strategy import Strategy
from rowspace.tables import ProductWorkload


@dataclass(frozen=True)
class GroupError:
    """What to expect of one group of queries; the worst is None where there are too many to look at."""

    group: str
    queries: int
    rmse: float
    largest_std_error: float | None

    def __repr__(self) -> str:
        return one_line(f"<GroupError of {self.queries:,} queries: rmse {self.rmse:.4g}, {self.group!r}>")


def group_errors(
    strategy: Strategy, variance: float, queries: ProductWorkload, names: Sequence[str]
) -> list[GroupError]:
    """The parts of a workload by their group's name, in the order of the first of each."""
    members: dict[str, list[int]] = {}
    for number, name in enumerate(names):
        members.setdefault(name, []).append(number)
    totals = strategy.totals(queries)
    found = []
    for name, numbers in members.items():
        asked = sum(queries.sizes_of_parts[k] for k in numbers)
        rmse = sqrt(variance * float(totals[numbers].sum()) / asked)
        try:
            worst = sqrt(variance * max(strategy.worst(queries, number) for number in numbers))
        except TooLarge:
            worst = None
        found.append(GroupError(name, asked, rmse, worst))
    return found
