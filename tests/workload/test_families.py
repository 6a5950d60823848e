"""Named families against queries written out cell by cell."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest

from rowspace import operators as op
from rowspace import workload as wl
from rowspace.domain import Categorical, Dates, Domain, HourOfDay, Numeric
from rowspace.exceptions import InvalidDomain, InvalidWorkload, TooLarge

from .records import COASTS, DOMAIN, STATES

SMALL = Domain(
    x=Numeric(0, 4, bins=4, integer=True), y=Categorical(["a", "b"]), z=Numeric(0, 3, bins=3, integer=True)
)


def dense(workload):
    return workload.weighted_operator().to_dense()


def counted(domain, selects):
    """One dense row: which cells a function of the cell selects."""
    return [float(selects(*cell)) for cell in itertools.product(*map(range, domain.shape))]


def test_ranges():
    rows = [counted(SMALL, lambda x, y, z, i=i, j=j: i <= x <= j) for i in range(4) for j in range(i, 4)]
    workload = wl.ranges(SMALL, "x")
    assert dense(workload).tolist() == rows
    spans = [(i, j) for i in range(4) for j in range(i, 4)]
    assert workload.labels() == [f"x = {i}" if i == j else f"x in [{i}, {j + 1})" for i, j in spans]


def test_prefixes():
    rows = [counted(SMALL, lambda x, y, z, j=j: z <= j) for j in range(3)]
    assert dense(wl.prefixes(SMALL, "z")).tolist() == rows
    assert wl.prefixes(SMALL, "z").labels() == ["z = 0", "z in [0, 2)", "z in [0, 3)"]


def test_widths():
    rows = [counted(SMALL, lambda x, y, z, i=i: i <= x <= i + 1) for i in range(3)]
    workload = wl.widths(SMALL, "x", 2)
    assert dense(workload).tolist() == rows
    assert workload.labels() == ["x in [0, 2)", "x in [1, 3)", "x in [2, 4)"]
    assert workload.parts[0].group == "ranges of x of 2 cells"


def test_ranges_of_categories_follow_the_declared_order():
    assert wl.ranges(SMALL, "y").labels() == ["y = a", "y from a to b", "y = b"]


def test_marginal():
    rows = [counted(SMALL, lambda x, y, z, i=i, k=k: x == i and z == k) for i in range(4) for k in range(3)]
    assert dense(wl.marginal(SMALL, "z", "x")).tolist() == rows
    assert wl.marginal(SMALL, "z", "x") == wl.marginal(SMALL, "x", "z")


def test_levels_are_marginals_of_their_attribute():
    names = ("sex", "county")
    joint = Domain((name, DOMAIN[name]) for name in names)
    workload = wl.marginal(joint, "coastal", "sex")
    labels = [
        f"sex = {sex} and coastal = {coastal}" for sex in ("F", "M", "unknown") for coastal in (True, False)
    ]
    assert workload.labels() == labels
    rows = [
        [
            float(s == sex and COASTS[STATES[joint["county"].values[c]]] is coastal)
            for s, c in itertools.product(*map(range, joint.shape))
        ]
        for sex in range(3)
        for coastal in (True, False)
    ]
    assert dense(workload).tolist() == rows
    assert workload.columns == ("sex", "coastal")


def test_marginals_up_to():
    workload = wl.marginals(SMALL, up_to=2)
    assert [part.group for part in workload.parts] == ["total", "x", "y", "z", "x × y", "x × z", "y × z"]
    assert workload.size == 1 + 4 + 2 + 3 + 8 + 12 + 6
    stacked = np.concatenate([dense(wl.marginal(SMALL, *part.attributes)) for part in workload.parts])
    assert np.array_equal(dense(workload), stacked)


def test_marginals_exactly_and_sets():
    assert [p.group for p in wl.marginals(SMALL, exactly=1).parts] == ["x", "y", "z"]
    assert [p.group for p in wl.marginals(SMALL, sets=[["z"], ("y", "x"), []]).parts] == [
        "z",
        "x × y",
        "total",
    ]
    assert wl.marginals(SMALL, up_to=0) == wl.total(SMALL)


def test_cube_identity_total():
    assert len(wl.cube(SMALL).parts) == 8
    assert wl.cube(SMALL).size == math.prod(n + 1 for n in SMALL.shape)
    assert np.array_equal(dense(wl.identity(SMALL)), np.eye(24))
    assert wl.identity(SMALL).label(23) == "x = 3 and y = b and z = 2"
    assert dense(wl.total(SMALL)).tolist() == [[1.0] * 24]
    assert wl.total(SMALL).labels() == ["all records"]


def test_product_of_families():
    workload = wl.product(SMALL, z="prefixes", x="ranges")
    expected = np.kron(np.kron(op.Ranges(4).to_dense(), np.ones((1, 2))), op.Prefix(3).to_dense())
    assert np.array_equal(dense(workload), expected)
    assert workload.label(4) == "x in [0, 2) and z in [0, 2)"
    assert wl.product(SMALL, {"y": "identity"}, x="total").labels() == ["y = a", "y = b"]
    assert wl.product(SMALL, x="total").labels() == ["all records"]


def test_product_of_operators():
    hierarchy = op.Hierarchy(4)
    workload = wl.product(SMALL, x=hierarchy, y=op.Identity(2), z=op.Total(3))
    expected = np.kron(np.kron(hierarchy.to_dense(), np.eye(2)), np.ones((1, 3)))
    assert np.array_equal(dense(workload), expected)
    assert workload.label(3) == "x: row 1 and y = b"
    assert wl.product(SMALL, x=op.WidthRanges(4, 3)).labels() == ["x in [0, 3)", "x in [1, 4)"]


def test_product_over_a_level():
    workload = wl.product(DOMAIN, state="identity", age="ranges")
    assert workload.label(1) == "age in [0, 3) and state = NV"
    assert workload.columns == ("age", "state")


@pytest.mark.parametrize("n", [1, 2, 7, 1000])
def test_every_range_is_labelled_by_its_own_ends(n):
    workload = wl.ranges(Domain(x=Numeric(0, n, bins=n, integer=True)), "x")
    factor = workload.parts[0].factors[0]
    sample = {0, workload.size - 1, workload.size // 2, n - 1, n % workload.size, workload.size // 3}
    for row in sample:
        (first,), (last,) = factor.ends(np.array([row]))
        expected = [float(first <= cell <= last) for cell in range(n)]
        assert workload.weighted_operator().rows_dense(row, row + 1)[0].tolist() == expected


@pytest.mark.parametrize(
    ("make", "error", "message"),
    [
        (lambda: wl.ranges(SMALL, "xx"), InvalidDomain, "unknown attribute 'xx'; did you mean 'x'"),
        (lambda: wl.ranges(DOMAIN, "state"), InvalidDomain, "'state' is a level of 'county'"),
        (lambda: wl.prefixes(SMALL, 3), InvalidDomain, "must be text, got int"),
        (lambda: wl.widths(SMALL, "x", 0), InvalidWorkload, "between 1 and 4"),
        (lambda: wl.widths(SMALL, "x", 5), InvalidWorkload, "between 1 and 4"),
        (lambda: wl.widths(SMALL, "x", 1.5), InvalidWorkload, "whole number of cells, got float"),
        (lambda: wl.widths(SMALL, "x", True), InvalidWorkload, "whole number of cells, got bool"),
        (lambda: wl.marginal(SMALL, "w"), InvalidDomain, "unknown attribute 'w'"),
        (lambda: wl.marginal(SMALL, "x", "x"), InvalidWorkload, "'x' is named twice"),
        (
            lambda: wl.marginal(DOMAIN, "coastal", "county"),
            InvalidWorkload,
            "'county' already determines 'coastal'",
        ),
        (
            lambda: wl.marginal(DOMAIN, "coastal", "state"),
            InvalidWorkload,
            "'state' already determines 'coastal'",
        ),
        (lambda: wl.marginal("x"), InvalidWorkload, "needs a Domain first, got str"),
        (lambda: wl.marginals(SMALL), InvalidWorkload, "exactly one of"),
        (lambda: wl.marginals(SMALL, up_to=1, exactly=1), InvalidWorkload, "exactly one of"),
        (lambda: wl.marginals(SMALL, up_to=4), InvalidWorkload, "0 to 3 attributes here, got 4"),
        (lambda: wl.marginals(SMALL, exactly=-1), InvalidWorkload, "0 to 3"),
        (lambda: wl.marginals(SMALL, up_to=True), InvalidWorkload, "0 to 3"),
        (lambda: wl.marginals(SMALL, sets=["x"]), InvalidWorkload, "list of lists"),
        (lambda: wl.marginals(SMALL, sets=[3]), InvalidWorkload, "list of lists"),
        (lambda: wl.marginals(SMALL, sets=[]), InvalidWorkload, "at least one query"),
        (lambda: wl.product(SMALL), InvalidWorkload, "at least one attribute"),
        (lambda: wl.product(SMALL, x="range"), InvalidWorkload, "needs one of identity, ranges"),
        (lambda: wl.product(SMALL, x=3), InvalidWorkload, "or an operator, got 3"),
        (lambda: wl.product(SMALL, x=op.Ranges(5)), InvalidWorkload, "needs 4 columns, got 5"),
        (lambda: wl.product(SMALL, x=op.Total(5)), InvalidWorkload, "needs 4 columns, got 5"),
        (lambda: wl.product(SMALL, w="total"), InvalidDomain, "unknown attribute 'w'"),
        (
            lambda: wl.product(DOMAIN, state="identity", county="ranges"),
            InvalidWorkload,
            "already determines",
        ),
        (
            lambda: wl.cube(Domain({f"a{k}": Categorical([1, 2]) for k in range(21)})),
            TooLarge,
            "2,097,152 marginals",
        ),
    ],
)
def test_impossible_families_are_refused(make, error, message):
    with pytest.raises(error, match=message):
        make()


def test_the_ends_of_ranges_are_exact_among_a_thousand_million_million():
    n = 2**26
    starts = np.array([0, 1, 2, 12345, n // 2, n - 3, n - 2, n - 1], dtype=np.int64)
    first_rows = starts * n - starts * (starts - 1) // 2
    first, last = op.Ranges(n).ends(np.concatenate([first_rows, first_rows[1:] - 1]))
    assert first.tolist() == [*starts.tolist(), *(starts[1:] - 1).tolist()]
    assert last.tolist() == [*starts.tolist(), *[n - 1] * (len(starts) - 1)]


@pytest.mark.parametrize(
    "attribute",
    [
        Numeric(0, 40, bins=40, integer=True),
        Numeric(edges=[0, 0.1, 0.30000000000000004, 7]),
        Dates("2024-01-01", "2024-03-01", every="day"),
        Dates("2024-01-01", "2026-01-01", every="month"),
        HourOfDay(),
        Categorical(["[0, 3)", "b", "c"]),
    ],
    ids=str,
)
def test_many_ranges_are_worded_as_each_by_itself(attribute, monkeypatch):
    w = wl.ranges(Domain(x=attribute), "x") + wl.identity(Domain(x=attribute))
    alone = [w.label(number) for number in range(w.size)]
    texts = [wl.Workload(w.domain, [part]).table(k, k + 1)["x"] for part in w.parts for k in range(part.size)]
    # One by one the labels of a hundred thousand ranges of days take three times as long.
    monkeypatch.setattr(type(attribute), "span_label", None)
    assert w.labels() == alone
    assert w.table()["x"] == [text for (text,) in texts]
