"""Small operators of every kind, each with its dense matrix built without it.

Add a structure: one line in `CASES` with a truth from `naive`. `test_catalogue` fails until that is done.
"""

from dataclasses import dataclass

import numpy as np
import pytest
from scipy import sparse

from rowspace import operators as op
from rowspace import tables
from rowspace.operators.tree import TreeInverse
from rowspace.operators.windows import WindowOverlapInverse

from . import naive


@dataclass(frozen=True)
class Case:
    """An operator and what it should be."""

    name: str
    operator: op.Operator
    dense: np.ndarray


INTEGERS = np.array([[1, -2, 0], [0, 2, 1], [2, 0, -1], [1, 1, 1], [0, 0, 2]])
WIDE = np.array([[0.5, 0.25, -1.5, 2.0], [1.0, 0.0, 0.125, -0.75]])
RANK_ONE = np.array([[1.0, 2.0, 3.0], [2.0, 4.0, 6.0], [-1.0, -2.0, -3.0]])
HOLES = np.array([[0.0, 1.5, 0.0, 0.0], [2.0, 0.0, 0.0, -1.0], [0.0, 0.0, 0.0, 0.0], [0.0, 3.0, 0.0, 0.5]])
# A taxonomy: 7 counties in 4 states in 2 regions.
TAXONOMY = ((0, 7), (0, 4, 7), (0, 1, 4, 5, 7), tuple(range(8)))
TAXONOMY_ORDER = np.array([3, 0, 6, 1, 5, 2, 4])
TAXONOMY_WEIGHTS = (1.0, 2.0, 0.0, 1.5)


def _trees():
    yield "one leaf", op.Hierarchy(1), naive.hierarchy(1)
    yield "H4 of the paper", op.Hierarchy(4), naive.hierarchy(4)
    yield "cut short", op.Hierarchy(7), naive.hierarchy(7)
    yield "cut short, ternary", op.Hierarchy(7, 3), naive.hierarchy(7, 3)
    yield "wide root", op.Hierarchy(5, 9), naive.hierarchy(5, 9)
    yield "level weights", op.Hierarchy(9, 3, (1, 0.5, 2)), naive.hierarchy(9, 3, (1, 0.5, 2))
    yield "integer level weights", op.Hierarchy(6, 2, (3, 1, 2, 5)), naive.hierarchy(6, 2, (3, 1, 2, 5))
    yield "zero weights below", op.Hierarchy(6, 2, (1, 2, 0, 0)), naive.hierarchy(6, 2, (1, 2, 0, 0))
    yield "zero weights above", op.Hierarchy(8, 2, (0, 0, 0, 3)), naive.hierarchy(8, 2, (0, 0, 0, 3))
    yield "zero weight between", op.Hierarchy(5, 2, (1, 0, 2, 1)), naive.hierarchy(5, 2, (1, 0, 2, 1))
    yield "root only", op.Hierarchy(5, 2, (2, 0, 0, 0)), naive.hierarchy(5, 2, (2, 0, 0, 0))
    forest = ((0, 2, 5), (0, 1, 2, 3, 4, 5))
    yield "forest", op.Tree(forest, (1, 2)), naive.tree(forest, (1, 2))
    yield "cells alone", op.Tree(((0, 1, 2, 3),), (0.5,)), naive.tree(((0, 1, 2, 3),), (0.5,))
    chain = ((0, 3), (0, 3), (0, 1, 3), (0, 1, 3), (0, 1, 2, 3))
    yield "chain of only children", op.Tree(chain, (1, 1, 1, 2, 1)), naive.tree(chain, (1, 1, 1, 2, 1))
    early = ((0, 1, 2), (0, 1, 2))
    yield "last level unasked", op.Tree(early, (1, 0)), naive.tree(early, (1, 0))
    taxonomy = naive.tree(TAXONOMY, TAXONOMY_WEIGHTS)
    yield "taxonomy", op.Tree(TAXONOMY, TAXONOMY_WEIGHTS), taxonomy
    yield (
        "taxonomy over scattered cells",
        op.Permuted(op.Tree(TAXONOMY, TAXONOMY_WEIGHTS), TAXONOMY_ORDER),
        naive.permuted(taxonomy, TAXONOMY_ORDER),
    )
    yield "inverse", TreeInverse(op.Hierarchy(5)), np.linalg.pinv(naive.hierarchy(5))
    lacking = naive.tree(TAXONOMY, (1, 2, 3, 0))
    yield "inverse, rank deficient", TreeInverse(op.Tree(TAXONOMY, (1, 2, 3, 0))), np.linalg.pinv(lacking)


