"""``rowspace budget``: create a budget, see what is left and what it was spent on, recover a release."""

from __future__ import annotations

from typing import Annotated

import typer
from rich.text import Text

from rowspace.ledger import Ledger
from rowspace.privacy import ZCDP, ApproxDP, Neighbours, Privacy, PrivacyUnit, PureDP
from rowspace.releases import Release
from rowspace.report.budgets import budgets_view, history_view

from .help_pages import Command, Group
from .options import Force, Json, Level, Quiet
from .release_files import Outputs, answers_to_show, check_outputs, refuse_long_tables, write_files
from .released import release_document, show_release
from .screen import Screen

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
        str,
        typer.Option("--neighbours", help="What is protected: add-remove one record, or replace-one."),
    ] = Neighbours.ADD_REMOVE.value,
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
    screen = Screen(quiet, as_json)
    unit = _unit(privacy_unit, max_rows_per_unit)
    guarantee = _guarantee(epsilon, delta, rho, Neighbours.of(neighbours), unit)
    made = Ledger(ledger).create(dataset, guarantee, composition=composition)
    screen.show(Text.assemble(" created ", (dataset, "bold"), f": {made.guarantee} in all; {made}"))
    screen.document(made.to_dict())


@budget.command(cls=Command)
def show(ledger: LedgerFile, as_json: Json = False, quiet: Quiet = False) -> None:
    """Show every dataset's budget: promised, spent, left.

    These are figures about the promise; none of them comes from the data.

    [dim]Examples[/dim]
      rowspace budget show budget.db
      rowspace budget show budget.db --json
    """
    screen = Screen(quiet, as_json)
    budgets = Ledger(ledger).budgets()
    screen.result(budgets_view(budgets))
    screen.document({"budgets": [one.to_dict() for one in budgets]})


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
    screen = Screen(quiet, as_json)
    charges = Ledger(ledger).history(dataset)
    screen.result(history_view(charges))
    screen.document({"charges": [charge.to_dict() for charge in charges]})


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
      rowspace budget resume budget.db 7 -o people.release -o people.csv
    """
    screen = Screen(quiet, as_json)
    kept = Ledger(ledger)
    targets = check_outputs(outputs, [kept.file] if kept.file else [], force=force)
    with screen.working("Reading"):
        content = kept.resume(charge)
        made = Release.from_bytes(content)
        refuse_long_tables(made.plan, targets)
    with screen.working("Writing"):
        write_files(made, targets, level, content=content)
        answers = answers_to_show(made, level, all_of_them=as_json)
    show_release(screen, f"charge {charge}", made, answers, level, targets, Text(" at no cost", "dim"))
    screen.document({"charge": charge} | release_document(made, answers, level, targets))


def _guarantee(
    epsilon: float | None,
    delta: float | None,
    rho: float | None,
    neighbours: Neighbours,
    unit: PrivacyUnit | None,
) -> Privacy:
    """The budget that the options state; a usage error when they state none or two."""
    if (epsilon is None) == (rho is None) or (delta is not None and epsilon is None):
        raise typer.BadParameter("state --epsilon, --epsilon with --delta, or --rho")
    if rho is not None:
        return ZCDP(rho, neighbours, unit)
    assert epsilon is not None
    return PureDP(epsilon, neighbours, unit) if delta is None else ApproxDP(epsilon, delta, neighbours, unit)


def _unit(column: str | None, rows: int | None) -> PrivacyUnit | None:
    """Whose rows are protected together; a usage error when only one of the options is given."""
    if (column is None) != (rows is None):
        raise typer.BadParameter("give --privacy-unit and --max-rows-per-unit together")
    return None if column is None or rows is None else PrivacyUnit(column, rows)
