"""Answers over time against sums of the true counts, and their errors against the plan."""

from __future__ import annotations

import matplotlib as mpl
import numpy as np
import pandas as pd
import pytest

import rowspace as rs
from rowspace.exceptions import InvalidInput, RowspaceError

mpl.use("agg")
w = rs.workload
MONTH = rs.Dates("2023-07-01", "2024-07-01", every="month")
DOMAIN = rs.Domain(region=rs.Categorical(["a", "b"]), month=MONTH, sex=rs.Categorical(["F", "M"]))
COUNTS = np.random.default_rng(3).integers(500, 1000, size=(2, 12, 2))
QUERIES = w.product(DOMAIN, month="prefixes", region="identity", sex="identity")


def tenth(privacy):
    plan, made = rs.plan(QUERIES, privacy, over="month"), None
    for period in MONTH.labels(0, 10):
        made = rs.instalment(plan, COUNTS, period=period, before=made)
    return made


@pytest.fixture(scope="module")
def exact():
    return tenth(rs.ZCDP(1e9))


def frame_of(values, first=0):
    """Values by region, month and sex as rows by month, sex and region."""
    return np.asarray(values).transpose(1, 2, 0)[first:].ravel()


@pytest.mark.parametrize(
    ("kind", "periods", "expected"),
    [
        ("period", 1, lambda x: frame_of(x)),
        ("cumulative", 1, lambda x: frame_of(x.cumsum(axis=1))),
        ("year to date", 1, lambda x: frame_of(np.concatenate([x[:, :6].cumsum(1), x[:, 6:].cumsum(1)], 1))),
        ("window", 3, lambda x: frame_of(x[:, 2:] + x[:, 1:-1] + x[:, :-2])),
        ("change", 2, lambda x: frame_of(x[:, 2:] - x[:, :-2])),
        ("growth", 1, lambda x: frame_of(x[:, 1:] / x[:, :-1] - 1)),
    ],
)
def test_figures_at_tiny_noise(exact, kind, periods, expected):
    found = exact.series(kind, ["sex", "region"], periods=periods)
    assert found["answer"].to_numpy() == pytest.approx(expected(COUNTS[:, :10].astype(float)), abs=0.01)
    assert found.columns.tolist() == ["month", "sex", "region", "answer", "std_error", "low", "high"]
    assert found["month"].iloc[-1] == "2024-04"
    assert found[["sex", "region"]].iloc[1].tolist() == ["F", "b"]


def test_shared_noise_is_taken_into_account():
    made = tenth(rs.ZCDP(0.5))
    change, window = made.series("change"), made.series("window", periods=2)
    A = made.plan.strategy.to_dense()
    M = np.linalg.pinv(A)
    cells = np.zeros((9, *made.plan.domain.shape))
    for i in range(9):
        cells[i, :, i + 1] = 1.0
        cells[i, :, i] = -1.0
    errors = np.sqrt(made.plan.noise.variance * np.square(cells.reshape(9, -1) @ M).sum(axis=1))
    assert change["std_error"].to_numpy() == pytest.approx(errors, rel=1e-6)
    sums = np.sqrt(made.plan.noise.variance * np.square(np.abs(cells).reshape(9, -1) @ M).sum(axis=1))
    assert window["std_error"].to_numpy() == pytest.approx(sums, rel=1e-6)


def test_growth_from_nothing_is_not_a_number():
    plan = rs.plan(QUERIES, rs.ZCDP(0.5), over="month")
    first = rs.instalment(plan, COUNTS * 0, period="2023-07")
    second = rs.instalment(plan, COUNTS * 0, period="2023-08", before=first)
    found = second.series("growth")
    assert len(found) == 1
    # 5 % of the time noise looks like a count that is not zero; then there is a finite interval.
    assert found["answer"].isna().all() or np.isfinite(found["low"]).all()


def test_charts(exact):
    axes = exact.plot_series("cumulative")
    assert "95 %" in axes.get_ylabel()
    assert len(axes.lines[0].get_xdata()) == 10


