"""Does anything that is written depend on the data, other than the released numbers?

    python -m audits secrecy

Marked values go through the library and the command line in every shape that can make something fail; the mark must
not come back in any output, log, warning, progress line or error. Then tables that differ in one record: everything
but the released numbers must be the same, to the byte. What refusals *say* may depend on the kind of the defect (text
in a numeric column, a damaged file), never on a value or its place; that there is a refusal does depend on the data,
as `count_cells` states.
"""

from __future__ import annotations

import json
import os
import re
import tempfile
import zipfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

import pandas as pd

import rowspace as rs
from rowspace.cli import main
from rowspace.study import Study

from . import Row
from .listening import Heard, listen, listen_to_process
from .marked import MARK, MARKS, RECORDS, marked_files, marked_objects

STUDY = """
[study]
name = "Residents"
[privacy]
epsilon = 1.0
[domain.age]
type = "numeric"
low = 0
high = 8
bins = 8
[domain.sex]
type = "categorical"
categories = ["F", "M"]
[[workload]]
ranges = "age"
[[workload]]
marginal = ["sex"]
"""


@contextmanager
def _folder() -> Iterator[Path]:
    """A temporary folder with the study, as working directory, so that paths in messages are the same for all."""
    before = Path.cwd()
    with tempfile.TemporaryDirectory() as name:
        (Path(name) / "study.toml").write_text(STUDY)
        os.chdir(name)
        try:
            yield Path(name)
        finally:
            os.chdir(before)


def _plan() -> rs.Plan:
    study = Study.load("study.toml")
    return rs.plan(study.workload, study.privacy, effort="fast")


def _arguments(data: str, *more: str) -> list[str]:
    return [
        "release",
        "study.toml",
        data,
        "--plan",
        "study.plan",
        "-o",
        "out.release",
        "--force",
        "--no-ledger",
        *more,
    ]


def marks_heard(long: bool) -> dict[str, list[str]]:
    """For every way a table can be given: what came back of its marks, by case."""
    found: dict[str, list[str]] = {}

    def hear(case: str, heard: Heard) -> None:
        found[case] = MARKS.findall(heard.everything)

    with _folder():
        plan = _plan()
        plan.save("study.plan")
        for name, content in marked_files().items():
            path = "data" + name[name.index(".") :]
            Path(path).write_bytes(content)
            hear(f"library, {name}", listen(partial(rs.release, plan, path)))
            hear(f"command line, {name}", listen(partial(main, _arguments(path, "-q"))))
            shown = listen(partial(main, _arguments(path)))
            # Released numbers may hold any digits: where they are shown, only the words are looked at.
            words = " ".join(_without_numbers(shown.out))
            hear(f"command line with answers, {name}", Heard(shown.ending, words, shown.err))
            if long and name.startswith(("category", "text", "open")):
                heard = listen_to_process(Path.cwd(), *_arguments(path, "-q"))
                hear(f"process, {name}", heard)
        for name, source in marked_objects().items():
            hear(f"library, {name}", listen(partial(rs.release, plan, source)))
    return found


ADDED = {
    "an ordinary record": "3,F",
    "a number outside": "77,F",
    "a huge number": "1e308,F",
    "a number beyond doubles": "1e999,F",
    "not a number": "nan,F",
    "no number": ",F",
    "an unknown category": "3,X",
    "no category": "3,",
    "nothing in any column": ",",
    "a hundred digits": "7" * 100 + ",F",
}
"""Records whose presence nothing but the released numbers may show."""

REFUSED = {
    "text in a numeric column": "{},F",
    "too few cells": "{}",
    "too many cells": "3,F,{}",
    "an open quote": '"{},F',
}
"""Records that make a file unreadable: the refusal may not show which value it was, or where."""


