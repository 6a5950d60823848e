"""The tables of a ledger. Exact amounts are fractions in text, so that no engine rounds them."""

from __future__ import annotations

import sqlalchemy as sa

SCHEMA_VERSION = 3
"""2 adds how a budget adds up, and which source a charge was about; 3 running sums, requests, versions of a table."""

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
    # What its charges add up to, so that they are not read again for every new one.
    sa.Column("epsilon", sa.Text, nullable=False, server_default="0"),
    sa.Column("delta", sa.Text, nullable=False, server_default="0"),
    sa.Column("rho", sa.Text, nullable=False, server_default="0"),
    sa.Column("charges", sa.Integer, nullable=False, server_default="0"),
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
    sa.Column("version", sa.Text),  # of the table, for evidence; NULL where none was named
    # What history and the number of charges need, so that releases are not read for it.
    sa.Index("rowspace_charge_sums", "dataset", "privacy", "epsilon", "delta", "rho"),
    sa.Index("rowspace_charge_source", "source", "dataset"),
    sqlite_autoincrement=True,  # a number is never given twice
)

requests = sa.Table(
    "rowspace_request",
    metadata,
    sa.Column("dataset", sa.Text, sa.ForeignKey(budgets.c.dataset), primary_key=True),
    sa.Column("key", sa.Text, primary_key=True),
    sa.Column("about", sa.Text, nullable=False),  # a digest of what was asked
    sa.Column("charge", sa.Integer, nullable=False),  # the last one that its answer was made from
    sa.Column("paid", sa.Boolean, nullable=False),  # whether that charge was for this request
)
