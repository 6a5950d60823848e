"""rs.bounds: a range by powers of two, and what it leaves out."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import rowspace as rs
from rowspace.bounding import signed_powers
from rowspace.exceptions import InvalidInput, RowspaceError, SourceError, UnsupportedWorkload
from tests.sources.kinds import KINDS

TINY_NOISE = 1000.0


@pytest.mark.parametrize("kind", ["csv", "pandas", "sqlite url", "duckdb path"])
def test_files_frames_and_databases(kind: str, tmp_path: Path) -> None:
    rows = {"income": [5.0, 6.0, None, -3.0, 7.5] * 20}
    source, table = KINDS[kind](rows, tmp_path)
    found = rs.bounds(source, "income", TINY_NOISE, inside=0.9, table=table)
    assert (found.low, found.high) == (-4.0, 8.0)
    assert (round(found.below.value), round(found.above.value)) == (0, 0)


def test_what_is_not_finite_is_missing() -> None:
    values = [100.0] * 50 + [np.nan] * 500 + [np.inf] * 500 + [-np.inf] * 500 + [1e250] * 500
    found = rs.bounds(pd.DataFrame({"x": values}), "x", TINY_NOISE)
    assert (found.low, found.high) == (64.0, 128.0)
    assert round(found.release.answers()["answer"].iloc[-1]) == 50


def test_the_ends_hold_the_share_that_is_asked_for() -> None:
    rng = np.random.default_rng(8)
    income = rng.lognormal(10, 2, 200_000) * rng.choice([-1, 1], 200_000, p=[0.1, 0.9])
    for inside in (0.998, 0.9, 0.5):
        found = rs.bounds(pd.DataFrame({"x": income}), "x", TINY_NOISE, inside=inside)
        within = np.mean((income >= found.low) & (income < found.high))
        assert within >= inside
        edges = signed_powers().edges
        tail = (1 - inside) / 2
        # One edge further in would leave out too much, on either side.
        assert np.mean(income < edges[edges > found.low][0]) > tail
        assert np.mean(income >= edges[edges < found.high][-1]) > tail
        assert found.share_clipped == pytest.approx(1 - within, abs=1e-4)


def test_bounds_are_made_from_the_release(tmp_path: Path) -> None:
    frame = pd.DataFrame({"x": np.arange(5000.0)})
    ledger = rs.Ledger(tmp_path / "budget.db")
    ledger.create("people", rs.PureDP(1.0))
    found = rs.bounds(frame, "x", 0.5, ledger=ledger)
    assert str(ledger.budget()) == "0.5 of 1 epsilon left"
    again = rs.Bounds(rs.Release.from_bytes(ledger.resume(1)))
    assert (again.low, again.high, again.below) == (found.low, found.high, found.below)
    assert "0.5-differential privacy" in found.statement
    assert repr(found) == f"<Bounds of x: from {found.low:g} to {found.high:g}>"
    assert str(found).startswith(f"Bounds of x: from {found.low:g} to {found.high:g}\n  those below")
    with pytest.raises(InvalidInput, match="powers of two"):
        rs.Bounds(
            rs.release(
                rs.plan(rs.workload.total(rs.Domain(x=rs.Numeric(0, 1, bins=2))), rs.PureDP(1)), [1, 2]
            )
        )


def test_intervals_of_what_is_clipped_cover() -> None:
    """120 releases, few records and much noise, so that ends are cut by noise. Were 95 % covered exactly, fewer than
    100 would have a chance of 6e-7; Bonferroni leaves far more."""
    domain = rs.Domain(x=signed_powers())
    rng = np.random.default_rng(9)
    values = np.concatenate([rng.lognormal(5, 2, 300), -rng.lognormal(0, 3, 30)])
    counts = np.histogram(values, signed_powers().edges)[0]
    plan = rs.plan(rs.workload.prefixes(domain, "x"), rs.PureDP(0.5))
    covered = 0
    for _ in range(120):
        found = rs.Bounds(rs.release(plan, counts))
        below, above = np.sum(values < found.low), np.sum(values >= found.high)
        covered += (found.below.low <= below <= found.below.high) and (
            found.above.low <= above <= found.above.high
        )
    assert covered >= 100


def test_other_promises_and_units() -> None:
    frame = pd.DataFrame({"x": [3.0] * 3000, "who": np.arange(3000) // 3})
    for promise in (rs.ZCDP(0.5), rs.ApproxDP(1.0, 1e-6), rs.PureDP(5.0, unit=rs.PrivacyUnit("who", 2))):
        found = rs.bounds(frame, "x", promise)
        assert (found.low, found.high) == (2.0, 4.0)
        assert found.release.plan.privacy == promise


def test_nobody_has_no_range() -> None:
    found = rs.Bounds(
        rs.Release(
            rs.plan(rs.workload.prefixes(rs.Domain(x=signed_powers()), "x"), rs.PureDP(1.0)),
            np.full(rs.bounds(pd.DataFrame({"x": [1.0]}), "x", 1.0).release.noisy_answers.shape, -50),
        )
    )
    with pytest.raises(UnsupportedWorkload, match="not positive"):
        found.low  # noqa: B018


@pytest.mark.parametrize(
    ("wrong", "error"),
    [
        ({"column": 3}, InvalidInput),
        ({"column": ["x"]}, InvalidInput),
        ({"column": "y"}, SourceError),
        ({"column": "t"}, SourceError),
        ({"privacy": 0}, InvalidInput),
        ({"privacy": "1"}, InvalidInput),
        ({"inside": 1.0}, InvalidInput),
        ({"inside": True}, InvalidInput),
        ({"level": 0}, InvalidInput),
    ],
)
def test_bad_input_charges_nothing(wrong: dict[str, Any], error: type, tmp_path: Path) -> None:
    ledger = rs.Ledger(tmp_path / "budget.db")
    ledger.create("people", rs.PureDP(1.0))
    given = {"column": "x", "privacy": 0.5, "ledger": ledger} | wrong
    with pytest.raises(error) as caught:
        rs.bounds(pd.DataFrame({"x": [1.0], "t": ["a"]}), given.pop("column"), given.pop("privacy"), **given)
    assert isinstance(caught.value, RowspaceError)
    assert ledger.budget().charges == 0
