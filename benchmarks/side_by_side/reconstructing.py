"""Reconstructing: consistent answers of least squares from noisy ones."""

from __future__ import annotations

import numpy as np

from rowspace import operators as op

from ..harness import Case, Contender, Work
from ..records import OURS
from .measuring import TREE_SIZES, counts
from .planning import ONE_PASS
from .tables import TABLE_SIZES, answer_tables, one_pass_over_answers


def noisy_tree(n: int) -> np.ndarray:
    return (op.Hierarchy(n) @ counts(n)).astype(np.float64)


def ours(n: int) -> Work:
    inverse, y = op.Hierarchy(n).pinv(), noisy_tree(n)
    return lambda: inverse @ y


def opendp(n: int) -> Work:
    import opendp.prelude as dp

    dp.enable_features("contrib")
    consistent = dp.t.make_consistent_b_ary_tree(branching_factor=2)
    y = noisy_tree(n).astype(int).tolist()
    return lambda: consistent(y)


CASES = (
    Case(
        "reconstructing",
        "counts of all cells from a noisy binary tree",
        "cells",
        TREE_SIZES,
        2**10,
        ONE_PASS,
        (Contender(OURS, ours), Contender("OpenDP", opendp, needs="opendp")),
    ),
    Case(
        "reconstructing",
        "tables of up to three attributes of ten values",
        "attributes",
        TABLE_SIZES,
        4,
        one_pass_over_answers,
        (Contender(OURS, answer_tables),),
        remark="All answers of all tables, consistent with one another.",
    ),
)
