"""Right studies: what they say is what the library gets."""

from __future__ import annotations

import builtins
import os
from pathlib import Path
from typing import Any

import pytest

from rowspace import sample
from rowspace import workload as w
from rowspace.domain import Categorical, Domain, Numeric
from rowspace.exceptions import InvalidStudy
from rowspace.privacy import ZCDP, ApproxDP, Neighbours, PureDP
from rowspace.study import Study
from tests.study.examples import SMALL, changed

DOMAIN = Domain(age=Numeric(0, 20, bins=20), sex=Categorical(["F", "M"]))

FAMILIES = {
    'ranges = "age"': w.ranges(DOMAIN, "age"),
    'prefixes = "age"': w.prefixes(DOMAIN, "age"),
    'widths = "age"\nwidth = 5': w.widths(DOMAIN, "age", 5),
    'marginal = ["age", "sex"]': w.marginal(DOMAIN, "age", "sex"),
    "marginal = []": w.total(DOMAIN),
    "marginals = { up_to = 2 }": w.marginals(DOMAIN, up_to=2),
    "marginals = { exactly = 1 }": w.marginals(DOMAIN, exactly=1),
    'marginals = { sets = [["sex"], []] }': w.marginals(DOMAIN, sets=[["sex"], []]),
    "cube = true": w.cube(DOMAIN),
    "identity = true": w.identity(DOMAIN),
    "total = true": w.total(DOMAIN),
    """predicates = ["age >= 5 and sex = 'F'", "age < 3"]""": w.predicates(
        DOMAIN, ["age >= 5 and sex = 'F'", "age < 3"]
    ),
    'product = { age = "prefixes", sex = "identity" }': w.product(DOMAIN, age="prefixes", sex="identity"),
}

GUARANTEES = {
    "epsilon = 1.0": PureDP(1.0),
    "epsilon = 2": PureDP(2.0),
    "epsilon = 1.0\ndelta = 1e-6": ApproxDP(1.0, 1e-6),
    "rho = 0.5": ZCDP(0.5),
    'epsilon = 1.0\nneighbours = "replace-one"': PureDP(1.0, Neighbours.REPLACE_ONE),
}


def test_everything_is_read() -> None:
    study = Study.parse(SMALL)
    assert study.name == "Residents"
    assert study.domain == DOMAIN
    assert study.workload == w.ranges(DOMAIN, "age") + 2 * w.marginal(DOMAIN, "sex")
    assert study.privacy == PureDP(1.0)
    assert study.table is None
    assert study.database_url() is None


@pytest.mark.parametrize("text", FAMILIES)
def test_every_family(text: str) -> None:
    assert Study.parse(changed('ranges = "age"', text)).workload == FAMILIES[text] + 2 * w.marginal(
        DOMAIN, "sex"
    )


def test_a_promise_is_never_rounded_up() -> None:
    assert Study.parse(changed("epsilon = 1.0", f"epsilon = {2**63 - 1}")).privacy.epsilon < 2**63  # type: ignore[attr-defined]


@pytest.mark.parametrize("text", GUARANTEES)
def test_every_guarantee(text: str) -> None:
    assert Study.parse(changed("epsilon = 1.0", text)).privacy == GUARANTEES[text]


@pytest.mark.parametrize(
    "level",
    [
        '[domain.place.levels.half]\nlow = [1, 2]\nhigh = [3, "rest"]',
        '[domain.place.levels.half]\n1 = "low"\n2 = "low"\n3 = "high"\nrest = "high"',
    ],
)
def test_both_forms_of_a_taxonomy(level: str) -> None:
    declared = f'[domain.place]\ntype = "categorical"\ncategories = [1, 2, 3]\nother = "rest"\n{level}\n'
    study = Study.parse(changed("[domain.sex]", declared + "[domain.sex]"))
    levels = {"half": {1: "low", 2: "low", 3: "high", "rest": "high"}}
    assert study.domain["place"] == Categorical([1, 2, 3], other="rest", levels=levels)


def test_labels_of_a_level_may_be_integers_and_booleans() -> None:
    declared = (
        '[domain.yes]\ntype = "categorical"\ncategories = [false, true]\n'
        "[domain.yes.levels.number]\nfalse = 0\ntrue = 1\n[domain.yes.levels.all]\n0 = 7\n1 = 7\n"
    )
    study = Study.parse(changed("[domain.sex]", declared + "[domain.sex]"))
    levels = {"number": {False: 0, True: 1}, "all": {0: 7, 1: 7}}
    assert study.domain["yes"] == Categorical([False, True], levels=levels)


def test_the_address_comes_from_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    study = Study.parse(SMALL + '[data]\ntable = "people"\nurl_env = "ROWSPACE_TEST_URL"\n')
    assert study.table == "people"
    monkeypatch.delenv("ROWSPACE_TEST_URL", raising=False)
    with pytest.raises(InvalidStudy, match="ROWSPACE_TEST_URL is not set"):
        study.database_url()
    monkeypatch.setenv("ROWSPACE_TEST_URL", "postgresql://me:secret@host/db")
    assert study.database_url() == "postgresql://me:secret@host/db"


def test_an_address_without_secrets_may_stand_in_the_file() -> None:
    study = Study.parse(SMALL + '[data]\nurl = "postgresql://me@host/db?sslmode=require"\n')
    assert study.database_url() == "postgresql://me@host/db?sslmode=require"


def test_windows_files_and_byte_order_marks_are_read(tmp_path: Path) -> None:
    path = tmp_path / "study.toml"
    path.write_bytes(b"\xef\xbb\xbf" + SMALL.replace("\n", "\r\n").encode())
    assert Study.load(path).domain == DOMAIN


def test_errors_name_the_file(tmp_path: Path) -> None:
    path = tmp_path / "mine.toml"
    path.write_text(changed("epsilon = 1.0", "epsilon = 0"))
    with pytest.raises(ValueError, match=r"^mine\.toml: \[privacy\]: expected epsilon"):
        Study.load(path)


@pytest.mark.parametrize("what", ["missing", "folder", "binary", "impossible"])
def test_files_that_cannot_be_read(tmp_path: Path, what: str) -> None:
    path = tmp_path / "study.toml"
    if what == "folder":
        path.mkdir()
    if what == "binary":
        path.write_bytes(b"\xff\xfe\x00")
    with pytest.raises(InvalidStudy):
        Study.load("\0" if what == "impossible" else path)


def test_reading_opens_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: Any, **__: Any) -> Any:
        raise AssertionError("a study was read, and something was opened")

    text = SMALL + '[data]\ntable = "people"\nurl_env = "ROWSPACE_TEST_URL"\n'
    Study.parse(text)  # loads what reads studies
    monkeypatch.setattr("rowspace.sources.opening.open_table", refuse)
    monkeypatch.setattr(builtins, "open", refuse)
    monkeypatch.setattr(os.environ, "get", refuse)
    Study.parse(text)


def test_the_sample_study() -> None:
    study = Study.load(sample.people_path().with_name("people.toml"))
    assert study.domain["region"].level("zone").size == 3  # type: ignore[union-attr]
    assert study.workload.reduced().domain.size <= 20_000
    assert study.privacy == PureDP(1.0)
