"""A session does not slow down: the work of a question is counted, whatever was asked before it."""

from __future__ import annotations

import numpy as np
import pytest

import rowspace as rs
from rowspace import files
from rowspace.ledger.reader import LedgerReader
from rowspace.releases import Release
from rowspace.session import purse
from rowspace.session.knowledge import KEPT_APART, MOST_APART, Knowledge
from rowspace.strategy import CELLS_AT_ONCE

DOMAIN = rs.Domain(age=rs.Numeric(0, 16, bins=16, integer=True, outside="drop"))
COUNTS = np.random.default_rng(5).integers(0, 300, 16)
RANGES = rs.workload.ranges(DOMAIN, "age")


@pytest.fixture
def own(tmp_path):
    ledger = rs.Ledger(tmp_path / "budget.db")
    ledger.create("people", rs.ZCDP(1e4))
    return rs.Session(DOMAIN, COUNTS, ledger=ledger, expecting=RANGES)


@pytest.fixture
def parsed(monkeypatch):
    """Counts the releases that are read."""
    found = []

    def counted(content):
        found.append(1)
        return Release.from_bytes(content)

    stand_in = type("Counted", (Release,), {"from_bytes": staticmethod(counted)})
    monkeypatch.setattr(purse, "Release", stand_in)
    return found


def test_a_release_is_read_once(own, parsed):
    """As many are read as were bought: free questions read none, paid ones their own."""
    bought = 0
    for within in (100, 90, 80, 60, 40, 30, 25, 20, 15):
        bought += own.ask("age < 5", within=within).cost > 0
        for _ in range(5):
            assert own.ask("age < 5", within=within).cost == 0
        assert len(parsed) == bought
    assert bought > 5
    assert own._known.number == bought
    assert len(own._known.bought) == 1  # one strategy, one average


def test_what_releases_share_is_unpacked_once():
    """The strategy is in every release of a ledger."""
    plan = rs.plan(RANGES, rs.ZCDP(0.5))
    contents = [rs.release(plan, COUNTS).to_bytes() for _ in range(20)]
    before = files._array.cache_info().misses
    read = [Release.from_bytes(content) for content in contents]
    assert files._array.cache_info().misses - before <= 1 + len(contents)  # noisy answers are each one's own
    assert [one.to_bytes() for one in read] == contents


def test_many_strategies_become_one_matrix():
    """Plain conditions, each bought by itself: what is solved has no more rows than cells beside a few strategies."""
    rng = np.random.default_rng(0)
    charges = []
    for number in range(60):
        low, high = sorted(rng.integers(0, 16, 2).tolist())
        asked = rs.workload.predicates(DOMAIN, [f"age between {low} and {high} or age = {number % 16}"])
        plan = rs.plan(asked, rs.ZCDP(float(rng.uniform(0.01, 0.1))))
        charges.append((number + 1, rs.release(plan, COUNTS), ""))
    whole = rs.combine([release for _, release, _ in charges])
    known = Knowledge(DOMAIN.with_places(), None)
    for charge in charges:
        known = known.after([charge])
        assert len(known.bought) <= MOST_APART
        rows = sum(own.measurement.strategy.shape[0] for own in known.bought)
        assert rows <= MOST_APART + CELLS_AT_ONCE
    assert known.number == 60
    assert any(own.plan is None for own in known.bought)
    assert sum(own.plan is not None for own in known.bought) >= KEPT_APART
    # And it tells the same, to rounding.
    queries = rs.workload.predicates(DOMAIN, ["age < 8", "age between 3 and 12 or age = 4"])
    answers, errors, half = known.columns(queries.over(DOMAIN.with_places()), 0.95)
    table = whole.ask(queries)
    np.testing.assert_allclose(errors, table["std_error"], rtol=1e-8)
    np.testing.assert_allclose(answers, table["answer"], rtol=1e-7, atol=1e-6)
    np.testing.assert_allclose(half, (table["high"] - table["low"]) / 2, rtol=1e-2)
    # All at once, or one by one: the same bits.
    again = Knowledge(DOMAIN.with_places(), None).after(charges)
    for one, other in zip(known.columns(queries, 0.95), again.columns(queries, 0.95), strict=True):
        np.testing.assert_array_equal(one, other)


def test_an_old_answer_is_found_again_without_reading_all_charges(own, parsed):
    for within in (100, 80, 60, 50, 40, 30):
        own.ask("age < 5", within=within, key=str(within))
    read = len(parsed)
    own.ask("age < 5", within=30, key="30")
    own.ask("age < 5", within=40, key="40")
    assert len(parsed) == read


def test_a_new_session_reads_releases_together(own, monkeypatch):
    """Not one statement for each: ten thousand would take most of the time of opening it."""
    for within in (100, 60, 40, 30):
        own.ask("age < 5", within=within)
    read = []
    whole = LedgerReader._contents
    monkeypatch.setattr(
        LedgerReader, "_contents", lambda ledger, some: read.append(len(some)) or whole(ledger, some)
    )
    again = rs.Session(DOMAIN, COUNTS, ledger=own.ledger, expecting=RANGES)
    assert again.purchases == own.purchases > 2
    assert read == [own.purchases]
    # Large ones are not held together.
    monkeypatch.setattr("rowspace.ledger.reader._BYTES_AT_ONCE", 1)
    read.clear()
    other = rs.Session(DOMAIN, COUNTS, ledger=own.ledger, expecting=RANGES)
    assert other.ask("age < 5").answer == again.ask("age < 5").answer
    assert read == [1] * own.purchases
