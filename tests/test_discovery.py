"""rs.discover: what is found, what it costs, and what it never does."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import rowspace as rs
from rowspace.exceptions import (
    BudgetExceeded,
    InvalidDomain,
    InvalidInput,
    InvalidPrivacy,
    LedgerError,
    RowspaceError,
    SourceError,
)
from rowspace.noise import InsecureSeededRandom, SecureRandom
from rowspace.planning import DiscoveryPlan

PROMISE = rs.ApproxDP(1.0, 1e-8)
HARDLY_ANY_NOISE = rs.ApproxDP(60.0, 1e-8)
"""Noise is zero but with a chance of 2e-26, and the threshold 2."""


def visits(n: int = 3000) -> pd.DataFrame:
    rng = np.random.default_rng(3)
    diagnosis = [f"d{k}" if k < 400 else None for k in rng.zipf(1.5, n)]
    return pd.DataFrame(
        {"person": rng.integers(0, n // 3, n), "diagnosis": diagnosis, "town": rng.choice(list("xyz"), n)}
    )


def budget(folder: Path, **how: Any) -> rs.Ledger:
    ledger = rs.Ledger(folder / "budget.db")
    how = {"guarantee": rs.ApproxDP(3.0, 1e-6), "composition": "basic"} | how
    ledger.create("visits", how["guarantee"], composition=how["composition"])
    return ledger


def test_it_finds_what_pandas_counts_where_there_is_hardly_any_noise() -> None:
    frame = visits()
    found = rs.discover(frame, "diagnosis", privacy=HARDLY_ANY_NOISE)
    assert found.plan.least == 2
    expected = frame.diagnosis.value_counts()
    expected = expected[expected >= 2].sort_index()
    assert found.values == (tuple(expected.index),)
    assert found.noisy_counts.tolist() == expected.tolist()
    people = rs.discover(frame, "diagnosis", privacy=HARDLY_ANY_NOISE, unit=rs.PrivacyUnit("person", 99))
    units = frame.drop_duplicates(["person", "diagnosis"]).diagnosis.value_counts()
    least = people.plan.least
    shown = dict(zip(people.values[0], people.noisy_counts.tolist(), strict=True))
    assert {key: units[key] for key in shown}.keys() == shown.keys()
    assert all(units[key] >= least - 60 for key in shown)  # Gaussian noise by then


def test_what_is_found_is_an_attribute_and_all_else_is_other() -> None:
    frame = visits()
    found = rs.discover(frame, "diagnosis", privacy=PROMISE, at_least=30, other="rare")
    assert found.noisy_counts.min() >= 30
    assert isinstance(found.categorical, rs.Categorical)
    domain = rs.Domain(diagnosis=found.categorical)
    counts = rs.release(rs.plan(rs.workload.identity(domain), rs.PureDP(200.0)), frame).answers()
    known = frame.diagnosis[frame.diagnosis.isin(found.values[0])].value_counts()
    for label, answer in zip(counts["diagnosis"], counts["answer"], strict=True):
        truth = known[label] if label != "rare" else len(frame) - known.sum()
        assert abs(answer - truth) < 1


def test_keys_of_several_columns() -> None:
    frame = visits()
    found = rs.discover(frame, ["diagnosis", "town"], privacy=HARDLY_ANY_NOISE)
    expected = frame.dropna().groupby(["diagnosis", "town"]).size()
    expected = expected[expected >= 2].sort_index()
    assert list(zip(*found.values, strict=True)) == expected.index.tolist()
    assert found.noisy_counts.tolist() == expected.tolist()
    assert list(found.attributes) == ["diagnosis", "town"]
    assert found.attributes["town"] == rs.Categorical(["x", "y", "z"], other="other")
    with pytest.raises(InvalidInput, match="attributes"):
        found.categorical  # noqa: B018


def test_the_order_of_records_changes_nothing() -> None:
    frame = visits()
    one = rs.discover(frame, "diagnosis", privacy=HARDLY_ANY_NOISE)
    other = rs.discover(frame.sample(frac=1, random_state=4), "diagnosis", privacy=HARDLY_ANY_NOISE)
    assert one == other
    assert list(one.values[0]) == sorted(one.values[0])


def test_what_reads_like_the_rest_is_part_of_it() -> None:
    frame = pd.DataFrame({"town": ["other"] * 100 + ["x"] * 100})
    assert rs.discover(frame, "town", privacy=PROMISE).values == (("x",),)
    assert rs.discover(frame, "town", privacy=PROMISE, other="rest").values == (("other", "x"),)


def test_nothing_found() -> None:
    found = rs.discover(pd.DataFrame({"town": ["a", "b", None]}), "town", privacy=PROMISE)
    assert len(found) == 0
    assert found.answers().shape == (0, 5)
    assert rs.Discovery.from_bytes(found.to_bytes()) == found
    with pytest.raises(InvalidDomain, match="no value of 'town' has a noisy count of 19 or more"):
        found.categorical  # noqa: B018
    nobody = rs.discover(pd.DataFrame({"town": pd.array([], "string")}), "town", privacy=PROMISE)
    assert len(nobody) == 0


def test_a_key_of_one_unit_is_found_with_probability_delta() -> None:
    """100,000 keys of one record each, δ = 0.02: P(found) = τ = 0.0171; 1,709 ± 6.5·41. False alarm below 1e-9."""
    promise = rs.ApproxDP(1.0, 0.02)
    used = float(DiscoveryPlan(("k",), promise).threshold.at_least(DiscoveryPlan(("k",), promise).least - 1))
    assert used <= 0.02
    found = rs.discover(pd.DataFrame({"k": np.arange(100_000)}), "k", privacy=promise)
    assert abs(len(found) - 100_000 * used) < 6.5 * np.sqrt(100_000 * used)
    assert set(found.noisy_counts.tolist()) == {found.plan.least}


def test_the_ledger_keeps_what_is_found(tmp_path: Path) -> None:
    ledger = budget(tmp_path)
    found = rs.discover(visits(), "diagnosis", privacy=PROMISE, ledger=ledger)
    (charge,) = ledger.history()
    assert str(charge.cost) == "ε 1, δ 1e-8"
    assert rs.Discovery.from_bytes(ledger.resume(charge.id)) == found
    assert ledger.resume(charge.id) == found.to_bytes()
    assert charge.plan == found.plan.digest
    assert str(ledger.budget()) == "2 of 3 epsilon left, 9.9e-7 of 0.000001 delta"


def test_a_refused_charge_finds_nothing(tmp_path: Path) -> None:
    ledger = budget(tmp_path)
    with pytest.raises(BudgetExceeded):
        rs.discover(visits(), "diagnosis", privacy=rs.ApproxDP(3.5, 1e-8), ledger=ledger)
    with pytest.raises(BudgetExceeded):
        rs.discover(visits(), "diagnosis", privacy=rs.ApproxDP(1.0, 1e-5), ledger=ledger)
    with pytest.raises(LedgerError, match="single records"):
        rs.discover(visits(), "diagnosis", privacy=PROMISE, unit="person", ledger=ledger)
    both = rs.ApproxDP(3, 1e-6)
    for number, (guarantee, composition) in enumerate(
        [(rs.PureDP(3.0), None), (rs.ZCDP(1.0), None), (both, "gaussian"), (both, "concentrated")]
    ):
        other = rs.Ledger(tmp_path / f"{number}.db")
        other.create("visits", guarantee, composition=composition)
        with pytest.raises(LedgerError, match="composition 'basic'"):
            rs.discover(visits(), "diagnosis", privacy=PROMISE, ledger=other)
        assert other.budget().charges == 0
    assert ledger.budget().charges == 0


def test_a_session_takes_no_evidence_from_it(tmp_path: Path) -> None:
    path = tmp_path / "visits.parquet"
    visits().to_parquet(path)
    ledger = budget(tmp_path)
    rs.discover(path, "town", privacy=PROMISE, ledger=ledger)
    domain = rs.Domain(town=rs.Categorical(["x", "y", "z"]))
    session = rs.Session(domain, path, ledger=ledger)
    assert session.ask("town = 'x'", within=30).cost > 0
    rs.discover(path, "town", privacy=PROMISE, ledger=ledger)
    assert session.ask("town = 'x'", within=30).cost == 0


KILLED = """
import os, sys
import rowspace as rs
from rowspace.ledger import Ledger

