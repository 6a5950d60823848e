"""``rowspace discover`` and ``rowspace bounds``: what a study would have to declare, found out privately."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from rich.text import Text

from rowspace import bounding, discovery
from rowspace.privacy import ApproxDP, Neighbours
from rowspace.releases import Discovery, check_export, notes_of
from rowspace.report import AnswerGroup, answer_rows, answers_view
from rowspace.sources import is_url
from rowspace.study import DataPlace

from .budget import guarantee_of, unit_of
from .release import charged, keeper_of, ledger_files, recoverable
from .release_files import FOUND, check_outputs, write_files
from .screen import Screen

ENDINGS = (FOUND, ".toml", ".csv", ".parquet", ".json")
_SHOWN = 20


def discover(
    data: str,
    columns: list[str],
    outputs: list[Path] | None,
    *,
    epsilon: float,
    delta: float,
    at_least: int | None,
    other: str,
    unit_column: str | None,
    unit_keys: int,
    neighbours: str,
    ledger: str | None,
    dataset: str | None,
    second_budget: bool,
    no_ledger: bool,
    table: str | None,
    form: dict[str, Any],
    level: float,
    force: bool,
    as_json: bool,
    quiet: bool,
) -> None:
    """Check the files, find, charge, and write."""
    screen = Screen(quiet, as_json)
    keeper = keeper_of(ledger, dataset, no_ledger=no_ledger)
    inputs = [*_inputs(data), *ledger_files(keeper)]
    targets = check_outputs(outputs, inputs, force=force, known=ENDINGS)
    unit = unit_of(unit_column, None if unit_column is None else unit_keys)
    privacy = ApproxDP(epsilon, delta, Neighbours.of(neighbours), unit)
    with recoverable(keeper, screen):
        with screen.working("Counting, adding noise"):
            found = discovery.discover(
                DataPlace(csv=form).source(data),
                columns,
                privacy=privacy,
                at_least=at_least,
                other=other,
                ledger=keeper,
                dataset=dataset,
                second_budget=second_budget,
                table=table,
            )
        with screen.working("Writing"):
            write_files(found, targets, level, content=None)
    show_discovery(screen, found, targets, level, charged(keeper))
    charge = None if keeper is None or keeper.taken is None else keeper.taken.to_dict()
    screen.document({"charge": charge} | discovery_document(found, targets, level))


def show_discovery(
    screen: Screen, found: Discovery, targets: Sequence[Path], level: float, cost: Text
) -> None:
    """How many were found, where they are and what it cost, then those with the largest noisy counts."""
    plan = found.plan
    what = " × ".join(plan.columns)
    screen.show(
        "",
        Text.assemble(" ", (what, "bold"), f": {len(found):,} values found under {plan.privacy}"),
        Text.assemble((" written to ", "dim"), ", ".join(map(str, targets))),
        *([cost] if cost else []),
    )
    if len(found):
        answers = found.answers(level).nlargest(_SHOWN, "answer", keep="first").reset_index(drop=True)
        labels = [" × ".join(map(str, row)) for row in answers[list(plan.columns)].itertuples(index=False)]
        rows = answer_rows(answers, range(len(answers)), labels)
        groups = [AnswerGroup(what, len(found), tuple(rows))]
        screen.show(answers_view(groups, level, width=screen.out.width))
    screen.show(
        Text(
            f" A value is shown from a noisy count of {plan.least:,} on. Near that, noisy counts are too high on "
            "average; the intervals allow for it.",
            "dim",
        ),
        Text(f" {plan.population}"),
    )


def discovery_document(found: Discovery, targets: Sequence[Path], level: float) -> dict[str, Any]:
    """What was found, for machines."""
    return {
        **notes_of(found, level),
        "privacy": found.plan.privacy.to_dict(),
        "least": found.plan.least,
        "files": [str(target) for target in targets],
        "answers": found.answers(level).to_dict(orient="records"),
    }


def bounds(
    data: str,
    column: str,
    outputs: list[Path] | None,
    *,
    epsilon: float | None,
    delta: float | None,
    rho: float | None,
    inside: float,
    unit_column: str | None,
    unit_rows: int | None,
    neighbours: str,
    ledger: str | None,
    dataset: str | None,
    second_budget: bool,
    no_ledger: bool,
    table: str | None,
    form: dict[str, Any],
    level: float,
    force: bool,
    as_json: bool,
    quiet: bool,
) -> None:
    """Check the files, release, and say which range it shows."""
    screen = Screen(quiet, as_json)
    keeper = keeper_of(ledger, dataset, no_ledger=no_ledger)
    inputs = [*_inputs(data), *ledger_files(keeper)]
    targets = check_outputs(outputs, inputs, force=force) if outputs else []
    unit = unit_of(unit_column, unit_rows)
    privacy = guarantee_of(epsilon, delta, rho, Neighbours.of(neighbours), unit)
    with recoverable(keeper, screen):
        with screen.working("Counting, adding noise"):
            found = bounding.bounds(
                DataPlace(csv=form).source(data),
                column,
                privacy,
                inside=inside,
                level=level,
                ledger=keeper,
                dataset=dataset,
                second_budget=second_budget,
                table=table,
            )
        if targets:
            for target in targets:
                if target.suffix.lower() != ".release":
                    check_export(found.release.plan, target)
            write_files(found.release, targets, level, content=None if keeper is None else keeper.content)
        # Inside: where the noise leaves no range, what was paid for can still be had.
        shown = str(found).split("\n  Released")[0]
    screen.result(Text(f" {shown}"))
    screen.show(*([charged(keeper)] if keeper else []), Text(f" {privacy}"))
    charge = None if keeper is None or keeper.taken is None else keeper.taken.to_dict()
    screen.document(
        {
            "column": column,
            "low": found.low,
            "high": found.high,
            "statement": found.statement,
            "charge": charge,
        }
        | {"below": found.below.to_dict(), "above": found.above.to_dict(), "files": list(map(str, targets))}
    )


def _inputs(data: str) -> list[Path]:
    """The file that is read, which no output may replace."""
    return [] if is_url(data) else [Path(data)]
