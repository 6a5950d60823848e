"""Rounding the matrices that tables share to integers: few bits each where a table is about many attributes."""

from __future__ import annotations

from collections.abc import Sequence
from math import frexp, log2

from rowspace.operators import Dense, Operator, rounded_columns, rounding_scale

MATRIX_BITS = 30
"""Bits of the largest product of matrices when they are rounded: leaves room for 2³² records in 64 bits."""

GOOD_BITS, MOST_BITS = 6, 32
"""Products of many matrices get so many bits each (a percent of error), if then 2³⁰ records fit 64 bits."""

LEAST_BITS = 3
"""Below 3 bits rounding destroys the matrix."""

LARGEST_WEIGHT = 2**50
"""Integer weights stay below it."""

_SPARE_BITS = 8
"""The smallest weight of a table is rounded to so many bits less than a matrix's largest entry."""


def rounded_matrices(
    matrices: Sequence[Operator], sets: Sequence[tuple[int, ...]], bits: int
) -> tuple[tuple[Operator, ...], list[float]]:
    """(integer matrices, the scale of each): those that are integers already have scale one."""
    known: dict[tuple[int, int], tuple[Operator, float]] = {}
    forms = []
    for M, own_bits in zip(matrices, _bits_of(matrices, sets), strict=True):
        key = id(M), max(LEAST_BITS, min(bits, own_bits))
        if key not in known:
            known[key] = _integers(M, key[1])
        forms.append(known[key])
    return tuple(form for form, _ in forms), [scale for _, scale in forms]


def _bits_of(matrices: Sequence[Operator], sets: Sequence[tuple[int, ...]]) -> list[int]:
    """Bits to round each matrix to that is not integers already."""
    real = [not M.integral for M in matrices]
    taken = [0.0 if r else log2(max(1.0, M.largest_entry())) for r, M in zip(real, matrices, strict=True)]
    most = [MATRIX_BITS] * len(matrices)
    for own in sets:
        number = sum(real[i] for i in own)
        if number:
            few = int((MOST_BITS - sum(taken[i] for i in own)) // number)
            bits = min(max(MATRIX_BITS // number, GOOD_BITS), few)
            for i in own:
                most[i] = min(most[i], bits)
    return most


def _integers(M: Operator, bits: int) -> tuple[Operator, float]:
    """(integers, scale): a matrix given by its entries is rounded column by column."""
    if M.integral or not isinstance(M, Dense):
        return M.integer_form(bits)
    scale = rounding_scale(bits, M.largest_entry())
    return Dense(rounded_columns(M.array, scale)), scale


def weight_scale(weights: Sequence[float], bits: int) -> float:
    """What weights are multiplied by before they are rounded to integers.

    The smallest one keeps its precision: answers may pass 64 bits (`TableOperator.divided_blocks`), so large ones may
    grow.
    """
    smallest = min(weight for weight in weights if weight)
    scale = 2.0 ** (max(1, bits - _SPARE_BITS) - frexp(smallest)[1] + 1)
    return min(scale, 2.0 ** (LARGEST_WEIGHT.bit_length() - 2 - frexp(max(weights))[1]))
