from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rowspace import ZCDP, PureDP
from rowspace import operators as op
from rowspace.error import profile_trace, query_errors
from rowspace.privacy import sensitivity
from rowspace.strategy import Augment, IdentityStrategy, SingularValue, augment

from .matrices import workloads

UNIT, LAPLACE = ZCDP(0.5), PureDP(np.sqrt(2.0))
NOISES = st.sampled_from([UNIT, LAPLACE])


@st.composite
def strategies(draw: st.DrawFn) -> op.Operator:
    """Dense, stacked on a diagonal, a tree or a diagonal: everything that is completed in its own way."""
    A = draw(workloads())
    n = A.shape[1]
    scale = draw(st.sampled_from([1.0, 0.3]))
    forms = [
        op.Dense(scale * A),
        op.Stack(op.Dense(scale * A), op.Identity(n)),
        op.Stack(op.Diagonal(np.linspace(-1.0, 2.0, n)), op.Dense(scale * A)),
        op.Weighted(np.full(len(A), scale), op.Dense(A)),
        op.Diagonal(np.linspace(-1.0, 2.0, n)),
    ]
    return draw(st.sampled_from(forms))


@given(strategies(), st.sampled_from([ZCDP(0.5, "replace-one"), PureDP(1.0, "replace-one")]))
@settings(max_examples=60, deadline=None)
def test_the_total_of_replaced_records_is_free(A: op.Operator, privacy) -> None:
    told = augment(A, privacy)
    assert sensitivity(told, privacy) <= sensitivity(A, privacy) * (1 + 1e-9)
    assert told.integral or not A.integral
    gained = told.to_dense().T @ told.to_dense() - A.to_dense().T @ A.to_dense()
    assert np.allclose(gained, gained[0, 0])
    assert gained[0, 0] >= 0


def test_cells_of_replaced_records_and_their_number() -> None:
    told = augment(op.Identity(4), ZCDP(0.5, "replace-one"))
    assert told.integral
    assert np.array_equal(told.to_dense()[-1], np.ones(4))


@given(strategies(), NOISES)
@settings(max_examples=150, deadline=None)
def test_sensitivity_stays(A: op.Operator, privacy) -> None:
    completed = augment(A, privacy)
    assert completed.max_column_norm(privacy.norm) <= A.max_column_norm(privacy.norm)
    norms = completed.column_norms(privacy.norm)
    np.testing.assert_allclose(norms, norms.max(), rtol=1e-5)


@given(strategies(), NOISES)
@settings(max_examples=150, deadline=None)
def test_no_query_gets_worse(A: op.Operator, privacy) -> None:
    """Theorem 8: AᵗA grows, so every quadratic form of its inverse on the row space shrinks."""
    before, after = A.gram().to_dense(), augment(A, privacy).gram().to_dense()
    assert np.linalg.eigvalsh(after - before).min() >= -1e-9 * np.abs(after).max()
    rows = A.to_dense()
    old = np.einsum("ij,jk,ik->i", rows, np.linalg.pinv(before, rcond=1e-10), rows)
    new = np.einsum("ij,jk,ik->i", rows, np.linalg.pinv(after, rcond=1e-10), rows)
    assert (new <= old + 1e-7).all()


def test_nothing_deficient_is_returned_as_it_is() -> None:
    for A in (op.Identity(5), op.Hierarchy(8), op.Haar(8)):
        assert augment(A, LAPLACE) is A


def test_replace_one_is_left_alone() -> None:
    A = op.Prefix(4)
    assert augment(A, PureDP(1.0, "replace-one")) is A


def test_prefixes_gain_much() -> None:
    """The last cells are in few prefixes; asking them again is free."""
    W = op.Prefix(16)
    completed = augment(W, UNIT)
    assert profile_trace(completed, W) < 0.8 * profile_trace(W, W)
    assert (query_errors(completed, W, UNIT) <= query_errors(W, W, UNIT) + 1e-12).all()


def test_single_cell_rows_are_enlarged_not_repeated() -> None:
    A = op.Dense([[1.0, 1.0, 0.0], [0.0, 0.0, 0.5]])
    np.testing.assert_allclose(augment(A, LAPLACE).to_dense(), [[1, 1, 0], [0, 0, 1]])
    stacked = augment(op.Stack(op.Dense([[1.0, 1.0, 0.0]]), op.Identity(3)), LAPLACE)
    np.testing.assert_allclose(stacked.to_dense()[1:], np.diag([1.0, 1.0, 2.0]))


def test_integer_strategies_stay_integers_under_laplace() -> None:
    completed = augment(op.Prefix(4), LAPLACE)
    assert completed.integral
    np.testing.assert_array_equal(completed.column_norms(1), np.full(4, 4.0))


def test_works_on_a_million_cells() -> None:
    completed = augment(op.Prefix(2**20), UNIT)
    assert completed.max_column_norm(2) <= op.Prefix(2**20).max_column_norm(2)


def test_after_an_optimizer() -> None:
    W = op.Prefix(24)
    plain, better = (optimizer.optimize(W, UNIT) for optimizer in (SingularValue(), Augment(SingularValue())))
    assert plain.lower_bound <= better.total_error < plain.total_error
    assert "completed" in better.status
    assert better.lower_bound == pytest.approx(plain.lower_bound)
    untouched = Augment(IdentityStrategy()).optimize(W, UNIT)
    assert untouched.strategy == op.Identity(24)