def test_bad_input(exact):
    for kind, periods in (("monthly", 1), ("window", 11), ("window", 0), ("change", 10), ("change", True)):
        with pytest.raises(InvalidInput):
            exact.series(kind, periods=periods)
    numbers = rs.Domain(t=rs.Numeric(0, 3, bins=3, integer=True))
    made = rs.instalment(rs.plan(w.prefixes(numbers, "t"), rs.ZCDP(0.5), over="t"), [1, 2, 3], period="0")
    with pytest.raises(InvalidInput, match="Dates"):
        made.series("year to date")


@pytest.mark.parametrize("privacy", [rs.ZCDP(1e8), rs.PureDP(1e4)])
def test_sums_of_a_measure(privacy, tmp_path):
    """Sums, means and counts by period against pandas at tiny noise, with missing values, as periods pass."""
    rng, n = np.random.default_rng(5), 1500
    month = rs.Dates("2024-01-01", "2024-05-01", every="month")
    domain = rs.Domain(
        month=month, sex=rs.Categorical(["F", "M"]), measures=[rs.Measure("pay", 0, 100, step=5)]
    )
    days = pd.to_datetime("2024-01-01") + pd.to_timedelta(rng.integers(0, 121, n), unit="D")
    frame = pd.DataFrame(
        {"month": days, "sex": rng.choice(["F", "M"], n), "pay": 5.0 * rng.integers(0, 21, n)}
    )
    frame.loc[rng.random(n) < 0.1, "pay"] = None
    asked = w.mean(domain, "pay", by=["month", "sex"]) + w.prefixes(domain, "month")
    for objective in ("total", "max"):
        plan, made = rs.plan(asked, privacy, over="month", objective=objective), None
        for number, period in enumerate(month.labels(0, 3)):
            kept = {"state": tmp_path / "counts.state"} if objective == "max" else {}
            rows = frame[frame["month"].dt.month == number + 1] if kept else frame
            made = rs.instalment(plan, rows, period=period, before=made, **kept)
        true = frame.groupby([frame["month"].dt.month, "sex"])["pay"].sum().unstack().to_numpy()[:3]
        found = made.series("cumulative", ["sex"], measure="pay")["answer"].to_numpy()
        assert found == pytest.approx(true.cumsum(axis=0).ravel(), rel=1e-3)
        change = made.series("change", measure="pay")["answer"].to_numpy()
        assert change == pytest.approx(np.diff(true.sum(axis=1)), abs=3)
        growth = made.series("growth", ["sex"], measure="pay")["answer"].to_numpy()
        assert growth == pytest.approx((true[1:] / true[:-1] - 1).ravel(), abs=1e-3)
        assert made.series("period")["answer"].sum() == pytest.approx((days < "2024-04-01").sum(), abs=0.1)
        assert "sum of pay" in made.plot_series("cumulative", measure="pay").get_ylabel()
    with pytest.raises(RowspaceError, match="pay"):
        made.series("period", measure="income")


def test_sums_cost_nothing_by_period():
    """Under Gaussian noise the plan by period is as good as the best that waits, for sums as for counts."""
    month = rs.Dates("2024-01-01", "2025-01-01", every="month")
    domain = rs.Domain(month=month, measures=[rs.Measure("pay", 0, 100, step=5)])
    asked = w.sum(domain, "pay", families={"month": "prefixes"}) + w.marginal(domain, "month")
    for objective in ("total", "max"):
        plan = rs.plan(asked, rs.ZCDP(0.5), over="month", objective=objective)
        assert 1 <= plan.ratio < 1.002
        assert plan.strategy.integer_matrix().max() % plan.domain.parts == 0
    unit = rs.PrivacyUnit("who", rows=1, periods=3)
    more = rs.plan(asked, rs.ZCDP(0.5, unit=unit), over="month")
    assert plan.total_error < more.total_error < 9 * plan.total_error
