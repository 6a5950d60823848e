"""Queries over the periods of one horizon, among those of several that follow one another."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import scipy

from rowspace import operators as op
from rowspace.domain import Domain
from rowspace.exceptions import TooLarge
from rowspace.operators import Indices
from rowspace.workload.ended import EndedRows
from rowspace.workload.factors import AllRanges, Factor, Matrix
from rowspace.workload.part import Part
from rowspace.workload.union import Workload

MOST_ENTRIES = 2**26
"""Most coefficients of the queries of a factor that are moved."""


def among(workload: Workload, name: str, domain: Domain, first: int) -> Workload:
    """The queries of a horizon whose first period is number `first` of the periods of a longer one.

    A query that does not name the attribute is about all periods of its own horizon.
    """
    alone = workload.domain.subset([name])
    whole = AllRanges(alone)
    every = EndedRows(alone, op.Total(alone.size), whole, (alone.size - 1,))

    def moved(factor: Factor) -> Factor:
        joint = domain.subset(factor.attributes)
        cells = _cells(joint, name, first, factor.domain.shape[factor.domain.position(name)])
        given, words = (every.operator, whole) if factor is every else (factor.operator, factor)
        kept = every.kept if factor is every else tuple(range(factor.size))
        return EndedRows(joint, _with_columns(given, cells, joint.size), words, kept)

    parts = [
        part if name in part.attributes else replace(part, factors=(every, *part.factors))
        for part in workload.parts
    ]
    return _changed(parts, name, domain, moved)


def within(workload: Workload, name: str, domain: Domain, first: int) -> Workload:
    """What queries over several horizons ask of the one that begins with period number `first`, row by row."""

    def cut(factor: Factor) -> Factor:
        own = domain.subset(factor.attributes)
        cells = _cells(factor.domain, name, first, own.shape[own.position(name)])
        return Matrix(own, op.Sparse(_sparse(factor.operator)[:, cells]))

    return _changed(workload.parts, name, domain, cut)


def _changed(
    parts: list[Part] | tuple[Part, ...], name: str, domain: Domain, change: Callable[[Factor], Factor]
) -> Workload:
    """Parts with other factors for an attribute, over another domain."""
    known: dict[int, Factor] = {}
    found = []
    for part in parts:
        for factor in part.factors:
            if id(factor) not in known:
                known[id(factor)] = change(factor) if name in factor.attributes else factor
        factors = sorted((known[id(f)] for f in part.factors), key=lambda f: domain.position(f.attributes[0]))
        found.append(replace(part, factors=tuple(factors)))
    return Workload(domain, found)


def _cells(domain: Domain, name: str, first: int, periods: int) -> Indices:
    """The cells of some periods, in their order."""
    cells = np.arange(domain.size).reshape(domain.shape)
    return np.take(cells, np.arange(first, first + periods), axis=domain.position(name)).ravel()


def _with_columns(matrix: op.Operator, cells: Indices, size: int) -> op.Sparse:
    own = _sparse(matrix)
    return op.Sparse(
        scipy.sparse.csr_array((own.data, cells[own.indices], own.indptr), shape=(own.shape[0], size))
    )


def _sparse(matrix: op.Operator) -> scipy.sparse.csr_array:
    if isinstance(matrix, op.Sparse):
        found: scipy.sparse.csr_array = matrix.csr()
        return found
    if matrix.shape[0] * matrix.shape[1] > MOST_ENTRIES:
        raise TooLarge(
            f"queries of {matrix.shape[0]} x {matrix.shape[1]} coefficients are too many to take horizons together; "
            "ask for fewer at a time"
        )
    return scipy.sparse.csr_array(matrix.to_dense())
