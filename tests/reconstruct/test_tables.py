"""Non-negative tables that agree, records drawn from tables, and measurements of tables put together."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import minimize

from rowspace import operators as op
from rowspace.reconstruct.joint_tables import Measurement, joint_estimate, joint_tables
from rowspace.reconstruct.nonnegative_tables import NonnegativeTables, TableFamily, largest_sets
from rowspace.reconstruct.table_rows import cell_numbers, chosen_order, drawn_rows, repaired_rows
from rowspace.tables import Marginals, Residuals

SIZES = (3, 4, 2, 5)
SETS = ((0, 1), (1, 2), (2, 3), (0, 3))


def family(weights=(1.0, 1.0, 1.0, 1.0)) -> TableFamily:
    return TableFamily(SIZES, SETS, weights)


def noisy_tables(seed: int, deviation: float, own: TableFamily):
    """Agreeing tables of sparse counts with noise."""
    rng = np.random.default_rng(seed)
    counts = rng.poisson(rng.gamma(0.1, 10.0, int(np.prod(SIZES)))).astype(float)
    flat = Marginals(SIZES, SETS, (1,) * 4) @ counts
    return own.agreed(flat + rng.normal(0, deviation, len(flat))), float(counts.sum())


def test_largest_sets():
    assert largest_sets([(), (0,), (0, 2), (1,), (2,), (0, 2)]) == ((0, 2), (1,))
    assert largest_sets([()]) == ((),)
    assert largest_sets([(0,), ()]) == ((0,),)


@pytest.mark.parametrize("weights", [(1.0, 1.0, 1.0, 1.0), (1.0, 0.3, 2.0, 0.5)])
def test_tables_are_counts_and_agree(weights):
    own = family(weights)
    estimate, total = noisy_tables(1, 6.0, own)
    assert own.flat(estimate).min() < -1
    tables = NonnegativeTables(own, estimate, total).exact
    for attributes in SETS:
        table = tables.table(attributes)
        assert table.min() >= -1e-9
        assert table.sum() == pytest.approx(total)
        for axis, kept in enumerate(attributes):
            # Every one-way table is the same from whichever table it is summed.
            np.testing.assert_allclose(table.sum(axis=1 - axis), tables.table((kept,)), atol=1e-8)


def test_tables_are_the_nearest():
    """Against a general solver: no agreeing non-negative tables are closer by more than the accuracy."""
    own = family((1.0, 0.5, 1.0, 1.0))
    estimate, total = noisy_tables(2, 6.0, own)
    target, w = own.flat(estimate), own.per_cell(own.weights)
    found = own.flat(NonnegativeTables(own, estimate, total).exact)
    # All agreeing tables: the range of the projection.
    project = np.column_stack([own.flat(own.agreed(unit)) for unit in np.eye(own.cells)])
    basis = np.linalg.svd(project)[0][:, : np.linalg.matrix_rank(project)]
    start = basis.T @ found
    solved = minimize(
        lambda z: np.sum((w * (basis @ z - target)) ** 2),
        start,
        jac=lambda z: 2 * basis.T @ (w**2 * (basis @ z - target)),
        method="SLSQP",
        constraints=[
            {"type": "ineq", "fun": lambda z: basis @ z, "jac": lambda z: basis},
            {"type": "eq", "fun": lambda z: (basis @ z)[:12].sum() - total, "jac": lambda z: basis[:12].sum(axis=0)},
        ],
        options={"maxiter": 300, "ftol": 1e-12},
    )  # fmt: skip
    assert np.sum((w * (found - target)) ** 2) <= 1.001 * solved.fun + 1e-6


def test_no_records_in_tables():
    own = family()
    estimate, _ = noisy_tables(1, 1.0, own)
    assert not own.flat(NonnegativeTables(own, estimate, -5.0).exact).any()


def test_rough_tables_cost_less_and_are_near():
    """Few records need few steps: tables are within a record of the exact ones, whatever was asked for before."""
    own = family()
    estimate, total = noisy_tables(4, 6.0, own)
    solution = NonnegativeTables(own, estimate, total)
    few = own.flat(solution.rough(5))
    after_few = solution.steps
    assert own.flat(solution.rough(7)) == pytest.approx(few, abs=0)
    assert solution.steps == after_few
    exact = own.flat(solution.exact)
    assert 0 < after_few < solution.steps
    np.testing.assert_array_equal(own.flat(solution.rough(5)), few)
    np.testing.assert_array_equal(own.flat(solution.rough(10**9)), exact)
    for rows in (5, 50, 500, 5000):
        apart = np.abs(own.flat(solution.rough(rows)) - exact)
        moved = np.add.reduceat(apart, own.marginals.layout.offsets[:-1]) / 2
        assert moved.max() * rows / total <= 1.5


def test_rows_follow_a_tree():
    """Tables that form a tree are preserved: every pair within a few records, for rounding alone."""
    sets = ((0, 1), (1, 2), (2, 3))
    own = TableFamily(SIZES, sets, (1.0,) * 3)
    counts = np.random.default_rng(0).gamma(1.0, 50.0, int(np.prod(SIZES)))
    tables = own.agreed(Marginals(SIZES, sets, (1,) * 3) @ counts)
    rows = round(float(counts.sum()))
    codes = drawn_rows(tables, sets, SIZES, rows, np.random.default_rng(1))
    again = drawn_rows(tables, sets, SIZES, rows, np.random.default_rng(1))
    np.testing.assert_array_equal(codes, again)
    for attributes in sets:
        shape = [SIZES[i] for i in attributes]
        made = np.bincount(cell_numbers(codes, attributes, SIZES), minlength=int(np.prod(shape)))
        assert np.abs(made.reshape(shape) - tables.table(attributes)).max() < 10


def test_order_follows_information():
    """The attribute that is tied most closely comes next, given what ties it."""
    counts = np.zeros((2, 2, 2))
    counts[0, :, 0] = counts[1, :, 1] = 10.0
    sets = ((0, 1), (0, 2), (1, 2))
    tables = TableFamily((2, 2, 2), sets, (1.0,) * 3).agreed(
        Marginals((2, 2, 2), sets, (1,) * 3) @ counts.ravel()
    )
    steps = list(chosen_order(tables, sets))
    assert [(step.attribute, step.given) for step in steps[:2]] == [(0, ()), (2, (0,))]
    assert sorted(step.attribute for step in steps) == [0, 1, 2]


def test_repairs_bring_all_tables_closer():
    own = family()
    rng = np.random.default_rng(5)
    counts = rng.poisson(rng.gamma(0.2, 40.0, int(np.prod(SIZES)))).astype(float)
    tables = own.agreed(Marginals(SIZES, SETS, (1,) * 4) @ counts)
    rows = round(float(counts.sum()))
    codes = drawn_rows(tables, SETS, SIZES, rows, rng)
    repaired = repaired_rows(codes, tables, SETS, SIZES, rng)

    def misfit(made):
        return sum(
            np.sum(
                (
                    np.bincount(cell_numbers(made, s, SIZES), minlength=SIZES[s[0]] * SIZES[s[1]])
                    - tables.table(s).ravel()
                )
                ** 2
            )
            for s in SETS
        )

    assert misfit(repaired) < 0.2 * misfit(codes)
    assert repaired.shape == (4, rows)
    assert all(repaired[i].max() < SIZES[i] for i in range(4))


def test_rows_of_empty_tables():
    own = family()
    tables = own.agreed(np.zeros(own.cells))
    assert drawn_rows(tables, SETS, SIZES, 0, np.random.default_rng(0)).shape == (4, 0)
    codes = drawn_rows(tables, SETS, SIZES, 7, np.random.default_rng(0))
    assert repaired_rows(codes, tables, SETS, SIZES, np.random.default_rng(0)).shape == (4, 7)


STRATEGIES = [
    Marginals((2, 3), ((0, 1), (1,)), (1, 2)),
    Residuals((2, 3), ((), (0,), (1,), (0, 1)), (1, 2, 1, 1)),
    Marginals((2, 3), ((0, 1), ()), (1, 1), (op.Identity(2), op.Identity(3))),
]


def test_joint_tables_are_generalized_least_squares():
    rng = np.random.default_rng(0)
    own = [Measurement(A, 1.0 + k, 0.0, 1.0, rng.normal(0, 5, A.shape[0])) for k, A in enumerate(STRATEGIES)]
    joint = joint_tables(own)
    assert joint is not None
    np.testing.assert_allclose(joint.tables.table((0, 1)).ravel(), joint_estimate(own), atol=1e-9)


def test_scaled_splits_are_alike_and_others_are_not():
    """Prefixes asked twice as loud split an attribute alike; cells do not split it as prefixes do."""
    rng = np.random.default_rng(0)
    strategies = [
        Marginals((2, 3), ((0, 1), (1,)), (1, 1), (op.Identity(2), 2 * op.Prefix(3))),
        Marginals((2, 3), ((0, 1), ()), (1, 1), (op.Identity(2), op.Prefix(3))),
    ]
    own = [Measurement(A, 2.0, 0.0, 1.0, rng.normal(0, 5, A.shape[0])) for A in strategies]
    joint = joint_tables(own)
    assert joint is not None
    np.testing.assert_allclose(joint.tables.table((0, 1)).ravel(), joint_estimate(own), atol=1e-9)
    cells = Measurement(STRATEGIES[0], 1.0, 0.0, 1.0, rng.normal(0, 5, STRATEGIES[0].shape[0]))
    assert joint_tables([own[0], cells]) is None
    assert joint_tables([cells, Measurement(op.Identity(6), 1.0, 0.0, 1.0, np.zeros(6))]) is None
