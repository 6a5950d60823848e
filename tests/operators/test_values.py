"""Operators are values: equal when they say the same, saved and read back unchanged, and never altered."""

import copy
import dataclasses
import json
import pickle

import numpy as np
import pytest
from scipy import sparse

from rowspace import operators as op

from .catalogue import CASES, every_case


def arrays_of(value):
    if isinstance(value, np.ndarray):
        yield value
    elif isinstance(value, tuple):
        for item in value:
            yield from arrays_of(item)
    elif isinstance(value, op.Operator):
        yield from arrays_of(tuple(value.fields().values()))


@every_case
def test_round_trip_through_json_text(case):
    tree, arrays = op.encode(case.operator)
    again = op.decode(json.loads(json.dumps(tree, allow_nan=False)), arrays)
    assert again == case.operator
    assert type(again) is type(case.operator)
    assert hash(again) == hash(case.operator)
    np.testing.assert_array_equal(again.to_dense(), case.operator.to_dense())


@every_case
def test_derived_operators_round_trip(case):
    for derived in (case.operator.T, case.operator.gram(), case.operator.pinv(), 0.5 * case.operator):
        tree, arrays = op.encode(derived)
        assert op.decode(json.loads(json.dumps(tree)), arrays) == derived


def test_different_operators_differ():
    for number, case in enumerate(CASES):
        equal = [other for other in CASES[number + 1 :] if other.operator == case.operator]
        assert not [other for other in equal if other.dense.shape != case.dense.shape]
        assert not [other for other in equal if not np.allclose(other.dense, case.dense)]


@every_case
def test_equality_is_by_content_not_identity(case):
    assert case.operator != op.Scaled(2.5, case.operator)
    assert case.operator != "an operator"
    assert case.operator is not None
    assert len({case.operator, copy.deepcopy(case.operator), copy.copy(case.operator)}) == 1


@every_case
def test_frozen(case):
    for field in dataclasses.fields(case.operator):
        with pytest.raises(dataclasses.FrozenInstanceError):
            setattr(case.operator, field.name, None)
    with pytest.raises(dataclasses.FrozenInstanceError):
        case.operator.something_new = 1
    for array in arrays_of(case.operator):
        with pytest.raises(ValueError, match="read-only"):
            array[...] = 0


@every_case
def test_answers_can_be_altered_without_altering_the_operator(case):
    dense = case.operator.to_dense()
    dense[...] = 99
    rows = case.operator.rows_dense(0, 1)
    rows[...] = 99
    for p in (1, 2):
        norms = case.operator.column_norms(p)
        norms[...] = 99
    np.testing.assert_allclose(case.operator.to_dense(), case.dense, atol=1e-9)


@every_case
def test_printing_names_the_structure(case):
    assert type(case.operator).__name__ in repr(case.operator)


def test_what_was_passed_in_is_copied():
    array, values, order = np.eye(3), np.ones(3), np.arange(3)
    bounds, matrix, weights = np.arange(4), sparse.csr_array(np.eye(3)), [1.0, 2.0, 3.0]
    operators = [
        op.Dense(array),
        op.Diagonal(values),
        op.Permuted(op.Prefix(3), order),
        op.Merged(op.Prefix(3), order),
        op.Tree((bounds,), (1,)),
        op.Sparse(matrix),
        op.Weighted(values, op.Prefix(3)),
        op.Hierarchy(3, 2, weights),
    ]
    before = [operator.to_dense() for operator in operators]
    array[0, 0] = values[0] = bounds[0] = matrix.data[0] = weights[0] = 77
    order[:] = [2, 1, 0]
    for operator, dense in zip(operators, before, strict=True):
        np.testing.assert_array_equal(operator.to_dense(), dense)


def test_sizes_of_any_integer_type_become_python_integers():
    for cls in (
        op.Identity,
        op.Total,
        op.Prefix,
        op.Difference,
        op.Ranges,
        op.RangesGram,
        op.SecondDifference,
    ):
        A = cls(np.int32(100_000))
        assert type(A.n) is int
        assert cls(100_000) == A
        assert A.shape == cls(100_000).shape
    assert op.Haar(np.int64(8)) == op.Haar(8)
    assert op.Hierarchy(np.uint8(200), np.int8(3)).shape == op.Hierarchy(200, 3).shape
    assert op.WidthRanges(np.int16(300), np.int16(200)).shape == (101, 300)
    assert op.AllPredicates(np.int8(9)).shape == (512, 9)
    assert (np.int8(100) * op.Identity(2)).gram() == 10_000 * op.Identity(2)


def test_spelling_of_numbers_does_not_matter():
    assert op.Hierarchy(4, 2, [1, 2, 3]) == op.Hierarchy(4, 2, (1.0, 2.0, 3.0))
    assert op.Hierarchy(4, 2, np.array([1, 2, 3])) == op.Hierarchy(4, 2, (1.0, 2.0, 3.0))
    assert 2 * op.Prefix(3) == 2.0 * op.Prefix(3)
    assert op.Dense([[1, 0]]) == op.Dense(np.array([[True, False]]))


def test_pickle_for_worker_processes():
    for case in CASES:
        assert pickle.loads(pickle.dumps(case.operator)) == case.operator  # noqa: S301 - our own bytes
