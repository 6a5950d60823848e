"""The tables of a ledger. Exact amounts are fractions in text, so that no engine rounds them."""

from __future__ import annotations

import sqlalchemy as sa

SCHEMA_VERSION = 2
"""2 adds how a budget adds up, and which source a charge was about."""

metadata = sa.MetaData()

version = sa.Table("rowspace_ledger", metadata, sa.Column("version", sa.Integer, nullable=False))

budgets = sa.Table(
    "rowspace_budget",
    metadata,
    sa.Column("dataset", sa.Text, primary_key=True),
    sa.Column("guarantee", sa.Text, nullable=False),
    sa.Column("created", sa.Text, nullable=False),
    sa.Column("who", sa.Text, nullable=False),
    sa.Column("composition", sa.Text),
)

charges = sa.Table(
    "rowspace_charge",
    metadata,
    sa.Column("id", sa.Integer, primary_key=True),
    sa.Column("dataset", sa.Text, sa.ForeignKey(budgets.c.dataset), nullable=False),
    sa.Column("plan", sa.Text, nullable=False),
    sa.Column("privacy", sa.Text, nullable=False),
    sa.Column("epsilon", sa.Text, nullable=False),
    sa.Column("delta", sa.Text, nullable=False),
    sa.Column("rho", sa.Text, nullable=False),
    sa.Column("time", sa.Text, nullable=False),
    sa.Column("who", sa.Text, nullable=False),
    sa.Column("digest", sa.Text, nullable=False),
    sa.Column("content", sa.LargeBinary, nullable=False),
    sa.Column("source", sa.Text),  # digests of its names, with spaces between; NULL for what has none
    # What is summed for every charge, so that releases are not read for it.
    sa.Index("rowspace_charge_sums", "dataset", "privacy", "epsilon", "delta", "rho"),
    sa.Index("rowspace_charge_source", "source", "dataset"),
    sqlite_autoincrement=True,  # a number is never given twice
)
