"""``rowspace release``: spend the budget once, and write the answers."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.text import Text

from rowspace import mechanism, planning
from rowspace.exceptions import FileError, InvalidInput, TooLarge
from rowspace.planning import Plan
from rowspace.releases import TABLE_LIMIT, Release, export
from rowspace.report import answers_view, first_answers
from rowspace.report.numbers import whole
from rowspace.sources import opening
from rowspace.sources.databases import is_url
from rowspace.study import Study

from .options import Force, Json, Level, Quiet, StudyFile, Table
from .outputs import check_writable
from .screen import Screen

if TYPE_CHECKING:
    import pandas as pd

NATIVE = ".release"
EXPORTS = (".csv", ".parquet", ".json")


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
    outputs: Annotated[
        list[Path] | None,
        typer.Option(
            "--output",
            "-o",
            metavar="OUT",
            help="Where to write: .release keeps everything, for `ask`; .csv, .parquet and .json are tables. "
            "May be given several times.",
            show_default=False,
        ),
    ] = None,
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

    [dim]Examples[/dim]
      rowspace release study.toml people.parquet -o people.release -o people.csv
      rowspace release study.toml people.duckdb --table people -o people.release
      rowspace release study.toml people.csv -o people.json --plan study.plan
    """
    screen = Screen(quiet, as_json)
    targets = _check_outputs(outputs or [], [study_file, data, plan_file], force=force)
    study = Study.load(study_file)
    source = data if data is not None else study.database_url()
    if source is None:
        raise InvalidInput(
            "expected DATA, a file or a database URL: the study has no [data] section that says where"
        )
    with screen.working("Planning"):
        plan = _load_plan(plan_file, study) if plan_file else planning.plan(study.workload, study.privacy)
        _refuse_long_tables(plan, targets)
    with screen.working("Counting, adding noise"):
        made = mechanism.release(plan, source, table=table or _table_of_study(study, source))
        answers = made.answers(level) if plan.workload.size <= TABLE_LIMIT else None
    with screen.working("Writing"):
        _write_all(made, targets, level)
    _report(screen, study.name, made, answers, level, targets)


def _check_outputs(outputs: list[Path], inputs: list[Any], *, force: bool) -> list[Path]:
    """The files to write, the native one first: should a later one fail, everything can be had from it."""
    known = ", ".join((NATIVE, *EXPORTS))
    if not outputs:
        raise InvalidInput(f"expected at least one output, -o FILE, ending in one of {known}")
    for path in outputs:
        if path.suffix.lower() not in (NATIVE, *EXPORTS):
            raise InvalidInput(f"expected an output ending in one of {known}, got {path.name!r}")
    check_writable(outputs, force=force, inputs=[Path(path) for path in inputs if path is not None])
    return sorted(outputs, key=lambda path: path.suffix.lower() != NATIVE)


def _load_plan(plan_file: Path, study: Study) -> Plan:
    """A saved plan, which must be one of this study: the study says what is asked and what is promised."""
    plan = Plan.load(plan_file)
    if plan.workload != study.workload.reduced():
        raise FileError(f"{plan_file.name} was made for other queries than the study's; plan again")
    if plan.privacy != study.privacy:
        raise FileError(
            f"{plan_file.name} promises {plan.privacy}, the study {study.privacy}; plan again, or change the study"
        )
    return plan


def _refuse_long_tables(plan: Plan, targets: list[Path]) -> None:
    """Refuse, before data is touched, to write more rows than a table may have."""
    if plan.workload.size > TABLE_LIMIT and any(target.suffix.lower() != NATIVE for target in targets):
        raise TooLarge(
            f"a table of {whole(plan.workload.size)} answers exceeds {TABLE_LIMIT:,} rows; write a {NATIVE} file "
            "and ask it for a part"
        )


def _table_of_study(study: Study, source: str) -> str | None:
    """The study's table, when the source has tables; a file on the command line may stand in for the database."""
    is_database = is_url(source) or Path(source).suffix.lower() in opening._DATABASES
    return study.table if is_database else None


def _write_all(made: Release, targets: list[Path], level: float) -> None:
    """Write every file whole; if one fails, say which are there."""
    written: list[str] = []
    for target in targets:
        try:
            if target.suffix.lower() == NATIVE:
                made.save(target)
            else:
                export(made, target, level)
        except FileError as error:
            # Running again would spend the budget again, so what is there must not be lost sight of.
            raise FileError(
                f"{error}; written before: {', '.join(written)}" if written else str(error)
            ) from None
        written.append(str(target))


def _report(
    screen: Screen, name: str, made: Release, answers: pd.DataFrame | None, level: float, targets: list[Path]
) -> None:
    """Say what was released, and show the first answers. Released numbers only."""
    plan = made.plan
    screen.show(
        "",
        Text.assemble(" ", (name, "bold"), f": {whole(plan.workload.size)} answers under {plan.privacy}"),
        Text.assemble((" written to ", "dim"), ", ".join(map(str, targets))),
    )
    if answers is not None:
        screen.show(answers_view(first_answers(plan.workload, answers), level, width=screen.out.width))
    screen.show(Text(" Negative or fractional counts are noise, not mistakes.", "dim"))
    screen.document(
        {
            "study": name,
            "statement": made.statement,
            "privacy": plan.privacy.to_dict(),
            "level": level,
            "files": [str(target) for target in targets],
            "answers": None if answers is None else answers.to_dict(orient="records"),
        }
    )
