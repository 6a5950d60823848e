"""Checks of what callers pass: each returns the value in one known form or raises a clear error."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import numpy.typing as npt

from rowspace.exceptions import InvalidInput, UnsupportedWorkload

Array = npt.NDArray[Any]
Vector = npt.NDArray[np.float64]
Indices = npt.NDArray[np.int64]

LARGEST_SIZE = 2**62
"""Most cells one structure may have: sums of two indices still fit 64 bits. Products may have more."""


def check_size(name: str, n: Any, least: int = 1) -> int:
    """A whole number ≥ least, or `InvalidInput`."""
    if isinstance(n, bool) or not isinstance(n, (int, np.integer)):
        raise InvalidInput(f"expected {name} to be a whole number, got {type(n).__name__}")
    if not least <= int(n) <= LARGEST_SIZE:
        got = int(n) if abs(int(n)) <= LARGEST_SIZE else "a number beyond 64 bits"
        raise InvalidInput(f"expected {name} to be a whole number from {least} to 2**62, got {got}")
    return int(n)


def check_number(name: str, value: Any) -> float:
    """A finite real number, or `InvalidInput`."""
    if isinstance(value, bool) or not isinstance(value, (int, float, np.integer, np.floating)):
        raise InvalidInput(f"expected {name} to be a number, got {type(value).__name__}")
    try:
        number = float(value)
    except OverflowError:
        number = math.inf
    if not math.isfinite(number):
        raise InvalidInput(f"expected {name} to be a finite 64-bit number, got NaN, infinity or a larger one")
    return number


def check_norm(p: Any) -> int:
    """1 or 2, or `InvalidInput`."""
    if isinstance(p, bool) or not isinstance(p, (int, np.integer)) or p not in (1, 2):
        raise InvalidInput("expected p to be 1 or 2 (the norm of a column)")
    return int(p)


def check_supported(residual: float, scale: float) -> None:
    """Raise `UnsupportedWorkload` when the residual outside the row space is not rounding error."""
    if residual > 1e-7 * scale:
        raise UnsupportedWorkload(
            "the workload has queries outside the strategy's row space, which have no unbiased answer; "
            "add rows to the strategy that span them (for example the identity)"
        )


def as_array(values: Any) -> Array:
    """`np.asarray`, with a clear error for ragged nests."""
    try:
        return np.asarray(values)
    except ValueError:
        raise InvalidInput("expected a rectangular array of numbers, got rows of unequal lengths") from None


def read_only(values: Any, dtype: Any) -> Array:
    """A private, contiguous, immutable copy; only whole numbers become integers."""
    array = as_array(values)
    kinds, wanted = ("iu", "whole") if np.dtype(dtype).kind == "i" else ("biuf", "real")
    if array.dtype.kind not in kinds:
        raise InvalidInput(f"expected an array of {wanted} numbers, got dtype {array.dtype}")
    # On bytes, which nobody can make writable again, as an array that owns its memory could be.
    owned = array.astype(dtype, copy=False).tobytes()
    return np.frombuffer(owned, dtype=dtype).reshape(array.shape)


def rounded_but_not_to_zero(values: Vector) -> Vector:
    """The nearest integers, but ±1 for what is not zero: a question asked faintly is still asked."""
    return np.asarray(np.sign(values) * np.maximum(np.rint(np.abs(values)), values != 0))


def rounding_scale(bits: int, largest: float) -> float:
    """The power of two that turns `largest` into a number of `bits` bits; one when there is nothing to scale."""
    return 1.0 if not largest else 2.0 ** (bits - math.ceil(math.log2(largest)))


def as_operand(x: Any, length: int, integral: bool) -> Array:
    """A vector of a length, or a matrix of as many rows: int64 where it and the operator are integral, else float64."""
    x = as_array(x)
    if x.dtype.kind not in "biuf":
        raise InvalidInput(f"expected a real numeric array, got dtype {x.dtype}")
    if x.ndim not in (1, 2) or x.shape[0] != length:
        raise InvalidInput(
            f"expected a vector of length {length} or a matrix with {length} rows, got shape {x.shape}"
        )
    if x.dtype.kind == "f" and not np.isfinite(x).all():
        # Running sums would spread NaN over other answers than the matrix does.
        raise InvalidInput("expected finite numbers, got NaN or infinity")
    if x.dtype == np.uint64 and x.size and x.max() > np.iinfo(np.int64).max:
        raise InvalidInput("expected integers that fit 64 bits with a sign, got larger unsigned ones")
    exact = integral and x.dtype.kind in "biu"
    return np.asarray(x, np.int64 if exact else np.float64)


FIELDS_SHOWN = 8


def in_words(value: object) -> str:
    """A field for people: of an array its shape, of a long tuple the beginning."""
    if isinstance(value, np.ndarray):
        return f"<{' × '.join(map(str, value.shape))} numbers>"
    if isinstance(value, tuple):
        more = ", …" if len(value) > FIELDS_SHOWN else "," if len(value) == 1 else ""
        return f"({', '.join(map(in_words, value[:FIELDS_SHOWN]))}{more})"
    return repr(value)


def same(a: Any, b: Any) -> bool:
    """Whether two fields are equal; arrays by their entries."""
    if isinstance(a, np.ndarray):
        return isinstance(b, np.ndarray) and a.dtype == b.dtype and np.array_equal(a, b)
    if isinstance(a, tuple):
        return isinstance(b, tuple) and len(a) == len(b) and all(map(same, a, b))
    return bool(a == b)
