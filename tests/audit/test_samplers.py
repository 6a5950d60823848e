"""The samplers' audit passes, and each of its tests fails on a law that is slightly wrong."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from audits import samplers

N = 1 << 18


def test_samplers_follow_their_laws() -> None:
    """False-alarm rate 1e-9 for each row, 2e-8 in all."""
    rows = samplers.run(long=False)
    assert [row for row in rows if not row.ok] == []
    assert sum("OpenDP" in row.name for row in rows) == 2


@pytest.mark.parametrize("name", samplers.SAMPLERS)
@pytest.mark.parametrize("scale", [Fraction(1), Fraction(13, 2), Fraction(2**20)])
def test_a_scale_off_by_three_percent_is_noticed(name: str, scale: Fraction) -> None:
    draw, above = samplers.SAMPLERS[name]
    cuts = samplers.edges(scale)
    wrong = draw(scale * Fraction(33, 32), N)
    assert samplers.fit(wrong, cuts, above(cuts.astype(float), float(scale))) < samplers.FALSE_ALARM


@pytest.mark.parametrize("name", samplers.SAMPLERS)
def test_tails_are_those_of_the_law(name: str) -> None:
    """P(X ≥ k) falls from 1 to 0 and is symmetric: P(X ≥ k) + P(X ≥ 1 − k) = 1."""
    _, above = samplers.SAMPLERS[name]
    k = np.arange(-60, 61).astype(float)
    assert (np.diff(above(k, 3.0)) <= 0).all()
    assert above(k, 3.0) + above(1 - k, 3.0) == pytest.approx(1)


def test_other_laws_and_dependence_are_noticed() -> None:
    first, second = (
        samplers.SAMPLERS[name][0](Fraction(5), N) for name in ("discrete Laplace", "rounded Gaussian")
    )
    assert samplers.same(first, second) < samplers.FALSE_ALARM
    assert samplers.same(first[: N // 2], first[N // 2 :]) > samplers.FALSE_ALARM
    assert samplers.independence(np.repeat(first, 2)) < samplers.FALSE_ALARM
    assert samplers.independence(np.sort(first)) < samplers.FALSE_ALARM


def test_an_impossible_value_is_noticed() -> None:
    assert samplers._chi_square(np.array([1.0, 999.0]), np.array([0.0, 1000.0])) == 0.0