charge = Ledger.charge
def dies(self, *given, **named):
    charge(self, *given, **named)
    os._exit(9)
Ledger.charge = dies
rs.discover(sys.argv[1], "town", privacy=rs.ApproxDP(1.0, 1e-8), ledger=sys.argv[2])
"""


def test_killed_after_the_charge_it_can_still_be_had(tmp_path: Path) -> None:
    path, ledger = tmp_path / "visits.csv", budget(tmp_path)
    visits().to_csv(path, index=False)
    command = [sys.executable, "-c", KILLED, str(path), str(ledger.file)]
    assert subprocess.run(command, check=False).returncode == 9
    (charge,) = ledger.history()
    assert rs.Discovery.from_bytes(ledger.resume(charge.id)).values == (("x", "y", "z"),)


def test_a_charge_is_for_secure_noise(tmp_path: Path) -> None:
    seeded = InsecureSeededRandom(1)
    with pytest.raises(InvalidInput, match="random"):
        rs.discover(visits(), "town", privacy=PROMISE, ledger=budget(tmp_path), random=seeded)
    one, other = (
        rs.discover(visits(), "town", privacy=PROMISE, random=InsecureSeededRandom(7)).noisy_counts
        for _ in range(2)
    )
    assert one.shape == other.shape == (3,)
    assert len(rs.discover(visits(), "town", privacy=PROMISE, random=SecureRandom())) == 3


class Cheap(rs.ApproxDP):
    """A promise of one's own."""


