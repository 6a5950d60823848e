"""``rowspace budget``: create a budget, see what is left and what it was spent on, recover a release."""

from __future__ import annotations

from datetime import datetime
from enum import StrEnum
from typing import Annotated

import typer

from .options import Command, CommandGroup, Force, Json, Level, Outputs, Quiet, argument, option, work

budget = typer.Typer(
    name="budget",
    cls=CommandGroup,
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode="rich",
    help="Keep a privacy budget for each dataset: create it, see what is left, recover a release.\n\n"
    "Every release charges its cost before anything is written, and is refused when it does not fit.\n\n"
    "[dim]Examples[/dim]\n"
    "  rowspace budget create budget.db people --epsilon 3\n"
    "  rowspace budget show budget.db",
)


class NeighboursChoice(StrEnum):
    """How neighbouring tables differ."""

    ADD_REMOVE = "add-remove"
    REPLACE_ONE = "replace-one"


LedgerFile = Annotated[str, argument("LEDGER", "A file, or the URL of a PostgreSQL database.")]


@budget.command(cls=Command)
def create(
    ledger: LedgerFile,
    dataset: Annotated[str, argument("DATASET", "What the budget is for.")],
    epsilon: Annotated[float | None, option("E", "The most epsilon, over all releases.", "--epsilon")] = None,
    delta: Annotated[float | None, option("D", "With --epsilon: the most delta.", "--delta")] = None,
    rho: Annotated[
        float | None, option("R", "Instead: the most rho of zCDP, over all releases.", "--rho")
    ] = None,
    composition: Annotated[
        str | None,
        option(
            "HOW",
            "With --delta, how charges add up: gaussian (the default, pays for epsilon-delta and epsilon plans), "
            "concentrated (pays for rho plans, too) or basic (sums of epsilon and delta).",
            "--composition",
        ),
    ] = None,
    neighbours: Annotated[
        NeighboursChoice,
        option("KIND", "What is protected: add-remove one record, or replace-one.", "--neighbours"),
    ] = NeighboursChoice.ADD_REMOVE,
    unit_column: Annotated[
        str | None,
        option(
            "COLUMN",
            "Protect all rows of one value of this column together, instead of single records.",
            "--privacy-unit",
        ),
    ] = None,
    unit_rows: Annotated[
        int | None,
        option(
            "K", "With --privacy-unit: the most rows of each that a release may count.", "--max-rows-per-unit"
        ),
    ] = None,
    as_json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Set the budget of a dataset, once and for all.

    It is stated in epsilon, in epsilon and delta, or in rho, and every release has to fit what is left.
    How releases add up is fixed with it, so that what the next one spends may depend on earlier answers.

    [dim]Examples[/dim]
      rowspace budget create budget.db people --epsilon 3
      rowspace budget create budget.db people --epsilon 1 --delta 1e-6
      rowspace budget create budget.db people --rho 0.5 --neighbours replace-one
      rowspace budget create b.db v --rho 1 --privacy-unit u --max-rows-per-unit 4
    """
    work("budget").create(**locals())


@budget.command(cls=Command)
def show(ledger: LedgerFile, as_json: Json = False, quiet: Quiet = False) -> None:
    """Show every dataset's budget: promised, spent, left, and what its releases cover.

    These are figures about the promise; none of them comes from the data.

    [dim]Examples[/dim]
      rowspace budget show budget.db
      rowspace budget show budget.db --json
    """
    work("budget").show(**locals())


@budget.command(cls=Command)
def history(
    ledger: LedgerFile,
    dataset: Annotated[str | None, argument("DATASET", "May be left out if there is only one.")] = None,
    as_json: Json = False,
    quiet: Quiet = False,
) -> None:
    """List what a budget was spent on: when, by whom, for which plan and release (SHA-256).

    The number of a charge is what `rowspace budget resume` asks for.

    [dim]Examples[/dim]
      rowspace budget history budget.db people
      rowspace budget history budget.db people --json
    """
    work("budget").history(**locals())


@budget.command(cls=Command)
def resume(
    ledger: LedgerFile,
    charge: Annotated[int, argument("CHARGE", "Its number in the history.")],
    outputs: Outputs = None,
    level: Level = 0.95,
    force: Force = False,
    as_json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Write the release of a charge again, after a crash or a loss: the same bytes, [bold]at no cost[/bold].

    The noise is not drawn again: what the charge paid for is kept in the ledger.
    Files and tables are those that `release` would have written with the same -o and --level.

    [dim]Examples[/dim]
      rowspace budget resume budget.db 7 -o people.release
      rowspace budget resume budget.db 7 -o people.release -o answers.csv
    """
    work("budget").resume(**locals())


@budget.command(cls=Command)
def prune(
    ledger: LedgerFile,
    before: Annotated[
        datetime,
        typer.Option(formats=["%Y-%m-%d"], metavar="DATE", help="Releases charged before this day, UTC."),
    ],
    dataset: Annotated[str | None, argument("DATASET", "May be left out if there is only one.")] = None,
    evidence: Annotated[
        bool, typer.Option("--evidence", help="Also those that `rowspace ask --ledger` still answers from.")
    ] = False,
    yes: Annotated[bool, typer.Option("--yes", help="Do it without asking.")] = False,
    as_json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Drop the stored files of old releases. Their charges, amounts and digests stay: the budget is what it was.

    What is dropped cannot be written again by `resume`, nor by its request id: keep the .release files.
    Kept whatever their age: the newest release of every plan, and what `rowspace ask --ledger` answers from.

    [dim]Examples[/dim]
      rowspace budget prune budget.db people --before 2024-01-01
    """
    work("budget").prune(**locals())