def _leaves():
    for n in (1, 5):
        yield f"I{n}", op.Identity(n), naive.identity(n)
        yield f"total {n}", op.Total(n), naive.total(n)
        yield f"prefix {n}", op.Prefix(n), naive.prefix(n)
        yield f"difference {n}", op.Difference(n), naive.difference(n)
        yield f"ranges {n}", op.Ranges(n), naive.ranges(n)
        yield f"ranges gram {n}", op.RangesGram(n), naive.ranges_gram(n)
        yield f"second difference {n}", op.SecondDifference(n), naive.second_difference(n)
        yield f"predicates {n}", op.AllPredicates(n), naive.all_predicates(n)
        yield f"uniform {n}", op.UniformGram(n, 2.0, 0.5), naive.uniform_gram(n, 2.0, 0.5)
    yield "uniform, J only", op.UniformGram(4, 0, 3), naive.uniform_gram(4, 0, 3)
    yield "uniform, centring", op.UniformGram(49, 1.0, -1 / 49), naive.uniform_gram(49, 1.0, -1 / 49)
    yield "uniform, negative", op.UniformGram(3, 2, -1), naive.uniform_gram(3, 2, -1)
    for n, width in ((1, 1), (7, 3), (5, 5), (6, 1), (9, 7)):
        yield f"windows {n},{width}", op.WidthRanges(n, width), naive.width_ranges(n, width)
    for rows, width in ((1, 4), (5, 1), (5, 3), (3, 7)):
        truth = naive.window_overlap_inverse(rows, width)
        yield f"window overlaps {rows},{width}", WindowOverlapInverse(rows, width), truth
    yield "Y1", op.Haar(1), naive.haar(1)
    yield "Y8", op.Haar(8), naive.haar(8)
    yield "weighted wavelet", op.Haar(4, (1, 2, 0.5)), naive.haar(4, (1, 2, 0.5))
    yield "integer wavelet", op.Haar(8, (2, 3, 1, 4)), naive.haar(8, (2, 3, 1, 4))
    yield "wavelet with a hole", op.Haar(4, (1, 0, 1)), naive.haar(4, (1, 0, 1))
    yield "wavelet without total", op.Haar(4, (0, 1, 1)), naive.haar(4, (0, 1, 1))
    yield "1 x 1", op.Dense([[-2.5]]), np.array([[-2.5]])
    yield "1 x 1 zero", op.Dense([[0]]), np.array([[0.0]])
    yield "tall integers", op.Dense(INTEGERS), INTEGERS.astype(float)
    yield "wide", op.Dense(WIDE), WIDE
    yield "rank one", op.Dense(RANK_ONE), RANK_ONE
    yield "booleans", op.Dense(INTEGERS > 0), (INTEGERS > 0).astype(float)
    yield "sparse", op.Sparse(sparse.coo_array(HOLES)), HOLES
    yield "sparse integers", op.Sparse(sparse.csc_array(INTEGERS)), INTEGERS.astype(float)
    yield "sparse from dense", op.Sparse(HOLES.tolist()), HOLES
    yield "sparse nothing", op.Sparse(np.zeros((2, 3))), np.zeros((2, 3))
    yield "diagonal", op.Diagonal([1, 0.25, 3]), naive.diagonal([1, 0.25, 3])
    yield (
        "p-identity",
        op.PIdentity([1, -0.5, 2], op.Dense([[1, 2, 0.5]])),
        naive.stack(naive.diagonal([1, -0.5, 2]), [[1, 2, 0.5]]),
    )
    yield (
        "p-identity inverse",
        op.PIdentity([1, 2], op.Dense([[0, 2]])).pinv(),
        np.array([[1, 0, 0], [0, 0.25, 0.25]]),
    )
    yield (
        "integer p-identity",
        op.PIdentity([1, 2], op.Sparse([[3, 0]])),
        naive.stack(naive.diagonal([1, 2]), [[3, 0]]),
    )
    for n in (1, 5, 6):
        yield f"sines {n}", op.Sines(n), naive.sines(n)
        yield f"cosines {n}", op.Cosines(n), naive.cosines(n)
    spectrum, weights = np.array([3, 1.5, 1, 0.5]), np.array([1, 2, 2, 0.5])
    for name, waves, truth in (
        ("sines", op.Sines(4), naive.sines(4)),
        ("cosines", op.Cosines(4), naive.cosines(4)),
    ):
        dense = truth.T @ np.diag(spectrum) @ truth @ np.diag(weights)
        yield f"filter of {name}", op.Spectral(waves, spectrum, weights), dense
    holed = naive.sines(3).T @ np.diag([2, 0, 1]) @ naive.sines(3)
    yield "filter with a hole", op.Spectral(op.Sines(3), [2, 0, 1], [1, 1, 1]), holed
    yield (
        "integer filter of sines",
        op.SpectralIntegers(op.Sines(4), [9, 4, -2, 1, -3], [1, 5, 2, 3]),
        naive.mirrored([9, 4, -2, 1, -3, 1, -2, 4], -1) * [1, 5, 2, 3],
    )
    yield (
        "integer filter of cosines, 13 cells",
        op.SpectralIntegers(op.Cosines(13), [40, *range(12, 0, -1)], [2] * 13),
        2 * naive.mirrored([40, *range(12, 0, -1), 0, *range(-1, -13, -1)], 1),
    )
    for n in (1, 2, 5):
        yield f"contrasts of {n} cells", op.CellContrasts(n), n * naive.identity(n) - np.ones((n, n))
    weights = np.array([9, 8, 8, 7, 9, 11, 8])
    fading = op.Fading(9, weights)
    yield "fading", fading, naive.fading(9, weights)
    yield "inverse of fading", fading.pinv(), np.linalg.inv(naive.fading(9, weights))
    yield "diagonal with a zero", op.Diagonal([1, -2, 0]), naive.diagonal([1, -2, 0])


