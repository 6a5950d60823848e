"""The JSON Schema that editors use: it takes every study that is one, and refuses what has a wrong shape."""

from __future__ import annotations

import dataclasses
import json
import tomllib
from pathlib import Path
from typing import Any

import jsonschema
import pytest

import rowspace as rs
from rowspace import sample, workload
from rowspace.study.file.attributes import DataTable
from rowspace.study.file.queries import QUERIES
from tests.cli.running import rowspace
from tests.study.examples import BAD, SMALL, changed
from tests.study.test_data_form import FORM
from tests.study.test_dates import STUDY
from tests.study.test_study import FAMILIES, GUARANTEES

VALIDATOR = jsonschema.Draft202012Validator(rs.Study.json_schema())

# Values that are wrong for what they are about: only the library can tell.
MEANT = {
    *(
        "epsilon zero",
        "epsilon negative",
        "epsilon not a number",
        "epsilon infinite",
        "delta zero",
        "delta one",
    ),
    *("rho negative", "bins do not increase", "low above high", "bins too many", "categories twice"),
    *("other is a category", "level incomplete", "level twice", "level mixed", "unknown attribute"),
    *("marginal of a stranger", "marginal twice", "marginals of too many", "width too large"),
    *(
        "predicate does not parse",
        "predicate of a stranger",
        "predicates empty",
        "weight zero",
        "password",
        "token",
    ),
    *("unknown encoding", "long delimiter", "no address", "integer beyond 64 bits", "level of dates"),
}
NO_TOML = {"no TOML", "duplicate attribute", "integer of many digits", "very deep", "dotted", "too long"}


def tree(text: str) -> Any:
    """As editors see it: dates are texts."""
    return json.loads(json.dumps(tomllib.loads(text), default=str))


RIGHT = {
    "sample": sample.people_path().with_name("people.toml").read_text(encoding="utf-8"),
    "dates": STUDY,
    "form": SMALL + FORM,
    **{text: changed('ranges = "age"', text) for text in FAMILIES},
    **{text: changed("epsilon = 1.0", text) for text in GUARANTEES},
}


@pytest.mark.parametrize("name", RIGHT)
def test_studies_are_accepted(name: str) -> None:
    VALIDATOR.validate(tree(RIGHT[name]))


@pytest.mark.parametrize("name", sorted(BAD.keys() - MEANT - NO_TOML))
def test_wrong_shapes_are_refused(name: str) -> None:
    assert not VALIDATOR.is_valid(tree(BAD[name][0]))


def test_editors_can_explain_every_key() -> None:
    tables = VALIDATOR.schema["$defs"].values()
    fields = [(name, field) for table in tables for name, field in table["properties"].items()]
    assert len(fields) > 60
    assert [name for name, field in fields if name != "type" and not field.get("description")] == []


def test_every_form_of_a_file_and_every_family_can_be_said() -> None:
    form = {field.name for field in dataclasses.fields(rs.CSV)} - {"path"}
    assert form == DataTable.model_fields.keys() - {"table", "url", "url_env"}
    names = {name for name in workload.__all__ if name[0].islower()} - {"matrix"}
    assert names | {"sql_file"} == QUERIES.keys()


def test_the_command_writes_it_and_drafts_name_it(tmp_path: Path) -> None:
    beside, people = tmp_path / "study.schema.json", tmp_path / "people.csv"
    people.write_text("age,sex\n3,F\n4,M\n")
    assert rowspace("init", people, "-o", tmp_path / "plain.toml").code == 0
    assert "schema" not in (tmp_path / "plain.toml").read_text()
    assert json.loads(rowspace("schema").out) == rs.Study.json_schema()
    assert rowspace("schema", "-o", beside).code == 0
    assert json.loads(beside.read_text()) == rs.Study.json_schema()
    assert "exists" in rowspace("schema", "-o", beside).err
    assert rowspace("init", people, "-o", tmp_path / "draft.toml").code == 0
    assert (tmp_path / "draft.toml").read_text().startswith("#:schema ./study.schema.json\n# DRAFT")
