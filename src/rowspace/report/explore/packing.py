"""Numbers as text: the shortest type that holds them exactly, in base 64, and within a stated size."""

from __future__ import annotations

import base64
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy

from rowspace.exceptions import TooLarge

MOST_NUMBERS = 2**20
"""Most numbers that a page holds: it stays below 12 MB."""

LARGEST_SYSTEM = 1024
"""Most unknowns of a system of equations that a page solves: about a second, once."""

_TYPES = ("<i1", "<i2", "<i4", "<f8")
_SPARSE_BELOW = 0.3


@dataclass
class Packer:
    """Writes arrays down and counts them; `TooLarge` past the stated size."""

    numbers: int = 0

    def array(self, values: Any) -> dict[str, str]:
        """``{"i2": text}``: its type and its bytes, in base 64."""
        array = np.ravel(np.asarray(values))
        self._count(array.size)
        kept = next(np.dtype(kind) for kind in _TYPES if _holds(np.dtype(kind), array))
        return {kept.str[1:]: base64.b64encode(array.astype(kept).tobytes()).decode()}

    def matrix(self, values: Any) -> dict[str, Any]:
        """A matrix row by row, or its entries where they are few."""
        sparse = scipy.sparse.csr_array(values)
        sparse.eliminate_zeros()
        rows, columns = sparse.shape
        if sparse.nnz < _SPARSE_BELOW * rows * columns:
            parts = {"starts": sparse.indptr, "columns": sparse.indices, "values": sparse.data}
            return {"shape": [rows, columns], **{name: self.array(part) for name, part in parts.items()}}
        return {"shape": [rows, columns], "dense": self.array(sparse.toarray())}

    def check_room(self, more: int) -> None:
        """Raise `TooLarge` where so many more numbers have no room."""
        if self.numbers + more > MOST_NUMBERS:
            raise TooLarge(f"a page holds at most {MOST_NUMBERS:,} numbers")

    def _count(self, more: int) -> None:
        self.check_room(more)
        self.numbers += more


def _holds(kind: np.dtype[Any], array: Any) -> bool:
    """Whether a type holds all numbers exactly."""
    if kind.kind == "f":
        return True
    limits = np.iinfo(kind)
    whole = bool(np.all(array == np.rint(array))) if array.dtype.kind == "f" else True
    return whole and (array.size == 0 or (array.min() >= limits.min and array.max() <= limits.max))