def _tables():
    cases = {
        "two-way of three": ((2, 3, 2), ((0, 1), (0, 2), (1, 2)), (1, 2, 0.5)),
        "everything": ((2, 2, 3), ((0, 1, 2), (0,), ()), (1, 3, 2)),
        "zero weight": ((3, 2), ((0, 1), (0,)), (0, 1)),
        "total alone": ((3, 2), ((),), (2,)),
        "one cell": ((1,), ((0,),), (3,)),
        "attributes of one cell": ((1, 3, 1, 2), ((0, 1), (1,), (1, 2, 3)), (1, 0.5, 2)),
        "integers past the cells": ((2, 4), ((0,), (1,), (0, 1)), (7, 2, 3)),
    }
    for name, (sizes, sets, weights) in cases.items():
        A, truth = tables.Marginals(sizes, sets, weights), naive.marginals(sizes, sets, weights)
        yield f"marginals, {name}", A, truth
        yield f"inverse of marginals, {name}", tables.TableInverse(A), np.linalg.pinv(truth)
    residuals = {
        "all": ((2, 3), ((), (0,), (1,), (0, 1)), (3, 1, 2, 0.5)),
        "gap": ((2, 3, 1), ((), (0, 1)), (1, 2)),
        "zero weight": ((3, 2), ((1,), (0,)), (0, 1)),
        "without total": ((2, 2, 2), ((0,), (1, 2), (0, 1, 2)), (1, 1, 3)),
        "total alone": ((1, 1), ((),), (2,)),
    }
    for name, (sizes, sets, weights) in residuals.items():
        A, truth = tables.Residuals(sizes, sets, weights), naive.residuals(sizes, sets, weights)
        yield f"residuals, {name}", A, truth
        yield f"inverse of residuals, {name}", tables.TableInverse(A), np.linalg.pinv(truth)


def _joint_tables(pairs):
    sums = np.array([[1.0, 1, 0, 1, 0, 0], [0, 0, 1, 0, 0, 3]])
    one = np.array([[1.0, 2.0]])
    cases = {
        "pairs": ((2, 3), ((), (0, 1)), (2, 1), (), (None, sums)),
        "every set": ((2, 3), ((), (0,), (1,), (0, 1)), (3, 2, 1, 1), (), (None, one, pairs, sums)),
        "some": ((2, 3, 3), ((0, 1), (0, 2), (2,)), (0.5, 2, 1), (), (sums, None, pairs)),
        "contrasts": ((2, 3), ((0, 1), (1,)), (1, 0), (one * [1, -1], pairs), (sums, None)),
    }
    for name, (sizes, sets, weights, contrasts, joint) in cases.items():
        own = tuple(map(op.Dense, contrasts))
        matrices = contrasts or [n * naive.identity(n) - np.ones((n, n)) for n in sizes]
        blocks = []
        for S, weight, J in zip(sets, weights, joint, strict=True):
            if J is None:
                blocks.append(naive.product_tables(sizes, (S,), (weight,), matrices))
                continue
            # One axis for every attribute, spread over those that are summed out.
            shape = [n if i in S else 1 for i, n in enumerate(sizes)]
            wide = J.reshape(len(J), *shape) * np.ones((1, *sizes))
            blocks.append(weight * wide.reshape(len(J), -1))
        given = tuple(None if J is None else op.Dense(J) for J in joint)
        yield (
            f"joint residuals, {name}",
            tables.Residuals(sizes, sets, weights, own, given),
            np.concatenate(blocks),
        )


