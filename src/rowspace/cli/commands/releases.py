"""The words of the commands about releases: made once, asked, combined, shown."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from .options import (
    Data,
    Dataset,
    Force,
    Json,
    Level,
    Outputs,
    Quiet,
    ReleaseFile,
    StudyFile,
    Table,
    argument,
    option,
    work,
)


def release(
    study_file: StudyFile,
    data: Data = None,
    outputs: Outputs = None,
    ledger: Annotated[
        str | None,
        option(
            "LEDGER",
            "The budget to charge, made by `rowspace budget create`: a file or a PostgreSQL URL; else the variable "
            "ROWSPACE_LEDGER.",
            "--ledger",
        ),
    ] = None,
    dataset: Dataset = None,
    second_budget: Annotated[
        bool,
        typer.Option(
            "--second-budget", help="Charge it though this source was charged to another budget before."
        ),
    ] = False,
    no_ledger: Annotated[
        bool, typer.Option("--no-ledger", help="Keep no budget: nothing stops the next release.")
    ] = False,
    request_id: Annotated[
        str | None,
        option(
            "ID",
            "A name for this release: tried again, it is the same bytes and pays nothing.",
            "--request-id",
        ),
    ] = None,
    table: Table = None,
    plan_file: Annotated[Path | None, option("FILE", "Use a plan saved by `plan --save`.", "--plan")] = None,
    period: Annotated[
        str | None,
        option("PERIOD", "Release one period, such as 2024-03; the first is charged for all.", "--period"),
    ] = None,
    before: Annotated[
        Path | None, option("FILE", "The period before, where no ledger keeps it.", "--before")
    ] = None,
    state: Annotated[
        Path | None,
        option("FILE", "Keep true counts here, so that DATA may hold PERIOD only; guard it.", "--state"),
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
    With --request-id a step that failed half-way can be run again: it never pays twice.
    How many values are missing, outside or unlisted is never said here: see that
    with `rowspace check` [bold]first[/bold], if you are the data's curator.

    [dim]Examples[/dim]
      rowspace release study.toml people.csv --ledger b.db -o p.release -o a.csv
      rowspace release study.toml p.duckdb --table t --ledger b.db -o p.release
      rowspace release study.toml p.csv --ledger b.db --request-id may -o p.csv
      rowspace release study.toml invented.csv --plan s.plan --no-ledger -o p.json
    """
    work("release").release(**locals())


def _check_within(within: float | None) -> float | None:
    if within is not None and not within > 0:
        raise typer.BadParameter(
            "expected the half-width of an interval, in counts or the unit of a sum, above 0"
        )
    return within


