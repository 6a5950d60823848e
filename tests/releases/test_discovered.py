"""A discovery as a value and as a file."""

from __future__ import annotations

import json
from dataclasses import fields
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow.parquet as pq
import pytest

import rowspace as rs
from rowspace.exceptions import FileError, InvalidInput
from rowspace.files import archive_bytes
from rowspace.planning import DiscoveryPlan
from rowspace.releases import DISCOVERY_KIND

PLAN = DiscoveryPlan(("town", "code"), rs.ApproxDP(1.0, 1e-8, unit=rs.PrivacyUnit("person", 1)))
FOUND = rs.Discovery(PLAN, (("", "a\nb", "ü"), (-5, 7, 2**62)), np.array([19, 40, 10**6]))


def test_it_holds_what_passed_and_nothing_else() -> None:
    assert [field.name for field in fields(rs.Discovery)] == ["plan", "values", "noisy_counts"]
    with pytest.raises(InvalidInput, match="19 or more"):
        rs.Discovery(PLAN, (("a",), (1,)), np.array([18]))
    with pytest.raises(InvalidInput, match="every column"):
        rs.Discovery(PLAN, (("a", "b"), (1,)), np.array([30]))


def test_files_give_back_the_same(tmp_path: Path) -> None:
    FOUND.save(tmp_path / "x.discovery")
    assert rs.Discovery.load(tmp_path / "x.discovery") == FOUND
    assert rs.Discovery.from_bytes(FOUND.to_bytes()).to_bytes() == FOUND.to_bytes()
    old = rs.Discovery(DiscoveryPlan(("old",), rs.ApproxDP(1.0, 1e-8)), ((False, True),), np.array([20, 30]))
    assert rs.Discovery.from_bytes(old.to_bytes()) == old
    assert old.categorical == rs.Categorical([False, True], other="other")
    with pytest.raises(FileError, match="no rowspace release"):
        rs.Release.from_bytes(FOUND.to_bytes())


def test_a_million_values_fit_a_file() -> None:
    names = tuple(sorted(f"key {k}" for k in range(10**6)))
    many = rs.Discovery(DiscoveryPlan(("k",), rs.ApproxDP(1.0, 1e-8)), (names,), np.full(10**6, 25))
    assert rs.Discovery.from_bytes(many.to_bytes()) == many


@pytest.mark.parametrize(
    ("change", "value"),
    [
        ("noisy_counts", np.array([19, 40], dtype=np.int64)),
        ("noisy_counts", np.array([1, 40, 50], dtype=np.int64)),
        ("noisy_counts", np.array([19.0, 40, 50])),
        ("ends0", np.array([3, 2, 5], dtype=np.int64)),
        ("ends0", np.array([0, 3, 99], dtype=np.int64)),
        ("text0", np.array([200, 200, 200, 200, 200], dtype=np.uint8)),
        ("number1", np.array([1, 2], dtype=np.int64)),
        ("types", ["str", "list"]),
        ("types", ["str"]),
        ("types", "str"),
        ("plan", {}),
        ("plan", PLAN.to_dict() | {"at_least": "many"}),
        ("plan", PLAN.to_dict() | {"privacy": rs.PureDP(1.0).to_dict()}),
    ],
)
def test_damaged_files_are_one_error(change: str, value: object) -> None:
    arrays = {
        "noisy_counts": FOUND.noisy_counts,
        "text0": np.frombuffer("a\nbü".encode(), dtype=np.uint8),
        "ends0": np.array([0, 3, 5], dtype=np.int64),
        "number1": np.array([-5, 7, 2**62], dtype=np.int64),
    }
    body = {"plan": PLAN.to_dict(), "types": ["str", "int"]}
    assert rs.Discovery.from_bytes(archive_bytes(DISCOVERY_KIND, 1, body, arrays)) == FOUND
    (arrays if change in arrays else body)[change] = value  # type: ignore[index]
    with pytest.raises(FileError, match="damaged discovery"):
        rs.Discovery.from_bytes(archive_bytes(DISCOVERY_KIND, 1, body, arrays))


def test_values_out_of_order_are_damage() -> None:
    swapped = rs.Discovery(PLAN, (("b", "a"), (1, 1)), np.array([30, 30]))
    with pytest.raises(FileError, match="order"):
        rs.Discovery.from_bytes(swapped.to_bytes())


def test_answers_and_what_is_said(tmp_path: Path) -> None:
    answers = FOUND.answers(0.9)
    assert answers.columns.tolist() == ["town", "code", "answer", "std_error", "low", "high"]
    assert answers["answer"].tolist() == [19, 40, 10**6]
    assert answers.attrs["level"] == 0.9
    assert "among what is shown" in answers.attrs["intervals"]
    for words in ("(1, 1e-08)-differential privacy", "one 'person'", "19 or more", "too high on average"):
        assert words in FOUND.statement
    with pytest.raises(InvalidInput, match="between 0 and 1"):
        FOUND.answers(1.0)
    for ending in ("csv", "parquet", "json"):
        rs.export(FOUND, tmp_path / f"x.{ending}", 0.9)
    assert pd.read_csv(tmp_path / "x.csv", keep_default_na=False)["town"].tolist() == ["", "a\nb", "ü"]
    pd.testing.assert_frame_equal(pq.read_table(tmp_path / "x.parquet").to_pandas(), answers, check_like=True)
    document = json.loads((tmp_path / "x.json").read_text())
    assert [row["high"] for row in document["answers"]] == answers["high"].tolist()
    assert document["statement"] == FOUND.statement
    with pytest.raises(InvalidInput, match=r"\.csv"):
        rs.export(FOUND, tmp_path / "x.xlsx")


def test_it_prints_on_one_line() -> None:
    assert repr(FOUND).startswith("<Discovery of 3 values of town × code under (1, 1e-08)")
    assert "\n" not in repr(FOUND)
    assert str(FOUND).count("\n") == 1
