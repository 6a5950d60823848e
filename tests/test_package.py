"""What a release of the package needs: one version, a changelog that has it, a quick import, examples that run."""

from __future__ import annotations

import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
from packaging.requirements import Requirement

import rowspace

ROOT = Path(__file__).parent.parent
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
RESEARCH = tomllib.loads((ROOT / "research" / "pyproject.toml").read_text(encoding="utf-8"))
CHANGELOG = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
SECTIONS = re.findall(r"^## (.+)$", CHANGELOG, re.MULTILINE)
EXAMPLES = sorted((ROOT / "examples").glob("*.py"))

# Each takes a tenth of a second or more to load, and most programs need few of them.
HEAVY = {
    *("cvxpy", "duckdb", "ibis", "jinja2", "matplotlib", "mbi", "opendp", "pandas", "polars", "pyarrow"),
    *("pydantic", "rich", "sqlalchemy", "sqlglot", "tomlkit", "typer"),
    *("scipy.fft", "scipy.interpolate", "scipy.linalg", "scipy.optimize", "scipy.sparse", "scipy.spatial"),
    *("scipy.special", "scipy.stats"),
}


def loaded_by(code: str) -> set[str]:
    """The modules that are there after some code ran in a fresh process."""
    command = [sys.executable, "-c", f"{code}\nimport sys; print(*sys.modules)"]
    return set(subprocess.run(command, capture_output=True, text=True, check=True).stdout.split())


def test_importing_loads_nothing_heavy():
    """Whatever is used, but for the ledger and who keeps things in it: that is a database."""
    used = "".join(f"rs.{name}; " for name in rowspace.__all__ if name not in ("Ledger", "Session"))
    assert loaded_by(f"import rowspace as rs; {used}") & HEAVY == set()
    assert loaded_by("import rowspace as rs; rs.Ledger") & HEAVY == {"sqlalchemy"}


def test_the_program_can_stop_before_anything_is_loaded():
    assert "numpy" not in loaded_by("import rowspace.cli")


def test_rooms_are_there_without_importing_them():
    assert "rowspace.strategy" in loaded_by("import rowspace as rs; rs.strategy.PIdentity; rs.error.profile")


def test_the_version_is_in_one_place():
    assert "version" in PROJECT["project"]["dynamic"]
    assert PROJECT["tool"]["hatch"]["version"]["path"] == "src/rowspace/_version.py"
    assert RESEARCH["tool"]["hatch"]["version"]["path"] == "../src/rowspace/_version.py"
    said = [
        path
        for path in [*(ROOT / "src").rglob("*.py"), *(ROOT / "research").rglob("*.py")]
        if re.search(r"^__version__ *=", path.read_text(encoding="utf-8"), re.MULTILINE)
    ]
    assert [path.name for path in said] == ["_version.py"]
    assert "version:" not in re.sub("cff-version:", "", (ROOT / "CITATION.cff").read_text(encoding="utf-8"))


def test_the_second_package_takes_this_version():
    (needed,) = (Requirement(text) for text in RESEARCH["project"]["dependencies"] if "rowspace" in text)
    assert needed.specifier.contains(rowspace.__version__)


def test_research_is_not_needed():
    """What only the paper's programs and plots need is no dependency of the product."""
    needed = {Requirement(text).name for text in PROJECT["project"]["dependencies"]}
    assert needed & {"cvxpy", "matplotlib", "rowspace-paper"} == set()
    assert {"paper", "plots"} <= set(PROJECT["project"]["optional-dependencies"])


def test_the_changelog_begins_with_this_version():
    assert re.fullmatch(rf"{re.escape(rowspace.__version__)} \((unreleased|\d{{4}}-\d\d-\d\d)\)", SECTIONS[0])


def test_the_changelog_has_one_dated_section_for_each_version():
    versions = [tuple(int(part) for part in section.split()[0].split(".")) for section in SECTIONS]
    assert versions == sorted(set(versions), reverse=True)
    for section in SECTIONS[1:]:
        assert re.fullmatch(r"\d+\.\d+\.\d+ \(\d{4}-\d\d-\d\d\)", section), section


def test_every_change_says_what_it_is_about():
    bullets = re.findall(r"^- .*$", CHANGELOG, re.MULTILINE)
    assert bullets
    for bullet in bullets:
        assert re.match(r"- \*\*[A-Z][^*]*\*\*", bullet), bullet


def test_the_citation_names_the_paper():
    text = (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    for key in (
        "cff-version: 1.2.0",
        "title:",
        "authors:",
        "license: MIT",
        "Optimizing Linear Counting Queries",
    ):
        assert key in text


@pytest.mark.parametrize(
    "path",
    [pytest.param(path, marks=[pytest.mark.long] * (path.stem == "all_tables")) for path in EXAMPLES],
    ids=lambda path: path.stem,
)
def test_examples_run(path):
    done = subprocess.run([sys.executable, "-W", "error", path], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert done.stdout


def test_there_are_examples():
    assert len(EXAMPLES) >= 3
