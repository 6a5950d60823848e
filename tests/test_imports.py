"""The architecture's privacy contracts: checked, and shown to fail when broken."""

import ast
import subprocess
import sys
import tomllib
from functools import cache
from pathlib import Path

import pytest

import rowspace
import rowspace_paper

ROOT = Path(__file__).parent.parent
CONTRACTS = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["importlinter"]["contracts"]


FOLDER = Path(rowspace.__file__).parent


@cache
def exported(package: str) -> frozenset[str] | None:
    """What a package exports: to everyone, in `__all__`, and to the house, imported as itself; None for a module."""
    init = FOLDER.joinpath(*package.split(".")[1:], "__init__.py")
    if not init.is_file():
        return None
    found: set[str] = set()
    for node in ast.parse(init.read_text(encoding="utf-8")).body:
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "__all__":
            found |= set(ast.literal_eval(node.value))
        if isinstance(node, ast.ImportFrom):
            found |= {one.name for one in node.names if one.name == one.asname}
    return frozenset(found)


def reaches_past(place: str, text: str) -> set[str]:
    """What a source text at a place imports of other rooms that those do not export."""
    room = place.split("/")[0]
    found = set()
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Import):
            found |= {one.name for one in node.names if one.name.startswith("rowspace.")}
        if not isinstance(node, ast.ImportFrom):
            continue
        above = ["rowspace", *place.split("/")][: -node.level] if node.level else []
        module = ".".join([*above, *([node.module] if node.module else [])])
        other = module.partition(".")[2].split(".")[0]
        if module.split(".")[0] != "rowspace" or other in ("", room) or exported(f"rowspace.{other}") is None:
            continue
        found |= {f"{module}.{one.name}" for one in node.names} - {
            f"{module}.{name}" for name in exported(module) or ()
        }
    return found


def test_rooms_import_what_rooms_export():
    """A room, or a package in one, exports what others may import; its modules are nobody else's business."""
    for file in set(FOLDER.rglob("*.py")) - {FOLDER / "__init__.py"}:  # which is the whole house
        place = file.relative_to(FOLDER).as_posix()
        assert reaches_past(place, file.read_text(encoding="utf-8")) == set(), place
    for line in ("from rowspace.operators.base import Vector", "from ..operators.base import Vector"):
        assert reaches_past("tables/lattice.py", line) == {"rowspace.operators.base.Vector"}
        assert reaches_past("operators/dense.py", line) == set()
    assert reaches_past("tables/lattice.py", "from rowspace.operators import Lost") == {
        "rowspace.operators.Lost"
    }
    assert reaches_past("tables/lattice.py", "import rowspace.operators.base") == {"rowspace.operators.base"}


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
