"""Nothing written depends on the data but the released numbers; the audit notices when something does."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from audits import secrecy
from audits.listening import listen, listen_to_process
from audits.marked import MARK, MARKS, csv_with, marked_files

from rowspace import sources
from rowspace.cli.screen import Screen
from rowspace.exceptions import SourceError


@pytest.fixture(scope="module")
def marks() -> dict[str, list[str]]:
    return secrecy.marks_heard(long=False)


def test_no_mark_comes_back(marks: dict[str, list[str]]) -> None:
    assert {case: found for case, found in marks.items() if found} == {}
    assert len(marks) > 80


@pytest.mark.long  # `make audit` does the same
def test_one_record_changes_nothing_but_the_released_numbers() -> None:
    assert {case: what for case, what in secrecy.differences(long=False).items() if what} == {}


def test_the_command_line_as_a_process(tmp_path: Path) -> None:
    """With progress lines, as on a terminal: a refusal and a release."""
    (tmp_path / "study.toml").write_text(secrecy.STUDY)
    for name, code in (("text in a numeric column.csv", "1"), ("category.csv", "0")):
        (tmp_path / "data.csv").write_bytes(marked_files()[name])
        arguments = ["release", "study.toml", "data.csv", "-o", "out.release", "--no-ledger", "-q"]
        heard = listen_to_process(tmp_path, *arguments)
        assert heard.ending == code
        assert MARKS.findall(heard.everything) == []


def test_a_message_that_quotes_a_value_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    def quoting(source: object, *_: object, **__: object) -> None:
        raise SourceError("cannot read this") from ValueError(Path(str(source)).read_bytes()[-200:])

    monkeypatch.setattr(sources, "count_cells", quoting)
    monkeypatch.setattr(sources, "count_marginals", quoting)
    monkeypatch.setattr(secrecy, "marked_files", lambda: {"category.csv": csv_with(f"3,{MARK}")})
    assert MARK in secrecy.marks_heard(long=False)["library, category.csv"]


def test_a_remark_about_the_number_of_rows_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    told = Screen.show

    def remembering(counting: Callable[..., Any]) -> Callable[..., Any]:
        def remember(*arguments: object, **keywords: object) -> object:
            counts = counting(*arguments, **keywords)
            records = counts.stacks[0].counts[0].sum() if hasattr(counts, "stacks") else counts.sum()
            remark = ["many rows"] if records > 40 else []
            monkeypatch.setattr(Screen, "show", lambda self, *r: told(self, *r, *remark))
            return counts

        return remember

    for name in ("count_cells", "count_marginals"):
        monkeypatch.setattr(sources, name, remembering(getattr(sources, name)))
    monkeypatch.setattr(secrecy, "ADDED", {"an ordinary record": "3,F"})
    assert secrecy.differences(long=False)["an ordinary record"] == ["standard output"]


def test_every_channel_is_heard(capfd: pytest.CaptureFixture[str]) -> None:
    import logging
    import os

    def speak() -> None:
        sys.stdout.write("one ")
        sys.stderr.write("two ")
        os.write(1, b"three ")
        os.write(2, b"four ")
        logging.getLogger("somewhere").debug("five ")
        warnings.warn("six ", stacklevel=1)
        try:
            raise ValueError("seven ")
        except ValueError:
            raise RuntimeError("eight ") from None

    heard = listen(speak)
    for word in ("one", "two", "three", "four", "five", "six", "seven", "eight"):
        assert f"{word} " in heard.everything
    assert capfd.readouterr() == ("", "")


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("row 4,711 of", 1),
        ("line 4712:", 1),
        ("7741774177.0", 1),
        ("'zqxjmark'", 1),
        ("14711 cells, 47.11", 0),
    ],
)
def test_marks_are_recognized(text: str, found: int) -> None:
    assert len(MARKS.findall(text)) == found
