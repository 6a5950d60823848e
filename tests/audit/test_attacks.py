"""The attacks catch what is broken, clear what is sound, and prove no more than is true."""

from __future__ import annotations

import numpy as np
import pytest
from audits import distinguishing
from audits.attacks import Tables, attacked, grid_exponents
from audits.certify import certified_loss, loss, lower_bound, upper_bound
from audits.mechanisms import healthy
from scipy import stats

import rowspace as rs
from rowspace.noise import InsecureSeededRandom
from rowspace.privacy import Neighbours

PURE = rs.PureDP(1.0)
SUBJECTS = distinguishing.cases(long=True)
ONE_CELL = Tables(np.array([0]), np.array([1]), np.array([1]))


@pytest.mark.long  # `make audit` does the same
def test_healthy_is_never_caught_and_every_planted_fault_is() -> None:
    """The short audit: one run of each case. False-alarm rate below 1e-8; no fault is near its limit."""
    rows = distinguishing.run(long=False)
    assert [row.name for row in rows if not row.ok] == []
    assert sum(row.name.startswith("planted") for row in rows) == 4


@pytest.mark.parametrize("subject", SUBJECTS, ids=lambda subject: subject.name)
def test_the_fast_path_is_the_release(subject: distinguishing.Case) -> None:
    """Bit for bit what `rs.release` measures, from the same stream of random bits."""
    for counts in (subject.tables.first, subject.tables.second, subject.tables.known):
        released = rs.release(subject.plan, counts, random=InsecureSeededRandom(3)).noisy_answers
        assert (healthy(subject.plan, InsecureSeededRandom(3))(counts, 1)[0] == released).all()


@pytest.mark.parametrize("subject", SUBJECTS, ids=lambda subject: subject.name)
def test_tables_are_neighbours(subject: distinguishing.Case) -> None:
    change = subject.tables.second - subject.tables.first
    steps = [1] if subject.plan.privacy.neighbours is Neighbours.ADD_REMOVE else [-1, 1]
    assert sorted(change[change != 0]) == steps


def test_nothing_is_caught_when_nothing_depends_on_the_table() -> None:
    generator = np.random.default_rng(1)
    found = attacked(lambda counts, size: generator.normal(size=(size, 3)), ONE_CELL, PURE, 4_000)
    assert found.loss == 0.0


def test_publishing_the_counts_is_caught() -> None:
    def publish(counts: np.ndarray, size: int) -> np.ndarray:
        return np.tile(counts, (size, 1))

    for privacy in (PURE, rs.ZCDP(0.5), rs.ApproxDP(1.0, 1e-6)):
        assert attacked(publish, ONE_CELL, privacy, 1_000).caught


def test_a_rare_disclosure_is_caught() -> None:
    """The count itself, once in a hundred releases: no mean or median shows it."""
    generator = np.random.default_rng(2)

    def disclose(counts: np.ndarray, size: int) -> np.ndarray:
        noisy = generator.integers(-50, 50, (size, 1))
        return np.where(generator.random((size, 1)) < 0.01, 1000 + counts, noisy)

    assert attacked(disclose, ONE_CELL, PURE, 40_000).caught


def test_randomized_response_is_measured_tightly() -> None:
    """True loss 1: proved at most 1 (false-alarm rate 2e-9) and, with this many trials, nearly that."""
    generator = np.random.default_rng(3)

    def respond(counts: np.ndarray, size: int) -> np.ndarray:
        truthful = generator.random((size, 1)) < np.e / (1 + np.e)
        return np.where(truthful, counts, 1 - counts)

    assert 0.85 < attacked(respond, ONE_CELL, PURE, 40_000).loss <= 1.0


@pytest.mark.parametrize(("p", "q"), [(0.5, 0.1), (0.9, 0.3), (1e-3, 1e-4)])
def test_losses_by_their_definitions(p: float, q: float) -> None:
    assert loss(PURE, p, q) == pytest.approx(np.log(p / q))
    approximate = loss(rs.ApproxDP(1.0, 1e-5), p, q)
    assert p == pytest.approx(np.exp(approximate) * q + 1e-5)
    kullback_leibler = p * np.log(p / q) + (1 - p) * np.log((1 - p) / (1 - q))
    assert loss(rs.ZCDP(1.0), p, q) >= kullback_leibler * (1 - 1e-2)
    assert loss(PURE, q, p) == loss(rs.ZCDP(1.0), q, p) == 0.0


def test_zcdp_loss_of_gaussian_noise_is_below_the_truth() -> None:
    """Events of a Gaussian with ρ = μ²/2: data processing loses something, never gains."""
    thresholds = np.linspace(-6, 8, 57)
    for shift in (0.3, 1.0, 2.0):
        p, q = stats.norm.sf(thresholds - shift), stats.norm.sf(thresholds)
        losses = loss(rs.ZCDP(1.0), p, q)
        assert losses.max() <= shift**2 / 2
        assert losses.max() >= 0.6 * shift**2 / 2


def test_clopper_pearson_by_binomial_tails() -> None:
    hits = np.array([1, 10, 500, 999])
    low, high = lower_bound(hits, 1000, 1e-6), upper_bound(hits, 1000, 1e-6)
    assert stats.binom.sf(hits - 1, 1000, low) == pytest.approx(1e-6)
    assert stats.binom.cdf(hits, 1000, high) == pytest.approx(1e-6)
    assert lower_bound(np.array(0), 1000, 1e-6) == 0.0
    assert upper_bound(np.array(1000), 1000, 1e-6) == 1.0
    assert certified_loss(PURE, 1000, 0, 1000) > 3.5


def test_grid_exponents() -> None:
    values = np.array([0.0, 1.0, -6.0, 0.75, 2.0**-1074, 1 + 2.0**-52, 3 * 2.0**60])
    assert grid_exponents(values).tolist() == [2000, 0, 1, -2, -1074, -52, 60]
    assert grid_exponents(np.array([12, -7])).tolist() == [2, 0]
