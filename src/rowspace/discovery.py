"""discover(): the values that stand in a column, found privately.

    group by the values → add noise, keep what reaches the threshold → charge the budget, keeping what was found with it

As in `mechanism`, noise is drawn before the charge, in memory, and one transaction holds the charge and what it paid
for. The proof is in `rowspace.privacy.thresholds`, and in words in docs/design/019-unknown-values.md.

Guarantees
- What is found satisfies the plan's (ε, δ) (`rowspace.privacy.thresholds`; tests/audit/test_discovery.py).
- Nothing is returned or written unless the ledger, when one is given, took the charge first, and what is charged for is
  what is returned (tests/test_discovery.py::test_the_ledger_keeps_what_is_found).
- With a ledger, noise comes from the secure source alone
  (tests/test_discovery.py::test_a_charge_is_for_secure_noise).
- Nothing that was set on a promise is used (tests/test_discovery.py::test_a_promise_of_ones_own_is_refused).
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from .measure import measure_keys
from .mechanism import BudgetKeeper, about_source, chosen_random, keeper_of
from .noise import BitSource
from .planning import checked_discovery, discovery_plan
from .privacy import ApproxDP, PrivacyUnit
from .releases import Discovery

if TYPE_CHECKING:
    from .sources import KeyCounts, Source


def discover(
    source: Source,
    columns: str | Sequence[str],
    *,
    privacy: ApproxDP,
    at_least: int | None = None,
    unit: PrivacyUnit | str | None = None,
    other: str = "other",
    ledger: BudgetKeeper | str | os.PathLike[str] | None = None,
    dataset: str | None = None,
    second_budget: bool = False,
    table: str | None = None,
    random: BitSource | None = None,
) -> Discovery:
    """Find the values of a column that nobody could list, and how many records have each.

    source: as for `release`, but no counts. columns: one, or several whose combinations are keys; they hold text,
    integers or booleans. privacy: an `ApproxDP`; no promise without a δ can show that a value exists. at_least: show
    none whose noisy count is below this. unit: whose records are protected together, a column (each counts in one key)
    or a `PrivacyUnit` whose `rows` says in how many keys each counts at most; or a unit of `privacy`. other: what all
    that is not found is called; records that have that very text are part of it. ledger, dataset, second_budget, table,
    random: as for `release`.

    `BudgetExceeded` when it would cost more than remains; then nothing is found out.

    >>> import pandas as pd, rowspace as rs
    >>> visits = pd.DataFrame({"diagnosis": ["flu"] * 500 + ["asthma"] * 200 + ["rare"]})
    >>> rs.discover(visits, "diagnosis", privacy=rs.ApproxDP(1.0, 1e-8)).categorical
    Categorical(['asthma', 'flu'], other='other')
    """
    plan = checked_discovery(discovery_plan(columns, privacy, at_least, unit, other))
    keeper = keeper_of(ledger, dataset)
    random = chosen_random(keeper, random)
    about = about_source(source, table, second_budget) if getattr(keeper, "keeps_sources", False) else {}
    if keeper is not None and hasattr(keeper, "check"):
        keeper.check(plan, dataset, **about)  # only to refuse before a large table is read: charge() decides
    # Here, because engines take a while to import.
    from .sources import count_keys

    keys = count_keys(source, plan.columns, table=table, unit=plan.privacy.unit)
    keys = _without_label(keys, plan.other)
    where, noisy = measure_keys(plan.threshold, plan.least, keys.counts, random)
    values = [column.take(where).to_pylist() for column in keys.columns]
    found = Discovery.in_order(plan, values, noisy)
    if keeper is not None:
        keeper.charge(plan, found.to_bytes(), dataset, **about)  # type: ignore[arg-type]
    return found


def _without_label(keys: KeyCounts, other: str) -> KeyCounts:
    """The keys in which no part reads like the place for everything else: that is where they go."""
    import pyarrow as pa
    import pyarrow.compute as pc

    texts = [column for column in keys.columns if pa.types.is_string(column.type)]
    if not texts:
        return keys
    where = np.flatnonzero(
        np.logical_and.reduce([pc.not_equal(column, other).to_numpy() for column in texts])
    )
    return replace(
        keys, columns=tuple(column.take(where) for column in keys.columns), counts=keys.counts[where]
    )
