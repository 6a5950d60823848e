"""Wrong studies: one error that says where and what, of the type that fits."""

from __future__ import annotations

import time

import pytest

from rowspace.exceptions import InvalidDomain, InvalidPrivacy, InvalidStudy, PredicateError, RowspaceError
from rowspace.study import Study
from tests.study.examples import BAD, SMALL, changed


@pytest.mark.parametrize("name", BAD)
def test_the_message_says_where_and_what(name: str) -> None:
    text, words = BAD[name]
    started = time.perf_counter()
    with pytest.raises(RowspaceError) as caught:
        Study.parse(text)
    assert time.perf_counter() - started < 5
    for word in words:
        assert word in str(caught.value)


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("epsilon zero", InvalidPrivacy),
        ("bins do not increase", InvalidDomain),
        ("unknown attribute", InvalidDomain),
        ("predicate does not parse", PredicateError),
        ("misspelt key", InvalidStudy),
    ],
)
def test_errors_keep_their_type(name: str, kind: type[Exception]) -> None:
    with pytest.raises(kind) as caught:
        Study.parse(BAD[name][0])
    assert type(caught.value) is kind


def test_a_predicate_error_keeps_its_position() -> None:
    with pytest.raises(PredicateError) as caught:
        Study.parse(changed('ranges = "age"', 'predicates = ["age >= 3", "sex ="]'))
    assert caught.value.position is not None


@pytest.mark.parametrize("name", ["password", "token"])
def test_a_secret_is_not_repeated(name: str) -> None:
    with pytest.raises(InvalidStudy) as caught:
        Study.parse(BAD[name][0])
    assert "secret" not in str(caught.value)


def test_too_many_entries() -> None:
    with pytest.raises(InvalidStudy, match="at most 10,000"):
        Study.parse(SMALL + "[[workload]]\ntotal = true\n" * 10_000)


@pytest.mark.parametrize("value", ['"yes"', "1", "[]"])
def test_a_draft_is_one_or_is_not(value: str) -> None:
    with pytest.raises(InvalidStudy, match="draft = true or draft = false"):
        Study.parse(changed("[privacy]", f"draft = {value}\n[privacy]"))
