"""Categories: types, the other bucket, taxonomies, equality, saving, refusal."""

from __future__ import annotations

import copy
import json
import pickle

import numpy as np
import pytest

from rowspace.domain import Categorical
from rowspace.exceptions import InvalidDomain

COUNTY = Categorical(
    ["Alameda", "Kern", "Clark", "Cook"],
    other="elsewhere",
    levels={
        "state": {"Alameda": "CA", "Kern": "CA", "Clark": "NV", "Cook": "IL"},
        "coast": {"CA": True, "NV": False, "IL": False, "elsewhere": False},
    },
)


def test_cells_and_labels():
    sex = Categorical(["F", "M"], other="unknown")
    assert sex.size == 3
    assert sex.labels() == ["F", "M", "unknown"]
    assert sex.labels(1, 2) == ["M"]
    assert sex.span_label(0, 2) == "F to unknown"
    assert Categorical([3, 1]).labels() == ["3", "1"]
    assert Categorical(np.array([True, False])).values == (True, False)
    assert Categorical(["", "a\nb", " x"]).labels() == ["''", "'a\\nb'", "' x'"]


def test_levels_compose_down_to_the_cells():
    state, coast = COUNTY.level("state"), COUNTY.level("coast")
    assert state.labels == ("CA", "NV", "IL", "elsewhere")
    assert state.groups.tolist() == [0, 0, 1, 2, 3]
    assert coast.labels == (True, False)
    assert coast.groups.tolist() == [0, 0, 1, 1, 1]
    assert (state.size, state.label(1), coast.label(0)) == (4, "NV", "True")


def test_levels_cannot_be_changed():
    with pytest.raises(TypeError):
        COUNTY.levels["state"]["Kern"] = "NV"


def test_equality_knows_types():
    assert Categorical([0, 1]) != Categorical([False, True])
    assert Categorical(["a"]) == Categorical(("a",))
    assert Categorical(["a"]) != Categorical(["a"], other="b")
    assert Categorical(COUNTY.values, other="elsewhere") != COUNTY
    assert Categorical(["a"]) != 3


@pytest.mark.parametrize(
    "attribute", [COUNTY, Categorical([1, 2]), Categorical([True, False]), Categorical(["é", ""], other="?")]
)
def test_round_trip(attribute):
    assert Categorical.from_dict(json.loads(json.dumps(attribute.to_dict()))) == attribute
    assert hash(Categorical.from_dict(attribute.to_dict())) == hash(attribute)
    assert copy.deepcopy(attribute) == attribute
    assert pickle.loads(pickle.dumps(attribute)) == attribute  # noqa: S301


@pytest.mark.parametrize(
    ("values", "options", "message"),
    [
        ([], {}, "values is empty"),
        ("FM", {}, "list of categories, got str"),
        (5, {}, "list of categories, got int"),
        ({"a": 1}, {}, "list of categories, got dict"),
        (["a", "a"], {}, "'a' is there twice"),
        (["a", 1], {}, "one type, got int and str"),
        ([True, 1], {}, "one type, got bool and int"),
        ([1.5], {}, "got float; use Numeric"),
        ([None], {}, "got NoneType; NULL is never a category"),
        ([["a"]], {}, "got list"),
        ([2**63], {}, "64-bit"),
        (["a"], {"other": "a"}, "already one of the values"),
        (["a"], {"other": 3}, "other must be the label"),
        (["a"], {"other": ""}, "other must be the label"),
        (["a"], {"levels": ["x"]}, "levels must map"),
        (["a"], {"levels": {"x": "y"}}, "level 'x' must map labels to labels, got str"),
        (["a", "b"], {"levels": {"x": {"a": "y"}}}, "missing: 'b'"),
        (["a"], {"levels": {"x": {"a": "y", "b": "y"}}}, "not among the values: 'b'"),
        (["a"], {"levels": {"x": {"a": "y"}, "z": {"a": "y"}}}, "must map each of the labels of level 'x'"),
        (["a"], {"levels": {"x": {"a": 1.5}}}, "the labels of level 'x' must be text"),
        (["a", "b"], {"levels": {"x": {"a": 1, "b": "c"}}}, "one type"),
        (["a"], {"other": "o", "levels": {"x": {"a": "o"}}}, "map 'o' as well"),
    ],
)
def test_impossible_categories_are_refused(values, options, message):
    with pytest.raises(InvalidDomain, match=message):
        Categorical(values, **options)


def test_unknown_level_suggests():
    with pytest.raises(InvalidDomain, match="did you mean 'state'"):
        COUNTY.level("stat")


@pytest.mark.parametrize(
    "data",
    [
        {},
        {"values": "ab"},
        {"values": ["a"], "levels": {"x": 1}},
        {"values": ["a"], "levels": [{"name": "x"}]},
        {"values": ["a"], "levels": [{"name": "x", "map": [["a"]]}]},
        {"values": ["a"], "levels": [{"name": "x", "map": [["a", []]]}]},
        {"values": ["a"], "levels": [{"name": "x", "map": [["a", "b"], ["a", "c"]]}]},
        {"values": ["a"], "levels": [{"name": "x", "map": [["a", "b"]]}, {"name": "x", "map": [["b", "c"]]}]},
        {"values": [{}]},
        {"values": ["a"], "other": []},
    ],
)
def test_damaged_files_are_refused(data):
    with pytest.raises(InvalidDomain):
        Categorical.from_dict(data)


def test_text_forms():
    assert str(COUNTY) == "Alameda, Kern, Clark, Cook, elsewhere; levels state, coast"
    assert repr(Categorical(["a"], other="b")) == "Categorical(['a'], other='b')"
    assert str(Categorical(list(range(9)))) == "0, 1, 2, 3, 4, 5, …"
