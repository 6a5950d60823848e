"""Few queries over many cells: the optimum in their row space, against dense algebra and end to end."""

from itertools import combinations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import rowspace as rs
from rowspace import error
from rowspace import operators as op
from rowspace.exceptions import FileError, InvalidInput, TooLarge, UnsupportedWorkload
from rowspace.operators import decode, encode
from rowspace.strategy import GaussianOptimal, RowSpaceOptimal, Select, Strategy, to_integers
from rowspace.strategy.row_space_dual import block
from rowspace.strategy.symmetry import Axis, interchangeable, kinds_of
from rowspace.tables import (
    Piece,
    QueryMix,
    distinct_columns,
    gather,
    product_rows,
    tied_axes,
)

UNIT = rs.ZCDP(0.5)
LAPLACE = rs.PureDP(2**0.5)
SIZES = (4, 3, 5)


def piece(rng, axes):
    """A condition, the cells of an attribute, or a small matrix."""
    n = int(np.prod([SIZES[i] for i in axes]))
    if len(axes) == 1 and rng.random() < 0.4:
        return Piece(axes, op.Identity(n))
    rows = rng.integers(1, 3)
    matrix = rng.integers(0, 2, (rows, n))
    matrix[:, rng.integers(n)] = 1
    return Piece(axes, op.Sparse(matrix))


def workload(seed, ties=False):
    """A few parts over some of three attributes, with weights."""
    rng = np.random.default_rng(seed)
    parts = []
    for _ in range(rng.integers(2, 7)):
        if ties and rng.random() < 0.4:
            own = [piece(rng, (0, 2))]
        else:
            own = [piece(rng, (i,)) for i in range(3) if rng.random() < 0.6]
        parts.append((float(rng.choice([1.0, 2.0, 0.5])), tuple(own)))
    return gather(SIZES, parts)


seeds = st.integers(0, 10**6)


@given(seeds, st.booleans())
@settings(max_examples=60, deadline=None)
def test_distinct_columns_are_those_of_the_matrix(seed, ties):
    W = workload(seed, ties)
    axes = tied_axes(W)
    rows = product_rows(W, axes)
    columns = distinct_columns(rows.vectors, rows.numbers)
    order = [i for own in axes for i in own]
    dense = W.operator().to_dense().reshape(-1, *SIZES).transpose(0, *(1 + i for i in order))
    dense = dense.reshape(len(dense), -1)
    assert len(columns.values) == np.unique(dense, axis=1).shape[1]
    np.testing.assert_array_equal(columns.values[columns.of_cells()].T, dense)


@given(seeds, st.booleans())
@settings(max_examples=40, deadline=None)
def test_interchangeable_cells_change_nothing(seed, ties):
    """WᵗW is the same whichever cells of a class change places, and kinds of components add up to it."""
    W = workload(seed, ties)
    axes = tied_axes(W)
    rows = product_rows(W, axes)
    labels = interchangeable(rows)
    order = [i for own in axes for i in own]
    shape = [m.shape[1] for m in rows.vectors]
    dense = W.weighted_operator().to_dense().reshape(-1, *SIZES).transpose(0, *(1 + i for i in order))
    dense = dense.reshape(len(dense), *shape)
    gram = np.tensordot(dense, dense, axes=(0, 0))
    rng = np.random.default_rng(seed)
    for axis, label in enumerate(labels):
        cells = rng.permutation(np.flatnonzero(label == rng.choice(label)))
        swapped = np.arange(shape[axis])
        swapped[np.sort(cells)] = cells
        other = np.take(np.take(gram, swapped, axis=axis), swapped, axis=axis + len(shape))
        np.testing.assert_allclose(other, gram, atol=1e-9)
    own = [Axis(m, label) for m, label in zip(rows.vectors, labels, strict=True)]
    powers = np.repeat(W.powers, W.sizes_of_parts)
    # ‖query‖² over all cells is the sum over its components.
    total = np.zeros(len(powers))
    for kind in kinds_of(rows, own):
        squares = kind.scale**2 * kind.energy
        for axis, c in enumerate(kind.classes):
            if c < 0:
                matrix = own[axis].levels[0]
                squares = squares * matrix.multiply(matrix).sum(axis=1)[kind.numbers[:, axis]]
        total[kind.members] += squares
    np.testing.assert_allclose(
        powers * total, np.square(dense.reshape(len(dense), -1)).sum(axis=1), rtol=1e-9
    )


