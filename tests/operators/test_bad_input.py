"""Wrong arguments give one clear `InvalidInput`: what was expected, what was got, and no value of an operand."""

import math
from fractions import Fraction

import numpy as np
import pytest
from scipy import sparse

from rowspace import operators as op
from rowspace.exceptions import InvalidInput
from rowspace.operators.tree import TreeInverse
from rowspace.operators.windows import WindowOverlapInverse

NAN, INF = math.nan, math.inf
NOT_A_SIZE = [
    0,
    -1,
    2.0,
    2.5,
    True,
    np.True_,
    "4",
    None,
    NAN,
    INF,
    1 + 0j,
    [4],
    np.array([4]),
    2**63,
    10**5000,
]
NOT_A_NUMBER = [NAN, INF, -INF, True, "2", None, 1j, [1.0], np.array([1.0, 2.0]), Fraction(1, 2), 10**400]
NOT_NUMBERS = [
    [NAN, 1, 1],
    [INF, 1, 1],
    ["1", "2", "3"],
    [1j, 0, 0],
    [None, 1, 2],
    np.array([1, 2, 3], dtype=object),
    [[1, 2], [3]],
    [10**400, 1, 1],
    np.array(["2020-01-01"] * 3, dtype="datetime64[D]"),
]
NOT_AN_OPERATOR = [None, 3, "Prefix", np.eye(3), [op.Prefix(3)], op.Prefix, sparse.eye_array(3)]


def refused(build, *arguments, **keywords):
    with pytest.raises(InvalidInput) as caught:
        build(*arguments, **keywords)
    message = str(caught.value)
    assert "expected" in message
    assert len(message) < 250
    assert "\n" not in message


@pytest.mark.parametrize(
    "size",
    NOT_A_SIZE,
    ids=lambda size: (
        f"{type(size).__name__} {str(size)[:9]}" if not isinstance(size, int) or size < 10**9 else "huge"
    ),
)
def test_sizes(size):
    structures = [
        op.Identity,
        op.Total,
        op.Prefix,
        op.Difference,
        op.Ranges,
        op.RangesGram,
        op.SecondDifference,
    ]
    for cls in (*structures, op.AllPredicates, op.Hierarchy, op.Haar):
        refused(cls, size)
    refused(op.UniformGram, size, 1.0, 1.0)
    refused(op.WidthRanges, size, 1)
    refused(op.WidthRanges, 5, size)
    refused(WindowOverlapInverse, size, 2)
    refused(WindowOverlapInverse, 2, size)
    refused(op.Hierarchy, 4, size)
    refused(op.Sparse, data=[1.0], indices=[0], indptr=[0, 1], columns=size)


@pytest.mark.parametrize(
    "number",
    NOT_A_NUMBER,
    ids=lambda number: f"{type(number).__name__} {str(number)[:9]}" if not isinstance(number, int) else "int",
)
def test_numbers(number):
    refused(lambda: op.Scaled(number, op.Prefix(3)))
    refused(lambda: op.Scaled.of_product(number, op.Prefix(3)))
    refused(op.UniformGram, 3, number, 1.0)
    refused(op.UniformGram, 3, 1.0, number)
    refused(op.Hierarchy, 2, 2, (1.0, number))
    refused(op.Haar, 2, (number, 1.0))
    refused(op.Tree, ((0, 2), (0, 1, 2)), (number, 1.0))


@pytest.mark.parametrize("factor", ["2", None, [1.0], NAN, np.array([1.0, 2.0])], ids=str)
def test_factors_left_of_an_operator(factor):
    refused(lambda: factor * op.Prefix(3))


@pytest.mark.parametrize("values", NOT_NUMBERS, ids=lambda values: str(values)[:20])
def test_arrays(values):
    refused(op.Dense, [values, values])
    refused(op.Dense, np.array([values], dtype=object))
    refused(op.Diagonal, values)
    refused(op.Weighted, values, op.Prefix(3))
    refused(op.Sparse, [values])
    refused(op.Permuted, op.Prefix(3), values)
    refused(op.Merged, op.Prefix(3), values)
    refused(op.Tree, (values,), (1.0,))
    refused(lambda: op.Prefix(3) @ values)
    refused(lambda: op.Prefix(3).T @ values)


