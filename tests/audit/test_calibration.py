"""Noise is calibrated to the exact sensitivity of whatever is asked; the check notices when it is not."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import numpy as np
import pytest
from audits import calibration
from audits.exact import exact_sensitivity, gaussian_delta, integer_columns, is_private, judged

import rowspace as rs
from rowspace import operators as op
from rowspace.privacy import Privacy, integer_norm
from rowspace.strategy import to_integers

PROMISES = calibration.promises(many=True)


@pytest.mark.long  # `make audit` does the same
def test_every_plan() -> None:
    found = dict(calibration.planned(long=False))
    assert [case for case, verdict in found.items() if not verdict.ok] == []
    assert len(found) > 80


@pytest.mark.parametrize("name", calibration.OPTIMIZERS)
def test_every_optimizer(name: str) -> None:
    found = dict(calibration.optimized(name, long=False))
    assert [case for case, verdict in found.items() if not verdict.ok] == []
    assert found, "no workload of the catalogue is within this optimizer's reach"


def test_tables_as_planned() -> None:
    """Contrasts, bases and weights rounded as products allow: every column in Python integers."""
    found = dict(calibration.planned_tables(long=False))
    assert [case for case, verdict in found.items() if not verdict.ok] == []
    assert len(found) > 20


def test_strategies_made_of_strategies() -> None:
    assert all(verdict.ok for _, verdict in calibration.derived(long=False))


def test_every_optimizer_is_in_the_catalogue() -> None:
    assert set(calibration.OPTIMIZERS) == calibration.exported_optimizers()


@pytest.mark.parametrize("privacy", PROMISES, ids=str)
def test_noise_for_one_unit_less_is_noticed(privacy: Privacy) -> None:
    A, noise = to_integers(op.Hierarchy(8, weights=[1.0, 0.7, 0.31, 0.9]), privacy)
    norm = integer_norm(A, privacy)
    assert judged(A, noise, privacy).ok
    less, more = privacy.noise(norm - 1), privacy.noise(2 * norm)
    # Rounding up to a number that can be drawn may cover one unit in 10¹²; it covers no thousandth.
    assert not judged(A, less, privacy).equal or less == noise
    assert not judged(A, privacy.noise(norm - norm // 1000), privacy).private
    assert judged(A, more, privacy).private
    assert not judged(A, more, privacy).equal


def test_noise_of_another_promise_is_noticed() -> None:
    A = op.Identity(3)
    assert not judged(A, rs.ZCDP(0.5).noise(1), rs.PureDP(1.0)).private
    assert not judged(A, rs.PureDP(2.0).noise(1), rs.PureDP(1.0)).private


@dataclass(frozen=True, eq=False)
class Misreporting(op.Identity):
    """Shows one matrix and asks another."""

    def _divided(self, x: np.ndarray, bits: int) -> tuple[np.ndarray, np.ndarray]:
        return 2 * x, 0 * x


def test_a_matrix_that_is_not_the_one_asked_is_noticed() -> None:
    verdict = judged(Misreporting(3), rs.PureDP(1.0).noise(1), rs.PureDP(1.0))
    assert not verdict.same_matrix
    assert not verdict.private


def test_sensitivity_by_hand() -> None:
    columns = integer_columns(op.Dense(np.array([[1, -2], [3, 4]])))
    assert columns == [[1, 3], [-2, 4]]
    assert exact_sensitivity(columns, rs.PureDP(1.0)) == 6
    assert exact_sensitivity(columns, rs.ZCDP(1.0)) == 20
    # Replaced within the domain the answers move by (3, −1); a record that leaves it takes its column along.
    assert exact_sensitivity(columns, rs.PureDP(1.0, rs.Neighbours.REPLACE_ONE)) == 6
    assert exact_sensitivity(columns, rs.ZCDP(1.0, rs.Neighbours.REPLACE_ONE)) == 20
    opposite = [[1, 3], [-1, -3]]
    assert exact_sensitivity(opposite, rs.PureDP(1.0, rs.Neighbours.REPLACE_ONE)) == 8
    assert exact_sensitivity(opposite, rs.ZCDP(1.0, rs.Neighbours.REPLACE_ONE)) == 40


def test_the_gaussian_formula_is_tight() -> None:
    """The library's sigma keeps the promise; one that is a billionth smaller does not."""
    privacy = rs.ApproxDP(1.0, 1e-6)
    noise = privacy.noise(10**12)
    assert is_private(noise, 10**12, privacy)
    assert gaussian_delta(noise.sigma * (1 - Fraction(1, 10**9)), 10**12, 1.0) > 1e-6