@given(seeds, st.booleans())
@settings(max_examples=40, deadline=None)
def test_the_optimum_is_that_over_all_cells(seed, ties):
    W = workload(seed, ties)
    if not W.queries or not W.weighted_operator().squared_frobenius():
        return
    result = RowSpaceOptimal(gap=1e-4, max_steps=400).optimize(W, UNIT)
    dense = GaussianOptimal(gap=1e-6).optimize(op.Dense(W.weighted_operator().to_dense()), UNIT)
    assert result.lower_bound <= dense.total_error * (1 + 1e-9)
    assert dense.lower_bound <= result.total_error * (1 + 1e-9)
    assert result.total_error <= dense.total_error * 1.01


@given(seeds, st.booleans(), st.sampled_from([UNIT, LAPLACE]))
@settings(max_examples=40, deadline=None)
@pytest.mark.long
def test_the_error_is_that_of_the_dense_matrix(seed, ties, privacy):
    """Of the real strategy and of the integers that are asked: total, every query, and their answers."""
    W = workload(seed, ties)
    result = RowSpaceOptimal(max_steps=30).optimize(W, privacy)
    integers, _ = to_integers(result.strategy, privacy)
    queries = W.operator().to_dense()
    for A in (result.strategy, integers):
        dense = A.to_dense()
        C = queries @ np.linalg.pinv(dense)
        np.testing.assert_allclose(C @ dense, queries, atol=1e-6)
        moments = Strategy.of(A).moments(W)
        np.testing.assert_allclose(moments.second, np.square(C).sum(axis=1), rtol=1e-5)
        np.testing.assert_allclose(moments.fourth, (C**4).sum(axis=1), rtol=1e-4)
        np.testing.assert_allclose(moments.largest, np.abs(C).max(axis=1), rtol=1e-4)
        y = np.random.default_rng(seed).standard_normal(len(dense))
        np.testing.assert_allclose(
            Strategy.of(A).estimate(y).answers(W), C @ y, atol=1e-5 * np.abs(C @ y).max()
        )
    powers = np.repeat(W.powers, W.sizes_of_parts)
    level = error.noise_level(op.Dense(result.strategy.to_dense()), privacy)
    C = queries @ np.linalg.pinv(result.strategy.to_dense())
    assert result.total_error == pytest.approx(level * powers @ np.square(C).sum(axis=1), rel=1e-6)


@given(seeds, st.sampled_from([UNIT, LAPLACE]))
@settings(max_examples=40, deadline=None)
def test_no_strategy_beats_the_bound(seed, privacy):
    W = workload(seed)
    result = RowSpaceOptimal(max_steps=30).optimize(W, privacy)
    matrix = op.Dense(W.weighted_operator().to_dense())
    rng = np.random.default_rng(seed)
    n = matrix.shape[1]
    for A in (np.eye(n), np.eye(n) + 0.3 * rng.random((n, n)), np.concatenate((np.eye(n), matrix.array))):
        assert result.lower_bound <= error.total_error(A, matrix, privacy) * (1 + 1e-9)


def test_what_no_mix_supports_is_refused():
    W = gather((4, 3), [(1.0, (Piece((0,), op.Sparse([[1, 1, 0, 0]])), Piece((1,), op.Identity(3))))])
    A = Strategy.of(RowSpaceOptimal().optimize(W, UNIT).strategy)
    finer = gather((4, 3), [(1.0, (Piece((0,), op.Sparse([[1, 0, 0, 0]])),))])
    other = gather((4, 3), [(1.0, (Piece((0,), op.Sparse([[0, 0, 1, 0]])), Piece((1,), op.Identity(3))))])
    for asked in (finer, other):
        with pytest.raises(UnsupportedWorkload):
            A.variances(asked)
    # One of the groups, and groups united: both are sums of what was asked.
    some = gather(
        (4, 3), [(1.0, (Piece((0,), op.Sparse([[2, 2, 0, 0]])), Piece((1,), op.Sparse([[0, 1, 1]]))))]
    )
    C = some.operator().to_dense() @ np.linalg.pinv(A.matrix.to_dense())
    assert A.variances(some) == pytest.approx(np.sum(C**2), rel=1e-6)
    # Conditions across axes are answered as by any matrix over cells.
    tied = gather((4, 3), [(1.0, (Piece((0, 1), op.Sparse([[1, 0, 1, 1, 0, 1, 0, 0, 0, 0, 0, 0]])),))])
    C = tied.operator().to_dense() @ np.linalg.pinv(A.matrix.to_dense())
    assert A.variances(tied) == pytest.approx(np.sum(C**2), rel=1e-6)
    x = np.arange(12)
    estimate = A.estimate((A.matrix @ x).astype(float))
    assert estimate.answers(tied) == pytest.approx(tied.operator() @ x, rel=1e-6)


