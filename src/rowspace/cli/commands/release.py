"""``rowspace release``: spend the budget once, and write the answers."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from .options import Force, Json, Level, Outputs, Quiet, StudyFile, Table


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
    How many values are missing, outside or unlisted is never said here: see that
    with `rowspace check` [bold]first[/bold], if you are the data's curator.

    [dim]Examples[/dim]
      rowspace release study.toml people.csv --ledger b.db -o p.release -o a.csv
      rowspace release study.toml p.duckdb --table t --ledger b.db -o p.release
      rowspace release study.toml invented.csv --plan s.plan --no-ledger -o p.json
    """
    from ..release import release as spend

    spend(
        study_file,
        data,
        outputs,
        ledger=ledger,
        dataset=dataset,
        second_budget=second_budget,
        no_ledger=no_ledger,
        table=table,
        plan_file=plan_file,
        level=level,
        force=force,
        as_json=as_json,
        quiet=quiet,
    )
