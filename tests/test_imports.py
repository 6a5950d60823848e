"""The architecture's privacy contracts: checked, and shown to fail when broken."""

import ast
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

import rowspace
import rowspace_paper

ROOT = Path(__file__).parent.parent
CONTRACTS = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["importlinter"]["contracts"]


# Rooms import rooms: what a room's __init__ lists. These modules have a name of their own beside it, mostly because a
# command that does not need them must start without loading them.
OPEN = {
    "ledger": {"composition"},
    "operators": {"fading_memory", "levels"},
    "planning": {"across"},
    "releases": {
        "combined_answers", "combined_privacy", "estimate_fit", "instalment", "interval_ends", "means", "registry",
    },
    "report": {
        "budgets", "charts", "explore.contents", "html", "html.promise", "pages", "plans", "targets",
        "views", "words",
    },
    "serve": {"access", "logs", "runner", "shell", "tokens"},
    "sources": {"databases", "drafting", "files", "looking", "looks"},
    "strategy": {"causal", "causal_search"},
    "study": {"checking", "file", "text", "writing"},
    "workload": {
        "ended", "factors", "horizons", "predicate.relations", "predicate.syntax", "sql_queries.layout",
        "sql_queries.statements", "sums", "texts",
    },
}  # fmt: skip


def reaches_past(room: str, text: str) -> set[str]:
    """Modules of other rooms that a source text of a room imports from and that are not open."""
    modules = {
        node.module
        for node in ast.walk(ast.parse(text))
        if isinstance(node, ast.ImportFrom)
        and node.level == 0
        and (node.module or "").startswith("rowspace.")
    }
    split = [(module, *module.removeprefix("rowspace.").partition(".")[::2]) for module in modules]
    return {
        module
        for module, other, below in split
        if below and other != room and below not in OPEN.get(other, ())
    }


def test_rooms_import_rooms():
    folder = Path(rowspace.__file__).parent
    for file in folder.rglob("*.py"):
        room = file.relative_to(folder).parts[0]
        assert reaches_past(room, file.read_text(encoding="utf-8")) == set(), file
    assert reaches_past("tables", "from rowspace.operators.base import Vector") == {"rowspace.operators.base"}
    assert reaches_past("operators", "from rowspace.operators.base import Vector") == set()


def reachable(module: str) -> set[str]:
    """Names of rowspace modules that end up loaded by importing one module alone."""
    # The package's __init__ imports everything, so stand in a bare package of the same path.
    code = (
        "import sys, types, importlib\n"
        "package = types.ModuleType('rowspace'); package.__path__ = [sys.argv[1]]\n"
        "sys.modules['rowspace'] = package\n"
        "importlib.import_module(sys.argv[2])\n"
        "print('\\n'.join(m for m in sys.modules if m.startswith('rowspace.')))\n"
    )
    folder = str(Path(rowspace.__file__).parent)
    done = subprocess.run(
        [sys.executable, "-c", code, folder, module], capture_output=True, text=True, check=True
    )
    return set(done.stdout.split())


@pytest.mark.parametrize("module", ["rowspace.planning", "rowspace.strategy", "rowspace.workload"])
def test_planning_never_loads_data_or_noise(module):
    loaded = reachable(module)
    for forbidden in ("rowspace.sources", "rowspace.noise", "rowspace.measure"):
        assert not {m for m in loaded if m == forbidden or m.startswith(forbidden + ".")}


def test_releases_never_load_sources():
    assert not {m for m in reachable("rowspace.releases") if m.startswith("rowspace.sources")}


def test_the_contracts_fail_when_broken(tmp_path):
    """A copy of the packages with one forbidden import must not pass the linter."""
    for package in (rowspace, rowspace_paper):
        source = Path(package.__file__).parent
        for file in source.rglob("*.py"):
            target = tmp_path / "src" / source.name / file.relative_to(source)
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_text(file.read_text())
    (tmp_path / "pyproject.toml").write_text((ROOT / "pyproject.toml").read_text())
    assert _lint(tmp_path) == 0
    planning = tmp_path / "src" / "rowspace" / "planning" / "plan.py"
    whole = planning.read_text()
    for forbidden in ("rowspace.sources import count_cells", "rowspace_paper.optimizers import MinErrorSDP"):
        planning.write_text(f"{whole}\nfrom {forbidden}\n")
        assert _lint(tmp_path) == 1


def _lint(folder: Path) -> int:
    command = [Path(sys.executable).parent / "lint-imports", "--no-cache"]
    environment = {"PYTHONPATH": str(folder / "src"), "PATH": ""}
    return subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True).returncode


def test_two_privacy_contracts_are_declared():
    assert sum(contract["name"].startswith("Privacy") for contract in CONTRACTS) == 2
