"""One promise, published period by period."""

from __future__ import annotations

import multiprocessing
import os
import random
import signal
import time
from itertools import pairwise

import numpy as np
import pandas as pd
import pytest

import rowspace as rs
from rowspace.exceptions import BudgetExceeded, FileError, InvalidInput, RowspaceError
from rowspace.noise import InsecureSeededRandom
from rowspace.releases.instalment import Instalment

w = rs.workload
MONTH = rs.Dates("2024-01-01", "2025-01-01", every="month")
LABELS = MONTH.labels(0, 12)
DOMAIN = rs.Domain(region=rs.Categorical(["a", "b", "c"]), month=MONTH)
QUERIES = (
    w.product(DOMAIN, month="prefixes", region="identity")
    + w.marginal(DOMAIN, "region")
    + w.predicates(DOMAIN, ["month = '2024-05'", "region = 'a' and month <= '2024-03-31'"])
)
COUNTS = np.arange(36).reshape(3, 12) * 7 + 100


def stream(plan, source, **more):
    """All instalments of a plan."""
    found = []
    for period in LABELS[: plan.domain.shape[plan.domain.position("month")]]:
        before = found[-1] if found and "ledger" not in more else None
        found.append(rs.instalment(plan, source, period=period, before=before, **more))
    return found


@pytest.fixture(scope="module")
def plan():
    return rs.plan(QUERIES, rs.ZCDP(0.5), over="month")


@pytest.mark.parametrize("privacy", [rs.ZCDP(1e8), rs.PureDP(1e4), rs.ApproxDP(1e5, 1e-6)])
def test_at_tiny_noise_the_true_counts(privacy):
    plan = rs.plan(QUERIES, privacy, over="month")
    for number, made in enumerate(stream(plan, COUNTS)):
        x = np.pad(COUNTS, ((0, 1), (0, 0)))[:, : number + 1].ravel()
        assert made.answers()["answer"].to_numpy() == pytest.approx(
            made.plan.counted.operator() @ x, abs=0.05
        )
        asked = made.ask(f"month = '{LABELS[number]}' and region = 'b'")
        assert asked["answer"][0] == pytest.approx(COUNTS[1, number], abs=0.05)


@pytest.mark.long
def test_the_predicted_error_is_the_sample_variance():
    """200 runs of 24 instalments; `benchmarks.periods --runs` has 1,000."""
    domain = rs.Domain(t=rs.Numeric(0, 24, bins=24, integer=True, outside="drop"))
    plan = rs.plan(w.prefixes(domain, "t") + w.widths(domain, "t", 3), rs.ZCDP(0.5), over="t")
    errors, runs, source = [], 200, InsecureSeededRandom(5)
    truth = plan.counted.operator() @ np.full(24, 10)
    for _ in range(runs):
        before = None
        for t in range(24):
            before = rs.instalment(plan, [10] * 24, period=str(t), before=before, random=source)
        errors.append(before._answer(plan.counted) - truth)
    found, expected = np.var(errors, axis=0), plan.query_errors()
    # Sample variances of normal variables: relative deviation √(2/200) = 10 %; 5 of those.
    assert np.abs(found / expected - 1).max() < 0.5
    assert found.sum() == pytest.approx(expected.sum(), rel=0.1)


def test_answers_stay(plan):
    """What was published stays, and streamed integers are those of one batch with the same noise."""
    made = stream(plan, COUNTS)
    first = {}
    for each in made:
        frame = each.answers()
        labels = each.plan.workload.labels()
        for label, answer, error in zip(labels, frame["answer"], frame["std_error"], strict=True):
            if label in first:
                assert answer == pytest.approx(first[label][0], abs=1e-6)
                assert error == pytest.approx(first[label][1], rel=1e-6)
            first.setdefault(label, (answer, error))
    batch = rs.Release(plan, made[-1].noisy_answers)
    assert np.array_equal(batch.answers()["answer"], made[-1].answers()["answer"])
    for one, other in pairwise(made):
        assert set(one.noisy_answers.tolist()) <= set(other.noisy_answers.tolist())