@pytest.mark.parametrize("thing", NOT_AN_OPERATOR, ids=lambda thing: type(thing).__name__)
def test_operators(thing):
    refused(op.Transpose, thing)
    refused(op.Scaled, 2.0, thing)
    refused(op.Weighted, [1.0, 1.0, 1.0], thing)
    refused(op.Permuted, thing, [0, 1, 2])
    refused(op.Merged, thing, [0, 1, 2])
    refused(op.Composed, thing, op.Prefix(3))
    refused(op.Composed, op.Prefix(3), thing)
    refused(op.Sum, (op.Prefix(3), thing))
    refused(op.Kronecker, op.Prefix(3), thing)
    refused(op.Stack, op.Prefix(3), thing)
    refused(TreeInverse, thing)
    refused(op.Prefix(3).profile_trace, thing)


def test_a_tree_inverse_wants_a_tree():
    refused(TreeInverse, op.Prefix(3))


MISFITS = {
    "no factor": lambda: op.Kronecker(),
    "no part": lambda: op.Stack(),
    "no term": lambda: op.Sum(()),
    "terms are no tuple": lambda: op.Sum(5),
    "factors are no tuple": lambda: op.Kronecker(factors=5),
    "parts are no tuple": lambda: op.Stack(parts=5),
    "parts over different cells": lambda: op.Stack(op.Prefix(3), op.Prefix(4)),
    "terms of different shapes": lambda: op.Sum((op.Prefix(3), op.Total(3))),
    "shapes that do not compose": lambda: op.Composed(op.Prefix(3), op.Prefix(4)),
    "too few weights": lambda: op.Weighted([1, 2], op.Prefix(3)),
    "a matrix of weights": lambda: op.Weighted(np.ones((3, 1)), op.Prefix(3)),
    "no permutation": lambda: op.Permuted(op.Prefix(3), [0, 1, 1]),
    "too short a permutation": lambda: op.Permuted(op.Prefix(3), [0, 1]),
    "real permutation": lambda: op.Permuted(op.Prefix(3), [0.0, 1.0, 2.0]),
    "permutation of flags": lambda: op.Permuted(op.Prefix(2), [False, True]),
    "a group without cells": lambda: op.Merged(op.Prefix(3), [0, 1, 1]),
    "fewer cells than groups": lambda: op.Merged(op.Prefix(3), [0, 1]),
    "no cells to merge": lambda: op.Merged(op.Prefix(3), np.array([], dtype=int)),
    "a group that is not there": lambda: op.Merged(op.Prefix(2), [0, 1, 2]),
    "a negative group": lambda: op.Merged(op.Prefix(2), [0, 1, -1]),
    "groups in two axes": lambda: op.Merged(op.Prefix(2), [[0, 1]]),
    "empty matrix": lambda: op.Dense(np.zeros((0, 3))),
    "no columns": lambda: op.Dense(np.zeros((3, 0))),
    "a vector": lambda: op.Dense([1, 2, 3]),
    "a number": lambda: op.Dense(3),
    "three axes": lambda: op.Dense(np.zeros((2, 2, 2))),
    "empty diagonal": lambda: op.Diagonal([]),
    "diagonal of two axes": lambda: op.Diagonal(np.eye(2)),
    "sparse of one axis": lambda: op.Sparse([1.0, 2.0]),
    "sparse without entries or shape": lambda: op.Sparse(),
    "sparse without rows": lambda: op.Sparse(np.zeros((0, 2))),
    "sparse complex": lambda: op.Sparse(sparse.csr_array(np.array([[1j]]))),
    "sparse column out of range": lambda: op.Sparse(data=[1.0], indices=[5], indptr=[0, 1], columns=2),
    "sparse negative column": lambda: op.Sparse(data=[1.0], indices=[-1], indptr=[0, 1], columns=2),
    "sparse pointers that fall": lambda: op.Sparse(data=[1.0], indices=[0], indptr=[0, 1, 0], columns=2),
    "sparse pointers past the end": lambda: op.Sparse(data=[1.0], indices=[0], indptr=[0, 9], columns=2),
    "sparse lengths that differ": lambda: op.Sparse(data=[1.0, 2.0], indices=[0], indptr=[0, 1], columns=2),
    "wavelet of no power of two": lambda: op.Haar(6),
    "too few level weights": lambda: op.Hierarchy(4, 2, (1, 1)),
    "too many level weights": lambda: op.Haar(4, (1, 1, 1, 1)),
    "negative level weight": lambda: op.Hierarchy(4, 2, (1, -1, 1)),
    "only zero level weights": lambda: op.Hierarchy(4, 2, (0, 0, 0)),
    "level weights as text": lambda: op.Hierarchy(4, 2, "111"),
    "level weights as a number": lambda: op.Haar(4, 3),
    "level weights as a mapping": lambda: op.Haar(2, {1: 1, 2: 2}),
    "a unary tree": lambda: op.Hierarchy(4, 1),
    "a tree too tall to index": lambda: op.Hierarchy(2**41),
    "no levels": lambda: op.Tree((), ()),
    "levels as text": lambda: op.Tree("ab", (1, 1)),
    "levels as a number": lambda: op.Tree(4, (1,)),
    "empty level": lambda: op.Tree(([],), (1,)),
    "level of one bound": lambda: op.Tree(([0],), (1,)),
    "levels that do not end in cells": lambda: op.Tree(((0, 2, 4),), (1,)),
    "levels that fall": lambda: op.Tree(((0, 3, 2, 4), (0, 1, 2, 3, 4)), (1, 1)),
    "level that starts late": lambda: op.Tree(((1, 4), (0, 1, 2, 3, 4)), (1, 1)),
    "level that ends early": lambda: op.Tree(((0, 3), (0, 1, 2, 3, 4)), (1, 1)),
    "levels that do not nest": lambda: op.Tree(((0, 1, 4), (0, 2, 4), (0, 1, 2, 3, 4)), (1, 1, 1)),
    "level of real bounds": lambda: op.Tree(((0, 1.5, 2), (0, 1, 2)), (1, 1)),
    "more cells than memory": lambda: op.Tree(((0, 2**60),), (1,)),
    "too many predicates": lambda: op.AllPredicates(1001),
    "window wider than the cells": lambda: op.WidthRanges(3, 4),
}


