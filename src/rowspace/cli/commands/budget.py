"""``rowspace budget``: create a budget, see what is left and what it was spent on, recover a release."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated

import typer

from .help_pages import Command, Group
from .options import Force, Json, Level, Outputs, Quiet

budget = typer.Typer(
    name="budget",
    cls=Group,
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode="rich",
    help="Keep a privacy budget for each dataset: create it, see what is left, recover a release.\n\n"
    "Every release charges its cost before anything is written, and is refused when it does not fit.\n\n"
    "[dim]Examples[/dim]\n"
    "  rowspace budget create budget.db people --epsilon 3\n"
    "  rowspace budget show budget.db",
)


class Neighbours(StrEnum):
    """How neighbouring tables differ."""

    ADD_REMOVE = "add-remove"
    REPLACE_ONE = "replace-one"


LedgerFile = Annotated[
    str,
    typer.Argument(metavar="LEDGER", help="A file, or the URL of a PostgreSQL database.", show_default=False),
]


@budget.command(cls=Command)
def create(
    ledger: LedgerFile,
    dataset: Annotated[
        str, typer.Argument(metavar="DATASET", help="What the budget is for.", show_default=False)
    ],
    epsilon: Annotated[
        float | None, typer.Option("--epsilon", metavar="E", help="The most epsilon, over all releases.")
    ] = None,
    delta: Annotated[
        float | None, typer.Option("--delta", metavar="D", help="With --epsilon: the most delta.")
    ] = None,
    rho: Annotated[
        float | None,
        typer.Option("--rho", metavar="R", help="Instead: the most rho of zCDP, over all releases."),
    ] = None,
    composition: Annotated[
        str | None,
        typer.Option(
            "--composition",
            metavar="HOW",
            help="With --delta, how charges add up: gaussian (the default, pays for epsilon-delta and epsilon plans), "
            "concentrated (pays for rho plans, too) or basic (sums of epsilon and delta).",
            show_default=False,
        ),
    ] = None,
    neighbours: Annotated[
        Neighbours,
        typer.Option(
            "--neighbours", metavar="KIND", help="What is protected: add-remove one record, or replace-one."
        ),
    ] = Neighbours.ADD_REMOVE,
    privacy_unit: Annotated[
        str | None,
        typer.Option(
            "--privacy-unit",
            metavar="COLUMN",
            help="Protect all rows of one value of this column together, instead of single records.",
            show_default=False,
        ),
    ] = None,
    max_rows_per_unit: Annotated[
        int | None,
        typer.Option(
            "--max-rows-per-unit",
            metavar="K",
            help="With --privacy-unit: the most rows of each that a release may count.",
            show_default=False,
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
    from ..budget import create as make

    make(
        ledger,
        dataset,
        epsilon=epsilon,
        delta=delta,
        rho=rho,
        composition=composition,
        neighbours=neighbours.value,
        unit_column=privacy_unit,
        unit_rows=max_rows_per_unit,
        as_json=as_json,
        quiet=quiet,
    )


@budget.command(cls=Command)
def show(ledger: LedgerFile, as_json: Json = False, quiet: Quiet = False) -> None:
    """Show every dataset's budget: promised, spent, left.

    These are figures about the promise; none of them comes from the data.

    [dim]Examples[/dim]
      rowspace budget show budget.db
      rowspace budget show budget.db --json
    """
    from ..budget import show as print_budgets

    print_budgets(ledger, as_json=as_json, quiet=quiet)


@budget.command(cls=Command)
def history(
    ledger: LedgerFile,
    dataset: Annotated[
        str | None,
        typer.Argument(metavar="DATASET", help="May be left out if there is only one.", show_default=False),
    ] = None,
    as_json: Json = False,
    quiet: Quiet = False,
) -> None:
    """List what a budget was spent on: when, by whom, for which plan and release (SHA-256).

    The number of a charge is what `rowspace budget resume` asks for.

    [dim]Examples[/dim]
      rowspace budget history budget.db people
      rowspace budget history budget.db people --json
    """
    from ..budget import history as print_history

    print_history(ledger, dataset, as_json=as_json, quiet=quiet)


@budget.command(cls=Command)
def resume(
    ledger: LedgerFile,
    charge: Annotated[
        int, typer.Argument(metavar="CHARGE", help="Its number in the history.", show_default=False)
    ],
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
    from ..budget import resume as write_again

    write_again(ledger, charge, outputs, level, force=force, as_json=as_json, quiet=quiet)
