"""Numbers that people give away by habit: how many rows, how many dropped, how many NULL, the least and the largest.

Two tables that differ only in rows outside the domain, which are dropped, must give the same everything but noise.
With the noise drawn from the same seed, that is the same bytes.
"""

from __future__ import annotations

import io
import logging
import re
import sys
import zipfile
from collections.abc import Iterator
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path
from typing import Any

import pytest

import rowspace as rs
from rowspace import mechanism
from rowspace.exceptions import RowspaceError
from rowspace.measure import measure
from rowspace.noise import InsecureSeededRandom
from rowspace.sources import count_cells
from rowspace.study import DATA_WARNING
from tests.cli.running import rowspace
from tests.study.examples import SMALL

DROPPING = SMALL.replace("bins = 20", 'bins = 20\noutside = "drop"').replace('"M"]', '"M"]\noutside = "drop"')
INSIDE = "".join(f"{i % 20},{'FM'[i % 2]}\n" for i in range(40))
OUTSIDE = "".join(
    f"{row}\n" for row in ["977123,F", "-1,M", ",F", "3,", ",", "5,Xanadu77", "nan,M", "inf,F"] * 37
)
MARKS = ("977123", "Xanadu77", "336", "296")  # values, the number of all rows, the number of dropped ones


@pytest.fixture
def same_noise(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every measurement draws the same noise."""

    def seeded(strategy: Any, noise: Any, counts: Any, random: Any = None, *, parts: int = 1) -> Any:
        return measure(strategy, noise, counts, InsecureSeededRandom(7), parts=parts)

    monkeypatch.setattr(mechanism, "measure", seeded)


def folder_with(parent: Path, name: str, rows: str) -> Path:
    folder = parent / name
    folder.mkdir()
    (folder / "study.toml").write_text(DROPPING)
    (folder / "people.csv").write_text("age,sex\n" + rows)
    return folder


def everything(folder: Path, monkeypatch: pytest.MonkeyPatch, *options: str) -> dict[str, object]:
    """All that a release leaves behind: the exit code, both streams, and every file but the inputs."""
    monkeypatch.chdir(folder)
    if not Path("../study.plan").exists():  # one plan for all: it records how long planning took
        assert rowspace("plan", "study.toml", "--save", "../study.plan").code == 0
    outputs = [word for name in ("r.release", "r.csv", "r.json", "r.parquet") for word in ("-o", name)]
    ended = rowspace(
        "release", "--no-ledger", "study.toml", "people.csv", "--plan", "../study.plan", *outputs, *options
    )
    asked = rowspace("ask", "r.release", "age < 10", *options)
    written = {path.name: path.read_bytes() for path in folder.iterdir() if path.name not in ("people.csv",)}
    with zipfile.ZipFile(io.BytesIO(written.pop("r.release"))) as archive:  # but for the time of day in it
        written |= {name: archive.read(name) for name in archive.namelist()}
    return {"code": ended.code, "out": ended.out, "err": ended.err, "asked": asked, **written}


@pytest.mark.usefixtures("same_noise")
@pytest.mark.parametrize("option", ["--level=0.95", "--json", "--quiet"])
def test_rows_outside_the_domain_change_nothing(
    option: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    plain = everything(folder_with(tmp_path, "one", INSIDE), monkeypatch, option)
    more = everything(folder_with(tmp_path, "two", OUTSIDE + INSIDE), monkeypatch, option)
    assert plain["code"] == 0
    assert plain.keys() == more.keys()
    for what in plain:
        assert plain[what] == more[what], what


@pytest.mark.usefixtures("same_noise")
def test_no_number_of_rows_and_no_value_is_said_logged_or_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    told = everything(folder_with(tmp_path, "one", OUTSIDE + INSIDE), monkeypatch)
    said = (
        " ".join(str(value) for name, value in told.items() if name in ("out", "err", "asked")) + caplog.text
    )
    assert not [mark for mark in MARKS if re.search(rf"(?<![\d.]){mark}(?![\d.])", said)]
    assert not [name for name, data in told.items() if isinstance(data, bytes) and b"Xanadu77" in data]


@pytest.mark.parametrize("broken", ["missing column", "bad text", "ragged"])
def test_errors_are_the_same_with_rows_outside(
    broken: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The error, its text and the exit code do not tell how much else was in the table."""
    spoil = {
        "missing column": lambda rows: rows.replace("age,sex", "aged,sex"),
        "bad text": lambda rows: rows + "twelve,F\n",
        "ragged": lambda rows: rows + "1,F,3,4\n",
    }[broken]
    ended = []
    for name, rows in (("one", INSIDE), ("two", OUTSIDE + INSIDE)):
        folder = folder_with(tmp_path, name, rows)
        (folder / "people.csv").write_text(spoil((folder / "people.csv").read_text()))
        monkeypatch.chdir(folder)
        ended.append(rowspace("release", "--no-ledger", "study.toml", "people.csv", "-o", "r.csv"))
        assert not (folder / "r.csv").exists()
    assert ended[0] == ended[1]
    assert ended[0].code == 1
    assert not [mark for mark in (*MARKS, "twelve") if mark in ended[0].err]


def places() -> Iterator[Any]:
    """Sources whose values themselves make the failure."""
    import pandas as pd
    import pyarrow as pa

    yield pd.DataFrame({"age": [977123, "Xanadu77"], "sex": ["F", "F"]})
    yield pa.table({"age": ["Xanadu77"], "sex": ["F"]})
    yield [977123, -977123]
    yield [9.77123e300] * 40


@pytest.mark.parametrize("source", list(places()), ids=lambda source: type(source).__name__)
def test_errors_raised_by_values_carry_none(source: Any, tmp_path: Path) -> None:
    domain = rs.Domain(age=rs.Numeric(0, 20, bins=20), sex=rs.Categorical(["F", "M"]))
    with pytest.raises(RowspaceError) as failure:
        count_cells(source, domain)
    assert not [mark for mark in ("977123", "9.77", "Xanadu77") if mark in repr(failure.value)]
    assert failure.value.__context__ is None
    assert failure.value.__cause__ is None


def test_objects_that_hold_a_release_print_no_counts() -> None:
    """What a notebook shows of a plan, a release and a measurement: nothing that depends on the data but noise."""
    domain = rs.Domain(age=rs.Numeric(0, 4, bins=4))
    plan = rs.plan(rs.workload.identity(domain), rs.PureDP(1.0), effort="fast")
    one, other = (
        mechanism.release(plan, counts, random=InsecureSeededRandom(1)) for counts in ([977123] * 4, [5] * 4)
    )
    assert str(one) == str(other)
    assert vars(one).keys() == vars(other).keys() == {"plan", "noisy_answers"}


def test_only_init_looks_and_it_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The least and largest values stand in a draft only, under a warning on the screen and in the file."""
    folder = folder_with(tmp_path, "one", "977123,F\n12,M\n")
    monkeypatch.chdir(folder)
    ended = rowspace("init", "people.csv", "-o", "draft.toml", "--quiet")
    words = " ".join(re.sub(r"[│╭╮╰╯─]", " ", ended.err).split())
    assert ended.code == 0
    assert DATA_WARNING in words
    assert "977123" not in ended.out + ended.err
    draft = (folder / "draft.toml").read_text()
    assert draft.startswith("# DRAFT, NOT FOR PUBLICATION.")
    assert "TODO: bounds from public knowledge; these came from the data" in draft


def test_planning_and_asking_never_import_what_looks() -> None:
    """`plan` and `ask` run without the room that reads data: in a fresh process it is not even imported."""
    import subprocess

    code = (
        "import sys, numpy as np, rowspace as rs;"
        "d = rs.Domain(age=rs.Numeric(0, 4, bins=4));"
        "p = rs.plan(rs.workload.identity(d), rs.PureDP(1.0), effort='fast');"
        "from rowspace.releases import Release;"
        "Release(p, np.zeros(p.strategy.shape[0], int)).ask('age < 2');"
        "sys.exit(any(name.startswith('rowspace.sources') for name in sys.modules))"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False, timeout=120).returncode == 0


def test_streams_are_really_watched() -> None:
    """The harness above would see a print: a test of the test."""
    out = io.StringIO()
    with redirect_stdout(out), redirect_stderr(out):
        sys.stdout.write("336")
    assert "336" in out.getvalue()
