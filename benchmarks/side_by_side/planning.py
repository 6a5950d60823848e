"""Planning: how long it takes to choose what to ask, and how good the choice is."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import linalg

import rowspace as rs
from rowspace import operators as op

from ..harness import Case, Contender, Work
from ..records import OURS
from .tables import TABLE_SIZES, one_pass_over_answers, plan_of_tables, tables_error

GAUSSIAN, LAPLACE = rs.ZCDP(0.5), rs.PureDP(2**0.5)
"""Noise of variance 1 at unit sensitivity: errors read as E."""


def line(n: int) -> rs.Domain:
    return rs.Domain(t=rs.Numeric(0, n, bins=n, outside="drop"))


def ours(family: Any, privacy: Any) -> Contender:
    def prepare(n: int) -> Work:
        workload = family(line(n), "t")
        return lambda: rs.plan(workload, privacy)

    return Contender(OURS, prepare, lambda n, plan: plan.total_error)


def one_eigendecomposition(operator: Any) -> Contender:
    def prepare(n: int) -> Work:
        gram = operator(n).gram().to_dense()
        return lambda: linalg.eigh(gram)

    return Contender("one eigendecomposition", prepare)


def one_pass(n: int) -> Work:
    values = np.random.default_rng(0).random(n)
    return lambda: np.cumsum(values)


ONE_PASS = Contender("one pass over the cells (np.cumsum)", one_pass)


def jax_dense(n: int) -> Work:
    from jax_privacy.matrix_factorization import dense

    return lambda: np.asarray(dense.optimize(n), dtype=np.float64)


def prefix_error(n: int, strategy: np.ndarray) -> float:
    """E of a square strategy on prefixes."""
    answers = linalg.solve(strategy.T, np.tri(n).T).T
    return float(np.square(strategy).sum(axis=0).max() * np.square(answers).sum())


def jax_toeplitz(n: int) -> Work:
    from jax_privacy.matrix_factorization import toeplitz

    def run() -> tuple[np.ndarray, np.ndarray]:
        strategy = toeplitz.optimal_max_error_strategy_coefs(n)
        noise = toeplitz.optimal_max_error_noising_coefs(n)
        return np.asarray(strategy, dtype=np.float64), np.asarray(noise, dtype=np.float64)

    return run


def toeplitz_error(n: int, coefficients: tuple[np.ndarray, np.ndarray]) -> float:
    """E = ‖c‖²·Σ over queries of the error, which adds up along the first column of B = W·C⁻¹."""
    strategy, noise = coefficients
    return float(np.square(strategy).sum() * np.cumsum(np.square(np.cumsum(noise))).sum())


JAX_TOEPLITZ = Contender("jax-privacy, Toeplitz", jax_toeplitz, toeplitz_error, needs="jax_privacy")


def nothing_to_plan(n: int) -> Work:
    return lambda: None


def on_every_answer(operator: Any, norm: int) -> Contender:
    """Noise on every answer by itself, the budget shared by all."""
    return Contender(
        "noise on every answer",
        nothing_to_plan,
        lambda n, _: operator(n).shape[0] * operator(n).max_column_norm(norm) ** 2,
    )


def on_every_cell(operator: Any) -> Contender:
    return Contender("noise on every cell", nothing_to_plan, lambda n, _: operator(n).squared_frobenius())


def opendp_tree(branching: int) -> Contender:
    """OpenDP's tree; its error at the sensitivity that OpenDP itself states for it, after its own least squares."""

    def prepare(n: int) -> Work:
        import opendp.prelude as dp

        dp.enable_features("contrib")
        counts = dp.vector_domain(dp.atom_domain(T=int)), dp.l1_distance(T=int)
        return lambda: dp.t.make_b_ary_tree(*counts, leaf_count=n, branching_factor=branching)

    def error(n: int, tree: Any) -> float:
        A = op.Hierarchy(n, branching)
        own = rs.error.total_error(A, op.Ranges(n), LAPLACE) / A.max_column_norm(1) ** 2
        return float(own * tree.map(1) ** 2)

    return Contender(f"OpenDP, tree of branching {branching}", prepare, error, needs="opendp")


CASES = (
    Case(
        "planning",
        "all prefixes, Gaussian noise",
        "cells",
        (64, 128, 256, 512, 1024),
        16,
        one_eigendecomposition(op.Prefix),
        (
            ours(rs.workload.prefixes, GAUSSIAN),
            Contender("jax-privacy, dense", jax_dense, prefix_error, needs="jax_privacy", largest=512),
            JAX_TOEPLITZ,
            on_every_answer(op.Prefix, 2),
        ),
        error_of="E",
        remark="rowspace's plan is the optimum, with a proof that it is. jax-privacy's dense strategy approaches it.",
    ),
    Case(
        "planning",
        "all prefixes, many cells, Gaussian noise",
        "cells",
        (2**12, 2**14, 2**16, 2**18, 2**20),
        2**12,
        ONE_PASS,
        (ours(rs.workload.prefixes, GAUSSIAN), JAX_TOEPLITZ),
        error_of="E",
        remark="No matrix of cells by cells is made; both are closed forms. rowspace's time includes the exact integer "
        "form of the strategy, its expected error and the lower bound.",
    ),
    Case(
        "planning",
        "all ranges, Laplace noise",
        "cells",
        (64, 256, 1024),
        16,
        one_eigendecomposition(op.Ranges),
        (
            ours(rs.workload.ranges, LAPLACE),
            opendp_tree(2),
            opendp_tree(16),
            on_every_cell(op.Ranges),
            on_every_answer(op.Ranges, 1),
        ),
        error_of="E",
        remark="The others do not plan: what they need is known at once, and costs error instead.",
    ),
    Case(
        "planning",
        "tables of up to three attributes of ten values, Gaussian noise",
        "attributes",
        TABLE_SIZES,
        4,
        one_pass_over_answers,
        (Contender(OURS, plan_of_tables, tables_error),),
        error_of="E",
        remark="The optimum in closed form. Nothing on the package index plans this.",
    ),
)
