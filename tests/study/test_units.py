"""A study that protects persons with several rows."""

from __future__ import annotations

import pytest

from rowspace.exceptions import InvalidPrivacy, InvalidStudy
from rowspace.privacy import ZCDP, PrivacyUnit, PureDP
from rowspace.report import plain_privacy
from rowspace.study import Study, write_study
from tests.study.examples import changed

UNIT = 'epsilon = 1.0\nprivacy_unit = "user id"\nmax_rows_per_unit = 3'


def test_the_unit_is_read_and_written_back() -> None:
    study = Study.parse(changed("epsilon = 1.0", UNIT))
    assert study.privacy == PureDP(1.0, unit=PrivacyUnit("user id", 3))
    assert "Adding or removing any one user id with all its rows" in plain_privacy(study.privacy)
    for privacy in (study.privacy, ZCDP(0.5, "replace-one", PrivacyUnit('odd"; name', 1))):  # type: ignore[arg-type]
        text = write_study("units", study.domain, privacy, [{"total": True}])
        assert Study.parse(text).privacy == privacy


@pytest.mark.parametrize(
    ("lines", "error", "words"),
    [
        ('privacy_unit = "user"', InvalidStudy, "max_rows_per_unit = 3"),
        ("max_rows_per_unit = 3", InvalidStudy, 'privacy_unit = "user_id"'),
        ('privacy_unit = ""\nmax_rows_per_unit = 3', InvalidStudy, "privacy_unit"),
        ('privacy_unit = "user"\nmax_rows_per_unit = 0', InvalidPrivacy, "whole number"),
        (
            'privacy_unit = "user"\nmax_rows_per_unit = 1.5',
            InvalidStudy,
            "a whole number, as in max_rows_per_unit = 3",
        ),
        (
            'privacy_unit = "user"\nmax_rows_per_unit = "3"',
            InvalidStudy,
            "a whole number, as in max_rows_per_unit = 3",
        ),
        ("privacy_unit = 7\nmax_rows_per_unit = 3", InvalidStudy, "privacy_unit"),
    ],
)
def test_half_a_unit_is_refused(lines: str, error: type[Exception], words: str) -> None:
    with pytest.raises(error, match=words) as caught:
        Study.parse(changed("epsilon = 1.0", f"epsilon = 1.0\n{lines}"))
    assert "[privacy]" in str(caught.value)
