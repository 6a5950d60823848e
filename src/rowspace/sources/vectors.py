"""Count vectors: data that somebody has counted already."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from rowspace.domain import Domain
from rowspace.exceptions import SourceError
from rowspace.sources.secrecy import attempt
from rowspace.sources.type_names import array_kind

__all__ = ["read_counts"]

# Above this a float64 need not be the integer somebody counted.
_EXACT_FLOAT = 2.0**53
# Every total over the domain must fit in 64 bits; a float64 sum of n terms errs by far less than the factor
# 2.
_LARGEST_TOTAL = 2.0**62


def read_counts(source: Any, domain: Domain) -> npt.NDArray[np.int64]:
    """Counts of the cells as a new int64 array of shape `domain.shape`.

    Args:
        source: Non-negative integers, as an array of `domain.shape` or as a vector of `domain.size` cells
            in C order (the last attribute fastest). Floats are taken when each is an integer. Where the domain has
            places for missing values, counts of the known cells alone will do: then nothing is missing.
        domain: What the cells are.

    Raises:
        SourceError: Wrong shape, or something that is not a count. The message never says which cell.
    """
    array: npt.NDArray[Any] = attempt(
        lambda: np.asarray(source),
        "expected an array of counts, got something that numpy cannot turn into an array",
    )
    known = domain.without_places()
    if array.shape not in ((domain.size,), domain.shape, (known.size,), known.shape):
        raise SourceError(
            f"expected counts of shape ({known.size},) or {known.shape}, one for each cell of the domain, "
            f"got shape {array.shape}"
        )
    if array.dtype.kind not in "iuf":
        raise SourceError(f"expected integer counts, got an array of {array_kind(array.dtype)}")
    if not _are_counts(array):
        raise SourceError(
            "expected non-negative integers that fit in 64 bits, got something else in some cell"
        )
    counts = array.astype(np.int64)
    if array.shape in ((domain.size,), domain.shape):
        counts = counts.reshape(domain.shape)
    else:
        counts = np.pad(
            counts.reshape(known.shape),
            [(0, n - k) for n, k in zip(domain.shape, known.shape, strict=True)],
        )
    if not counts.sum(dtype=np.float64) < _LARGEST_TOTAL:
        raise SourceError("expected counts whose total fits in 62 bits, got more")
    return counts


def _are_counts(array: npt.NDArray[Any]) -> bool:
    """Whether every entry is exactly a non-negative int64."""
    if array.dtype.kind == "f":
        # NaN fails the first comparison, infinity the second.
        return bool(np.all((array >= 0) & (array <= _EXACT_FLOAT) & (array == np.floor(array))))
    return bool(np.all((array >= 0) & (array <= np.iinfo(np.int64).max)))
