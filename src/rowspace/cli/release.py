"""``rowspace release``: spend the budget once, and write the answers."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import typer
from rich.text import Text

from rowspace import mechanism, planning
from rowspace.exceptions import InvalidInput
from rowspace.ledger import Ledger
from rowspace.sources import check_columns
from rowspace.study import Study

from .receipt import Receipt, recoverable
from .release_files import answers_to_show, check_outputs, refuse_long_tables, write_files
from .released import release_document, show_release
from .saved_plan import load_plan
from .screen import Screen


def release(
    study_file: Path,
    data: str | None,
    outputs: list[Path] | None,
    *,
    ledger: str | None,
    dataset: str | None,
    second_budget: bool,
    no_ledger: bool,
    table: str | None,
    plan_file: Path | None,
    level: float,
    force: bool,
    as_json: bool,
    quiet: bool,
) -> None:
    """Check everything that can be checked, plan, measure once, charge, and write."""
    screen = Screen(quiet, as_json)
    keeper = _keeper(ledger, dataset, no_ledger=no_ledger)
    inputs = [Path(path) for path in (study_file, data, plan_file) if path is not None]
    targets = check_outputs(outputs, [*inputs, *_files(keeper)], force=force)
    study = Study.load(study_file)
    study.require_public()
    address = data if data is not None else study.database_url()
    if address is None:
        raise InvalidInput(
            "expected DATA, a file or a database URL: the study has no [data] section that says where"
        )
    source = study.source(address)
    table = table or study.table_at(address)
    saved = load_plan(plan_file, study) if plan_file else None
    with screen.working("Checking"):
        if keeper is not None:
            keeper.ledger.check(saved or study.privacy, dataset)
        unit = study.privacy.unit
        check_columns(source, study.workload.reduced().domain, table, unit=unit)
    with screen.working("Planning"):
        plan = saved or planning.plan(study.workload, study.privacy)
        plan = dataclasses.replace(plan, title=study.name)
        refuse_long_tables(plan, targets)
    with recoverable(keeper, screen):
        with screen.working("Counting, adding noise") as progress:
            made = mechanism.release(
                plan,
                source,
                ledger=keeper,
                dataset=dataset,
                second_budget=second_budget,
                table=table,
                progress=progress,
            )
        with screen.working("Writing"):
            write_files(made, targets, level, content=keeper.content if keeper is not None else None)
            answers = answers_to_show(made, level, all_of_them=as_json)
    charge = keeper.taken if keeper is not None else None
    show_release(screen, study.name, made, answers, level, targets, _cost(keeper))
    screen.document(
        {"study": study.name, "charge": None if charge is None else charge.to_dict()}
        | release_document(made, answers, level, targets)
    )


def _keeper(ledger: str | None, dataset: str | None, *, no_ledger: bool) -> Receipt | None:
    """Who keeps the budget: a ledger, or nobody if that was said."""
    if ledger is not None and not no_ledger:
        return Receipt(Ledger(ledger), ledger)
    if ledger is None and no_ledger and dataset is None:
        return None
    if ledger is None and not no_ledger:
        raise typer.BadParameter(
            "say which budget pays: --ledger FILE (see `rowspace budget create`), or --no-ledger to keep none"
        )
    raise typer.BadParameter("--no-ledger charges nothing: leave out --ledger and --dataset, or --no-ledger")


def _files(keeper: Receipt | None) -> list[Path]:
    """The ledger's own file, which no output may replace."""
    return [] if keeper is None or keeper.ledger.file is None else [keeper.ledger.file]


def _cost(keeper: Receipt | None) -> Text:
    """What was charged, and what is left."""
    if keeper is None or keeper.taken is None:
        return Text()
    charge = keeper.taken
    return Text.assemble((" charged ", "dim"), f"{charge.cost} to {charge.dataset}{keeper.left}")
