"""Measuring: asking the strategy of the counts and adding noise."""

from __future__ import annotations

from typing import Any

import numpy as np

import rowspace as rs
from rowspace import operators as op
from rowspace.measure import measure

from ..harness import Case, Contender, Work
from ..records import OURS
from .planning import ONE_PASS
from .tables import TABLE_SIZES, measure_tables, one_pass_over_answers

TREE_SIZES = tuple(2**k for k in range(10, 21, 2))


def counts(n: int) -> np.ndarray:
    return np.random.default_rng(0).integers(0, 1000, n)


def ours(n: int) -> Work:
    A, x = op.Hierarchy(n), counts(n)
    noise = rs.PureDP(1.0).noise(A.integer_norm(1))
    return lambda: measure(A, noise, x)


def opendp(n: int) -> Work:
    import opendp.prelude as dp

    dp.enable_features("contrib")
    vectors = dp.vector_domain(dp.atom_domain(T=int)), dp.l1_distance(T=int)
    tree: Any = dp.t.make_b_ary_tree(*vectors, leaf_count=n, branching_factor=2)
    measurement = tree >> dp.m.then_laplace(float(tree.map(1)))
    x = counts(n).tolist()
    return lambda: measurement(x)


def plain_numpy(n: int) -> Work:
    A, x = op.Hierarchy(n), counts(n)
    scale, generator = A.max_column_norm(1), np.random.default_rng()
    return lambda: A @ x + generator.laplace(0.0, scale, A.shape[0])


CASES = (
    Case(
        "measuring",
        "a binary tree of counts, Laplace noise",
        "cells",
        TREE_SIZES,
        2**10,
        ONE_PASS,
        (
            Contender(OURS, ours),
            Contender("OpenDP", opendp, needs="opendp", largest=2**16),
            Contender("numpy, no guarantee", plain_numpy),
        ),
        remark="rowspace and OpenDP draw exact integers from a cryptographic source; numpy's floating-point noise "
        "is neither and leaks, but shows what noise costs without a guarantee.",
    ),
    Case(
        "measuring",
        "tables of up to three attributes of ten values, Gaussian noise",
        "attributes",
        TABLE_SIZES,
        4,
        one_pass_over_answers,
        (Contender(OURS, measure_tables),),
        remark="Noise included, counting not: that is a topic of its own.",
    ),
)
