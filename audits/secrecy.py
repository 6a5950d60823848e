"""Does anything that is written depend on the data, other than the released numbers?

    python -m audits secrecy

Marked values go through the library and the command line in every shape that can make something fail; the mark must
not come back in any output, log, warning, progress line or error. Then tables that differ in one record: everything
but the released numbers must be the same, to the byte. What refusals *say* may depend on the kind of the defect (text
in a numeric column, a damaged file), never on a value or its place; that there is a refusal does depend on the data,
as `count_cells` states.
"""

from __future__ import annotations

import gzip
import json
import os
import re
import tempfile
import zipfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

import rowspace as rs
from rowspace.cli import main
from rowspace.study import Study

from . import Row
from .listening import Heard, listen, listen_to_process

MARK = "zqxjmark"
NUMBER = 7741774177
PLACE = 4711
"""Line of the marked record, so that a message with its place can be found too."""

MARKS = re.compile(rf"{MARK}|7741774177|7\.741774177|7[ ,_]?741[ ,_]?774[ ,_]?177|\b4[,_]?71[012]\b")

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

RECORDS = [f"{i % 8},{'FM'[i % 2]}" for i in range(PLACE - 2)]


def _csv(record: str, *, header: str = "age,sex") -> bytes:
    """A table whose record on line `PLACE` is the given one."""
    return "\n".join([header, *RECORDS, record, "3,F", ""]).encode()


def _parquet(**columns: Any) -> bytes:
    sink = pa.BufferOutputStream()
    pq.write_table(pa.table(columns), sink)
    return bytes(sink.getvalue())


def _frame(age: Any = 3, sex: Any = "F") -> dict[str, list[Any]]:
    return {"age": [*range(8), age], "sex": [*"FMFMFMFM", sex]}


def marked_files() -> dict[str, bytes]:
    """Files with marked values where they do harm, by file name."""
    damaged = _parquet(**_frame(sex=MARK))
    return {
        "category.csv": _csv(f"3,{MARK}"),
        "text in a numeric column.csv": _csv(f"{MARK},F"),
        "number outside.csv": _csv(f"{NUMBER},F"),
        "negative.csv": _csv(f"-{NUMBER},F"),
        "huge.csv": _csv(f"{NUMBER}e300,F"),
        "too large for a double.csv": _csv(f"{NUMBER}e999,F"),
        "hundred digits.csv": _csv(f"{NUMBER}" * 10 + ",F"),
        "null.csv": _csv(",F"),
        "null category.csv": _csv("3,"),
        "too few cells.csv": _csv(MARK),
        "too many cells.csv": _csv(f"3,F,{MARK}"),
        "open quote.csv": _csv(f'"{MARK},F'),
        "stray quote.csv": _csv(f'"3"{MARK},"F"'),
        "no header.csv": _csv("3,F", header=f"{MARK},{NUMBER}"),
        "long cell.csv": _csv("3," + MARK * 400_000),
        "nul byte.csv": _csv(f"3,\0{MARK}"),
        "latin-1.csv": _csv(f"3,{MARK}é").decode().encode("latin-1"),
        "no text at all.csv": os.urandom(200) + MARK.encode() + os.urandom(200),
        "further column.csv": _csv(f"3,F,{MARK}", header="age,sex,name")
        .replace(b",F\n", b",F,\n")
        .replace(b",M\n", b",M,\n"),
        "damaged.csv.gz": gzip.compress(_csv(f"3,{MARK}"))[:-40],
        "category.parquet": _parquet(**_frame(sex=MARK)),
        "text in a numeric column.parquet": _parquet(age=[MARK] * 9, sex=_frame()["sex"]),
        "numbers in a text column.parquet": _parquet(age=_frame()["age"], sex=[NUMBER] * 9),
        "lists.parquet": _parquet(age=[[NUMBER]] * 9, sex=_frame()["sex"]),
        "huge.parquet": _parquet(age=[float(NUMBER) * 1e290] * 9, sex=_frame()["sex"]),
        "damaged.parquet": damaged[: len(damaged) // 2] + MARK.encode() + damaged[len(damaged) // 2 :],
        "cut off.parquet": damaged[:-20],
    }


def marked_objects() -> dict[str, Any]:
    """Sources in memory with marked values."""
    counts = np.arange(16)
    return {
        "mixed frame": pd.DataFrame({"age": pd.Series([1, MARK], dtype=object), "sex": ["F", "M"]}),
        "frame of objects": pd.DataFrame({"age": [{MARK: NUMBER}], "sex": ["F"]}),
        "text in a numeric column": pd.DataFrame(_frame()).astype({"age": str}).replace("3", MARK),
        "frame outside": pd.DataFrame(_frame(age=NUMBER, sex=MARK)),
        "frame with nothing": pd.DataFrame(_frame(age=None, sex=None)),
        "decimals": pa.table({"age": pa.array([NUMBER], pa.decimal128(38, 3)), "sex": ["F"]}),
        "text for counts": [MARK] * 16,
        "ragged counts": [[NUMBER], [1, 2]],
        "negative counts": counts - NUMBER,
        "fractional counts": counts + 0.7741774177,
        "too many records": counts + NUMBER * 10**9,
        "beyond 64 bits": [NUMBER * 10**30] * 16,
        "not a number": np.where(counts == 5, np.nan, NUMBER),
        "wrong shape": np.full(15, NUMBER),
    }


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
            hear(f"library, {name}", listen(lambda path=path: rs.release(plan, path)))
            hear(f"command line, {name}", listen(lambda path=path: main(_arguments(path, "-q"))))
            shown = listen(lambda path=path: main(_arguments(path)))
            # Released numbers may hold any digits: where they are shown, only the words are looked at.
            words = " ".join(_without_numbers(shown.out))
            hear(f"command line with answers, {name}", Heard(shown.ending, words, shown.err))
            if long and name.startswith(("category", "text", "open", "huge")):
                heard = listen_to_process(Path.cwd(), *_arguments(path, "-q"))
                hear(f"process, {name}", heard)
        for name, source in marked_objects().items():
            hear(f"library, {name}", listen(lambda source=source: rs.release(plan, source)))
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
                run = (
                    _written_by_process if long and name in ("an ordinary record", "no number") else _written
                )
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
    """Progress lines without the time and the spinner, which move by themselves."""
    words = re.sub(r"\x1b\[[0-9;?]*[a-zA-Z]|[⠀-⣿]|\d+:\d\d:\d\d|\r", "", text).split("\n")
    return "\n".join(dict.fromkeys(word.strip() for word in words))


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