def test_bad_mixes_are_refused():
    ends = op.Sparse([[1, 1, 1], [1, 0, 0], [0, 1, 1], [0, 1, 0]])
    one = np.array([[2, 0]])
    good = QueryMix((3, 3), ((0,), (1,)), (ends, ends), (one,), (op.Dense([[1]]),), ((-1, -1),))
    assert decode(*encode(good)) == good
    for change in (
        {"numbers": (np.array([[9, 0]]),)},
        {"sizes": (3, 4)},
        {"axes": ((0,), (0,))},
        {"mixes": (op.Dense([[1, 2]]),)},
        {"beyond": ((1, -1),)},
        {"beyond": ((2, -1),)},  # a vector tells the contrasted cells apart
        {"numbers": (one, one), "mixes": (op.Dense([[1]]),) * 2, "beyond": ((-1, -1),) * 2},
    ):
        with pytest.raises(InvalidInput):
            QueryMix(**{**vars(good), **change})
    tree, arrays = encode(good)
    with pytest.raises(FileError):
        decode({**tree, "sizes": [3, 4]}, arrays)
    large = op.Sparse([[1, 1, 1], [2**30, 0, 0]])
    with pytest.raises(TooLarge):
        QueryMix(
            (3, 3), ((0,), (1,)), (large, large), (one // 2,), (op.Dense([[1]]),), ((-1, -1),)
        ).integer_norm(2)
    wide = QueryMix((3, 3), ((0,), (1,)), (ends, ends), (one,), (op.Dense([[2.0**52]]),), ((-1, -1),))
    assert wide.integer_norm(2) == 2**104


def test_rows_over_tied_attributes_are_refused_before_they_are_written(monkeypatch):
    """500 random queries over 100,000 joint cells: seconds to write out, minutes of steps."""
    rng = np.random.default_rng(0)
    parts = [
        (1.0, (Piece(own, op.Dense(rng.integers(0, 2, (50, 100)))),)) for own in combinations(range(5), 2)
    ]
    W = gather((10,) * 5, parts)
    monkeypatch.setattr("rowspace.strategy.row_space_optimal.product_rows", lambda *_: pytest.fail("written"))
    with pytest.raises(TooLarge, match="operations"):
        RowSpaceOptimal(work=2e11).optimize(W, UNIT)
    found = Select().optimize(W, UNIT)  # residuals are close enough for that work not to be worth it
    assert found.total_error < 63_392  # QuerySmasher's
    assert found.ratio < 1.04


def test_too_many_queries_are_refused():
    with pytest.raises(TooLarge):
        RowSpaceOptimal(work=1e3).optimize(workload(1), UNIT)
    with pytest.raises(InvalidInput):
        RowSpaceOptimal().optimize(op.Dense([[0.5, 0.25, 1.0]]), UNIT)


DOMAIN = rs.Domain(
    age=rs.Numeric(0, 30, bins=30, integer=True),
    sex=rs.Categorical(["F", "M"]),
    region=rs.Categorical([f"r{i}" for i in range(12)]),
    edu=rs.Categorical([f"e{i}" for i in range(5)]),
)
STATEMENTS = """
    SELECT COUNT(*) FROM t WHERE age BETWEEN 3 AND 17 AND region = 'r3';
    SELECT sex, COUNT(*) FROM t WHERE age >= 9 GROUP BY sex;
    SELECT edu, COUNT(*) FROM t WHERE region = 'r1' AND age <= 20 GROUP BY edu;
    SELECT COUNT(*) FROM t WHERE age BETWEEN 8 AND 12 AND region = 'r1';
    SELECT edu, sex, COUNT(*) FROM t WHERE age <= 4 GROUP BY edu, sex;
    SELECT region, COUNT(*) FROM t GROUP BY region
"""


def people(records=4000, seed=0):
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(
        {
            "age": rng.integers(0, 30, records),
            "sex": rng.choice(["F", "M"], records),
            "region": rng.choice([f"r{i}" for i in range(12)], records),
            "edu": rng.choice([f"e{i}" for i in range(5)], records),
        }
    )
    frame.loc[rng.random(records) < 0.02, "edu"] = None
    return frame


@pytest.mark.parametrize("privacy", [rs.ZCDP, rs.PureDP], ids=["Gaussian", "Laplace"])
@pytest.mark.long
def test_a_dashboard_end_to_end(privacy, tmp_path):
    W = rs.workload.sql(DOMAIN, STATEMENTS)
    plan = rs.plan(W, privacy(0.5))
    assert isinstance(plan.strategy, QueryMix)
    assert plan.ratio < (1.002 if privacy is rs.ZCDP else 8)
    plan.save(tmp_path / "a.plan")
    assert rs.Plan.load(tmp_path / "a.plan").strategy == plan.strategy
    data = people()
    truth = {
        "cells": plan.counted.operator() @ rs.sources.count_cells(data, plan.domain).ravel(),
        "region": data["region"].value_counts().sort_index(key=lambda names: names.str[1:].astype(int)),
    }
    np.testing.assert_array_equal(truth["cells"][-12:], truth["region"])
    exact = rs.release(rs.plan(W, privacy(1e11)), data)
    np.testing.assert_allclose(exact.answers()["answer"], truth["cells"], atol=0.01)
    asked = "SELECT COUNT(*) FROM t WHERE region = 'r5' OR region = 'r1'"
    both = int(data["region"].isin(["r1", "r5"]).sum())
    assert exact.ask(asked)["answer"].iloc[0] == pytest.approx(both, abs=0.01)
    cells = exact.estimate.reshape(plan.domain.shape)[:, :, :12]  # the last place is for a missing region
    np.testing.assert_allclose(cells.sum(axis=(0, 1, 3)), truth["region"], atol=0.01)
    with pytest.raises(UnsupportedWorkload):  # with hardly any noise all cells are asked, and answer it
        rs.release(plan, data).ask("sex = 'F'")
    releases = [rs.release(plan, data).answers() for _ in range(40)]
    errors = np.array([answers["answer"] - truth["cells"] for answers in releases])
    expected = releases[0]["std_error"].to_numpy()
    np.testing.assert_allclose(plan.query_errors(), expected**2, rtol=1e-9)
    # 40 releases of some 30 answers that depend on one another: five standard deviations of their mean square.
    assert np.mean((errors / expected) ** 2) == pytest.approx(1, abs=0.45)
    assert np.sum(expected**2) == pytest.approx(plan.total_error, rel=1e-9)


def test_more_cells_than_fit_in_memory():
    """10²⁰ cells: tables over the attributes of each statement are counted, and nothing else."""
    domain = rs.Domain(**{f"a{i}": rs.Numeric(0, 100, bins=100, integer=True) for i in range(10)})
    texts = ["SELECT COUNT(*) FROM t"]
    texts += [
        f"SELECT COUNT(*) FROM t WHERE a{i} < {10 * i + 5} AND a{(i + 3) % 10} >= {50 - i}" for i in range(10)
    ]
    asked = rs.workload.sql(domain, ";".join(texts))
    assert rs.plan(asked, rs.ZCDP(0.5)).ratio < 1.002
    plan = rs.plan(asked, rs.ZCDP(1e9))
    assert Strategy.of(plan.strategy).sets is not None
    data = pd.DataFrame(
        np.random.default_rng(0).integers(0, 100, (500, 10)), columns=[f"a{i}" for i in range(10)]
    )
    answers = rs.release(plan, data).answers()["answer"]
    truth = [
        int(((data[f"a{i}"] < 10 * i + 5) & (data[f"a{(i + 3) % 10}"] >= 50 - i)).sum()) for i in range(10)
    ]
    np.testing.assert_allclose(answers, [500, *truth], atol=0.01)


def test_one_cell_more_never_costs_less():
    """The stated sensitivity is the largest column norm over all cells, merged or not."""
    plan = rs.plan(rs.workload.sql(DOMAIN, STATEMENTS), UNIT)
    A = plan.strategy
    columns = A.column_norms(2) ** 2
    assert A.integer_norm(2) == round(columns.max())
    cells = np.random.default_rng(0).integers(0, A.shape[1], 20)
    for cell in (*cells, int(np.argmax(columns))):
        unit = np.zeros(A.shape[1], dtype=np.int64)
        unit[cell] = 1
        assert int(np.sum((A @ unit) ** 2)) == round(columns[cell])


@pytest.mark.parametrize(
    ("sizes", "up_to", "rank"), [((20, 20, 20), 1, 58), ((9, 8, 7, 2), 2, 190), ((50, 20), 1, 69)]
)
def test_dependent_queries_are_told_from_rounding(sizes, up_to, rank):
    """A rank one too large made the search for Laplace noise fail on all tables of one of three attributes."""
    attributes = {f"a{i}": rs.Categorical(range(n), outside="drop") for i, n in enumerate(sizes)}
    rows = rs.workload.marginals(rs.Domain(attributes), up_to=up_to).operator().to_dense()
    assert block(rows, np.ones(len(rows)), 1, 1)[0].rank == rank == np.linalg.matrix_rank(rows)


def test_plain_tables_are_left_to_strategies_of_tables_under_laplace_noise():
    """The search in the row space took minutes there, and found worse."""
    domain = rs.Domain({f"a{i}": rs.Categorical(range(15), outside="drop") for i in range(4)})
    plan = rs.plan(rs.workload.marginals(domain, up_to=2), rs.PureDP(1.0))
    assert plan.candidates[0].name == "marginals"
    assert not any(c.name == "row space optimum" for c in plan.candidates)
