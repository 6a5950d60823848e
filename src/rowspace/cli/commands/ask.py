"""``rowspace ask``: further answers from a release, for free."""

from __future__ import annotations

from typing import Annotated

import typer

from .options import Json, Level, Quiet, ReleaseFile


def ask(
    release_file: ReleaseFile,
    queries: Annotated[
        list[str],
        typer.Argument(
            metavar="QUERY...",
            help="Conditions on the attributes that were measured, or SELECT COUNT(*) in SQL.",
            show_default=False,
        ),
    ],
    level: Level = 0.95,
    as_json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Answer further questions from a release. [bold]Costs no privacy[/bold]: the data is not looked at again.

    Conditions on what was measured, or counting queries in SQL, each answered with its error bar.
    A name with other signs than letters, digits and _ stands in backticks, the query then in single quotes.

    [dim]Examples[/dim]
      rowspace ask people.release "age >= 65 and sex = 'F'"
      rowspace ask people.release "age < 18" "18 <= age < 65" "age >= 65" --json
      rowspace ask people.release "region = 'Harbour' or age between 20 and 29"
      rowspace ask people.release '`hours-per-week` >= 40'
      rowspace ask people.release "SELECT sex, COUNT(*) FROM people GROUP BY sex"
    """
    from ..ask import ask as answer

    answer(release_file, queries, level, as_json=as_json, quiet=quiet)