def test_a_promise_of_ones_own_is_refused() -> None:
    with pytest.raises(InvalidPrivacy):
        rs.discover(visits(), "town", privacy=Cheap(1.0, 1e-8))
    changed = rs.ApproxDP(1.0, 1e-8)
    object.__setattr__(changed, "epsilon", "secret")
    with pytest.raises(RowspaceError):
        rs.discover(visits(), "town", privacy=changed)


@pytest.mark.parametrize(
    ("wrong", "error"),
    [
        ({"columns": []}, InvalidInput),
        ({"columns": 3}, InvalidInput),
        ({"columns": ["town", "town"]}, InvalidInput),
        ({"columns": "twon"}, SourceError),
        ({"privacy": rs.PureDP(1.0)}, InvalidPrivacy),
        ({"privacy": 1.0}, InvalidPrivacy),
        ({"at_least": 0}, InvalidInput),
        ({"at_least": 2.5}, InvalidInput),
        ({"other": ""}, InvalidInput),
        ({"other": 3}, InvalidInput),
        ({"unit": 7}, InvalidPrivacy),
        ({"unit": "nobody", "ledger": None}, SourceError),
        (
            {"unit": "person", "privacy": rs.ApproxDP(1.0, 1e-8, unit=rs.PrivacyUnit("person", 1))},
            InvalidInput,
        ),
        ({"dataset": "visits"}, InvalidInput),
        ({"source": [1, 2, 3]}, InvalidInput),
    ],
)
def test_bad_input_is_one_error_and_charges_nothing(
    wrong: dict[str, Any], error: type, tmp_path: Path
) -> None:
    ledger = budget(tmp_path)
    given: dict[str, Any] = {"source": visits(), "columns": "town", "privacy": PROMISE, "ledger": ledger}
    given |= wrong | ({"ledger": None} if "dataset" in wrong else {})
    with pytest.raises(error) as caught:
        rs.discover(given.pop("source"), given.pop("columns"), **given)
    assert isinstance(caught.value, RowspaceError)
    assert ledger.budget().charges == 0
