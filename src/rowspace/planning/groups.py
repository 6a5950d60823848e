"""What to expect of the groups of a workload."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import sqrt

import numpy as np

from rowspace.error import query_variances
from rowspace.lines import one_line
from rowspace.operators import Identity
from rowspace.tables import ProductWorkload, TableOperator
from rowspace.workload import Workload

MOST_QUERIES = 2**22
"""Groups of more queries than that are not searched for the worst one."""


@dataclass(frozen=True)
class GroupError:
    """What to expect of one group of queries; the worst is None where there are too many to look at."""

    group: str
    queries: int
    rmse: float
    largest_std_error: float | None

    def __repr__(self) -> str:
        return one_line(f"<GroupError of {self.queries:,} queries: rmse {self.rmse:.4g}, {self.group!r}>")


def table_group_errors(
    A: TableOperator, variance: float, workload: Workload, names: Sequence[str]
) -> list[GroupError]:
    """The groups of a workload under a strategy of tables: thousands at once, by one product with sparse costs."""
    W = workload.products().unweighted()
    totals = A.totals_of_parts(W)
    members: dict[str, list[int]] = {name: [] for name in names}
    for number, part in enumerate(workload.parts):
        members[part.group].append(number)
    sizes = W.sizes_of_parts
    found = []
    for name, numbers in members.items():
        queries = sum(sizes[k] for k in numbers)
        rmse = sqrt(variance * float(totals[numbers].sum()) / queries)
        found.append(GroupError(name, queries, rmse, _worst(A, variance, W, numbers, totals)))
    return found


def _worst(
    A: TableOperator, variance: float, W: ProductWorkload, numbers: Sequence[int], totals: np.ndarray
) -> float | None:
    """The largest standard error of some parts; the cells of a marginal are all alike where the strategy's are."""
    worst = 0.0
    for number in numbers:
        size = W.sizes_of_parts[number]
        if A.all_cells_alike and all(isinstance(W.pieces[k].operator, Identity) for k in W.parts[number]):
            worst = max(worst, float(totals[number]) / size)
        elif size > MOST_QUERIES:
            return None
        else:
            worst = max(worst, float(query_variances(A, W.only([number])).max()))
    return sqrt(variance * worst)
