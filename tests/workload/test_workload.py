"""The workload as a value: unions, weights, reduction, labels, tables, text."""

from __future__ import annotations

import numpy as np
import pytest

from rowspace import operators as op
from rowspace import workload as wl
from rowspace.domain import Categorical, Domain, Numeric
from rowspace.exceptions import InvalidWorkload, TooLarge
from rowspace.workload.factors import Cells

from .records import DOMAIN

SMALL = Domain(x=Numeric(0, 4, bins=4), y=Categorical(["a", "b"]), z=Numeric(0, 3, bins=3))


def test_union_keeps_order_and_sizes():
    workload = wl.ranges(SMALL, "x") + wl.marginal(SMALL, "y")
    workload += wl.total(SMALL)
    assert len(workload) == workload.size == 13
    assert [part.group for part in workload.parts] == ["ranges of x", "y", "total"]
    pieces = [wl.ranges(SMALL, "x"), wl.marginal(SMALL, "y"), wl.total(SMALL)]
    assert np.array_equal(
        workload.weighted_operator().to_dense(),
        np.concatenate([p.weighted_operator().to_dense() for p in pieces]),
    )
    assert sum(pieces) == workload


def test_weights_scale_rows_and_not_answers():
    workload = 4 * wl.marginal(SMALL, "y") * 0.5 + np.float64(3) * wl.total(SMALL)
    assert [part.weight for part in workload.parts] == [2.0, 3.0]
    plain = workload.operator().to_dense()
    assert np.array_equal(workload.weighted_operator().to_dense(), np.array([[2.0], [2.0], [3.0]]) * plain)
    assert set(np.unique(plain)) == {0.0, 1.0}
    assert workload.labels() == ["y = a", "y = b", "all records"]


def test_weights_distribute_over_unions():
    left, right = wl.ranges(SMALL, "x"), 2 * wl.total(SMALL)
    assert 3 * (left + right) == 3 * left + 6 * wl.total(SMALL)
    assert 1 * left == left


def test_operators_are_as_simple_as_they_can_be():
    assert wl.ranges(Domain(x=SMALL["x"]), "x").weighted_operator() == op.Ranges(4)
    assert isinstance(wl.ranges(SMALL, "x").weighted_operator(), op.Kronecker)
    assert wl.ranges(SMALL, "x").weighted_operator() == op.Kronecker(op.Ranges(4), op.Total(2), op.Total(3))
    assert isinstance((wl.ranges(SMALL, "x") + wl.total(SMALL)).weighted_operator(), op.Stack)


def test_reduction_drops_what_no_query_is_about():
    workload = wl.ranges(SMALL, "x") + 2 * wl.marginal(SMALL, "z")
    reduced = workload.reduced()
    assert workload.attributes == reduced.domain.names == ("x", "z")
    assert reduced.labels() == workload.labels()
    counts = np.arange(24).reshape(SMALL.shape)
    full = workload.weighted_operator() @ counts.ravel()
    assert np.array_equal(reduced.weighted_operator() @ counts.sum(axis=1).ravel(), full)
    assert reduced.reduced() is reduced


def test_the_total_keeps_the_smallest_attribute():
    assert wl.total(SMALL).attributes == ()
    assert wl.total(SMALL).reduced().domain.names == ("y",)


def test_labels_and_tables_agree_on_any_window():
    workload = (
        wl.total(DOMAIN)
        + wl.product(DOMAIN, age="ranges", state="identity", owner="identity")
        + wl.predicates(DOMAIN, ["age < 3 or owner", "sex = 'F'"])
        + wl.marginal(DOMAIN, "county")
    )
    labels, table = workload.labels(), workload.table()
    assert len(labels) == workload.size == 1 + 10 * 2 * 2 + 2 + 3
    assert set(map(len, table.values())) == {workload.size}
    for start, stop in [(0, 0), (0, 1), (1, 2), (5, 44), (40, 43), (45, 46), (46, 46)]:
        assert workload.labels(start, stop) == labels[start:stop]
        assert workload.table(start, stop) == {name: column[start:stop] for name, column in table.items()}
    assert [workload.label(i) for i in range(workload.size)] == labels
    assert list(table) == ["group", "age", "sex", "county", "state", "owner"]
    row = {name: column[3] for name, column in table.items()}
    assert labels[3] == "age in [0, 3) and state = NV and owner = True"
    assert row == {
        "group": "age ranges × state identity × owner identity",
        "age": "[0, 3)",
        "sex": "all",
        "county": "all",
        "state": "NV",
        "owner": "True",
    }


