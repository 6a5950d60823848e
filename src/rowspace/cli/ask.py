"""``rowspace ask``: further answers from a release, for free."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.text import Text

from rowspace.exceptions import UnsupportedWorkload
from rowspace.releases import Release
from rowspace.report import AnswerGroup, answer_rows, answers_view

from .options import Json, Level, Quiet
from .screen import Screen

if TYPE_CHECKING:
    import pandas as pd


def ask(
    release_file: Annotated[
        Path, typer.Argument(metavar="RELEASE", help="A .release file.", show_default=False)
    ],
    queries: Annotated[
        list[str],
        typer.Argument(
            metavar="QUERY...", help="Conditions on the attributes that were measured.", show_default=False
        ),
    ],
    level: Level = 0.95,
    as_json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Answer further questions from a release. [bold]Costs no privacy[/bold]: the data is not looked at again.

    [dim]Examples[/dim]
      rowspace ask people.release "age >= 65 and sex = 'F'"
      rowspace ask people.release "age < 18" "18 <= age < 65" "age >= 65" --json
      rowspace ask people.release "region = 'Harbour' or age between 20 and 29"
    """
    screen = Screen(quiet, as_json)
    with screen.working("Reading"):
        made = Release.load(release_file)
        answers = _ask(made, queries, level)
    rows = tuple(answer_rows(answers, range(len(queries)), queries))
    screen.result(answers_view([AnswerGroup(None, len(rows), rows)], level, width=screen.out.width))
    screen.show(Text(f" free: covered by the release's {made.plan.privacy}", style="dim"))
    fields = ("query", "answer", "std_error", "low", "high")
    screen.document(
        {
            "statement": made.statement,
            "level": level,
            "answers": [{field: getattr(row, field) for field in fields} for row in rows],
        }
    )


def _ask(made: Release, queries: list[str], level: float) -> pd.DataFrame:
    """The answers, or which query this release cannot answer and what would help."""
    try:
        return made.ask(queries, level)
    except UnsupportedWorkload:
        refused = next((query for query in queries if not _is_supported(made, query)), queries[0])
    raise UnsupportedWorkload(
        f"this release has not measured enough to answer {refused!r} without bias; ask for sums of what its study "
        "asked, or add the query to the study and release again"
    )


def _is_supported(made: Release, query: str) -> bool:
    """Whether a release can answer one query."""
    try:
        made.ask(query)
    except UnsupportedWorkload:
        return False
    return True
