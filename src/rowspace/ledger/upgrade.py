"""Older ledgers, brought up to date in place, in one transaction, by whoever opens one first.

Version 1 had no filters: (ε, δ) budgets were summed up by the least of several bounds, for amounts that had been
decided without looking at answers. By that assumption what was charged then is fixed, so the filter that goes on from
there may be chosen by it: the first that has room for all of it. If none has, nothing more is let through.
"""

from __future__ import annotations

import json
from fractions import Fraction

import sqlalchemy as sa

from rowspace.privacy import ApproxDP, ApproxDPTheorem3, Privacy

from . import schema
from .composition import Filter, total
from .costs import Cost, cost_in, stated

_TRIED = ("gaussian", "basic", "concentrated")
"""The last can count every charge."""


def add_columns(connection: sa.Connection) -> None:
    """The tables of version 1 as those of version 2."""
    for table, name in ((schema.budgets, "composition"), (schema.charges, "source")):
        connection.execute(sa.text(f"ALTER TABLE {table.name} ADD COLUMN {name} TEXT"))
    for index in schema.charges.indexes:
        index.create(connection, checkfirst=True)


def add_sums(connection: sa.Connection) -> None:
    """The tables of version 2 as those of version 3, all sums still zero."""
    for name in ("epsilon", "delta", "rho"):
        connection.execute(
            sa.text(f"ALTER TABLE {schema.budgets.name} ADD COLUMN {name} TEXT NOT NULL DEFAULT '0'")
        )
    connection.execute(
        sa.text(f"ALTER TABLE {schema.budgets.name} ADD COLUMN charges INTEGER NOT NULL DEFAULT 0")
    )
    connection.execute(sa.text(f"ALTER TABLE {schema.charges.name} ADD COLUMN version TEXT"))
    schema.requests.create(connection)
    connection.execute(schema.version.update().values(version=schema.SCHEMA_VERSION))


def chosen_filter(guarantee: Privacy, charges: list[tuple[Privacy, Cost, int]]) -> tuple[Filter, list[Cost]]:
    """How a budget of version 1 goes on, and what its charges cost by that."""
    if not isinstance(guarantee, ApproxDP):
        return Filter.of(guarantee), [cost for _, cost, _ in charges]
    for composition in _TRIED:
        filter_ = Filter(guarantee, composition)
        costs = [
            cost_in(guarantee, composition, privacy, _amount(privacy, cost)) for privacy, cost, _ in charges
        ]
        known = [cost for cost in costs if cost is not None]
        if len(known) == len(costs) and (
            composition == _TRIED[-1] or filter_.fits(total(zip(known, (c[2] for c in charges), strict=True)))
        ):
            return filter_, known
    raise AssertionError("the last composition counts every charge")


def rewrite(
    connection: sa.Connection,
    dataset: str,
    filter_: Filter,
    charges: list[tuple[Privacy, Cost, int]],
    costs: list[Cost],
) -> None:
    """Keep how a budget goes on, and its charges in that currency."""
    budgets, table = schema.budgets, schema.charges
    connection.execute(
        budgets.update().where(budgets.c.dataset == dataset).values(composition=filter_.composition)
    )
    for (privacy, old, _), new in zip(charges, costs, strict=True):
        if new != old:
            same = [getattr(table.c, name) == str(amount) for name, amount in vars(old).items()]
            text = json.dumps(privacy.to_dict(), sort_keys=True, allow_nan=False)
            chosen = table.update().where(table.c.dataset == dataset, table.c.privacy == text, *same)
            connection.execute(chosen.values({name: str(amount) for name, amount in vars(new).items()}))


def _amount(privacy: Privacy, recorded: Cost) -> Fraction:
    """What version 1 proved of a charge: its ε or ρ, and of Gaussian noise that it keeps its (ε, δ)."""
    if isinstance(privacy, ApproxDP | ApproxDPTheorem3):
        return stated(privacy)
    return recorded.epsilon or recorded.rho