def records(counts=COUNTS):
    rows = [
        (region, f"2024-{month + 1:02d}-15")
        for r, region in enumerate("abc")
        for month in range(12)
        for _ in range(counts[r, month])
    ]
    return pd.DataFrame(rows, columns=["region", "month"]).astype({"month": "datetime64[ns]"})


def test_later_records_are_not_read():
    plan = rs.plan(QUERIES, rs.ZCDP(1e8), over="month")
    frame = records()
    until_march = frame[frame["month"] < "2024-04-01"]
    for source in (frame, until_march):
        before = None
        for period in LABELS[:3]:
            before = rs.instalment(plan, source, period=period, before=before)
        assert before.ask("region = 'a'")["answer"][0] == pytest.approx(COUNTS[0, :3].sum(), abs=0.05)


def test_a_state_needs_records_of_its_period_only(tmp_path):
    plan = rs.plan(QUERIES, rs.ZCDP(1e8), over="month")
    frame, state, before, earlier = records(), tmp_path / "counts.state", None, None
    for number, period in enumerate(LABELS):
        month = frame["month"].dt.month == number + 1
        before = rs.instalment(plan, frame[month], period=period, before=before, state=state)
        # Counted once: another table under the same period changes nothing.
        again = rs.instalment(plan, frame[:0], period=period, before=earlier, state=state)
        assert again.ask("region = 'c'")["answer"][0] == pytest.approx(
            COUNTS[2, : number + 1].sum(), abs=0.05
        )
        earlier = before
    assert state.stat().st_mode & 0o077 == 0  # true counts: for nobody else
    other = rs.plan(w.prefixes(DOMAIN, "month"), rs.ZCDP(1e8), over="month")
    with pytest.raises(FileError, match=r"another plan|does not hold"):
        rs.instalment(other, frame, period="2024-01", state=state)
    with pytest.raises(FileError, match="12 periods"):
        rs.instalment(plan, frame, period="2024-01", state=state)
    state.write_bytes(state.read_bytes()[:100])
    with pytest.raises(RowspaceError):
        rs.instalment(plan, frame, period="2024-01", state=state)


def test_a_period_is_drawn_once(plan, tmp_path):
    ledger = rs.Ledger(tmp_path / "b.db")
    ledger.create("people", rs.ZCDP(0.6))
    made = stream(plan, COUNTS, ledger=ledger)
    assert float(ledger.budget().spent) == pytest.approx(0.5)
    assert ledger.budget().charges == 12
    for number, each in enumerate(made):
        again = rs.instalment(plan, COUNTS * 0, period=LABELS[number], ledger=ledger)
        assert again.to_bytes() == each.to_bytes()
    assert ledger.budget().charges == 12
    with pytest.raises(BudgetExceeded):
        rs.instalment(rs.plan(QUERIES, rs.ZCDP(0.2), over="month"), COUNTS, period="2024-01", ledger=ledger)


@pytest.mark.parametrize("number", [0, 1])
@pytest.mark.parametrize("budget", [0.5, 2.0])
def test_another_process_was_first(plan, tmp_path, number, budget):
    class Late(rs.Ledger):
        """A ledger that is asked just before another process releases the period."""

        asked = False

        def request(self, key, dataset=None):
            late, self.asked = not self.asked, True
            return None if late else super().request(key, dataset)

    rs.Ledger(tmp_path / "b.db").create("people", rs.ZCDP(budget))
    made = [rs.instalment(plan, COUNTS, period=p, ledger=tmp_path / "b.db") for p in LABELS[: number + 1]]
    again = rs.instalment(plan, COUNTS, period=LABELS[number], ledger=Late(tmp_path / "b.db"))
    assert again.to_bytes() == made[-1].to_bytes()
    assert rs.Ledger(tmp_path / "b.db").budget().charges == number + 1