def test_alternatives_keep_their_parentheses_in_a_product():
    assert wl.predicates(DOMAIN, ["(age < 3 or sex = 'F') and owner"]).labels() == [
        "(age < 3 or sex = 'F') and owner = true"
    ]


def test_an_attribute_called_group_keeps_its_column():
    domain = Domain(group=Categorical(["a", "b"]))
    assert wl.marginal(domain, "group").table() == {"query group": ["group", "group"], "group": ["a", "b"]}


def test_labels_beyond_64_bits():
    domain = Domain({f"a{k}": Categorical(list(range(1000))) for k in range(30)})
    workload = wl.identity(domain)
    assert workload.size == 1000**30
    assert workload.label(workload.size - 1) == " and ".join(f"a{k} = 999" for k in range(30))
    assert "about 10^90.0 queries" in str(workload)
    with pytest.raises(TooLarge, match=r"use \.size"):
        len(workload)
    with pytest.raises(TooLarge, match="too many to label"):
        workload.labels()


def test_text_fits_a_screen():
    workload = wl.marginals(Domain({f"a{k}": Categorical([1, 2]) for k in range(10)}), up_to=2)
    lines = str(workload).split("\n")
    assert lines[0] == "Workload of 201 queries about a0, a1, a2, a3, a4, a5, … (1,024 cells)"
    assert lines[-1] == "  … and 36 more groups"
    assert len(lines) == 23
    assert str(wl.total(SMALL)).startswith("Workload of 1 query about all records")
    assert repr(workload) == "<Workload of 201 queries in 56 parts>"


def test_equality():
    assert wl.ranges(SMALL, "x") == wl.ranges(SMALL, "x")
    assert wl.ranges(SMALL, "x") != wl.prefixes(SMALL, "x")
    assert wl.ranges(SMALL, "x") != 2 * wl.ranges(SMALL, "x")
    assert wl.ranges(SMALL, "x") != wl.ranges(SMALL.subset(["x"]), "x")
    assert wl.matrix([[1, 2]]) == wl.matrix([[1, 2]])
    assert wl.matrix([[1, 2]]) != wl.matrix([[1, 3]])


OTHER = Domain(x=Numeric(0, 4, bins=4))
PART_X = wl.Part((Cells(OTHER),))


@pytest.mark.parametrize(
    ("make", "error", "message"),
    [
        (lambda: 0 * wl.total(SMALL), InvalidWorkload, "positive and finite, got 0.0"),
        (lambda: -1 * wl.total(SMALL), InvalidWorkload, "positive and finite"),
        (lambda: float("nan") * wl.total(SMALL), InvalidWorkload, "positive and finite, got nan"),
        (lambda: float("inf") * wl.total(SMALL), InvalidWorkload, "positive and finite, got inf"),
        (lambda: 1e300 * (1e300 * wl.total(SMALL)), InvalidWorkload, "positive and finite"),
        (lambda: 10**400 * wl.total(SMALL), InvalidWorkload, "finite number, got int"),
        (lambda: "2" * wl.total(SMALL), InvalidWorkload, "positive number, got str"),
        (lambda: True * wl.total(SMALL), InvalidWorkload, "positive number, got bool"),
        (lambda: wl.total(SMALL) * wl.total(SMALL), InvalidWorkload, "positive number, got Workload"),
        (lambda: wl.total(SMALL) + wl.total(OTHER), InvalidWorkload, "one domain only"),
        (lambda: wl.total(SMALL) + 3, TypeError, "unsupported operand"),
        (lambda: wl.total(SMALL).label(1), InvalidWorkload, "between 0 and 1, got 1 to 2"),
        (lambda: wl.total(SMALL).labels(-1, 0), InvalidWorkload, "between 0 and 1"),
        (lambda: wl.Workload(SMALL, []), InvalidWorkload, "at least one query"),
        (lambda: wl.Workload("x", []), InvalidWorkload, "needs a Domain first"),
        (
            lambda: wl.Workload(Domain(x=Numeric(0, 5, bins=5)), [PART_X]),
            InvalidWorkload,
            "'x' of a part differs",
        ),
        (
            lambda: wl.Workload(SMALL, [wl.Part((Cells(SMALL.subset("y")), Cells(OTHER)))]),
            InvalidWorkload,
            "in the order of the domain",
        ),
        (
            lambda: wl.Workload(SMALL, [wl.Part((Cells(OTHER), Cells(OTHER)))]),
            InvalidWorkload,
            "about the same attribute",
        ),
        (lambda: wl.Workload(SMALL, [wl.Part((Cells(OTHER),), weight=-1.0)]), InvalidWorkload, "positive"),
    ],
)
def test_impossible_workloads_are_refused(make, error, message):
    with pytest.raises(error, match=message):
        make()
