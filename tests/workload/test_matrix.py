"""Plain matrices and operators as workloads."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

from rowspace import operators as op
from rowspace import workload as wl
from rowspace.domain import Categorical, Domain, Numeric
from rowspace.exceptions import InvalidDomain, InvalidWorkload

DOMAIN = Domain(x=Numeric(0, 4, bins=4, integer=True), y=Categorical(["a", "b"]))


@pytest.mark.parametrize(
    "queries",
    [
        [[1, 0, 2], [0, -1, 0.5]],
        np.array([[True, False, True]]),
        sparse.csr_array(np.array([[1.0, 0, 2]])),
        sparse.coo_matrix(np.array([[1.0, 0, 2]])),
        op.Dense(np.array([[1.0, 0, 2]])),
    ],
)
def test_rows_are_queries(queries):
    workload = wl.matrix(queries)
    expected = queries.to_dense() if isinstance(queries, op.Operator) else queries
    expected = expected.toarray() if sparse.issparse(expected) else np.asarray(expected, dtype=float)
    assert np.array_equal(workload.weighted_operator().to_dense(), expected)
    assert workload.domain == Domain(cell=Numeric(0, 3, bins=3, outside="drop", integer=True))
    assert workload.label(0) == "row 0"
    assert workload.table()["cell"][0] == "row 0"


def test_known_structures_get_readable_labels():
    assert wl.matrix(op.Ranges(4)).label(1) == "cell in [0, 2)"
    assert wl.matrix(op.Identity(4)).label(3) == "cell = 3"
    assert wl.matrix(op.WidthRanges(4, 2)).label(0) == "cell in [0, 2)"
    assert wl.matrix(op.Hierarchy(4)).label(0) == "row 0"


def test_structures_are_kept():
    for operator in (
        op.Ranges(4),
        op.Hierarchy(8),
        op.AllPredicates(5),
        op.Kronecker(op.Prefix(2), op.Total(3)),
    ):
        assert wl.matrix(operator).weighted_operator() == operator
    stack = op.Stack(op.Identity(8), op.Total(8))
    assert wl.matrix(stack).weighted_operator() == stack
    assert len(wl.matrix(stack).parts) == 2


def test_products_over_a_domain_are_products_of_its_attributes():
    operator = op.Kronecker(op.Ranges(4), op.Total(2))
    workload = wl.matrix(operator, DOMAIN)
    assert workload.weighted_operator() == operator
    assert workload.attributes == ("x",)
    assert workload.label(1) == "x in [0, 2)"
    assert wl.matrix(op.Identity(8), DOMAIN).label(7) == "row 7"


def test_huge_families_cost_nothing():
    assert wl.matrix(op.AllPredicates(60)).size == 2**60
    assert wl.matrix(op.AllPredicates(100)).label(2**100 - 1) == f"row {2**100 - 1}"


@pytest.mark.parametrize(
    ("queries", "domain", "message"),
    [
        ([1, 2, 3], None, "at least one row and one column, got shape"),
        (np.zeros((0, 3)), None, "at least one row and one column"),
        ([[1, 2], [3]], None, "rows of equal length"),
        ([[1, np.nan]], None, "finite"),
        ([[1, np.inf]], None, "finite"),
        ([[0, 0]], None, "every query is zero"),
        (sparse.csr_array(np.zeros((2, 2))), None, "every query is zero"),
        (sparse.csr_array(np.array([[np.nan, 1]])), None, "finite"),
        (op.Dense(np.zeros((1, 2))), None, "every query is zero"),
        ([["a", "b"]], None, "real numbers"),
        ([[1j]], None, "real numbers"),
        (None, None, "at least one row and one column"),
        ([[1, 2]], DOMAIN, "the domain has 8 cells.*got 2"),
        (op.Ranges(4), DOMAIN, "the domain has 8 cells.*got 4"),
        ([[1, 2]], "x", "must be a Domain, got str"),
    ],
)
def test_impossible_matrices_are_refused(queries, domain, message):
    with pytest.raises(InvalidWorkload, match=message):
        wl.matrix(queries, domain)


ABC = Domain(a=Numeric(0, 2, bins=2), b=Numeric(0, 3, bins=3), c=Numeric(0, 4, bins=4))


@pytest.mark.parametrize("names", [("a",), ("a", "c"), ("c", "a"), ("c", "a", "b"), ("b", "c")])
def test_a_matrix_over_named_attributes_sums_the_others_out(names):
    rng = np.random.default_rng(3)
    sizes = [ABC[name].size for name in names]
    queries = rng.integers(-2, 3, (5, int(np.prod(sizes))))
    counts = rng.integers(0, 9, ABC.shape)
    table = np.einsum(counts, [0, 1, 2], ["abc".index(name) for name in names])
    workload = wl.matrix(queries, ABC, *names)
    assert set(workload.attributes) == set(names)
    np.testing.assert_array_equal(workload.operator() @ counts.ravel(), queries @ table.ravel())


@pytest.mark.parametrize(
    ("columns", "names", "message"),
    [
        (7, ("a", "c"), r"queries over a \(2\) x c \(4\) need 8 columns, one per joint cell, got 7"),
        (24, ("a", "c"), "need 8 columns.*got 24"),
        (4, ("a", "a"), "each attribute can be named once, got a, a"),
    ],
)
def test_a_matrix_that_does_not_fit_its_attributes_is_refused(columns, names, message):
    with pytest.raises(InvalidWorkload, match=message):
        wl.matrix(np.ones((2, columns)), ABC, *names)


def test_a_matrix_over_attributes_that_are_not_there_is_refused():
    with pytest.raises(InvalidDomain, match="z"):
        wl.matrix(np.ones((2, 8)), ABC, "a", "z")
