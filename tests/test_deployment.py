"""What operators deploy with: the image, the compose file, the pinned versions and the examples say what is so."""

from __future__ import annotations

import ast
import re
import shutil
import subprocess
import sys
import types
from pathlib import Path
from typing import Any

import pytest
import yaml

from rowspace.cli.program import app

ROOT = Path(__file__).parent.parent
EXAMPLES = ROOT / "examples" / "operate"


def test_the_image_is_small_and_runs_as_nobody_special() -> None:
    """Read, not built: building needs Docker and a network."""
    lines = [line for line in (ROOT / "Dockerfile").read_text().splitlines() if line and line[0] != "#"]
    froms = [line for line in lines if line.startswith("FROM")]
    assert len(froms) == 2
    assert all("-slim" in line and ":latest" not in line for line in froms)
    assert "USER 10001" in lines[lines.index(froms[1]) :]
    sent = set((ROOT / ".dockerignore").read_text().split())
    copied = [line.split()[1:-1] for line in lines if line.startswith("COPY") and "--from" not in line]
    for name in (name for names in copied for name in names):
        assert (ROOT / name).exists()
        assert f"!{name}" in sent
    if linter := shutil.which("hadolint"):
        assert subprocess.run([linter, str(ROOT / "Dockerfile")], check=False).returncode == 0


def test_the_compose_file_keeps_no_password_and_waits_for_the_ledger() -> None:
    services = yaml.safe_load((ROOT / "compose.yaml").read_text())["services"]
    ledger, rowspace = services["ledger"], services["rowspace"]
    assert "pg_isready" in ledger["healthcheck"]["test"][1]
    assert rowspace["depends_on"]["ledger"]["condition"] == "service_healthy"
    for service in (ledger, rowspace):
        secrets = [value for name, value in service["environment"].items() if "PASSWORD" in name]
        assert secrets == ["${LEDGER_PASSWORD:?set LEDGER_PASSWORD}"]
    assert "@" in rowspace["environment"]["ROWSPACE_LEDGER"]
    assert ":" not in rowspace["environment"]["ROWSPACE_LEDGER"].split("://")[1].split("@")[0]


def test_constraints_are_versions_only() -> None:
    first, *lines = (ROOT / "constraints.txt").read_text().splitlines()
    assert first.startswith("#")
    assert lines
    assert all(re.fullmatch(r"[A-Za-z0-9._-]+==[0-9][A-Za-z0-9.+!]*", line) for line in lines)
    assert not any(line.lower().startswith(("rowspace", "pip=")) for line in lines)


def options_of(command: str) -> set[str]:
    """The options that a command has."""
    import typer.main

    found = typer.main.get_command(app).commands[command]  # type: ignore[attr-defined]
    return {name for parameter in found.params for name in parameter.opts} | {"--log"}


def test_the_airflow_example_asks_again_under_the_same_id(monkeypatch: pytest.MonkeyPatch) -> None:
    """With a stand-in for Airflow, which is no dependency: what a try runs, and which failures it tries again."""
    errors = types.ModuleType("airflow.exceptions")
    errors.AirflowException = type("AirflowException", (Exception,), {})  # type: ignore[attr-defined]
    errors.AirflowFailException = type("AirflowFailException", (Exception,), {})  # type: ignore[attr-defined]
    tasks: list[Any] = []
    decorators = types.ModuleType("airflow.decorators")
    decorators.dag = lambda **_: lambda made: made  # type: ignore[attr-defined]
    decorators.task = lambda **_: lambda made: tasks.append(made) or (lambda: None)  # type: ignore[attr-defined]
    for name, module in (
        ("", types.ModuleType("airflow")),
        (".exceptions", errors),
        (".decorators", decorators),
    ):
        monkeypatch.setitem(sys.modules, f"airflow{name}", module)
    space: dict[str, Any] = {"__name__": "airflow_visits"}
    exec(compile((EXAMPLES / "airflow_visits.py").read_text(), "airflow_visits.py", "exec"), space)
    words = space["command"]("scheduled__2024-05", "2024-05-01")
    assert words[:2] == ["rowspace", "release"]
    assert {word for word in words if word.startswith("-")} <= options_of("release")
    assert words[words.index("--request-id") + 1] == "scheduled__2024-05"
    outcomes = {
        0: None,
        75: errors.AirflowException,
        143: errors.AirflowException,
        1: errors.AirflowFailException,
    }
    for code, raised in outcomes.items():
        monkeypatch.setattr(
            subprocess, "run", lambda *_, code=code, **__: types.SimpleNamespace(returncode=code)
        )
        if raised is None:
            tasks[0]("run", "2024-05-01")
        else:
            with pytest.raises(raised):
                tasks[0]("run", "2024-05-01")


@pytest.mark.parametrize(("codes", "tries", "last"), [([0], 1, 0), ([75, 75, 0], 3, 0), ([1], 1, 1)])
def test_the_dbt_example_tries_again_what_may_pass(
    codes: list[int], tries: int, last: int, tmp_path: Path
) -> None:
    (tmp_path / "codes").write_text("".join(f"{code}\n" for code in codes))
    stand_ins = {
        "dbt": "exit 0",
        "sleep": "exit 0",
        "rowspace": 'echo "$@" >> asked; n=$(wc -l < asked); exit "$(sed -n "${n}p" codes)"',
    }
    for name, body in stand_ins.items():
        (tmp_path / name).write_text(f"#!/bin/sh\n{body}\n")
        (tmp_path / name).chmod(0o755)
    path = f"{tmp_path}:/usr/bin:/bin"
    ended = subprocess.run(
        ["sh", EXAMPLES / "dbt" / "release.sh", "2024-05"], cwd=tmp_path, env={"PATH": path}, check=False
    )
    asked = (tmp_path / "asked").read_text().splitlines()
    assert (ended.returncode, len(asked), len(set(asked))) == (last, tries, 1)
    assert "--request-id visits-2024-05" in asked[0]
    assert {word for word in asked[0].split() if word.startswith("-")} <= options_of("release")


def test_examples_parse() -> None:
    for path in EXAMPLES.rglob("*.py"):
        ast.parse(path.read_text())
