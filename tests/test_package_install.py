"""The distribution, installed where nothing else is: `make test-package` (needs the package index)."""

from __future__ import annotations

import os
import subprocess
import sys
import tarfile
import venv
import zipfile
from pathlib import Path

import pytest

import rowspace

DIST = os.environ.get("ROWSPACE_DIST")
pytestmark = pytest.mark.skipif(DIST is None, reason="make test-package builds what this installs")


def built(ending: str, name: str = "rowspace") -> Path:
    """The one file of this kind in the folder."""
    (path,) = Path(str(DIST)).resolve().glob(f"{name}-{rowspace.__version__}*{ending}")
    return path


def run(*command: str | Path, folder: Path) -> str:
    """What a command prints, away from the sources."""
    clean = {name: value for name, value in os.environ.items() if name not in ("PYTHONPATH", "VIRTUAL_ENV")}
    done = subprocess.run(command, cwd=folder, env=clean, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The programs of a new environment with the wheel in it."""
    folder = tmp_path_factory.mktemp("environment")
    venv.create(folder, with_pip=True)
    programs = folder / ("Scripts" if sys.platform == "win32" else "bin")
    run(programs / "python", "-m", "pip", "install", "--quiet", built(".whl"), folder=folder)
    return programs


def test_the_demo_runs(installed: Path, tmp_path: Path) -> None:
    assert rowspace.__version__ in run(installed / "rowspace", "--version", folder=tmp_path)
    run(installed / "rowspace", "demo", "-o", "demo", folder=tmp_path)
    assert (tmp_path / "demo" / "people.release").exists()


def test_the_library_is_the_installed_one(installed: Path, tmp_path: Path) -> None:
    printed = run(installed / "python", "-c", "import rowspace; print(rowspace.__file__)", folder=tmp_path)
    assert "site-packages" in printed


def test_types_templates_and_the_sample_are_in_the_wheel() -> None:
    names = zipfile.ZipFile(built(".whl")).namelist()
    assert {"rowspace/py.typed", "rowspace/sample/people.parquet", "rowspace/sample/people.toml"} <= set(
        names
    )
    templates = ("base.html", "charts.html", "page.css", "parts.html", "report.html", "search.js")
    assert {f"rowspace/report/templates/{name}" for name in templates} <= set(names)
    assert {name.partition("/")[0] for name in names} == {
        "rowspace",
        f"rowspace-{rowspace.__version__}.dist-info",
    }


def test_the_source_distribution_has_what_tests_and_docs_need() -> None:
    with tarfile.open(built(".tar.gz")) as archive:
        names = {name.partition("/")[2] for name in archive.getnames()}
    assert {"LICENSE", "Makefile", "CHANGELOG.md", "docs/conf.py", "tests/test_package.py"} <= names
    assert not [name for name in names if "_build" in name or name.startswith((".venv", "out/"))]


def test_research_is_in_a_wheel_of_its_own(installed: Path, tmp_path: Path) -> None:
    """Last in this file: it adds the second package to the environment."""
    listed = run(installed / "python", "-m", "pip", "list", folder=tmp_path)
    assert not [name for name in ("cvxpy", "matplotlib", "rowspace-paper") if f"{name} " in listed]
    assert " paper " not in run(installed / "rowspace", "--help", folder=tmp_path)
    wheel = built(".whl", "rowspace_paper")
    run(installed / "python", "-m", "pip", "install", "--quiet", wheel, folder=tmp_path)
    run(installed / "rowspace", "paper", "--quick", "-o", "out", folder=tmp_path)
    assert (tmp_path / "out" / "paper.html").exists()
