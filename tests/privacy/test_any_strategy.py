"""The stated sensitivity is that of what is asked, for strategies of every kind, nested in any way."""

from __future__ import annotations

import dataclasses
from itertools import combinations
from pathlib import Path

import numpy as np
import pytest

import rowspace as rs
from rowspace import operators as op
from rowspace.exceptions import RowspaceError, TooLarge
from rowspace.planning import Plan
from rowspace.privacy import ZCDP, Neighbours, Privacy, PureDP, integer_norm
from rowspace.strategy import calibrated_noise, check_overflow, dropped_bits, record_limit

from .random_strategies import Nests

PROMISES: list[Privacy] = [
    PureDP(1.0),
    ZCDP(0.5),
    PureDP(1.0, Neighbours.REPLACE_ONE),
    ZCDP(0.5, Neighbours.REPLACE_ONE),
]


def answers(A: op.Operator, x: np.ndarray) -> list[int]:
    """What is asked of counts, before the noise, by the way that data go."""
    bits = dropped_bits(A)
    high, low = A.divided(x.astype(np.int64), bits)
    return [int(q) * 2**bits + int(r) for q, r in zip(high, low, strict=True)]


def largest_change(columns: list[list[int]], privacy: Privacy) -> int:
    """By brute force over all neighbours, in Python integers."""
    changes = list(columns)
    if privacy.neighbours is Neighbours.REPLACE_ONE:
        changes += [[a - b for a, b in zip(*pair, strict=True)] for pair in combinations(columns, 2)]
    return max(sum(abs(a) ** privacy.norm for a in change) for change in changes)


@pytest.mark.parametrize("seed", range(6))
def test_sensitivity_of_any_strategy(seed: int) -> None:
    nests, checked = Nests(seed), 0
    for _ in range(150):
        n = int(nests.random.choice([1, 2, 3, 4, 6, 8]))
        A = nests.strategy(n, int(nests.random.integers(4)))
        try:
            check_overflow(A)
            norms = [integer_norm(A, privacy) for privacy in PROMISES]
        except RowspaceError:
            continue  # refused before data is touched
        columns = [answers(A, unit) for unit in np.eye(n)]
        for norm, privacy in zip(norms, PROMISES, strict=True):
            largest = largest_change(columns, privacy)
            assert norm >= largest, A
            assert norm == largest or privacy.neighbours is Neighbours.REPLACE_ONE, A
        # As many records as there may be: what is asked is linear to the last bit, beyond 64 bits modulo 2⁶⁴.
        x = nests.random.multinomial(record_limit(A), nests.random.dirichlet(np.ones(n)))
        expected = [
            sum(c * int(k) for c, k in zip(row, x, strict=True)) for row in zip(*columns, strict=True)
        ]
        wrong = [a - b for a, b in zip(answers(A, x), expected, strict=True)]
        assert not any(w if A.wide else w % 2**64 for w in wrong), A
        checked += 1
    assert checked > 90


CANCELLING = op.Composed(
    op.Dense([[2**40, 1, -(2**40)]]), op.Dense([[2**40] * 2, [2**20, -(2**20)], [2**40] * 2])
)
HIDING = {
    "Stack": op.Stack(CANCELLING, op.Identity(2)),
    "Weighted": op.Weighted([1.0], CANCELLING),
    "Transpose": op.Transpose(op.Transpose(CANCELLING)),
    "Sum": op.Sum(
        (2**52 * op.Diagonal([2**52, 0]), 2**20 * op.Identity(2), -(2**52) * op.Diagonal([2**52, 0]))
    ),
    "Permuted": op.Permuted(CANCELLING, [1, 0]),
}


@pytest.mark.parametrize("kind", HIDING)
def test_a_plan_file_cannot_hide_its_sensitivity_from_floating_point(kind: str, tmp_path: Path) -> None:
    """2⁸⁰ + 2²⁰ − 2⁸⁰ is 2²⁰ to the data and was 0 to the noise."""
    domain = rs.Domain(a=rs.Categorical(["x", "y"], outside="drop"))
    plan = rs.plan(rs.workload.identity(domain), PureDP(1.0))
    A = HIDING[kind]
    dataclasses.replace(plan, strategy=A, noise=calibrated_noise(A, plan.privacy)).save(tmp_path / "a.plan")
    loaded = Plan.load(tmp_path / "a.plan")
    columns = [answers(loaded.strategy, unit) for unit in np.eye(2)]
    assert loaded.noise.scale >= largest_change(columns, plan.privacy) >= 2**20
    for privacy in PROMISES:
        assert integer_norm(A, privacy) >= largest_change(columns, privacy)


def test_transforms_that_are_off_by_a_little_hide_nothing() -> None:
    """1 − 2⁻⁵³ by transforms is one, not zero."""
    A = op.Transpose(op.Composed(op.SpectralIntegers(op.Sines(2), [1, 0, 0], [1, 1]), op.AllPredicates(1)))
    assert [integer_norm(A, privacy) for privacy in PROMISES] == [1, 1, 1, 1]


def test_products_of_large_integers_are_multiplied_out_within_limits(monkeypatch: pytest.MonkeyPatch) -> None:
    """No BLAS multiplies 64-bit integers: a file must not ask for hours of it. Small entries are exact in floats."""
    monkeypatch.setattr("rowspace.operators.composed.SLOW_PRODUCTS", 5)
    with pytest.raises(TooLarge, match="so many bits"):
        integer_norm(CANCELLING, PureDP(1.0))
    assert integer_norm(op.Composed(op.Dense([[3, -2]]), op.Dense([[5, 1], [7, 1]])), PureDP(1.0)) == 1
