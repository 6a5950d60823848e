"""Reading an operator trusts nothing: what `encode` did not write is a `FileError`, never another exception."""

import copy
import json

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from rowspace import operators as op
from rowspace.exceptions import FileError, InvalidInput

from .catalogue import CASES

PREFIX = {"operator": "Prefix", "n": 3}
ARRAYS = {
    "vector": np.array([1.0, 2.0, 3.0]),
    "matrix": np.eye(3),
    "order": np.array([0, 1, 2]),
    "text": np.array(["a", "b", "c"]),
    "objects": np.array([None, 1, "x"], dtype=object),
    "complex": np.array([1j, 2, 3]),
    "NaN": np.array([np.nan, 1.0, 2.0]),
    "empty": np.array([]),
    "huge bounds": np.array([0, 2**60]),
    "unsigned": np.array([2**63, 0, 1], dtype=np.uint64),
    "not an array": [1.0, 2.0, 3.0],
}

UNREADABLE = {"matrix", "text", "objects", "complex", "NaN", "empty", "not an array"}


def nested(depth, layer):
    tree = PREFIX
    for _ in range(depth):
        tree = layer(tree)
    return tree


HOSTILE = (
    {
        "nothing": None,
        "number": 5,
        "text": "Prefix",
        "list": [PREFIX],
        "empty list": [],
        "empty mapping": {},
        "flag": True,
        "array instead of operator": {"array": "matrix"},
        "unknown class": {"operator": "Backdoor", "n": 3},
        "abstract base": {"operator": "Operator"},
        "abstract tree": {"operator": "TreeLike"},
        "a function": {"operator": "decode"},
        "a dunder": {"operator": "__class__"},
        "class is a number": {"operator": 5, "n": 3},
        "class is a list": {"operator": ["Prefix"], "n": 3},
        "class is a mapping": {"operator": {}, "n": 3},
        "class is nothing": {"operator": None},
        "missing field": {"operator": "Prefix"},
        "extra field": {"operator": "Prefix", "n": 3, "m": 4},
        "renamed field": {"operator": "Prefix", "size": 3},
        "private field": {"operator": "Prefix", "_n": 3},
        "keyword of the constructor": {"operator": "Sparse", "matrix": {"array": "matrix"}},
        "size is text": {"operator": "Prefix", "n": "3"},
        "size is real": {"operator": "Prefix", "n": 3.0},
        "size is a flag": {"operator": "Prefix", "n": True},
        "size is nothing": {"operator": "Prefix", "n": None},
        "size is negative": {"operator": "Prefix", "n": -3},
        "size is a list": {"operator": "Prefix", "n": [3]},
        "size is an array": {"operator": "Prefix", "n": {"array": "vector"}},
        "size is an operator": {"operator": "Prefix", "n": PREFIX},
        "size is astronomical": {"operator": "Hierarchy", "n": 10**5000, "branching": 2, "weights": None},
        "size is large": {"operator": "Hierarchy", "n": 2**50, "branching": 2, "weights": None},
        "wavelet of six": {"operator": "Haar", "n": 6, "weights": None},
        "weights are text": {"operator": "Haar", "n": 2, "weights": "ab"},
        "weights hold text": {"operator": "Haar", "n": 2, "weights": [1.0, "a"]},
        "weights hold nothing": {"operator": "Haar", "n": 2, "weights": [1.0, None]},
        "weights hold NaN": {"operator": "Haar", "n": 2, "weights": [1.0, float("nan")]},
        "weights hold lists": {"operator": "Haar", "n": 2, "weights": [[1.0], [2.0]]},
        "number is NaN": {"operator": "UniformGram", "n": 3, "a": float("nan"), "b": 1.0},
        "number is nothing": {"operator": "UniformGram", "n": 3, "a": None, "b": 1.0},
        "factor is infinite": {"operator": "Scaled", "factor": float("inf"), "of": PREFIX},
        "factor is an array": {"operator": "Scaled", "factor": {"array": "vector"}, "of": PREFIX},
        "part is a number": {"operator": "Scaled", "factor": 2.0, "of": 5},
        "part is nothing": {"operator": "Transpose", "of": None},
        "part is an array": {"operator": "Transpose", "of": {"array": "matrix"}},
        "parts are no list": {"operator": "Stack", "parts": PREFIX},
        "parts are empty": {"operator": "Stack", "parts": []},
        "parts differ": {"operator": "Stack", "parts": [PREFIX, {"operator": "Prefix", "n": 4}]},
        "parts hold numbers": {"operator": "Kronecker", "factors": [PREFIX, 3]},
        "factors are a number": {"operator": "Kronecker", "factors": 3},
        "terms are nothing": {"operator": "Sum", "terms": None},
        "inverse of no tree": {"operator": "TreeInverse", "tree": PREFIX},
        "missing array": {"operator": "Dense", "array": {"array": "elsewhere"}},
        "array name is a number": {"operator": "Dense", "array": {"array": 0}},
        "array name is a list": {"operator": "Dense", "array": {"array": []}},
        "array name is a mapping": {"operator": "Dense", "array": {"array": {}}},
        "array name is nothing": {"operator": "Dense", "array": {"array": None}},
        "array and more": {"operator": "Dense", "array": {"array": "matrix", "dtype": "O"}},
        "array inline": {"operator": "Dense", "array": [[1.0, 0.0], ["x", None]]},
        "array is a vector": {"operator": "Dense", "array": {"array": "vector"}},
        "array is no array": {"operator": "Diagonal", "values": {"array": "not an array"}},
        "sparse of nonsense": {
            "operator": "Sparse",
            "data": {"array": "vector"},
            "indices": {"array": "order"},
            "indptr": {"array": "vector"},
            "columns": 3,
        },
        "sparse out of range": {
            "operator": "Sparse",
            "data": {"array": "vector"},
            "indices": {"array": "order"},
            "indptr": {"array": "order"},
            "columns": 10**30,
        },
        "more cells than memory": {
            "operator": "Tree",
            "bounds": [{"array": "huge bounds"}],
            "weights": [1.0],
        },
        "deep nest of operators": nested(200, lambda tree: {"operator": "Transpose", "of": tree}),
        "deep nest of unions": nested(100, lambda tree: {"operator": "Stack", "parts": [tree]}),
        "deep nest of lists": {"operator": "Stack", "parts": nested(500, lambda tree: [tree])},
        "deeper than Python recurses": nested(50_000, lambda tree: {"operator": "Transpose", "of": tree}),
    }
    | {
        f"diagonal of {name}": {"operator": "Diagonal", "values": {"array": name}}
        for name in ARRAYS
        if name in UNREADABLE
    }
    | {
        f"order of {name}": {"operator": "Permuted", "of": PREFIX, "order": {"array": name}}
        for name in ARRAYS
        if name != "order"
    }
)


