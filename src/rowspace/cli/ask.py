"""``rowspace ask``: further answers from a release, for free."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.text import Text

from rowspace.exceptions import UnsupportedWorkload
from rowspace.releases import Release, notes_of
from rowspace.report import AnswerGroup, answer_rows, answers_view
from rowspace.workload import Workload, predicates, sql

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

    [dim]Examples[/dim]
      rowspace ask people.release "age >= 65 and sex = 'F'"
      rowspace ask people.release "age < 18" "18 <= age < 65" "age >= 65" --json
      rowspace ask people.release "region = 'Harbour' or age between 20 and 29"
      rowspace ask people.release "SELECT sex, COUNT(*) FROM people GROUP BY sex"
    """
    screen = Screen(quiet, as_json)
    with screen.working("Reading"):
        made = Release.load(release_file)
        asked = [_Asked.of(query, made) for query in queries]
        answers = _ask(made, asked, level)
        words = [label for one in asked for label in one.labels]
    rows = tuple(answer_rows(answers, range(len(words)), words))
    screen.result(answers_view([AnswerGroup(None, len(rows), rows)], level, width=screen.out.width))
    screen.show(Text(f" free: covered by the release's {made.plan.privacy}", style="dim"))
    if made.plan.population:
        screen.show(Text(f" {made.plan.population}"))
    fields = ("query", "answer", "std_error", "low", "high")
    screen.document(
        {
            **notes_of(made, level),
            "answers": [{field: getattr(row, field) for field in fields} for row in rows],
        }
    )


@dataclass(frozen=True)
class _Asked:
    """A query as it was typed, what it asks, and the words for each of its answers."""

    text: str
    workload: Workload
    labels: list[str]

    @classmethod
    def of(cls, text: str, made: Release) -> _Asked:
        """Read a condition, or SQL when it begins with SELECT."""
        if text.lstrip()[:6].upper() == "SELECT":
            found = sql(made.plan.domain, text)
            return cls(text, found, found.labels())
        return cls(text, predicates(made.plan.domain, [text]), [text])


def _ask(made: Release, asked: list[_Asked], level: float) -> pd.DataFrame:
    """The answers, or which query this release cannot answer and what would help."""
    try:
        return made.ask(sum((one.workload for one in asked[1:]), asked[0].workload), level)
    except UnsupportedWorkload:
        refused = next((one.text for one in asked if not _is_supported(made, one)), asked[0].text)
    raise UnsupportedWorkload(
        f"this release has not measured enough to answer {refused!r} without bias; ask for sums of what its study "
        "asked, or add the query to the study and release again"
    )


def _is_supported(made: Release, one: _Asked) -> bool:
    """Whether a release can answer one query."""
    try:
        made.ask(one.workload)
    except UnsupportedWorkload:
        return False
    return True
