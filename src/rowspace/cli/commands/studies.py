"""The words of the commands about studies: what is counted, what is asked, and how accurate it will be."""

from __future__ import annotations

import math
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import typer

from .options import Data, Force, Json, Quiet, StudyFile, Table, argument, option, work


def demo(
    folder: Annotated[
        Path | None,
        option(
            "DIR", "Also keep study, data, plan, release, table and the report, a web page.", "--output", "-o"
        ),
    ] = None,
    force: Force = False,
    as_json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Plan and release the sample study: 50,000 invented people. [bold]Start here.[/bold]

    Shows what a plan says before any data is touched, and then the answers beside the truth.

    [dim]Examples[/dim]
      rowspace demo
      rowspace demo -o demo      [dim]keeps the files, and writes a report to look at[/dim]
    """
    work("demo").demo(**locals())


Encoding = Annotated[str | None, option("NAME", "Of a CSV file that is not UTF-8.", "--encoding")]
Delimiter = Annotated[str | None, option("C", "Between the cells of a CSV file.", "--delimiter")]
Names = Annotated[str | None, option("A,B,…", "Of all columns, if it has no header.", "--names")]
Nulls = Annotated[list[str] | None, option("TEXT", "Means a missing value; may be repeated.", "--null")]
Strip = Annotated[bool, typer.Option("--strip", help="Leave out spaces around the values of a CSV file.")]
IgnoreCase = Annotated[bool, typer.Option("--ignore-case", help="Take categories in any case of letters.")]
QuotedNewlines = Annotated[
    bool, typer.Option("--quoted-newlines", help="Cells in quotes may have line breaks.")
]


def csv_form(
    encoding: str | None,
    delimiter: str | None,
    names: str | None,
    nulls: list[str] | None,
    strip: bool,
    ignore_case: bool,
    quoted_newlines: bool,
) -> dict[str, Any]:
    """What was said, as the keys of [data]."""
    said = {
        "encoding": encoding,
        "delimiter": delimiter,
        "names": None if names is None else [name.strip() for name in names.split(",")],
        "nulls": nulls,
        "strip": strip,
        "ignore_case": ignore_case,
        "quoted_newlines": quoted_newlines,
    }
    return {key: value for key, value in said.items() if value}


def init(
    data: Annotated[str, argument("DATA", "A CSV or Parquet file, a database file or a database URL.")],
    output: Annotated[Path, option("FILE", "Where to write the draft.", "--output", "-o")] = Path(
        "study.toml"
    ),
    table: Table = None,
    encoding: Encoding = None,
    delimiter: Delimiter = None,
    names: Names = None,
    nulls: Nulls = None,
    strip: Strip = False,
    ignore_case: IgnoreCase = False,
    quoted_newlines: QuotedNewlines = False,
    force: Force = False,
    as_json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Draft a study file from the columns of a table. [bold]Looks at the data: for its curator only.[/bold]

    The draft's bounds and categories are taken from the data and are not private.
    Replace them by public knowledge (a code book, a law, a form) first of all;
    `release` refuses the draft until its line "draft = true" is deleted.

    [dim]Examples[/dim]
      rowspace init people.parquet
      rowspace init people.duckdb --table residents -o residents.toml
      rowspace init adult.data --names age,sex,pay --null "?" --strip
    """
    form = csv_form(encoding, delimiter, names, nulls, strip, ignore_case, quoted_newlines)
    work("init").init(data, output, table, form, force=force, as_json=as_json, quiet=quiet)


def check(
    study_file: StudyFile,
    data: Data = None,
    table: Table = None,
    as_json: Json = False,
) -> None:
    """See what a study makes of the data, before a release. [bold]Looks at the data: for its curator only.[/bold]

    Counts, per attribute, the rows that are missing, outside, unlisted or
    unreadable, shows the values that are no category, and says what a release
    makes of them; with a privacy unit, how many rows each has and what caps leave
    out. Nothing is spent, and nothing of it may be published.

    [dim]Exit codes: 0 when `release` accepts the data, whatever it leaves out; 1 when it refuses it.[/dim]

    [dim]Examples[/dim]
      rowspace check study.toml people.csv
      rowspace check study.toml people.duckdb --table residents
      rowspace check study.toml people.csv --json
    """
    work("init").check(**locals())


def _check_cap(cap: float | None) -> float | None:
    if cap is not None and not 0 < cap < math.inf:
        raise typer.BadParameter(
            f"expected the largest ε (or ρ) that targets may need, a number above 0, got {cap:g}"
        )
    return cap


class EffortChoice(StrEnum):
    """How hard to look for a better strategy."""

    FAST = "fast"
    NORMAL = "normal"
    BEST = "best"


class Objective(StrEnum):
    """What to make small."""

    TOTAL = "total"
    MAX = "max"


def plan(
    study_file: StudyFile,
    epsilon: Annotated[float | None, option("E", "Try another ε than the study's.", "--epsilon")] = None,
    epsilons: Annotated[
        str | None, option("E,E,…", "Also show the error at several values of ε (or ρ).", "--epsilons")
    ] = None,
    targets: Annotated[
        list[str] | None,
        option(
            "TARGET", 'Find the least ε (or ρ) for errors such as "ranges: ±50 @95%". Repeatable.', "--target"
        ),
    ] = None,
    cap: Annotated[
        float | None,
        option(
            "E",
            "With --target: the largest ε (or ρ) that may be needed; 10 if left out.",
            "--cap",
            callback=_check_cap,
        ),
    ] = None,
    save: Annotated[Path | None, option("FILE", "Keep the plan, for `release --plan`.", "--save")] = None,
    effort: Annotated[
        EffortChoice, typer.Option("--effort", help="How many strategies to try.")
    ] = EffortChoice.NORMAL,
    objective: Annotated[
        Objective,
        typer.Option("--objective", help="Make the total of squared errors small, or the largest of them."),
    ] = Objective.TOTAL,
    over: Annotated[
        str | None, option("NAME", "The attribute of periods, for `release --period`.", "--over")
    ] = None,
    force: Force = False,
    as_json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Choose what to measure, and say how accurate every answer will be. [bold]Needs no data.[/bold]

    With --target it is the other way round: the least ε (or ρ) for the errors you can accept.

    [dim]Examples[/dim]
      rowspace plan study.toml
      rowspace plan study.toml --epsilon 0.5 --json
      rowspace plan study.toml --epsilons 0.1,0.5,1,2
      rowspace plan study.toml --target "ranges: ±50 @95%" --save study.plan
    """
    work("plan").plan(**locals())


def paper(
    output: Annotated[
        Path, option("DIR", "The folder to write to; made if it is not there.", "--output", "-o")
    ] = Path("paper"),
    quick: Annotated[
        bool, typer.Option("--quick", help="The same claims on smaller domains, in seconds.")
    ] = False,
    show: Annotated[bool, typer.Option("--open", help="Open the page in a browser.")] = False,
    force: Force = False,
    as_json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Reproduce the paper behind rowspace: every figure, table and claim beside what we compute. [bold]No data.[/bold]

    Writes paper.html (side by side), paper.json (all figures) and paper.md (claim, function, test).

    [dim]Examples[/dim]
      rowspace paper -o out
      rowspace paper -o out --quick
    """
    from rowspace import _research

    _research.load("command", "rowspace paper").paper(
        output, quick=quick, show=show, force=force, as_json=as_json, quiet=quiet
    )


def schema(
    output: Annotated[
        Path | None, option("FILE", "Where to write it; else it is printed.", "--output", "-o")
    ] = None,
    force: Force = False,
) -> None:
    """Write the JSON Schema of study files, by which editors complete and check them.

    Editors that know Taplo (such as VS Code with Even Better TOML) use it in a study whose first line is
    "#:schema ./study.schema.json". `init` writes that line where the file is beside the draft.

    [dim]Examples[/dim]
      rowspace schema -o study.schema.json
    """
    work("init").schema(**locals())
