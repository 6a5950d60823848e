"""``rowspace budget``: create a budget, see what is left and what it was spent on, recover a release."""

from __future__ import annotations

from pathlib import Path

import typer
from rich.text import Text

from rowspace.ledger import Ledger
from rowspace.privacy import ZCDP, ApproxDP, Neighbours, Privacy, PrivacyUnit, PureDP
from rowspace.releases import Release
from rowspace.report.budgets import budgets_view, history_view

from .release_files import answers_to_show, check_outputs, refuse_long_tables, write_files
from .released import release_document, show_release
from .screen import Screen


def create(
    ledger: str,
    dataset: str,
    *,
    epsilon: float | None,
    delta: float | None,
    rho: float | None,
    composition: str | None,
    neighbours: str,
    unit_column: str | None,
    unit_rows: int | None,
    as_json: bool,
    quiet: bool,
) -> None:
    """Set the budget that the options state."""
    screen = Screen(quiet, as_json)
    unit = _unit(unit_column, unit_rows)
    guarantee = _guarantee(epsilon, delta, rho, Neighbours.of(neighbours), unit)
    made = Ledger(ledger).create(dataset, guarantee, composition=composition)
    screen.show(Text.assemble(" created ", (dataset, "bold"), f": {made.guarantee} in all; {made}"))
    screen.document(made.to_dict())


def show(ledger: str, *, as_json: bool, quiet: bool) -> None:
    """Print every dataset's budget."""
    screen = Screen(quiet, as_json)
    budgets = Ledger(ledger).budgets()
    screen.result(budgets_view(budgets))
    screen.document({"budgets": [one.to_dict() for one in budgets]})


def history(ledger: str, dataset: str | None, *, as_json: bool, quiet: bool) -> None:
    """Print the charges of a dataset."""
    screen = Screen(quiet, as_json)
    charges = Ledger(ledger).history(dataset)
    screen.result(history_view(charges))
    screen.document({"charges": [charge.to_dict() for charge in charges]})


def resume(
    ledger: str,
    charge: int,
    outputs: list[Path] | None,
    level: float,
    *,
    force: bool,
    as_json: bool,
    quiet: bool,
) -> None:
    """Write the files of a charge as `release` would have written them."""
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
