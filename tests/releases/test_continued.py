"""Horizons that follow one another, taken together."""

from __future__ import annotations

import numpy as np
import pytest

import rowspace as rs
from rowspace.exceptions import InvalidInput

w = rs.workload
REGION = rs.Categorical(["a", "b", "c"])
DATES = [rs.Dates(f"{year}-01-01", f"{year + 1}-01-01", every="quarter") for year in (2023, 2024)]
WHOLE = rs.Dates("2023-01-01", "2024-10-01", every="quarter", outside="drop")


def domain_of(time, kind):
    """One series, or tables with time first or last."""
    return rs.Domain(
        {"series": {"t": time}, "first": {"t": time, "region": REGION}}.get(
            kind, {"region": REGION, "t": time}
        )
    )


def instalments(kind, rho=(0.5, 0.2), seen=(4, 3)):
    """The last instalment of a year, and one of the next, with the counts of both."""
    found, counts = [], []
    for time, budget, until in zip(DATES, rho, seen, strict=True):
        domain = domain_of(time, kind)
        queries = w.prefixes(domain, "t") + w.identity(domain)
        plan = rs.plan(queries, rs.ZCDP(budget), over="t")
        x = np.random.default_rng(until).integers(0, 90, plan.domain.shape)
        before = None
        for t in range(until):
            before = rs.instalment(plan, x, period=time.label(t), before=before)
        found.append(before)
        counts.append(np.take(x, range(until), axis=plan.domain.position("t")))
    return found, counts


@pytest.mark.parametrize("kind", ["series", "first", "last"])
def test_least_squares_on_both(kind):
    """Beside least squares on all noisy answers at once, written out."""
    found, _ = instalments(kind)
    both = rs.combine(found)
    domain = both.plan.domain
    assert domain["t"] == WHOLE
    rows, values, axis, first = [], [], domain.position("t"), 0
    for one in found:
        own = one.plan.domain.shape[axis]
        cells = np.take(np.arange(domain.size).reshape(domain.shape), range(first, first + own), axis=axis)
        A = np.zeros((one.plan.strategy.shape[0], domain.size))
        A[:, cells.ravel()] = one.plan.strategy.to_dense()
        rows.append(A / one.plan.noise.variance**0.5)
        values.append(one.noisy_answers / one.plan.noise.variance**0.5)
        first += own
    inverse = np.linalg.pinv(np.concatenate(rows))
    asked = w.prefixes(domain, "t").over(domain) + w.ranges(domain, "t").over(domain)
    W = asked.operator().to_dense()
    frame = both.ask(asked)
    assert frame["answer"].to_numpy() == pytest.approx(W @ inverse @ np.concatenate(values), abs=1e-6)
    assert frame["std_error"].to_numpy() == pytest.approx(
        np.sqrt(np.square(W @ inverse).sum(axis=1)), rel=1e-9
    )
    own = both.answers()
    for one, part in zip(found, np.split(np.arange(len(own)), [found[0].plan.workload.size]), strict=True):
        assert own["answer"].to_numpy()[part] == pytest.approx(one.answers()["answer"].to_numpy(), abs=1e-6)
        assert own["std_error"].to_numpy()[part] == pytest.approx(
            one.answers()["std_error"].to_numpy(), rel=1e-6
        )
        assert own["t"].to_numpy()[part].tolist() == one.answers()["t"].tolist()


def test_true_counts_at_tiny_noise():
    found, counts = instalments("last", rho=(1e9, 1e9))
    both = rs.combine(found)
    known = np.concatenate([x[:3] for x in counts], axis=1)
    assert both.ask("t >= '2023-10-01'")["answer"][0] == pytest.approx(
        np.concatenate(counts, axis=1)[:, 3:].sum(), abs=0.05
    )
    assert both.ask("region = 'b'")["answer"][0] == pytest.approx(known[1].sum(), abs=0.05)
    assert "2 releases" in both.made_of
    later = rs.Domain(region=REGION, t=rs.Dates("2024-10-01", "2025-01-01", every="quarter"))
    last = rs.plan(w.prefixes(later, "t") + w.identity(later), rs.ZCDP(1e9), over="t")
    third = rs.instalment(last, np.full(last.domain.size, 5), period=later["t"].label(0))
    assert rs.combine([both, third]).plan.domain["t"].size == 8


def test_a_total_of_each_horizon_keeps_its_periods():
    plans = [rs.plan(w.total(domain_of(time, "last")), rs.ZCDP(1e9), over="t") for time in DATES]
    found = []
    for plan in plans:
        before = None
        for t in range(4):
            before = rs.instalment(
                plan, np.full(plan.domain.size, 2), period=plan.domain["t"].label(t), before=before
            )
        found.append(before)
    own = rs.combine(found).answers()
    assert own["answer"].to_numpy() == pytest.approx(2 * plans[0].domain.size, abs=0.05)
    assert own["t"].tolist() == ["[2023-01-01, 2024-01-01)", "[2024-01-01, 2025-01-01)"]


def test_what_does_not_follow():
    found, _ = instalments("series")
    with pytest.raises(InvalidInput, match="earliest first"):
        rs.combine(found[::-1])
    other, _ = instalments("last")
    with pytest.raises(InvalidInput, match="declared alike"):
        rs.combine([found[0], other[1]])
    gap, _ = instalments("series", seen=(3, 2))
    with pytest.raises(InvalidInput, match="begin where those before end"):
        rs.combine(gap)
    with pytest.raises(InvalidInput, match="combine their"):
        rs.plan(w.prefixes(domain_of(DATES[1], "series"), "t"), rs.ZCDP(0.5), over="t", given=found[:1])
