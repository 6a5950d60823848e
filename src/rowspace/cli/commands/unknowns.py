"""The words of the commands that find out, privately, what a study would have to declare: categories and ranges."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from .budget import NeighboursChoice
from .options import Dataset, Force, Json, Level, Quiet, Table, argument, option, work
from .studies import Delimiter, Encoding, IgnoreCase, Names, Nulls, QuotedNewlines, Strip, csv_form

DataFile = Annotated[str, argument("DATA", "A CSV or Parquet file, a database file or a database URL.")]
Ledger = Annotated[
    str | None,
    option("LEDGER", "The budget to charge: a file or a PostgreSQL URL.", "--ledger"),
]
NoLedger = Annotated[
    bool, typer.Option("--no-ledger", help="Keep no budget: nothing stops the next release.")
]
SecondBudget = Annotated[
    bool,
    typer.Option(
        "--second-budget", help="Charge it though this source was charged to another budget before."
    ),
]
Kind = Annotated[
    NeighboursChoice,
    option("KIND", "What is protected: add-remove one record, or replace-one.", "--neighbours"),
]
UnitColumn = Annotated[
    str | None,
    option("COLUMN", "Protect all rows of one value of this column together.", "--privacy-unit"),
]


def discover(
    data: DataFile,
    columns: Annotated[
        list[str], argument("COLUMN...", "Of text, integers or booleans; several are one key.")
    ],
    epsilon: Annotated[float, option("E", "What is promised: epsilon.", "--epsilon")],
    delta: Annotated[float, option("D", "What is promised: delta.", "--delta")],
    outputs: Annotated[
        list[Path] | None,
        option(
            "OUT",
            "Where to write: .discovery keeps everything; .toml is the attributes of a study; .csv, .parquet and .json "
            "are tables. May be given several times.",
            "--output",
            "-o",
        ),
    ] = None,
    at_least: Annotated[
        int | None, option("N", "Show none whose noisy count is below this.", "--at-least")
    ] = None,
    other: Annotated[str, option("NAME", "What all that is not found is called.", "--other")] = "other",
    unit_column: UnitColumn = None,
    unit_keys: Annotated[
        int, option("K", "With --privacy-unit: in how many keys each counts at most.", "--max-keys-per-unit")
    ] = 1,
    neighbours: Kind = NeighboursChoice.ADD_REMOVE,
    ledger: Ledger = None,
    dataset: Dataset = None,
    second_budget: SecondBudget = False,
    no_ledger: NoLedger = False,
    table: Table = None,
    encoding: Encoding = None,
    delimiter: Delimiter = None,
    names: Names = None,
    nulls: Nulls = None,
    strip: Strip = False,
    ignore_case: IgnoreCase = False,
    quoted_newlines: QuotedNewlines = False,
    level: Level = 0.95,
    force: Force = False,
    as_json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Find the values of a column that nobody can list, privately, with noisy counts.

    A value is shown when its noisy count reaches a threshold that follows from
    epsilon and delta, so that nobody's own value shows; all others are "other".
    The budget that pays is one in epsilon and delta that adds up as "basic".

    [dim]Examples[/dim]
      rowspace discover v.csv diagnosis --epsilon 1 --delta 1e-8 --ledger b.db -o d.toml
      rowspace discover v.csv town sex --epsilon 1 --delta 1e-8 --no-ledger -o s.csv
    """
    form = csv_form(encoding, delimiter, names, nulls, strip, ignore_case, quoted_newlines)
    given = {name: value for name, value in locals().items() if name not in _FORM}
    work("unknowns").discover(**given)


def bounds(
    data: DataFile,
    column: Annotated[str, argument("COLUMN", "Of numbers.")],
    epsilon: Annotated[float | None, option("E", "What is promised: epsilon.", "--epsilon")] = None,
    delta: Annotated[float | None, option("D", "With --epsilon: delta.", "--delta")] = None,
    rho: Annotated[float | None, option("R", "Instead: rho of zCDP.", "--rho")] = None,
    outputs: Annotated[
        list[Path] | None,
        option("OUT", "Where to write the release, .release, or tables of it.", "--output", "-o"),
    ] = None,
    inside: Annotated[
        float, option("P", "The share of records that the range is to hold.", "--inside")
    ] = 0.998,
    unit_column: UnitColumn = None,
    unit_rows: Annotated[
        int | None, option("K", "With --privacy-unit: the most rows of each.", "--max-rows-per-unit")
    ] = None,
    neighbours: Kind = NeighboursChoice.ADD_REMOVE,
    ledger: Ledger = None,
    dataset: Dataset = None,
    second_budget: SecondBudget = False,
    no_ledger: NoLedger = False,
    table: Table = None,
    encoding: Encoding = None,
    delimiter: Delimiter = None,
    names: Names = None,
    nulls: Nulls = None,
    strip: Strip = False,
    ignore_case: IgnoreCase = False,
    quoted_newlines: QuotedNewlines = False,
    level: Level = 0.95,
    force: Force = False,
    as_json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Find a range for a column of numbers, privately, and how much it leaves out.

    For those who know no public bounds: a release over powers of two, charged like
    any other. The range is at most twice too wide at either end.

    [dim]Examples[/dim]
      rowspace bounds people.csv income --epsilon 0.1 --ledger b.db
      rowspace bounds p.duckdb income --table t --rho 0.01 --ledger b.db -o i.release
    """
    form = csv_form(encoding, delimiter, names, nulls, strip, ignore_case, quoted_newlines)
    given = {name: value for name, value in locals().items() if name not in _FORM}
    work("unknowns").bounds(**given)


_FORM = frozenset({"encoding", "delimiter", "names", "nulls", "strip", "ignore_case", "quoted_newlines"})
