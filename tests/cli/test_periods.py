"""``rowspace plan --over`` and ``rowspace release --period``."""

from __future__ import annotations

import json

import pytest
from typer.testing import CliRunner

import rowspace as rs
from rowspace.cli.program import app
from rowspace.exceptions import InvalidInput

STUDY = """
[study]
name = "visits"
[privacy]
rho = 0.5
[domain.month]
type = "dates"
start = 2024-01-01
end = 2024-07-01
every = "month"
[[workload]]
prefixes = "month"
"""


def run(*words):
    return CliRunner().invoke(app, [str(word) for word in words])


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "s.toml").write_text(STUDY)
    (tmp_path / "d.csv").write_text("month\n" + "2024-01-05\n" * 30 + "2024-02-05\n" * 20)
    return tmp_path


def test_a_period_again_is_the_same_bytes(folder):
    assert run("budget", "create", "b.db", "visits", "--rho", "0.5").exit_code == 0
    assert run("plan", "s.toml", "--over", "month", "--save", "p.plan").exit_code == 0
    done = run(
        *("release", "s.toml", "d.csv", "--plan", "p.plan", "--period", "2024-01", "--ledger", "b.db"),
        *("-o", "1.release", "--json"),
    )
    assert done.exit_code == 0, done.output
    assert json.loads(done.stdout)["charge"]["cost"] == {"rho": "1/2"}
    for name in ("a.release", "b.release"):
        done = run(
            *("release", "s.toml", "d.csv", "--plan", "p.plan", "--period", "2024-02", "--ledger", "b.db"),
            *("-o", name),
        )
        assert done.exit_code == 0, done.output
    assert (folder / "a.release").read_bytes() == (folder / "b.release").read_bytes()
    assert rs.Release.load("a.release").period == "2024-02"
    refused = run(
        *("release", "s.toml", "d.csv", "--plan", "p.plan", "--period", "2024-04", "--ledger", "b.db"),
        *("-o", "x.release"),
    )
    assert refused.exit_code == 1
    assert "2024-03" in str(refused.exception)
    assert not (folder / "x.release").exists()


def test_without_a_ledger_and_without_a_plan_file(folder):
    first = ("release", "s.toml", "d.csv", "--no-ledger", "--period", "2024-01", "-o", "1.release")
    assert run(*first).exit_code == 0
    second = ("release", "s.toml", "d.csv", "--no-ledger", "--period", "2024-02", "-o", "2.release")
    assert run(*second).exit_code == 1
    done = run(*second, "--before", "1.release")
    assert done.exit_code == 0, done.output
    assert rs.Release.load("2.release").number == 1
    assert run(*second[:-1], "3.release", "--before", "2.release").exit_code == 1


def test_a_forgotten_period_charges_nothing(folder):
    """A plan over periods released all at once would spend the budget of all of them."""
    assert run("budget", "create", "b.db", "visits", "--rho", "0.5").exit_code == 0
    assert run("plan", "s.toml", "--over", "month", "--save", "p.plan").exit_code == 0
    whole = ("release", "s.toml", "d.csv", "--plan", "p.plan", "-o", "x.release")
    for refused in (run(*whole, "--ledger", "b.db"), run(*whole, "--no-ledger")):
        assert refused.exit_code == 1
        assert "--period" in str(refused.exception)
    with pytest.raises(InvalidInput, match="instalment"):
        rs.release(rs.Plan.load("p.plan"), "d.csv", ledger="b.db")
    assert rs.Ledger("b.db").budget().charges == 0
    assert not (folder / "x.release").exists()


def test_a_state_on_the_command_line(folder):
    assert run("budget", "create", "b.db", "visits", "--rho", "0.5").exit_code == 0
    assert run("plan", "s.toml", "--over", "month", "--save", "p.plan").exit_code == 0
    each = ("release", "s.toml", "d.csv", "--plan", "p.plan", "--ledger", "b.db", "--state", "c.state")
    assert run(*each, "--period", "2024-01", "-o", "1.release").exit_code == 0
    (folder / "d.csv").write_text("month\n" + "2024-02-05\n" * 20)  # January is no longer there
    done = run(*each, "--period", "2024-02", "-o", "2.release")
    assert done.exit_code == 0, done.output
    so_far = rs.Release.load("2.release").series("cumulative").iloc[-1]
    assert abs(so_far["answer"] - 50) < 8 * so_far["std_error"]
    assert run(*each, "-o", "3.release").exit_code == 1
    (folder / "c.state").write_bytes(b"damaged")
    assert run(*each, "--period", "2024-03", "-o", "3.release").exit_code == 1
    assert rs.Ledger("b.db").budget().charges == 2
