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


def loaded(*words: str, **environment: str) -> tuple[str, set[str]]:
    """What a command prints, and the modules that are there after it."""
    done = subprocess.run(
        [sys.executable, "-c", ENDED, *words],
        capture_output=True,
        text=True,
        check=True,
        env={**os.environ, **environment},
    )
    return done.stdout, set(done.stderr.split())


@pytest.mark.parametrize("words", [["--version"], ["--help"], *([c.__name__, "--help"] for c in COMMANDS)])
def test_words_load_nothing_that_works(words: list[str]) -> None:
    printed, modules = loaded(*words)
    assert printed
    assert modules & HEAVY == set()
    if words == ["--version"]:
        assert modules & {"rich", "pydantic"} == set()


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
