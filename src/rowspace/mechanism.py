"""release(): the matrix mechanism in one short function.

    charge the budget → count the cells → ask the strategy, add noise → least squares

Guarantees
- The noisy answers satisfy the plan's privacy guarantee; everything after them is post-processing
  (measure.py; tests/test_mechanism.py).
- Nothing is returned unless the ledger, when one is given, took the charge first
  (tests/test_mechanism.py::test_a_refused_charge_releases_nothing).
- Two releases never share noise (tests/test_mechanism.py::test_two_releases_never_share_noise).
"""

from __future__ import annotations

from typing import Any, Protocol, runtime_checkable

from .exceptions import InvalidInput
from .measure import measure
from .noise import BitSource
from .planning import Plan
from .releases import Release


@runtime_checkable
class Ledger(Protocol):
    """Something that keeps a privacy budget."""

    def charge(self, plan: Plan) -> None:
        """Record the cost of releasing this plan, durably, or raise; called before any noise is drawn."""


def release(
    plan: Plan,
    source: Any,
    *,
    ledger: Ledger | None = None,
    table: str | None = None,
    random: BitSource | None = None,
) -> Release:
    """Measure the plan's strategy on the data with noise and derive consistent answers.

    source: a CSV or Parquet path, a pandas or polars frame, an Arrow or Ibis table, a database URL with `table=`,
    or a vector of counts. ledger: who keeps the budget (None: nobody). random: for tests only.

    >>> import rowspace as rs
    >>> domain = rs.Domain(age=rs.Numeric(0, 4, bins=4))
    >>> plan = rs.plan(rs.workload.ranges(domain, "age"), rs.PureDP(1.0))
    >>> list(rs.release(plan, [10, 20, 30, 40]).answers().columns)
    ['group', 'age', 'answer', 'std_error', 'low', 'high']
    """
    if not isinstance(plan, Plan):
        raise InvalidInput(f"expected a plan made by rs.plan, got {type(plan).__name__}")
    if ledger is not None and not isinstance(ledger, Ledger):
        raise InvalidInput(
            f"expected a ledger with a charge(plan) method or None, got {type(ledger).__name__}"
        )
    from .sources import count_cells  # here, because engines take a while to import and planning needs none

    counts = count_cells(source, plan.domain, table=table)
    if ledger is not None:
        ledger.charge(plan)
    measurement = measure(plan.strategy, plan.noise, counts, random)
    return Release(plan, measurement.answers)