def test_order_and_plans_are_kept(plan, tmp_path):
    ledger = rs.Ledger(tmp_path / "b.db")
    ledger.create("people", rs.ZCDP(5.0))
    with pytest.raises(InvalidInput, match=r"2024-01.* first"):
        rs.instalment(plan, COUNTS, period="2024-02", ledger=ledger)
    first = rs.instalment(plan, COUNTS, period="2024-01", ledger=ledger)
    with pytest.raises(InvalidInput, match=r"2024-02.* first"):
        rs.instalment(plan, COUNTS, period="2024-04", ledger=ledger)
    for period in ("2025-01", "2023-12", "March", 3, None):
        with pytest.raises(InvalidInput, match="periods"):
            rs.instalment(plan, COUNTS, period=period, ledger=ledger)
    other = rs.plan(QUERIES, rs.ZCDP(0.25), over="month")
    with pytest.raises(InvalidInput, match="first"):
        rs.instalment(other, COUNTS, period="2024-02", ledger=ledger)
    with pytest.raises(InvalidInput, match="another horizon"):
        rs.instalment(other, COUNTS, period="2024-02", before=first)
    with pytest.raises(InvalidInput, match="2024-02"):
        rs.instalment(plan, COUNTS, period="2024-03", before=first)
    with pytest.raises(InvalidInput, match="first period"):
        rs.instalment(plan, COUNTS, period="2024-01", before=first)
    with pytest.raises(InvalidInput, match="over periods"):
        rs.instalment(rs.plan(QUERIES, rs.ZCDP(0.5)), COUNTS, period="2024-01")
    stranger = rs.instalment(plan, COUNTS, period="2024-01")
    with pytest.raises(InvalidInput, match="ledger keeps"):
        rs.instalment(plan, COUNTS, period="2024-02", ledger=ledger, before=stranger)
    with pytest.raises(InvalidInput, match="random="):
        rs.instalment(plan, COUNTS, period="2024-02", ledger=ledger, random=InsecureSeededRandom(1))
    assert ledger.budget().charges == 1


def test_files(plan, tmp_path):
    last = stream(plan, COUNTS)[4]
    last.save(tmp_path / "may.release")
    again = rs.Release.load(tmp_path / "may.release")
    assert isinstance(again, Instalment)
    assert again.period == "2024-05"
    assert again.to_bytes() == last.to_bytes()
    assert "instalment 5 of 12" in again.statement
    assert rs.instalment(plan, COUNTS, period="2024-06", before=again).number == 5


def _release_all(path: str) -> None:
    plan = rs.Plan.load(path + "/a.plan")
    for period in LABELS:
        rs.instalment(plan, COUNTS, period=period, ledger=path + "/b.db")


def test_killed_between_instalments(plan, tmp_path):
    """Whatever instant a process is killed at, the periods released are a beginning, and none is drawn again."""
    plan.save(tmp_path / "a.plan")
    ledger = rs.Ledger(tmp_path / "b.db")
    ledger.create("people", rs.ZCDP(0.5))
    fork, rng = multiprocessing.get_context("fork"), random.Random(7)
    rs.instalment(plan, COUNTS, period=LABELS[0])  # what it imports is imported before the fork
    kept: list[bytes] = []
    for number in range(400):
        process = fork.Process(target=_release_all, args=(str(tmp_path),))
        process.start()
        time.sleep(rng.uniform(0.0, 0.1 + number / 200))
        os.kill(process.pid, signal.SIGKILL)
        process.join()
        now = [ledger.resume(charge.id) for charge in ledger.history()]
        assert now[: len(kept)] == kept
        kept = now
        assert [rs.Release.from_bytes(content).number for content in now] == list(range(len(now)))
        assert float(ledger.budget().spent) == (0.5 if now else 0.0)
        if len(kept) == 12:
            break
    assert number >= 3, "the kills came too late to show anything"
    _release_all(str(tmp_path))
    everything = [ledger.resume(charge.id) for charge in ledger.history()]
    assert len(everything) == 12
    assert everything[: len(kept)] == kept
