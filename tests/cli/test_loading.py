"""What a command loads: those that only show words are there at once, since they load nothing that works."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from rowspace.cli.commands import COMMANDS
from rowspace.cli.commands.budget import NeighboursChoice
from rowspace.planning.targets import CAP
from rowspace.privacy import Neighbours
from tests.cli.running import rowspace

#: Each takes a tenth of a second or much more. Help is drawn by rich; nothing else needs it.
HEAVY = {
    "numpy",
    "scipy",
    "pandas",
    "ibis",
    "duckdb",
    "pyarrow",
    "sqlalchemy",
    "sqlglot",
    "cvxpy",
    "matplotlib",
}

ENDED = """
import sys
from rowspace.cli import main
try:
    main()
except SystemExit:
    pass
print(*sys.modules, file=sys.stderr)
"""

HELPED = """
import sys
from rowspace.cli import main
for command in sys.argv[1:]:
    print("help of", command)
    try:
        main([command, "--help"])
    except SystemExit:
        pass
    print(command, *sys.modules, file=sys.stderr)
"""


def run(program: str, *words: str, **environment: str) -> subprocess.CompletedProcess[str]:
    """A program in a process of its own."""
    return subprocess.run(
        [sys.executable, "-c", program, *words],
        capture_output=True,
        text=True,
        check=True,
        env={**os.environ, **environment},
    )


def loaded(*words: str, **environment: str) -> tuple[str, set[str]]:
    """What a command prints, and the modules that are there after it."""
    done = run(ENDED, *words, **environment)
    return done.stdout, set(done.stderr.split())


@pytest.mark.parametrize("word", ["--version", "--help"])
def test_words_load_nothing_that_works(word: str) -> None:
    printed, modules = loaded(word)
    assert printed
    assert modules & HEAVY == set()
    if word == "--version":
        assert modules & {"rich", "pydantic"} == set()


def test_help_loads_nothing_that_works() -> None:
    """One command after the other: the first that is named loaded it."""
    done = run(HELPED, *(command.__name__ for command in COMMANDS))
    for command, printed, line in zip(
        COMMANDS, done.stdout.split("help of ")[1:], done.stderr.splitlines(), strict=True
    ):
        name, *modules = line.split()
        assert name == command.__name__
        assert f"rowspace {name}" in printed
        assert set(modules) & HEAVY == set(), name


@pytest.mark.parametrize(
    ("typed", "expected"),
    [
        ("rowspace com", ["combine"]),
        ("rowspace plan --eps", ["--epsilon", "--epsilons"]),
        ("rowspace plan study.toml --effort f", ["fast"]),
        ("rowspace budget ", ["create", "show", "history", "resume", "prune"]),
        ("rowspace budget create b.db p --neighbours ", ["add-remove", "replace-one"]),
        ("rowspace ask people.rel", []),
    ],
)
def test_the_tab_key_loads_nothing(typed: str, expected: list[str]) -> None:
    printed, modules = loaded(
        _ROWSPACE_COMPLETE="complete_bash", COMP_WORDS=typed, COMP_CWORD=str(typed.count(" "))
    )
    assert printed.split() == expected
    assert modules & (HEAVY | {"rich", "pydantic"}) == set()


def test_what_the_words_repeat_is_what_the_library_says() -> None:
    """They cannot ask it: it is not loaded yet."""
    assert [option.value for option in NeighboursChoice] == [one.value for one in Neighbours]
    assert f"; {CAP:g} if left out" in " ".join(rowspace("plan", "--help").out.replace("│", " ").split())


SERVED = """
import os, sys
from types import SimpleNamespace
from rowspace.cli.commands import serving
serving.work = lambda room: SimpleNamespace(
    serve_study=lambda **words: print(os.environ["OPENBLAS_NUM_THREADS"], "numpy" in sys.modules)
)
serving.serve("study.toml", "people.csv", "budget.db")
"""


@pytest.mark.parametrize(("given", "threads"), [({}, "1"), ({"OPENBLAS_NUM_THREADS": "2"}, "2")])
def test_a_service_has_one_blas_thread_unless_told_otherwise(monkeypatch, given, threads):
    """It counts only before numpy loads."""
    monkeypatch.delenv("OPENBLAS_NUM_THREADS", raising=False)
    assert run(SERVED, **given).stdout.split() == [threads, "False"]
