"""Saved workloads: what is read is what was written, and nothing else is read."""

from __future__ import annotations

import contextlib
import copy
import json

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rowspace import operators as op
from rowspace import workload as wl
from rowspace.exceptions import RowspaceError
from rowspace.workload import Workload

from .records import DOMAIN

EVERYTHING = (
    wl.ranges(DOMAIN, "age")
    + 2.5 * wl.prefixes(DOMAIN, "height")
    + wl.widths(DOMAIN, "age", 2)
    + wl.marginals(DOMAIN, up_to=2)
    + wl.marginal(DOMAIN, "state", "owner")
    + wl.product(DOMAIN, age=op.Dense(np.arange(8.0).reshape(2, 4)), height=op.Hierarchy(4))
    + wl.predicates(DOMAIN, ["age < 3 and (sex = 'F' or owner)", "not state in ('CA')", "`rooms`>=2"])
    + wl.total(DOMAIN)
)


def through_json(workload):
    tree, arrays = workload.to_dict()
    return Workload.from_dict(json.loads(json.dumps(tree)), arrays)


def test_round_trip():
    again = through_json(EVERYTHING)
    assert again == EVERYTHING
    assert again.labels() == EVERYTHING.labels()
    assert again.table() == EVERYTHING.table()
    assert np.array_equal(again.weighted_operator().to_dense(), EVERYTHING.weighted_operator().to_dense())


def test_round_trip_of_a_matrix():
    workload = wl.matrix(np.array([[1.5, -2.0], [0.0, 3.0]])) + 2 * wl.matrix(
        op.Stack(op.Prefix(2), op.Total(2))
    )
    assert through_json(workload) == workload


def test_round_trip_of_the_longest_predicate():
    text = " or ".join(["owner"] * 1111)
    assert len(text) < 10_000 < len(wl.predicates(DOMAIN, [text]).label(0))
    assert through_json(wl.predicates(DOMAIN, [text])) == wl.predicates(DOMAIN, [text])


def test_shared_factors_are_written_once():
    tree, arrays = wl.marginals(DOMAIN, up_to=2).to_dict()
    assert len(tree["factors"]) == 6
    assert len(tree["parts"]) == 22
    assert arrays == {}


def _paths(tree, path=()):
    """Every place in a tree."""
    yield path
    items = tree.items() if isinstance(tree, dict) else enumerate(tree) if isinstance(tree, list) else ()
    for key, value in items:
        yield from _paths(value, (*path, key))


TREE, ARRAYS = EVERYTHING.to_dict()
TREE = json.loads(json.dumps(TREE))
PATHS = [path for path in _paths(TREE) if path]
JUNK = st.sampled_from(
    [
        None,
        True,
        -1,
        0,
        10**6,
        2**70,
        1e308,
        float("nan"),
        "",
        "age",
        "x < 3",
        [],
        {},
        [[]],
        [0],
        {"operator": "Total"},
    ]
)


@settings(max_examples=300, deadline=None)
@given(st.sampled_from(PATHS), JUNK, st.booleans())
def test_damage_is_refused_or_harmless(path, junk, delete):
    """Anything may stand anywhere in a file: it is read as a workload or refused as a RowspaceError."""
    tree = copy.deepcopy(TREE)
    place = tree
    for key in path[:-1]:
        place = place[key]
    if delete:
        del place[path[-1]]
    else:
        place[path[-1]] = junk
    with contextlib.suppress(RowspaceError):
        assert Workload.from_dict(tree, ARRAYS).size >= 1


@pytest.mark.parametrize("tree", [None, [], {}, {"domain": {}}, {"domain": DOMAIN.to_dict()}, "x"])
def test_what_is_no_workload_is_refused(tree):
    with pytest.raises(RowspaceError):
        Workload.from_dict(tree, {})


SAVED = wl.marginal(DOMAIN, "age").to_dict()[0]


@pytest.mark.parametrize(
    "change",
    [
        {"parts": []},
        {"parts": [{"factors": [0, 0], "weight": 1.0, "name": None}]},
        {"parts": [{"factors": [-1], "weight": 1.0, "name": None}]},
        {"parts": [{"factors": [True], "weight": 1.0, "name": None}]},
        {"parts": [{"factors": [0], "weight": -1.0, "name": None}]},
        {"parts": [{"factors": [0], "weight": float("inf"), "name": None}]},
        {"parts": [{"factors": [0], "weight": 1.0, "name": 7}]},
        {"factors": [{"kind": "cells", "attributes": ["age", "sex"]}]},
        {"factors": [{"kind": "cells", "attributes": []}]},
        {"factors": [{"kind": "cells", "attributes": ["nobody"]}]},
        {"factors": [{"kind": "spell", "attributes": ["age"]}]},
        {"factors": [{"kind": "level", "attributes": ["age"], "level": "state"}]},
        {"factors": [{"kind": "level", "attributes": ["county"], "level": "county"}]},
        {"factors": [{"kind": "widths", "attributes": ["age"], "width": 99}]},
        {"factors": [{"kind": "widths", "attributes": ["age"], "width": True}]},
        {"factors": [{"kind": "conditions", "attributes": ["age"], "texts": []}]},
        {"factors": [{"kind": "conditions", "attributes": ["age"], "texts": ["sex = 'F'"]}]},
        {"factors": [{"kind": "conditions", "attributes": ["age", "sex"], "texts": ["age < 3"]}]},
        {"factors": [{"kind": "conditions", "attributes": ["age"], "texts": [3]}]},
        {"factors": [{"kind": "conditions", "attributes": ["age"], "texts": ["age < 0"]}]},
        {"factors": [{"kind": "matrix", "attributes": ["age"], "matrix": {"operator": "Total", "n": 5}}]},
        {"factors": [{"kind": "matrix", "attributes": ["age"], "matrix": {"operator": "System", "n": 4}}]},
        {"factors": [{"kind": "matrix", "attributes": ["age"]}]},
        {"factors": [5]},
    ],
)
def test_impossible_files_are_refused(change):
    with pytest.raises(RowspaceError):
        Workload.from_dict({**SAVED, **change}, {})
