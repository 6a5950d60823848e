"""Synthetic records: the right number, of the domain's own values, that count to the estimate."""

from __future__ import annotations

import numpy as np
import pytest

import rowspace as rs
from rowspace.exceptions import InvalidInput, TooLarge
from rowspace.releases import consistent_counts
from rowspace.sources import count_cells

DOMAIN = rs.Domain(
    age=rs.Numeric(0, 40, bins=8, integer=True),
    income=rs.Numeric(0, 1, bins=3),
    sex=rs.Categorical(["F", "M"], other="else"),
    code=rs.Categorical([3, 1, 2]),
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