def differences(long: bool) -> dict[str, list[str]]:
    """For every added record: which of the things written were not the same with and without it."""
    found = {}
    with _folder():
        _plan().save("study.plan")
        for base_name, base in {"": RECORDS[:40], " to an empty table": []}.items():
            for name, record in list(ADDED.items())[: None if base or long else 1]:
                tables = [["age,sex", *base, ""], ["age,sex", *base[:20], record, *base[20:], ""]]
                run = _written_by_process if long and base and name == "an ordinary record" else _written
                found[name + base_name] = _unequal(*(run("\n".join(lines)) for lines in tables))
        for name, shape in REFUSED.items():
            variants = [(MARK, 3), ("other", 3), (MARK, 30)]
            tables = [
                ["age,sex", *RECORDS[:at], shape.format(value), *RECORDS[at:40], ""] for value, at in variants
            ]
            said = [_written("\n".join(lines)) for lines in tables]
            found[f"refusal: {name}"] = _unequal(*said) + (
                [] if said[0]["ending"] == "1" else ["not refused"]
            )
    return found


def _written(table: str) -> dict[str, object]:
    """Everything that a release writes, the released numbers taken out."""
    return _all_written(table, lambda *more: listen(lambda: main(_arguments("data.csv", *more))))


def _written_by_process(table: str) -> dict[str, object]:
    return _all_written(table, lambda *more: listen_to_process(Path.cwd(), *_arguments("data.csv", *more)))


def _all_written(table: str, run: Callable[..., Heard]) -> dict[str, object]:
    Path("data.csv").write_text(table)
    for name in ("out.release", "out.csv", "out.json"):
        Path(name).unlink(missing_ok=True)
    plain, machine = run("-o", "out.csv", "-o", "out.json"), run("--json")
    written: dict[str, object] = {
        "ending": plain.ending,
        "ending with --json": machine.ending,
        "standard error": _without_clock(plain.err),
        "standard error with --json": _without_clock(machine.err),
        "standard output": _without_numbers(plain.out),
        "files": sorted(os.listdir()),
    }
    if plain.ending == "0":
        written["JSON on standard output"] = _without_answers(json.loads(machine.out))
        written["JSON file"] = _without_answers(json.loads(Path("out.json").read_text()))
        lines = Path("out.csv").read_text().splitlines()
        written["CSV remarks"] = [line for line in lines if line.startswith("#")]
        written["CSV table"] = (
            pd.read_csv("out.csv", comment="#").drop(columns=["answer", "low", "high"]).to_csv()
        )
        with zipfile.ZipFile("out.release") as archive:
            written["release file"] = {
                entry: archive.read(entry) for entry in archive.namelist() if entry != "noisy_answers.npy"
            }
            written["size of the answers"] = len(archive.read("noisy_answers.npy"))
    return written


def _without_numbers(text: str) -> list[str]:
    """Words and rules of a screen; a column is as wide as its numbers, so widths go with them."""
    return re.sub(r"[-+]?\d[\d,]*(\.\d+)?(e[-+]?\d+)?", "#", re.sub(r"─+", "─", text)).split()


def _without_clock(text: str) -> str:
    """Progress lines without the time and the spinner, which move by themselves, however often they were drawn."""
    plain = re.sub(r"\x1b\[[0-9;?]*[a-zA-Z]|\d+:\d\d:\d\d", "", text)
    return "\n".join(dict.fromkeys(frame.strip() for frame in re.split(r"[\r\n⠀-⣿]", plain)))


def _without_answers(document: dict[str, Any]) -> dict[str, Any]:
    kept = [
        {k: v for k, v in row.items() if k not in ("answer", "low", "high")} for row in document["answers"]
    ]
    return document | {"answers": kept}


def _unequal(first: dict[str, object], *others: dict[str, object]) -> list[str]:
    keys = list(dict.fromkeys(key for written in (first, *others) for key in written))
    return [key for key in keys if any(first.get(key) != other.get(key) for other in others)]


def run(long: bool) -> list[Row]:
    """Marks that came back, and differences that one record made."""
    marks, unequal = marks_heard(long), differences(long)
    return [
        _row("marked values", marks, "no mark in anything written"),
        _row("one record more or less", unequal, "all but the released numbers byte for byte the same"),
    ]


def _row(name: str, found: dict[str, list[str]], limit: str) -> Row:
    bad = {case: what for case, what in found.items() if what}
    first = "".join(f"; {case}: {', '.join(sorted(set(what)))}" for case, what in list(bad.items())[:3])
    return Row(name, f"{len(found) - len(bad)} of {len(found)} cases{first}", limit, bool(found) and not bad)