@pytest.mark.parametrize("tree", HOSTILE)
def test_hostile_trees(tree):
    with pytest.raises(FileError, match="damaged file"):
        op.decode(HOSTILE[tree], ARRAYS)


def test_reading_leaves_arrays_alone_and_keeps_none_of_them():
    arrays = {"array0": np.eye(3)}
    operator = op.decode({"operator": "Dense", "array": {"array": "array0"}}, arrays)
    arrays["array0"][0, 0] = 7
    assert operator == op.Dense(np.eye(3))


def unions(depth):
    operator = op.Prefix(3)
    for _ in range(depth):
        operator = op.Stack(operator)
    return operator


def test_what_can_be_written_can_be_read():
    """The limit on nesting is met when writing, not discovered when the plan is needed."""
    for depth in range(16):
        tree, arrays = op.encode(unions(depth))
        assert op.decode(json.loads(json.dumps(tree)), arrays) == unions(depth)
    with pytest.raises(InvalidInput, match="nested"):
        op.encode(unions(16))


def test_arrays_are_named_by_the_tree():
    tree, arrays = op.encode(op.Stack(op.Dense(np.eye(2)), op.Diagonal([1, 2])))
    assert tree == {
        "operator": "Stack",
        "parts": [
            {"operator": "Dense", "array": {"array": "array0"}},
            {"operator": "Diagonal", "values": {"array": "array1"}},
        ],
    }
    assert sorted(arrays) == ["array0", "array1"]


def places(tree, path=()):
    """Every path into a JSON tree."""
    yield path
    items = tree.items() if isinstance(tree, dict) else enumerate(tree) if isinstance(tree, list) else ()
    for key, value in items:
        yield from places(value, (*path, key))


def replaced(tree, path, value):
    if not path:
        return value
    tree = copy.deepcopy(tree)
    inner = tree
    for key in path[:-1]:
        inner = inner[key]
    inner[path[-1]] = value
    return tree


ENCODED = [op.encode(case.operator) for case in CASES]
JUNK = st.one_of(
    st.sampled_from(
        [None, True, -1, 0, 1, 3, 2**70, 0.5, float("nan"), "", "array0", "Prefix", [], {}, [[]], PREFIX]
    ),
    st.sampled_from([{"array": "array0"}, {"array": "array1"}, {"array": "nowhere"}, {"operator": "Dense"}]),
    st.sampled_from([tree for tree, _ in ENCODED]),
)
SPOILT = st.sampled_from(
    [np.array(["x"]), np.array([]), np.array([np.nan]), np.arange(3), np.eye(2), np.array([1j])]
)


@given(st.sampled_from(ENCODED), st.lists(JUNK, min_size=1, max_size=2), st.data())
@settings(max_examples=300, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck))
def test_mutated_files(encoded, junk, data):
    """A file with one or two values replaced is an operator whose verbs work, or a `FileError`."""
    tree, arrays = encoded
    for value in junk:
        path = data.draw(st.sampled_from(list(places(tree))))
        tree = replaced(tree, path, value)
    if arrays and data.draw(st.booleans()):
        arrays = arrays | {data.draw(st.sampled_from(sorted(arrays))): data.draw(SPOILT)}
    try:
        operator = op.decode(tree, arrays)
    except FileError:
        return
    m, n = operator.shape
    assert m >= 1
    assert n >= 1
    assert operator.integral in (True, False)
    assert operator.full_column_rank in (True, False, None)
    if m * n < 10_000:
        assert (operator @ np.ones(n)).shape == (m,)