def _product_tables():
    pairs = np.array([[1.0, -1, 0], [1, 1, -1]])
    real = np.array([[0.25, -0.75, 0.125, 0.25], [0.5, 0.375, -0.5, -0.125], [0.25, 0.125, 0.25, -0.875]])
    cells = {n: n * naive.identity(n) - np.ones((n, n)) for n in (2, 3)}
    contrasts = {
        "integers": ((2, 3), ((), (1,), (0, 1)), (3, 2, 1), (cells[2], pairs)),
        "reals": ((4, 3), ((), (0,), (0, 1)), (0.5, 2, 1), (real, pairs)),
        "one cell": ((1, 3), ((1,), ()), (2, 0.25), (naive.identity(1), pairs)),
        "zero weight": ((3, 3, 2), ((0, 1), (1, 2), (2,)), (0, 1, 0.5), (pairs, pairs, cells[2])),
        "every set": ((3, 3), ((), (0,), (1,), (0, 1)), (4, 2, 1, 1), (pairs, cells[3])),
    }
    for name, (sizes, sets, weights, matrices) in contrasts.items():
        own = tuple(
            op.Dense(M) if len(M) < n else op.CellContrasts(n) for M, n in zip(matrices, sizes, strict=True)
        )
        truth = naive.product_tables(sizes, sets, weights, matrices)
        yield f"product residuals, {name}", tables.Residuals(sizes, sets, weights, own), truth
    yield from _joint_tables(pairs)
    prefix, tree = (op.Prefix(3), naive.prefix(3)), (op.Hierarchy(4), naive.hierarchy(4))
    identity, real_tree = (op.Identity(2), naive.identity(2)), (0.25 * op.Hierarchy(4), 0.25 * tree[1])
    bases = {
        "integers": ((2, 3), ((), (1,), (0, 1)), (3, 2, 1), (identity, prefix)),
        "reals": ((4, 3), ((), (0,), (0, 1)), (0.5, 2, 1), (real_tree, prefix)),
        "zero weight": ((4, 3, 2), ((0, 1), (1, 2), (2,)), (0, 1, 2), (tree, prefix, identity)),
        "one cell": ((1, 3), ((0, 1), ()), (2, 0.25), ((op.Identity(1), naive.identity(1)), prefix)),
    }
    for name, (sizes, sets, weights, own) in bases.items():
        A = tables.Marginals(sizes, sets, weights, tuple(base for base, _ in own))
        yield f"product marginals, {name}", A, naive.product_tables(sizes, sets, weights, [d for _, d in own])


def _query_mixes():
    pair, other = np.array([[1, 1, 1], [0, 1, 1], [1, 0, 0]]), np.array([[1, 1], [1, 0]])
    tied = np.array([[1] * 4, [1, 2, 0, -1]])
    mixes = {
        "one block": (
            (3, 2),
            ((0,), (1,)),
            (pair, other),
            ([[1, 0], [0, 1]],),
            ([[2, 1], [-1, 3]],),
            ((-1, -1),),
        ),
        "real": ((3,), ((0,),), (pair,), ([[0], [1]],), ([[0.5, 0.25], [0, 1.5], [1, 1]],), ((-1,),)),
        "tied attributes": (
            (2, 3, 2),
            ((0, 2), (1,)),
            (tied, pair),
            ([[1, 2], [0, 1], [1, 0]],),
            ([[1, 0, 2], [0, 3, -1], [1, 1, 1]],),
            ((-1, -1),),
        ),
        "contrasts": (
            (3, 2, 3),
            ((0,), (1,), (2,)),
            (pair, other, pair),
            ([[0, 0, 1], [2, 1, 2]], [[1, 1, 0], [1, 0, 2]], [[1, 0, 1]]),
            ([[2, 0], [1, 3]], [[1, 2], [0, 4]], [[5]]),
            ((-1, -1, -1), (1, -1, -1), (1, -1, 1)),
        ),
    }
    for name, (sizes, axes, vectors, numbers, mix, beyond) in mixes.items():
        A = tables.QueryMix(
            sizes,
            axes,
            tuple(op.Sparse(V) for V in vectors),
            tuple(np.array(own) for own in numbers),
            tuple(op.Dense(T) for T in mix),
            beyond,
        )
        yield f"mixed queries, {name}", A, naive.query_mix(sizes, axes, vectors, numbers, mix, beyond)


