"""Bins: edges, labels, integer semantics, equality, saving, refusal."""

from __future__ import annotations

import json
import tracemalloc

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rowspace.domain import Numeric
from rowspace.exceptions import InvalidDomain


def test_equal_bins_have_exact_edges():
    assert Numeric(0, 100, bins=100).edges.tolist() == list(range(101))
    assert Numeric(0, 1, bins=10).edges.tolist() == [k / 10 for k in range(11)]


@given(
    st.floats(-1e6, 1e6),
    st.floats(1e-3, 1e6),
    st.integers(1, 200),
)
def test_edges_increase_and_agree_with_single_edges(low, width, bins):
    attribute = Numeric(low, low + width, bins=bins)
    assert np.all(np.diff(attribute.edges) > 0)
    assert attribute.edges.tolist() == [attribute.edge(k) for k in range(bins + 1)]
    assert attribute.edges[-1] == low + width


def test_edges_cannot_be_changed():
    for attribute in (Numeric(0, 4, bins=4), Numeric(edges=[0, 1, 5])):
        with pytest.raises(ValueError, match="read-only"):
            attribute.edges[0] = 7


@pytest.mark.parametrize(
    ("attribute", "labels"),
    [
        (Numeric(18, 21, bins=3, integer=True), ["18", "19", "20"]),
        (Numeric(18, 21, bins=3), ["[18, 19)", "[19, 20)", "[20, 21)"]),
        (Numeric(edges=[0, 18, 19, 65], integer=True), ["[0, 18)", "18", "[19, 65)"]),
        (Numeric(0, 1, bins=2), ["[0, 0.5)", "[0.5, 1)"]),
        (Numeric(0.1, 0.4, bins=3), ["[0.1, 0.2)", "[0.2, 0.3)", "[0.3, 0.4)"]),
        (Numeric(-1, 1, bins=1), ["[-1, 1)"]),
        (Numeric(edges=[1, 1 + 1e-14, 2]), ["[1, 1.00000000000001)", "[1.00000000000001, 2)"]),
    ],
)
def test_labels(attribute, labels):
    assert attribute.labels() == labels
    assert [attribute.label(k) for k in range(attribute.size)] == labels
    assert attribute.labels(1, 2) == labels[1:2]


def test_labels_are_distinct_whatever_the_scale():
    for attribute in (
        Numeric(1e9, 1e9 + 1e-4, bins=7),
        Numeric(1e16, 3e16, bins=9),
        Numeric(0, 1e-30, bins=5),
    ):
        assert len(set(attribute.labels())) == attribute.size


def test_span_label_covers_its_bins():
    age = Numeric(0, 100, bins=100, integer=True)
    assert age.span_label(18, 64) == "[18, 65)"
    assert age.span_label(18, 18) == "18"


@pytest.mark.parametrize(
    ("attribute", "integer"),
    [
        (Numeric(0, 10, bins=5), False),
        (Numeric(0, 10, bins=10), False),
        (Numeric(edges=[0, 1, 7]), False),
        (Numeric(0, 10, bins=5, integer=True), True),
        (Numeric.from_dict({"low": 0, "high": 10, "bins": 10}), False),
    ],
)
def test_integers_are_never_assumed(attribute, integer):
    assert attribute.integer is integer


def test_a_million_bins_cost_nothing_until_their_edges_are_needed():
    tracemalloc.start()
    attribute = Numeric(0, 2**20, bins=2**20, integer=True)
    assert attribute.label(2**20 - 1) == str(2**20 - 1)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 20_000
    assert len(attribute.edges) == 2**20 + 1


def test_equal_attributes_are_equal_however_declared():
    assert Numeric(0, 4, bins=4) == Numeric(edges=range(5))
    assert hash(Numeric(0, 4, bins=4)) == hash(Numeric(edges=np.arange(5)))
    assert Numeric(0, 4, bins=4) != Numeric(0, 4, bins=2)
    assert Numeric(0, 4, bins=4) != Numeric(0, 4, bins=4, outside="clip")
    assert Numeric(0, 4, bins=4) != Numeric(0, 4, bins=4, integer=True)
    assert Numeric(edges=[0, 1, 3]) != Numeric(edges=[0, 2, 3])
    assert Numeric(0, 4, bins=4) != "age"


@pytest.mark.parametrize(
    "attribute",
    [
        Numeric(0, 100, bins=100),
        Numeric(0, 1, bins=7, outside="clip"),
        Numeric(edges=[0, 0.5, 7], integer=False),
        Numeric(0, 2**20, bins=2**20),
    ],
)
def test_round_trip(attribute):
    text = json.dumps(attribute.to_dict())
    assert len(text) < 200
    assert Numeric.from_dict(json.loads(text)) == attribute


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"low": 0, "high": 10}, "bins is missing"),
        ({"low": 0, "bins": 3}, "high is missing"),
        ({}, "low is missing"),
        ({"low": 0, "high": 10, "bins": 0}, "between 1 and"),
        ({"low": 0, "high": 10, "bins": -1}, "between 1 and"),
        ({"low": 0, "high": 10, "bins": 2**40}, "between 1 and"),
        ({"low": 0, "high": 10, "bins": 10**5000}, "more than 30 digits"),
        ({"low": 0, "high": 10, "bins": 2.5}, "whole number, got float"),
        ({"low": 0, "high": 10, "bins": True}, "whole number, got bool"),
        ({"low": 10, "high": 10, "bins": 1}, "low must be below high"),
        ({"low": float("nan"), "high": 10, "bins": 1}, "low must be finite"),
        ({"low": 0, "high": float("inf"), "bins": 1}, "high must be finite"),
        ({"low": 0, "high": 10**400, "bins": 1}, "high must be a finite number"),
        ({"low": "0", "high": 10, "bins": 1}, "low must be a number, got str"),
        ({"low": 1e15, "high": 1e15 + 1, "bins": 100}, "finer than float64"),
        ({"low": 0, "high": 10, "bins": 2, "edges": [0, 1]}, "got both"),
        ({"edges": [0, 1, 1]}, "edges must increase: edge 2"),
        ({"edges": [0, 2, 1]}, "edges must increase"),
        ({"edges": [0, float("nan")]}, "edge 1 must be finite"),
        ({"edges": [0, None]}, "edge 1 is missing"),
        ({"edges": [1]}, "at least two numbers"),
        ({"edges": []}, "at least two numbers"),
        ({"edges": 5}, "list of numbers, got int"),
        ({"edges": "12"}, "list of numbers, got str"),
        ({"edges": [0, [1]]}, "got list"),
        ({"low": 0, "high": 1, "bins": 2, "integer": True}, "integer=True needs every bin edge"),
        ({"low": 0, "high": 1, "bins": 1, "integer": "yes"}, "integer must be True or False"),
        ({"low": 0, "high": 1, "bins": 1, "outside": "keep"}, "'missing', 'clip' or 'drop'"),
    ],
)
def test_impossible_bins_are_refused(arguments, message):
    with pytest.raises(InvalidDomain, match=message):
        Numeric(**arguments)


def test_text_forms():
    assert (
        str(Numeric(0, 100, bins=10, outside="clip"))
        == "numbers in [0, 100), 10 bins of width 10, others clipped"
    )
    assert repr(Numeric(edges=[0, 0.5, 7])) == "Numeric(edges=[0, 0.5, 7], outside='missing', integer=False)"
    assert (
        repr(Numeric(0, 4, bins=4, integer=True)) == "Numeric(0, 4, bins=4, outside='missing', integer=True)"
    )
