"""Synthetic records: the right number, of the domain's own values, that count to the estimate."""

from __future__ import annotations

import numpy as np
import pytest

import rowspace as rs
from rowspace.exceptions import InvalidInput, TooLarge
from rowspace.releases import consistent_counts, consistent_fits
from rowspace.sources import count_cells

DOMAIN = rs.Domain(
    age=rs.Numeric(0, 40, bins=8, integer=True, outside="drop"),
    income=rs.Numeric(0, 1, bins=3, outside="drop"),
    sex=rs.Categorical(["F", "M"], other="else"),
    code=rs.Categorical([3, 1, 2], outside="drop"),
)
COUNTS = np.random.default_rng(0).poisson(2, 216)


@pytest.fixture(scope="module")
def release():
    plan = rs.plan(rs.workload.identity(DOMAIN), rs.PureDP(1.0), effort="fast")
    return rs.release(plan, COUNTS)


def test_counts_to_the_estimate(release):
    """Numbers drawn within their bins, counted again: every cell within one of its share."""
    frame = release.synthetic(draw_numbers=True, rng=1)
    again = count_cells(frame, DOMAIN).ravel()
    shares = release.consistent()._counts.counts
    assert len(frame) == round(float(release.ask(rs.workload.total(DOMAIN))["answer"][0]))
    assert again.sum() == len(frame)
    assert np.abs(again - shares * (len(frame) / shares.sum())).max() <= 1 + 1e-6


def test_labels(release):
    frame = release.synthetic(50, rng=1)
    assert list(frame.columns) == list(DOMAIN.names)
    assert len(frame) == 50
    assert set(frame["age"]) <= set(DOMAIN["age"].labels())
    assert set(frame["sex"]) <= {"F", "M", "else"}
    assert set(frame["code"]) <= {1, 2, 3}
    assert "biased post-processing" in frame.attrs["statement"]


def test_numbers_within_bins(release):
    frame = release.synthetic(500, draw_numbers=True, rng=3)
    assert frame["age"].dtype == np.int64
    assert frame["age"].between(0, 39).all()
    assert frame["age"].nunique() > 20
    assert frame["income"].between(0, 1, inclusive="left").all()


def test_same_seed_same_records(release, monkeypatch):
    assert release.synthetic(30, rng=5).equals(release.synthetic(30, rng=np.random.default_rng(5)))
    assert not release.synthetic(30, rng=5).equals(release.synthetic(30, rng=6))
    monkeypatch.setattr(consistent_counts, "CELL_LIMIT", 4)
    made = rs.release(rs.plan(rs.workload.marginals(DOMAIN, up_to=2), rs.PureDP(1.0)), COUNTS)
    assert made.synthetic(30, rng=5).equals(made.synthetic(30, rng=5))


@pytest.mark.parametrize("cell_limit", [2**20, 4], ids=["cells", "tables"])
def test_few_records_cost_little_and_nothing_is_solved_twice(monkeypatch, cell_limit):
    """The counts are found once, as exactly as the records need, and what was asked before changes no record."""
    monkeypatch.setattr(consistent_counts, "CELL_LIMIT", cell_limit)
    steps = []
    solve, advance = consistent_fits.nonnegative_cells, consistent_fits.NonnegativeTables._advance

    def counted_solve(*arguments):
        found = solve(*arguments)
        steps.append(found.steps)
        return found

    def counted_advance(tables):
        further = advance(tables)
        steps.append(int(further))
        return further

    monkeypatch.setattr(consistent_fits, "nonnegative_cells", counted_solve)
    monkeypatch.setattr(consistent_fits.NonnegativeTables, "_advance", counted_advance)
    plan = rs.plan(rs.workload.marginals(DOMAIN, up_to=2), rs.PureDP(0.2))
    made = rs.release(plan, COUNTS)
    projected = made.consistent(by="projection")
    few = projected.synthetic(5, rng=1)
    few_steps = sum(steps)
    assert projected.synthetic(5, rng=1).equals(few)
    assert sum(steps) == few_steps
    projected.answers()
    all_steps = sum(steps)
    assert 0 < few_steps < all_steps
    assert projected.synthetic(5, rng=1).equals(few)
    projected.synthetic(2000, rng=1)
    made.consistent(integral=True, by="projection").ask("age < 10")
    assert sum(steps) == all_steps


def test_tables_of_records_follow_the_release(monkeypatch):
    """By tables: two-way tables of the records are close to the truth; noise moves them by 3, the fit by as much."""
    monkeypatch.setattr(consistent_counts, "CELL_LIMIT", 4)
    counts = COUNTS * 50
    made = rs.release(rs.plan(rs.workload.marginals(DOMAIN, up_to=2), rs.ZCDP(0.5)), counts)
    frame = made.synthetic(draw_numbers=True, rng=2)
    again, truth = count_cells(frame, DOMAIN), counts.reshape(DOMAIN.shape)
    for axes in ((0, 1), (0, 2), (1, 3), (2, 3)):
        apart = again.sum(axis=axes) - truth.sum(axis=axes)
        assert np.sqrt(np.mean(apart**2)) < 0.03 * truth.sum(axis=axes).mean()


def test_no_rows(release, monkeypatch):
    assert release.synthetic(0).shape == (0, 4)
    monkeypatch.setattr(consistent_counts, "CELL_LIMIT", 4)
    made = rs.release(rs.plan(rs.workload.marginals(DOMAIN, up_to=2), rs.PureDP(1.0)), COUNTS)
    assert made.synthetic(0).shape == (0, 4)


@pytest.mark.parametrize("rows", [-1, 2.5, "10", True, None.__class__])
def test_bad_rows(release, rows):
    with pytest.raises(InvalidInput, match="expected rows as a whole number"):
        release.synthetic(rows)


@pytest.mark.parametrize("rng", [-1, "seed", 1.5, True])
def test_bad_generators(release, rng):
    with pytest.raises(InvalidInput, match="expected rng"):
        release.synthetic(3, rng=rng)


def test_bad_options(release):
    with pytest.raises(InvalidInput, match="draw_numbers"):
        release.synthetic(3, draw_numbers=1)
    with pytest.raises(TooLarge, match="give rows a smaller number"):
        release.synthetic(10**12)
