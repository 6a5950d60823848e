"""Coupled attributes that are not neighbours are placed on the right cells."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from rowspace import operators as op
from rowspace import workload as wl
from rowspace.domain import Categorical, Domain, Numeric
from rowspace.exceptions import TooLarge
from rowspace.workload.predicate import parse

from .records import evaluate

ABCDE = Domain(
    {name: Categorical(list(range(size))) for name, size in zip("abcde", (2, 3, 2, 4, 2), strict=True)}
)


@pytest.mark.parametrize(
    "text",
    [
        "a = 1 or c = 1",
        "a = 1 or e = 1",
        "(a = 1 or c = 1) and b = 2",
        "(a = 1 or c = 1) and b = 2 and d >= 2",
        "(a = 1 or c = 1) and (b = 2 or d = 3)",
        "(a = 0 or d = 1) and (b = 0 or c = 1) and e = 1",
        "(b = 0 or d = 1) and a = 1",
        "(a = 1 or b = 1) and (d = 0 or e = 1)",
        "a = 1 or b = 2 or c = 0 or d = 3 or e = 1",
    ],
)
def test_every_cell_counts_where_the_predicate_holds(text):
    condition = parse(text)
    expected = [
        float(evaluate(condition, dict(zip("abcde", cell, strict=True))))
        for cell in itertools.product(*map(range, ABCDE.shape))
    ]
    workload = wl.predicates(ABCDE, [text])
    assert workload.weighted_operator().to_dense().tolist() == [expected]
    assert workload.reduced().weighted_operator().shape == (1, workload.reduced().domain.size)


def test_several_rows_in_woven_factors_follow_their_labels():
    """Rows of a woven product are numbered as the labels say: factors by their first attribute."""
    rng = np.random.default_rng(5)
    coupled = wl.matrix(rng.integers(-2, 3, (3, 4)), ABCDE.subset(["a", "c"])).parts[0].factors[0]
    between = wl.matrix(rng.integers(-2, 3, (2, 12)), ABCDE.subset(["b", "d"])).parts[0].factors[0]
    alone = wl.product(ABCDE, e=op.Identity(2)).parts[0].factors[0]
    workload = wl.Workload(ABCDE, [wl.Part((coupled, between, alone))])
    M, N = coupled.operator.to_dense().reshape(3, 2, 2), between.operator.to_dense().reshape(2, 3, 4)
    expected = np.einsum("iac,jbd,ke->ijkabcde", M, N, np.eye(2)).reshape(12, 96)
    assert np.array_equal(workload.weighted_operator().to_dense(), expected)
    assert workload.label(7) == "a, c: row 1 and b, d: row 1 and e = 1"


def test_neighbours_are_not_woven():
    operator = wl.predicates(ABCDE, ["(b = 0 or c = 1) and a = 1"]).operator()
    assert isinstance(operator, op.Kronecker)
    assert [factor.shape for factor in operator.factors] == [(1, 2), (1, 6), (1, 4), (1, 2)]


def test_weaving_too_many_cells_is_refused():
    domain = Domain(a=Categorical([1, 2]), b=Numeric(0, 10**7, bins=10**7), c=Categorical([1, 2]))
    workload = wl.predicates(domain, ["a = 1 or c = 1"])
    with pytest.raises(TooLarge, match="declare the coupled attributes next to each other"):
        workload.weighted_operator()
    reduced = workload.reduced()
    assert reduced.weighted_operator().to_dense().tolist() == [[1, 1, 1, 0]]
    # With places the third value of each is missing: then the other one decides.
    counted = reduced.over(reduced.domain.with_places()).weighted_operator().to_dense()
    assert counted.reshape(3, 3).tolist() == [[1, 1, 1], [1, 0, 0], [1, 0, 0]]


def test_weaving_too_many_entries_is_refused():
    domain = Domain(a=Categorical([1, 2]), b=Numeric(0, 2000, bins=2000), c=Categorical([1, 2]))
    coupled = wl.predicates(domain, ["a = 1 or c = 1"]).parts[0].factors
    ranges = wl.ranges(domain, "b").parts[0].factors
    with pytest.raises(TooLarge):
        wl.Workload(domain, [wl.Part((*coupled, *ranges))]).weighted_operator()
