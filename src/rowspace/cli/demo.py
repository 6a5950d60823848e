"""``rowspace demo``: the main job on bundled, invented people."""

from __future__ import annotations

import dataclasses
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from rich.text import Text

from rowspace import mechanism, planning, sample
from rowspace.planning import Plan
from rowspace.releases import Release, export, exported_files
from rowspace.report import AnswerGroup, answer_rows, answers_view, plan_view
from rowspace.report.html import write_report
from rowspace.sources import count_cells
from rowspace.study import Study
from rowspace.workload import Workload, predicates

from .outputs import check_writable, make_folder
from .screen import Screen

#: What the demo asks of the release, for free: sums of what the sample study asks, so any strategy for it will do.
QUESTIONS = {
    "age": [f"{low} <= age < {low + 20}" for low in range(0, 100, 20)],
    "age and sex": ["age < 18 and sex = 'F'", "age < 18 and sex = 'M'", "age >= 65 and sex = 'F'"],
    "place": ["zone = 'Coast'", "region = 'Capital'", "region = 'Highlands' and sex = 'M'"],
}

#: The files that ``-o DIR`` leaves.
KEPT = ("study.toml", "people.parquet", "study.plan", "people.release", "answers.csv", "report.html")

LEVEL = 0.95
TRUTH = "true value *"
TRUTH_NOTE = " * true value, shown only because this sample is invented"


def demo(folder: Path | None, *, force: bool, as_json: bool, quiet: bool) -> None:
    """Plan and release the sample study, and keep the files where that is asked for."""
    screen = Screen(quiet, as_json)
    if folder is not None:
        make_folder(folder)
        check_writable([file for name in KEPT for file in exported_files(folder / name)], force=force)
    study = Study.load(_sample_study())
    with screen.working("Planning, without the data"):
        plan = dataclasses.replace(
            planning.plan(study.workload, study.privacy, **study.wishes), title=study.name
        )
        groups = plan.group_errors()
    screen.show("", Text(" 1. The plan: no data has been touched yet", style="bold cyan"), "")
    screen.show(plan_view(plan, groups, study.name))
    with screen.working("Counting, adding noise"):
        made = mechanism.release(plan, sample.people_path())
        asked = _ask(made)
    screen.show(Text(" 2. The release: every answer with its error bar", style="bold cyan"))
    screen.show(
        answers_view(asked, LEVEL, width=screen.out.width, truth=TRUTH), Text(TRUTH_NOTE, style="dim"), ""
    )
    if folder is not None:
        with screen.working("Writing the report"):
            _keep(folder, plan, made, study.name)
        screen.show(
            Text(" 3. The report: one web page, nothing to load", style="bold cyan"),
            Text(f"    {folder / 'report.html'}"),
            "",
        )
    screen.show(_next_steps(folder))
    if as_json:
        screen.document(_document(plan, asked))


def _sample_study() -> Path:
    """The bundled study file, beside the bundled data."""
    return sample.people_path().with_name("people.toml")


def _ask(made: Release) -> list[AnswerGroup]:
    """The demo's questions, answered from the release, and beside them counted in the invented data."""
    domain = made.plan.domain
    counts = count_cells(sample.people_path(), domain).reshape(-1)
    groups = []
    for name, texts in QUESTIONS.items():
        queries: Workload = predicates(domain, texts)
        truth = (queries.operator() @ counts).astype(int).tolist()
        rows = answer_rows(made.ask(queries, LEVEL), range(len(texts)), texts, truth)
        groups.append(AnswerGroup(name, len(rows), tuple(rows)))
    return groups


def _keep(folder: Path, plan: Plan, made: Release, title: str) -> None:
    """Leave everything in a folder, to try the other commands on."""
    study, data, plan_file, release_file, table, page = (folder / name for name in KEPT)
    shutil.copyfile(_sample_study(), study)
    shutil.copyfile(sample.people_path(), data)
    plan.save(plan_file)
    made.save(release_file)
    export(made, table, LEVEL)
    write_report(made, page, title=title, level=LEVEL)


def _next_steps(folder: Path | None) -> Text:
    """What to type next."""
    number = 3 if folder is None else 4
    text = Text(f" {number}. What to try next", style="bold cyan")
    for command, purpose in _commands(folder):
        text.append(f"\n    {command}", style="not bold default")
        text.append(f"\n      {purpose}", style="not bold dim default")
    return text


def _commands(folder: Path | None) -> Iterator[tuple[str, str]]:
    """Commands that work as they stand, with what they are for."""
    if folder is None:
        yield "rowspace demo -o demo", "keep the study, the data, the plan and the release in a folder"
        yield "rowspace init YOUR_DATA.csv", "draft a study of your own table"
        return
    yield f'rowspace ask {folder / "people.release"} "age between 30 and 39"', "ask more, for free"
    yield f"rowspace plan {folder / 'study.toml'} --epsilon 0.5", "see what more privacy would cost"
    yield f"rowspace init {folder / 'people.parquet'} -o {folder / 'draft.toml'}", "draft a study of a table"


def _document(plan: Plan, asked: list[AnswerGroup]) -> dict[str, Any]:
    """The demo for machines."""
    answers = [{"group": group.name, **vars(row)} for group in asked for row in group.rows]
    return {"plan": plan.to_dict(), "level": LEVEL, "truth_note": TRUTH_NOTE.strip(" *"), "answers": answers}
