"""A saved plan is released for a study only where it asks the same of the same cells and promises no less."""

from __future__ import annotations

from pathlib import Path

import pytest

import rowspace as rs
from rowspace.cli.release import load_plan
from rowspace.exceptions import FileError
from rowspace.privacy import ZCDP, ApproxDP, Neighbours, Privacy, PrivacyUnit, PureDP

AGE, SEX = rs.Numeric(0, 4, bins=4), rs.Categorical(["F", "M"])
UNIT = PrivacyUnit("who", 2)
PROMISE = ZCDP(0.5, unit=UNIT)


def study(
    privacy: Privacy = PROMISE, weight: float = 1.0, **attributes: rs.Numeric | rs.Categorical
) -> rs.Study:
    domain = rs.Domain(**(attributes or {"age": AGE, "sex": SEX}))
    names = [name for name in domain.names if name != "unasked"]
    asked = weight * rs.workload.marginal(domain, *names)
    return rs.Study("", domain, asked, privacy)


@pytest.fixture(scope="module")
def saved(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("plans") / "a.plan"
    rs.plan(study().workload, PROMISE).save(path)
    return path


@pytest.mark.parametrize(
    "other",
    [
        study(),
        study(weight=7.0),
        study(ZCDP(0.9, unit=UNIT)),
        study(unasked=rs.Numeric(0, 9, bins=9), age=AGE, sex=SEX),
    ],
    ids=["the same", "other weights", "a weaker promise", "one attribute more that nothing asks"],
)
def test_what_is_released_is_what_the_plan_promises(saved: Path, other: rs.Study) -> None:
    assert load_plan(saved, other).privacy == PROMISE


@pytest.mark.parametrize(
    "privacy",
    [
        ZCDP(0.4, unit=UNIT),
        ZCDP(0.5),
        ZCDP(0.5, unit=PrivacyUnit("who", 1)),
        ZCDP(0.5, unit=PrivacyUnit("who", 3)),
        ZCDP(0.5, unit=PrivacyUnit("else", 2)),
        ZCDP(0.5, Neighbours.REPLACE_ONE, UNIT),
        PureDP(9.0, unit=UNIT),
        ApproxDP(9.0, 0.5, unit=UNIT),
    ],
    ids=str,
)
def test_other_promises_are_refused(saved: Path, privacy: Privacy) -> None:
    with pytest.raises(FileError, match="promises"):
        load_plan(saved, study(privacy))


@pytest.mark.parametrize(
    "attributes",
    [
        {"sex": SEX, "age": AGE},
        {"ages": AGE, "sex": SEX},
        {"age": AGE, "sex": rs.Categorical(["M", "F"])},
        {"age": AGE, "sex": rs.Categorical(["F"], other="M")},
        {"age": AGE, "sex": rs.Categorical([0, 1])},
        {"age": rs.Numeric(0, 8, bins=4), "sex": SEX},
        {"age": rs.Numeric(edges=[0, 1, 2, 3.5, 4]), "sex": SEX},
        {"age": rs.Numeric(0, 4, bins=4, outside="clip"), "sex": SEX},
    ],
    ids=lambda attributes: str(rs.Domain(**attributes)),
)
def test_domains_of_the_same_size_are_refused(
    saved: Path, attributes: dict[str, rs.Numeric | rs.Categorical]
) -> None:
    with pytest.raises(FileError, match="other queries"):
        load_plan(saved, study(**attributes))
