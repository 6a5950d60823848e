"""What counting means, in plain Python and numpy: the truth that every kind of source is compared with."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import numpy as np

from rowspace.domain import Categorical, Domain, Numeric

Rows = Mapping[str, Sequence[object]]


def bin_of(value: object, attribute: Numeric) -> int | None:
    if value is None or math.isnan(float(value)):  # type: ignore[arg-type]
        return None
    index = int(np.searchsorted(attribute.edges, float(value), side="right")) - 1  # type: ignore[arg-type]
    if attribute.outside == "clip":
        return min(max(index, 0), attribute.size - 1)
    return index if 0 <= index < attribute.size else None


def code_of(value: object, attribute: Categorical) -> int | None:
    if value is not None and value in attribute.values:
        return attribute.values.index(value)  # type: ignore[arg-type]
    return None if attribute.other is None else len(attribute.values)


def counts(rows: Rows, domain: Domain) -> np.ndarray:
    result = np.zeros(domain.shape, dtype=np.int64)
    for record in zip(*(rows[name] for name in domain.names), strict=True):
        cell = tuple(
            bin_of(value, attribute) if isinstance(attribute, Numeric) else code_of(value, attribute)
            for value, (_, attribute) in zip(record, domain.attributes, strict=True)
        )
        if None not in cell:
            result[cell] += 1
    return result
