"""Workloads from plain matrices and operators."""

from __future__ import annotations

import math
from typing import Any, cast

import numpy as np
import scipy

from rowspace import operators as op
from rowspace.domain import Domain, Numeric
from rowspace.exceptions import InvalidWorkload, TooLarge
from rowspace.workload.factors import AllRanges, Cells, Factor, Matrix, Prefixes, Widths
from rowspace.workload.part import Part
from rowspace.workload.union import Workload


def matrix(queries: Any, domain: Domain | None = None, *attributes: str) -> Workload:
    """Take the rows of an array, a scipy sparse matrix or an operator as queries over the cells.

    Args:
        queries: m queries over n cells; finite, not all zero.
        domain: What the n cells are, in C order. Without it, one attribute ``cell`` of n integers.
        attributes: Names of the attributes whose joint cells the n are, the last one fastest; all others are summed
            out. Without any, the cells are those of the whole domain.

    >>> matrix([[1, 1, 0], [0, 1, 1]]).labels()
    ['row 0', 'row 1']
    >>> domain = Domain(a=Numeric(0, 2, bins=2), b=Numeric(0, 9, bins=9), c=Numeric(0, 2, bins=2))
    >>> matrix([[1, 1, 1, 0]], domain, "a", "c").attributes         # a + c <= 1
    ('a', 'c')
    >>> matrix(op.Prefix(8)).label(3)
    'cell in [0, 4)'
    """
    operator = _as_operator(queries)
    cells = operator.shape[1]
    if domain is None:
        # Plain cells: there is nobody whose value could be missing.
        domain = Domain(cell=Numeric(0, cells, bins=cells, outside="drop", integer=True))
    elif not isinstance(domain, Domain):
        raise InvalidWorkload(f"domain must be a Domain, got {type(domain).__name__}")
    if attributes:
        return _over_some(operator, domain, attributes)
    if cells != domain.size:
        raise InvalidWorkload(
            f"the domain has {domain.size:,} cells, so queries need as many columns, got {cells:,}"
        )
    pieces = operator.parts if isinstance(operator, op.Stack) else (operator,)
    return Workload(domain, [Part(_factors(piece, domain), name="matrix") for piece in pieces])


def _over_some(operator: op.Operator, domain: Domain, names: tuple[str, ...]) -> Workload:
    """Queries over the joint cells of some attributes, in the order they are named."""
    if len(set(names)) < len(names):
        raise InvalidWorkload(f"each attribute can be named once, got {', '.join(map(str, names))}")
    own = domain.subset(names)
    sizes = [domain[name].size + (name in domain.places) for name in names]
    if math.prod(sizes) != operator.shape[1]:
        joint = " x ".join(f"{name} ({size:,})" for name, size in zip(names, sizes, strict=True))
        raise InvalidWorkload(
            f"queries over {joint} need {math.prod(sizes):,} columns, one per joint cell, got "
            f"{operator.shape[1]:,}"
        )
    if names != own.names:
        # Column k asks for the cell that is number k here and order[k] in the domain.
        moved = [own.names.index(name) for name in names]
        order = np.arange(operator.shape[1]).reshape(own.shape).transpose(moved).ravel()
        operator = op.Permuted(operator, order)
    return Workload(domain, [Part((factor_of(own, operator),), name="matrix")])


def factor_of(domain: Domain, operator: op.Operator) -> Factor:
    """Return an operator as a factor; well-known ones on one attribute get readable labels."""
    if len(domain) == 1 and operator.shape[1] == domain.size and not domain.measures:
        match operator:
            case op.Identity():
                return Cells(domain)
            case op.Prefix():
                return Prefixes(domain)
            case op.Ranges():
                return AllRanges(domain)
            case op.WidthRanges():
                return Widths(domain, operator.width)
    return Matrix(domain, operator)


def _factors(operator: op.Operator, domain: Domain) -> tuple[Factor, ...]:
    """Return the factors of a product that follows the attributes, else one factor over all cells."""
    if isinstance(operator, op.Kronecker) and tuple(f.shape[1] for f in operator.factors) == domain.shape:
        pairs = zip(domain.names, operator.factors, strict=True)
        return tuple(
            factor_of(domain.subset([name]), factor)
            for name, factor in pairs
            if not isinstance(factor, op.Total)
        )
    return (factor_of(domain, operator),)


def _as_operator(queries: Any) -> op.Operator:
    """Check what was given and wrap it."""
    if isinstance(queries, op.Operator):
        _check_operator(queries)
        return queries
    if scipy.sparse.issparse(queries):
        csr = scipy.sparse.csr_array(cast(Any, queries))
        _check_entries(csr.shape, csr.dtype, csr.data)
        return op.Sparse(csr)
    try:
        array = np.asarray(queries)
    except ValueError:
        raise InvalidWorkload("queries must be rows of equal length") from None
    _check_entries(array.shape, array.dtype, array)
    return op.Dense(array)


def _check_entries(shape: tuple[int, ...], dtype: np.dtype[Any], entries: np.ndarray[Any, Any]) -> None:
    """Refuse what is not a finite, non-zero real matrix."""
    if len(shape) != 2 or 0 in shape:
        raise InvalidWorkload(
            f"queries must form a matrix of at least one row and one column, got shape {shape}"
        )
    if dtype.kind not in "biuf":
        raise InvalidWorkload(f"queries must be real numbers, got dtype {dtype}")
    if not np.all(np.isfinite(entries)):
        raise InvalidWorkload("queries must be finite, got NaN or infinity")
    if not np.any(entries):
        raise InvalidWorkload("every query is zero, so there is nothing to answer")


def _check_operator(operator: op.Operator) -> None:
    """Refuse an operator whose entries are not finite or all zero, when its structure tells."""
    try:
        largest = operator.largest_entry()
    except TooLarge:
        return  # nothing cheap is known about it; its own constructor has checked its entries
    if not math.isfinite(largest):
        raise InvalidWorkload("queries must be finite, got NaN or infinity")
    if largest == 0:
        raise InvalidWorkload("every query is zero, so there is nothing to answer")
