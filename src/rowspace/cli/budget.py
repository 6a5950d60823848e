"""``rowspace budget``: create a budget, see what is left and what it was spent on, recover a release."""

from __future__ import annotations

import sys
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import typer
from rich.text import Text

from rowspace.exceptions import InvalidInput, RowspaceError
from rowspace.files import archive_kind
from rowspace.ledger import Ledger
from rowspace.privacy import ZCDP, ApproxDP, Neighbours, Privacy, PrivacyUnit, PureDP
from rowspace.releases import DISCOVERY_KIND, Discovery, Release
from rowspace.report import budgets_view, evidence_view, history_view

from .release_files import (
    FOUND,
    answers_to_show,
    check_outputs,
    refuse_long_tables,
    release_document,
    show_release,
    write_files,
)
from .screen import Screen

MOST_EVIDENCE = 20
"""Most releases whose contents are listed."""

LARGE = 2**22
"""Bytes of a release whose error is not computed for the list."""


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
    unit = unit_of(unit_column, unit_rows)
    guarantee = guarantee_of(epsilon, delta, rho, Neighbours.of(neighbours), unit)
    made = Ledger(ledger).create(dataset, guarantee, composition=composition)
    screen.show(Text.assemble(" created ", (dataset, "bold"), f": {made.guarantee} in all; {made}"))
    screen.document(made.to_dict())


def show(ledger: str, *, as_json: bool, quiet: bool) -> None:
    """Print every dataset's budget."""
    screen = Screen(quiet, as_json)
    kept = Ledger(ledger)
    budgets = kept.budgets()
    screen.result(budgets_view(budgets))
    evidence = {one.dataset: _evidence(kept, one.dataset) for one in budgets}
    for dataset, found in evidence.items():
        if found:
            screen.show(
                Text.assemble("\n what is known of ", (dataset, "bold"), ", for `rowspace ask --ledger`")
            )
            screen.show(evidence_view(found))
    screen.document({"budgets": [one.to_dict() | {"evidence": evidence[one.dataset]} for one in budgets]})


def _evidence(kept: Ledger, dataset: str) -> list[dict[str, Any]]:
    """What the releases that a budget has paid for are about: the newest ones, if there are many."""
    found = []
    for number, version, _ in kept.evidence(dataset)[-MOST_EVIDENCE:]:
        try:
            content = kept.resume(number)
            plan = Release.from_bytes(content).plan
            # Of a large one the error takes longer than anyone waits for a list.
            error = plan.rmse if len(content) <= LARGE else None
        except RowspaceError:
            continue  # not a release that can be asked
        about = {"charge": number, "version": version, "attributes": list(plan.domain.names)}
        found.append(about | {"queries": plan.workload.size, "typical_error": error})
    return found


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
    """Write the files of a charge as `release` or `discover` would have written them."""
    from . import unknowns  # which is built on this

    screen = Screen(quiet, as_json)
    kept = Ledger(ledger)
    inputs = [kept.file] if kept.file else []
    if any(path.suffix.lower() == FOUND for path in outputs or ()):
        targets = check_outputs(outputs, inputs, force=force, known=unknowns.ENDINGS)
        _resume_discovery(screen, kept, charge, targets, level)
        return
    targets = check_outputs(outputs, inputs, force=force)
    with screen.working("Reading"):
        content = kept.resume(charge)
        if archive_kind(content) == DISCOVERY_KIND:
            raise InvalidInput(
                f"charge {charge} paid for values that were found: write them with -o FILE{FOUND}"
            )
        made = Release.from_bytes(content)
        refuse_long_tables(made.plan, targets)
    with screen.working("Writing"):
        write_files(made, targets, level, content=content)
        answers = answers_to_show(made, level, all_of_them=as_json)
    show_release(screen, f"charge {charge}", made, answers, level, targets, Text(" at no cost", "dim"))
    screen.document({"charge": charge} | release_document(made, answers, level, targets))


def prune(
    ledger: str,
    dataset: str | None,
    before: datetime,
    *,
    evidence: bool,
    yes: bool,
    as_json: bool,
    quiet: bool,
) -> None:
    """Say what would go, ask, and drop it."""
    screen = Screen(quiet, as_json)
    kept, moment = Ledger(ledger), before.replace(tzinfo=UTC)
    found = kept.prune(moment, dataset, evidence=evidence, only_look=True)
    size = sum(stored for _, stored in found)
    what = f"the stored files of {len(found):,} releases, {size / 1e6:,.1f} MB"
    if found and not yes:
        if as_json or not sys.stdin.isatty():
            raise InvalidInput(f"this drops {what}, for good: say that it is meant with --yes")
        typer.confirm(f"Drop {what}, for good? Charges and digests stay.", abort=True, err=True)
    dropped = kept.prune(moment, dataset, evidence=evidence) if found else []
    screen.show(Text(f" dropped {what}; their charges and digests stay" if dropped else " nothing to drop"))
    screen.document(
        {"pruned": [number for number, _ in dropped], "bytes": sum(stored for _, stored in dropped)}
    )


def _resume_discovery(screen: Screen, kept: Ledger, charge: int, targets: list[Path], level: float) -> None:
    """Write what a charge has found, as `discover` would have written it."""
    from . import unknowns

    found = Discovery.from_bytes(kept.resume(charge))
    write_files(found, targets, level, content=None)
    unknowns.show_discovery(screen, found, targets, level, Text(" at no cost", "dim"))
    screen.document({"charge": charge} | unknowns.discovery_document(found, targets, level))


def guarantee_of(
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


def unit_of(column: str | None, rows: int | None) -> PrivacyUnit | None:
    """Whose rows are protected together; a usage error when only one of the options is given."""
    if (column is None) != (rows is None):
        raise typer.BadParameter("give --privacy-unit and --max-rows-per-unit together")
    return None if column is None or rows is None else PrivacyUnit(column, rows)
