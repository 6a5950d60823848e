"""``rowspace release``: spend the budget once, and write the answers."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from rich.text import Text

from rowspace import mechanism, planning
from rowspace.exceptions import InvalidInput
from rowspace.ledger import Ledger
from rowspace.sources import opening
from rowspace.sources.databases import is_url
from rowspace.study import Study

from .options import Force, Json, Level, Quiet, StudyFile, Table
from .receipt import Receipt, recoverable
from .release_files import Outputs, answers_to_show, check_outputs, refuse_long_tables, write_files
from .released import release_document, show_release
from .saved_plan import load_plan
from .screen import Screen


def release(
    study_file: StudyFile,
    data: Annotated[
        str | None,
        typer.Argument(
            metavar="DATA",
            help="A CSV or Parquet file, a database file or a database URL; may be left out when the study's "
            "\\[data] section says where it is.",
            show_default=False,
        ),
    ] = None,
    outputs: Outputs = None,
    ledger: Annotated[
        str | None,
        typer.Option(
            "--ledger",
            metavar="LEDGER",
            help="The budget to charge, made by `rowspace budget create`: a file or a PostgreSQL URL.",
            show_default=False,
        ),
    ] = None,
    dataset: Annotated[
        str | None,
        typer.Option(
            "--dataset", metavar="NAME", help="Which budget, if the ledger has several.", show_default=False
        ),
    ] = None,
    second_budget: Annotated[
        bool,
        typer.Option(
            "--second-budget", help="Charge it though this source was charged to another budget before."
        ),
    ] = False,
    no_ledger: Annotated[
        bool, typer.Option("--no-ledger", help="Keep no budget: nothing stops the next release.")
    ] = False,
    table: Table = None,
    plan_file: Annotated[
        Path | None,
        typer.Option("--plan", metavar="FILE", help="Use a plan saved by `plan --save`.", show_default=False),
    ] = None,
    level: Level = 0.95,
    force: Force = False,
    as_json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Measure the data once, with noise, and write answers with error bars.

    Every run draws new noise and spends the privacy budget again, so keep the
    [bold].release[/bold] file: `rowspace ask` answers more from it for free.
    The ledger is charged first, and a release that does not fit its budget is refused.

    [dim]Examples[/dim]
      rowspace release study.toml people.csv --ledger b.db -o p.release -o p.csv
      rowspace release study.toml p.duckdb --table t --ledger b.db -o p.release
      rowspace release study.toml invented.csv --plan s.plan --no-ledger -o p.json
    """
    screen = Screen(quiet, as_json)
    keeper = _keeper(ledger, dataset, no_ledger=no_ledger)
    inputs = [Path(path) for path in (study_file, data, plan_file) if path is not None]
    targets = check_outputs(outputs, [*inputs, *_files(keeper)], force=force)
    study = Study.load(study_file)
    study.require_public()
    source = data if data is not None else study.database_url()
    if source is None:
        raise InvalidInput(
            "expected DATA, a file or a database URL: the study has no [data] section that says where"
        )
    with screen.working("Planning"):
        plan = load_plan(plan_file, study) if plan_file else planning.plan(study.workload, study.privacy)
        refuse_long_tables(plan, targets)
    with recoverable(keeper, screen):
        with screen.working("Counting, adding noise") as progress:
            made = mechanism.release(
                plan,
                source,
                ledger=keeper,
                dataset=dataset,
                second_budget=second_budget,
                table=table or _table_of_study(study, source),
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


def _table_of_study(study: Study, source: str) -> str | None:
    """The study's table, when the source has tables; a file on the command line may stand in for the database."""
    is_database = is_url(source) or Path(source).suffix.lower() in opening._DATABASES
    return study.table if is_database else None