@pytest.mark.parametrize("misfit", MISFITS)
def test_misfits(misfit):
    with pytest.raises(InvalidInput, match=r"expected|cannot compose"):
        MISFITS[misfit]()


OPERANDS = {
    "too short": np.ones(2),
    "too long": np.ones(4),
    "transposed": np.ones((2, 3)),
    "three axes": np.ones((3, 1, 1)),
    "a number": 1.0,
    "empty": [],
    "nothing": None,
    "text": ["a", "b", "c"],
    "complex": [1j, 2, 3],
    "objects": np.array([1, 2, 3], dtype=object),
    "ragged": [[1], [2, 3], [4]],
    "NaN": [1.0, NAN, 2.0],
    "infinite": [1.0, INF, 2.0],
    "NaN in a matrix": [[1.0, 2.0], [NAN, 1.0], [0.0, 0.0]],
    "past 64 bits": np.array([2**63, 1, 1], dtype=np.uint64),
    "dates": np.array(["2020-01-01"] * 3, dtype="datetime64[D]"),
    "an operator": op.Prefix(3),
    "a sparse matrix": sparse.eye_array(3),
    "a mapping": {0: 1.0, 1: 2.0, 2: 3.0},
}


@pytest.mark.parametrize("operand", OPERANDS)
@pytest.mark.parametrize(
    "A",
    [op.Prefix(3), op.Hierarchy(2).pinv(), op.Kronecker(op.Dense(np.ones((2, 3))))],
    ids=["exact", "real", "product"],
)
def test_operands(A, operand):
    assert A.shape[1] == 3
    refused(lambda: A @ OPERANDS[operand])


def test_messages_never_show_an_operand():
    for x in ([123456.75, NAN, 1.0], [123456.75, 1.0], np.array([123456.75, 1, 1], dtype=object)):
        with pytest.raises(InvalidInput) as caught:
            op.Prefix(3) @ x
        assert "123456" not in str(caught.value)


def test_an_array_left_of_an_operator_is_a_type_error():
    """`x @ A` is not offered: numpy must neither loop over the operator nor make an object array."""
    with pytest.raises(TypeError):
        np.ones(3) @ op.Prefix(3)
