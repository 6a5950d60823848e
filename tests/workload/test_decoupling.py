"""Boxes are disjoint products that add up to the query they were taken from."""

from __future__ import annotations

import numpy as np

import rowspace as rs
from rowspace.operators import Kronecker
from rowspace.workload.decoupling import decoupled

DOMAIN = rs.Domain(
    age=rs.Numeric(0, 6, bins=6, integer=True),
    sex=rs.Categorical(["F", "M"]),
    region=rs.Categorical(["A", "B", "C"]),
)


def test_boxes_add_up_to_their_queries():
    for text in (
        "age < 2 or region = 'A'",
        "(age < 2 or region = 'A') and sex = 'F'",
        "sex = 'F' or age = 3",
    ):
        w = rs.workload.predicates(DOMAIN, [text])
        taken = decoupled(w)
        rows = taken.operator().to_dense()
        np.testing.assert_array_equal(rows.sum(axis=0), w.operator().to_dense()[0])
        assert len(rows) == 2
        assert all(len(part.factors) == len(part.attributes) for part in taken.parts)


def test_products_are_left_alone_and_weights_kept():
    w = rs.workload.marginals(DOMAIN, up_to=2)
    assert decoupled(w) is w
    taken = decoupled(3 * rs.workload.predicates(DOMAIN, ["age < 2 or region = 'A'"]))
    assert {part.weight for part in taken.parts} == {3.0}


def test_a_coupled_query_no_longer_ties_the_attributes():
    operator = decoupled(rs.workload.predicates(DOMAIN, ["age < 2 or region = 'A'"])).weighted_operator()
    assert all(isinstance(part, Kronecker) and len(part.factors) == 3 for part in operator.parts)
