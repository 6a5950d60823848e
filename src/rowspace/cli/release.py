"""``rowspace release``: spend the budget once, and write the answers."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.text import Text

from rowspace import mechanism, planning
from rowspace.exceptions import FileError, InvalidInput, LedgerError, TooLarge
from rowspace.ledger import Charge, Ledger
from rowspace.planning import Plan
from rowspace.releases import TABLE_LIMIT, Release, export
from rowspace.report import answers_view, first_answers
from rowspace.report.numbers import whole
from rowspace.sources import opening
from rowspace.sources.databases import is_url
from rowspace.study import Study

from .options import Force, Json, Level, Quiet, StudyFile, Table
from .outputs import check_writable
from .saved_plan import load_plan
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
    targets = _check_outputs(outputs or [], [study_file, data, plan_file, ledger], force=force)
    study = Study.load(study_file)
    source = data if data is not None else study.database_url()
    if source is None:
        raise InvalidInput(
            "expected DATA, a file or a database URL: the study has no [data] section that says where"
        )
    with screen.working("Planning"):
        plan = load_plan(plan_file, study) if plan_file else planning.plan(study.workload, study.privacy)
        _refuse_long_tables(plan, targets)
    with screen.working("Counting, adding noise") as progress:
        if keeper is not None:
            keeper.ledger.check(plan, dataset)
        made = mechanism.release(
            plan,
            source,
            ledger=keeper,
            dataset=dataset,
            table=table or _table_of_study(study, source),
            progress=progress,
        )
    with screen.working("Writing"):
        _write_all(made, targets, level, keeper)
        answers = _answers_to_show(made, level, all_of_them=as_json)
    _report(screen, study.name, made, answers, level, targets, keeper)


@dataclass
class _Receipt:
    """A ledger that remembers the charge it took, to name it should writing fail."""

    ledger: Ledger
    location: str
    taken: Charge | None = None

    def charge(self, plan: Plan, content: bytes, dataset: str | None) -> Charge:
        """Pass the charge on."""
        self.taken = self.ledger.charge(plan, content, dataset)
        return self.taken

    @property
    def advice(self) -> str:
        """How to have the release again."""
        number = "CHARGE" if self.taken is None else self.taken.id
        # Not the location of a server: it may hold a password.
        ledger = "LEDGER" if is_url(self.location) else self.location
        return f"the charge is made; have the release at no cost: rowspace budget resume {ledger} {number} -o FILE"


def _keeper(ledger: str | None, dataset: str | None, *, no_ledger: bool) -> _Receipt | None:
    """Who keeps the budget: a ledger, or nobody if that was said."""
    if ledger is not None and not no_ledger:
        return _Receipt(Ledger(ledger), ledger)
    if ledger is None and no_ledger and dataset is None:
        return None
    if ledger is None and not no_ledger:
        raise typer.BadParameter(
            "say which budget pays: --ledger FILE (see `rowspace budget create`), or --no-ledger to keep none"
        )
    raise typer.BadParameter("--no-ledger charges nothing: leave out --ledger and --dataset, or --no-ledger")


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


def _refuse_long_tables(plan: Plan, targets: list[Path]) -> None:
    """Refuse, before data is touched, to write tables whose largest portion would not fit in memory."""
    largest = max(plan.workload.parts, key=lambda part: part.size)
    if largest.size > TABLE_LIMIT and any(target.suffix.lower() != NATIVE for target in targets):
        raise TooLarge(
            f"{largest.group!r} alone has {whole(largest.size)} answers, more than the {TABLE_LIMIT:,} rows that are "
            f"made at a time; write a {NATIVE} file and ask it for a part"
        )


def _table_of_study(study: Study, source: str) -> str | None:
    """The study's table, when the source has tables; a file on the command line may stand in for the database."""
    is_database = is_url(source) or Path(source).suffix.lower() in opening._DATABASES
    return study.table if is_database else None


def _write_all(made: Release, targets: list[Path], level: float, keeper: _Receipt | None) -> None:
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
            there = f"; written before: {', '.join(written)}" if written else ""
            advice = f"; {keeper.advice}" if keeper is not None else ""
            raise FileError(f"{error}{there}{advice}") from None
        written.append(str(target))


def _answers_to_show(made: Release, level: float, *, all_of_them: bool) -> pd.DataFrame | None:
    """The answers for the JSON document, or the first portion of them for a screen; none where that is too large."""
    workload = made.plan.workload
    if all_of_them:
        return made.answers(level) if workload.size <= TABLE_LIMIT else None
    return next(made.stream(level=level)) if workload.parts[0].size <= TABLE_LIMIT else None


def _report(
    screen: Screen,
    name: str,
    made: Release,
    answers: pd.DataFrame | None,
    level: float,
    targets: list[Path],
    keeper: _Receipt | None,
) -> None:
    """Say what was released, and show the first answers. Released numbers only."""
    plan = made.plan
    screen.show(
        "",
        Text.assemble(" ", (name, "bold"), f": {whole(plan.workload.size)} answers under {plan.privacy}"),
        Text.assemble((" written to ", "dim"), ", ".join(map(str, targets))),
    )
    charge = keeper.taken if keeper is not None else None
    if keeper is not None and charge is not None:
        screen.show(Text.assemble((" charged ", "dim"), f"{charge.cost} to {charge.dataset}{_left(keeper)}"))
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
            "charge": None if charge is None else charge.to_dict(),
            "answers": None if answers is None else answers.to_dict(orient="records"),
        }
    )


def _left(keeper: _Receipt) -> str:
    """What remains, unless the ledger is busy: the release is made, so that is no failure any more."""
    try:
        return f"; {keeper.ledger.budget(keeper.taken.dataset if keeper.taken else None)}"
    except LedgerError:
        return ""