def ask(
    file: Annotated[
        Path, argument("RELEASE|STUDY", "A .release file; with --ledger a study file, and the data after it.")
    ],
    arguments: Annotated[
        list[str],
        argument(
            "[DATA] QUERY...",
            "Conditions on the attributes that were measured, or SELECT COUNT(*) in SQL; "
            "with --quantiles numbers between 0 and 1.",
        ),
    ],
    ledger: Annotated[
        str | None,
        option(
            "LEDGER",
            "Answer from what this budget has bought, and buy what is missing: a file or a PostgreSQL URL.",
            "--ledger",
        ),
    ] = None,
    within: Annotated[
        float | None,
        option(
            "W",
            "The half-width that no interval may exceed, in counts or the unit of a sum. Without it nothing is bought.",
            "--within",
            callback=_check_within,
        ),
    ] = None,
    quantiles: Annotated[
        str | None,
        option(
            "ATTRIBUTE",
            "Ask for quantiles of a numeric attribute, such as 0.5 for the median: --within is then for their ranks.",
            "--quantiles",
        ),
    ] = None,
    price: Annotated[
        bool,
        typer.Option("--price", help="Only say what it would cost: no data is read, nothing is charged."),
    ] = False,
    dataset: Dataset = None,
    table: Table = None,
    version: Annotated[
        str | None,
        option(
            "NAME",
            "Which version of the table it is: evidence about another one is not used.",
            "--table-version",
        ),
    ] = None,
    key: Annotated[
        str | None,
        option(
            "ID",
            "A name for this request: asked again, it gets the same answer and pays nothing.",
            "--request-id",
        ),
    ] = None,
    level: Level = 0.95,
    as_json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Answer questions: from a release for free, or on a budget, to an accuracy.

    From a release it [bold]costs no privacy[/bold]: the data is not looked at again.
    With --ledger all that the budget has bought before is used first, for free where
    that suffices; else the least is bought that makes every interval as narrow as
    --within says, and it also serves the queries of the study, which are expected next.
    Conditions, or counting queries in SQL, each answered with its error bar.
    A name with other signs than letters, digits and _ stands in backticks, the query then in single quotes.

    [dim]Examples[/dim]
      rowspace ask people.release "age >= 65 and sex = 'F'"
      rowspace ask people.release "age < 18" "18 <= age < 65" "age >= 65" --json
      rowspace ask people.release "region = 'Harbour' or age between 20 and 29"
      rowspace ask people.release '`hours-per-week` >= 40'
      rowspace ask people.release "SELECT sex, COUNT(*) FROM people GROUP BY sex"
      rowspace ask people.release --quantiles age 0.25 0.5 0.75
      rowspace ask s.toml p.csv --ledger b.db --within 50 "age < 18" --price
      rowspace ask s.toml p.csv --ledger b.db --within 50 "age < 18"
    """
    if ledger is not None:
        work("ask").ask_session(**locals())
        return
    if within is not None or price or dataset or version or key or table:
        raise typer.BadParameter(
            "--within, --price, --dataset, --table, --table-version and --request-id go with --ledger and a study"
        )
    work("ask").ask(file, arguments, quantiles, level, as_json=as_json, quiet=quiet)


def combine(
    release_files: Annotated[
        list[Path], argument("RELEASE...", "Two or more .release files; also .discovery files.")
    ],
    outputs: Annotated[
        list[Path] | None,
        option(
            "OUT",
            "Where to write: .csv, .parquet and .json are tables, .html is a report. "
            "May be given several times.",
            "--output",
            "-o",
        ),
    ] = None,
    queries: Annotated[
        list[str] | None,
        option(
            "QUERY",
            "Show the answer to this instead: a condition, or SELECT COUNT(*) in SQL. Repeatable.",
            "--ask",
        ),
    ] = None,
    title: Annotated[
        str | None, option("TEXT", "The report's title; the files' names if left out.", "--title")
    ] = None,
    level: Level = 0.95,
    force: Force = False,
    as_json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Combine several releases of one table: better answers than each. [bold]Costs no privacy.[/bold]

    Each release counts by how precise it is, and the error bars are those of the whole.
    That the releases count the same records is for you to know: nothing in them can tell.

    [dim]Examples[/dim]
      rowspace combine first.release second.release
      rowspace combine first.release second.release -o both.csv -o both.html
      rowspace combine first.release second.release --ask "age >= 65" --json
    """
    work("combine").combine(**locals())


def report(
    release_file: ReleaseFile,
    output: Annotated[Path, option("OUT", "The page to write.", "--output", "-o")] = Path("report.html"),
    title: Annotated[
        str | None, option("TEXT", "Its title; the study's name if left out.", "--title")
    ] = None,
    ledger: Annotated[
        str | None, option("LEDGER", "Show this budget too: a file or a PostgreSQL URL.", "--ledger")
    ] = None,
    dataset: Dataset = None,
    level: Level = 0.95,
    explore: Annotated[
        bool, typer.Option("--explore", help="Let readers ask the page any other count, with its error bar.")
    ] = False,
    show: Annotated[bool, typer.Option("--open", help="Open the page in a browser.")] = False,
    force: Force = False,
    as_json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Write a release as one web page: answers as charts, the promise in plain words. [bold]Costs no privacy.[/bold]

    The page loads nothing from anywhere; send it, print it or put it on a server as it is.

    [dim]Examples[/dim]
      rowspace report people.release
      rowspace report people.release -o people.html --ledger budget.db
      rowspace report people.release -o people.html --explore
    """
    work("report").report(**locals())


def registry(
    release_file: ReleaseFile,
    output: Annotated[
        Path | None, option("OUT", "The .yaml file to write; printed if left out.", "--output", "-o")
    ] = None,
    name: Annotated[str | None, option("TEXT", "Of the data product; else the study's.", "--name")] = None,
    curators: Annotated[
        list[str] | None, option("NAME", "Who publishes it. Repeatable.", "--curator")
    ] = None,
    authors: Annotated[
        list[str] | None, option("NAME", "Who fills in the entry. Repeatable.", "--author")
    ] = None,
    use: Annotated[str | None, option("TEXT", "What it is meant for.", "--use")] = None,
    region: Annotated[str | None, option("TEXT", "Which region it describes.", "--region")] = None,
    sector: Annotated[
        str | None,
        option("SECTOR", "Technology, Healthcare, Education, Government, Energy or Finance.", "--sector"),
    ] = None,
    published: Annotated[str | None, option("DAY", "Such as 2024-05-31; else today.", "--published")] = None,
    force: Force = False,
    as_json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Write a release's entry for the public Differential Privacy Deployments Registry. [bold]Costs no privacy.[/bold]

    What follows from the release is filled in; what only you know stands as "FILL IN".
    The file is in the format of opendp/deployments-registry-data, where it is submitted.

    [dim]Examples[/dim]
      rowspace registry people.release -o people.yaml --curator "Our Office"
    """
    work("report").registry(**locals())
