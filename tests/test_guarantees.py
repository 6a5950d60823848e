"""Every promise names tests that exist: on the guarantees page, and in the Guarantees sections of docstrings."""

from __future__ import annotations

import ast
import re
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "docs" / "guarantees.md"

# tests/room/test_file.py::test_name, test_file.py::test_name, tests/room/test_file.py, or a name alone.
_REFERENCE = re.compile(r"(?P<file>[\w/]*\btest_\w+\.py)(?:::(?P<within>test_\w+))?|\b(?P<alone>test_\w+)\b")


@cache
def functions_of(path: Path) -> frozenset[str]:
    """The test functions of a file, those in classes too."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    return frozenset(
        node.name
        for node in ast.walk(tree)
        if isinstance(node, ast.FunctionDef) and node.name.startswith("test_")
    )


@cache
def all_files() -> tuple[Path, ...]:
    return tuple(sorted((ROOT / "tests").rglob("test_*.py")))


def missing(text: str) -> list[str]:
    """References in a text that lead nowhere."""
    lost = []
    for found in _REFERENCE.finditer(text):
        file, within, alone = found["file"], found["within"], found["alone"]
        if alone is not None:
            there = any(alone in functions_of(path) for path in all_files())
        else:
            paths = [path for path in all_files() if f"/{path.relative_to(ROOT)}".endswith(f"/{file}")]
            there = any(within is None or within in functions_of(path) for path in paths)
        if not there:
            lost.append(found.group())
    return lost


def sections(path: Path) -> list[str]:
    """The Guarantees sections of a file's docstrings."""
    found = []
    whole = path.read_text(encoding="utf-8")
    for node in ast.walk(ast.parse(whole)) if "Guarantees" in whole else ():
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef):
            text = ast.get_docstring(node) or ""
            start = re.search(r"^ *Guarantees:?$", text, re.MULTILINE)
            if start:
                found.append(re.split(r"\n *(?:>>> |Example|Raises:)", text[start.end() :])[0])
    return found


SOURCES = sorted([*(ROOT / "src").rglob("*.py"), *(ROOT / "research" / "src").rglob("*.py")])
PROMISING = [path for path in SOURCES if sections(path)]


def bullets(part: str) -> list[str]:
    """The lines of a part of the page, each with what it wraps onto."""
    text = PAGE.read_text(encoding="utf-8").split(f"\n## {part}\n")[1].split("\n## ")[0]
    return [bullet.partition("\n\n")[0] for bullet in re.split(r"^- ", text, flags=re.MULTILINE)[1:]]


@pytest.mark.parametrize("line", bullets("Promised"), ids=lambda line: " ".join(line.split())[:60])
def test_every_promise_on_the_page_is_backed(line: str) -> None:
    named = re.findall(r"`(tests/[\w/]+\.py::test_\w+)`", line)
    assert named, "a promise without a test"
    assert missing(line) == []


def test_the_rest_of_the_page_names_real_tests() -> None:
    assert missing(PAGE.read_text(encoding="utf-8").replace("tests/test_guarantees.py", "")) == []
    assert len(bullets("Assumed")) >= 5
    assert len(bullets("Not promised")) >= 5


@pytest.mark.parametrize("path", PROMISING, ids=lambda path: str(path.relative_to(ROOT)))
def test_every_guarantee_in_a_docstring_names_real_tests(path: Path) -> None:
    for section in sections(path):
        assert _REFERENCE.search(section), "a section without a test"
        assert missing(section) == []


def test_docstrings_are_found() -> None:
    assert len(PROMISING) >= 15
    assert ROOT / "src" / "rowspace" / "measure.py" in PROMISING


def test_a_lost_test_is_noticed() -> None:
    assert missing("(tests/test_measure.py::test_exact_integers, `test_exact_integers`)") == []
    assert missing("tests/test_measure.py::test_gone, test_never_was, tests/test_nowhere.py") == [
        "tests/test_measure.py::test_gone",
        "test_never_was",
        "tests/test_nowhere.py",
    ]
