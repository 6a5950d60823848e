"""A verdict comes from the computation: what does not come out is said."""

from __future__ import annotations

import pytest

from rowspace_paper.record import Source, Verdict, close, confirm, correct, number, refute

SOURCE = Source("key", "Theorem 0", "one is two", "error.profile", "tests/paper/test_record.py::test_claims")


def test_claims():
    assert confirm(SOURCE, "1", "1", holds=True).verdict is Verdict.HOLDS
    assert confirm(SOURCE, "1", "2", holds=False).verdict is Verdict.UNCONFIRMED


@pytest.mark.parametrize(("make", "verdict"), [(correct, Verdict.CORRECTED), (refute, Verdict.FAILS)])
def test_a_correction_needs_a_wrong_text_and_a_right_correction(make, verdict):
    for wrong in (False, True):
        for right in (False, True):
            claim = make(SOURCE, "2", "1", "one", wrong=wrong, right=right)
            assert claim.verdict is (verdict if wrong and right else Verdict.UNCONFIRMED)


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0.0, "0"),
        (1 / 3, "0.33333"),
        (-1.5, "−1.5"),
        (1e12, "1e12"),
        (-2.5e-9, "−2.5e-9"),
        (float("inf"), "∞"),
        (1234567, "1,234,567"),
    ],
)
def test_figures(value, text):
    assert number(value) == text


def test_close():
    assert close([1, 2], [1, 2 + 1e-12])
    assert not close([1, 2], [1, 2.1])
    assert not close([1, 2], [1, 2, 3])