def _compounds():
    prefix, windows, haar = naive.prefix(3), naive.width_ranges(4, 2), naive.haar(4)
    yield (
        "cube",
        op.Kronecker(op.Prefix(3), op.Total(2), op.Identity(2)),
        naive.kronecker(prefix, naive.total(2), naive.identity(2)),
    )
    yield "one factor", op.Kronecker(op.Prefix(3)), prefix
    lower, other = np.array([[2, 0], [1, 3]]), np.array([[1, 0], [-1, 2]])
    contrasts, ones = naive.identity(3) * 3 - 1, np.ones((1, 3))
    layers = np.concatenate([naive.kronecker(ones, lower), naive.kronecker(contrasts, other)])
    yield "layers", op.Layers((3, 2), (1,), (op.Dense(lower), op.Dense(other))), layers
    turned = layers.reshape(-1, 3, 2).transpose(0, 2, 1).reshape(-1, 6)
    yield "layers, joint first", op.Layers((2, 3), (0,), (op.Dense(lower), op.Dense(other))), turned
    halves = naive.kronecker(ones, lower / 2), naive.kronecker(contrasts, INTEGERS[:2, :2] / 4)
    real = op.Dense(lower / 2), op.Dense(INTEGERS[:2, :2] / 4)
    yield "real layers", op.Layers((3, 2), (1,), real), np.concatenate(halves)
    yield "identities", op.Kronecker(op.Identity(2), op.Identity(3)), naive.identity(6)
    yield "wavelet by ranges", op.Kronecker(op.Haar(4), op.Ranges(3)), naive.kronecker(haar, naive.ranges(3))
    yield (
        "trees",
        op.Kronecker(op.Hierarchy(3), op.Hierarchy(4)),
        naive.kronecker(naive.hierarchy(3), naive.hierarchy(4)),
    )
    yield (
        "deficient product",
        op.Kronecker(op.Dense(RANK_ONE), op.Total(2)),
        naive.kronecker(RANK_ONE, naive.total(2)),
    )
    union = naive.stack(naive.identity(2), naive.total(2))
    yield (
        "product of unions",
        op.Kronecker(op.Stack(op.Identity(2), op.Total(2)), op.WidthRanges(4, 2)),
        naive.kronecker(union, windows),
    )
    yield (
        "union of products",
        op.Stack(op.Kronecker(op.Identity(2), op.Total(3)), op.Kronecker(op.Total(2), op.Prefix(3))),
        naive.stack(
            naive.kronecker(naive.identity(2), naive.total(3)), naive.kronecker(naive.total(2), prefix)
        ),
    )
    yield "union", op.Stack(op.Identity(4), op.Total(4)), naive.stack(naive.identity(4), naive.total(4))
    yield "union of one", op.Stack(op.Prefix(3)), prefix
    yield (
        "union with nothing",
        op.Stack(op.Total(3), 0 * op.Total(3)),
        naive.stack(naive.total(3), 0 * naive.total(3)),
    )
    yield (
        "union with signs",
        op.Stack(-0.5 * op.Hierarchy(4), 0.3 * op.Identity(4), op.Dense(WIDE)),
        naive.stack(-0.5 * naive.hierarchy(4), 0.3 * naive.identity(4), WIDE),
    )
    yield (
        "nested union",
        op.Stack(op.Stack(op.Total(3), op.Identity(3)), op.Prefix(3)),
        naive.stack(naive.total(3), naive.identity(3), prefix),
    )
    yield "multiple", 2.5 * op.Hierarchy(4), 2.5 * naive.hierarchy(4)
    yield "negative integer multiple", -3 * op.Prefix(3), -3 * prefix
    yield "negative", -op.Dense(WIDE), -WIDE
    yield "zero multiple", 0 * op.Dense(WIDE), 0 * WIDE
    yield "nested multiple", op.Scaled(2, op.Scaled(0.25, op.Haar(4))), 0.5 * haar
    yield "weighted rows", op.Weighted([1, 0, 2], op.Prefix(3)), prefix * [[1], [0], [2]]
    yield "real weighted rows", op.Weighted([0.5, -1.25, 2], op.Prefix(3)), prefix * [[0.5], [-1.25], [2]]
    yield "weighted real rows", op.Weighted([2, -1], op.Dense(WIDE)), WIDE * [[2], [-1]]
    yield "no weight at all", op.Weighted([0, 0], op.Dense(WIDE)), 0 * WIDE
    merged = naive.merged(prefix, [2, 0, 1, 0, 2])
    yield "merged", op.Merged(op.Prefix(3), [2, 0, 1, 0, 2]), merged
    yield (
        "merged, rank deficient",
        op.Merged(op.Dense(WIDE), [1, 3, 0, 2, 2]),
        naive.merged(WIDE, [1, 3, 0, 2, 2]),
    )
    yield "merged, one cell each", op.Merged(op.Dense(INTEGERS), [1, 2, 0]), naive.merged(INTEGERS, [1, 2, 0])
    yield "padded to the right", op.Padded.right(op.Ranges(3), 4), naive.padded(naive.ranges(3), 6, 4)
    yield "padded below", op.Padded(op.Dense(WIDE), 4, 4), naive.padded(WIDE, 4, 4)
    yield "padded both ways", op.Padded(op.Prefix(3), 5, 6), naive.padded(prefix, 5, 6)
    yield "padded, rank deficient", op.Padded(op.Dense(RANK_ONE), 3, 5), naive.padded(RANK_ONE, 3, 5)
    yield "extended", op.Extended(op.Prefix(3), (4,), (3,), 2), naive.extended(prefix, (4,), (3,), 2)
    yield (
        "extended in two attributes",
        op.Extended(op.Kronecker(op.Prefix(3), op.Identity(2)), (4, 3), (3, 2), 0.5),
        naive.extended(naive.kronecker(prefix, naive.identity(2)), (4, 3), (3, 2), 0.5),
    )
    yield (
        "extended, rank deficient",
        op.Extended(op.Dense(RANK_ONE), (2, 3), (1, 3), 3),
        naive.extended(RANK_ONE, (2, 3), (1, 3), 3),
    )
    yield "extended by nothing", op.Extended(op.Prefix(3), (3,), (3,), 5), prefix
    yield "permuted", op.Permuted(op.Prefix(3), [2, 0, 1]), naive.permuted(prefix, [2, 0, 1])
    yield "permuted real", op.Permuted(op.Dense(WIDE), [1, 3, 0, 2]), naive.permuted(WIDE, [1, 3, 0, 2])
    yield "composed", op.Composed(op.Prefix(4), op.Haar(4)), naive.product(naive.prefix(4), haar)
    yield "composed wide", op.Composed(op.Total(4), op.Haar(4)), naive.product(naive.total(4), haar)
    yield "composed through a bottleneck", op.Composed(op.Total(3).T, op.Total(4)), np.ones((3, 4))
    yield "sum", op.Sum((op.Prefix(3), op.Identity(3))), prefix + naive.identity(3)
    yield "sum that cancels", op.Sum((op.Prefix(3), -1 * op.Prefix(3))), 0 * prefix
    yield "transposed prefix", op.Prefix(3).T, prefix.T
    yield "transposed total", op.Total(4).T, naive.total(4).T
    yield "transposed ranges", op.Ranges(4).T, naive.ranges(4).T
    yield "transposed tree", op.Transpose(op.Hierarchy(5)), naive.hierarchy(5).T
    yield (
        "transposed product",
        op.Kronecker(op.Ranges(2), op.Haar(2)).T,
        naive.kronecker(naive.ranges(2), naive.haar(2)).T,
    )
    yield (
        "transposed union",
        op.Stack(op.Identity(4), op.Total(4)).T,
        naive.stack(naive.identity(4), naive.total(4)).T,
    )


CASES = [
    Case(name, operator, dense)
    for kind in (_leaves, _trees, _tables, _product_tables, _query_mixes, _compounds)
    for name, operator, dense in kind()
]

every_case = pytest.mark.parametrize(
    "case", CASES, ids=[f"{type(case.operator).__name__}: {case.name}" for case in CASES]
)
