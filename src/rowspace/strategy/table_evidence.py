"""Measurements of tables as one: residuals with noise of variance one that tell as much as all of them together.

A measurement of tables has for every component R the information 1/(ν_R · variance) on ⊗_{i∈R} K_i (see
`tables.splits`). Where several split every attribute alike (the same u, and K up to a factor) these numbers add up, and
residuals whose contrasts split alike, with weights of their roots, tell the same. Where queries tie attributes together
components have matrices of their own over joint cells: there the same rows must have been asked, and their squared
weights divided by the variances add up.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import sqrt
from typing import Protocol

import numpy as np
import scipy

from rowspace.exceptions import InvalidInput
from rowspace.operators import CellContrasts, Dense, Indices, Operator, Vector
from rowspace.tables import CellSplit, ContrastSplit, Residuals, Split, SubsetLattice, TableOperator, members

from .strategy import Strategy


class Noisy(Protocol):
    """A strategy whose answers have noise of some variance."""

    @property
    def strategy(self) -> Operator:
        """What was asked."""
        ...

    @property
    def variance(self) -> float:
        """Of the noise on every answer."""
        ...


Alike = tuple[TableOperator, list[float]]
"""Tables, and for every attribute c_i with K_i = c_i · K_i of the first of the tables they are compared with."""


def split_alike(strategies: Sequence[Operator]) -> list[Alike] | None:
    """Every strategy as tables split like the first one's; None unless all are.

    Tables with joint matrices never are: see `same_rows`.
    """
    found = [Strategy.of(own).tables for own in strategies]
    tables = [own for own in found if own is not None and not own.has_joint]
    if len(tables) < len(strategies) or any(own.sizes != tables[0].sizes for own in tables):
        return None
    pairs = [(own, factors) for own in tables if (factors := _factors(tables[0], own)) is not None]
    return pairs if len(pairs) == len(tables) else None


def precisions(measured: Sequence[Noisy], alike: Sequence[Alike]) -> list[dict[int, float]]:
    """What every measurement says about every component, at the first one's splits: 1/(ν · variance)."""
    found = []
    for one, (tables, own) in zip(measured, alike, strict=True):
        variances = tables.component_variances
        plain = all(factor == 1 for factor in own)
        found.append(
            {
                mask: 1 / (nu * one.variance * (1.0 if plain else _product(own, mask)))
                for mask, nu in variances.items()
            }
        )
    return found


def as_residuals(measured: Sequence[Noisy]) -> Residuals | None:
    """All measurements as one strategy with noise of variance one; None unless they split attributes alike."""
    if len(measured) == 1 and isinstance(own := measured[0].strategy, Residuals):
        return _scaled(own, 1 / sqrt(measured[0].variance))
    alike = split_alike([one.strategy for one in measured])
    if alike is None:
        return None
    total: dict[int, float] = {}
    for own_precisions in precisions(measured, alike):
        for mask, precision in own_precisions.items():
            total[mask] = total.get(mask, 0.0) + precision
    first, _ = alike[0]
    known: dict[int, Operator] = {}
    contrasts = tuple(known.setdefault(id(split), _contrasts(split)) for split in first.splits)
    cells = [split.n if isinstance(split, CellSplit) else 1 for split in first.splits]
    weights = [sqrt(precision) / _product(cells, mask) for mask, precision in total.items()]
    return Residuals(first.sizes, tuple(tuple(members(mask)) for mask in total), tuple(weights), contrasts)


def same_rows(one: Operator, other: Operator) -> bool:
    """Whether both are residuals with joint matrices that differ in weights alone, or in which sets they have."""
    if not (isinstance(one, Residuals) and isinstance(other, Residuals) and (one.joint or other.joint)):
        return False
    if one.sizes != other.sizes or one.matrices != other.matrices:
        return False
    known = dict(zip(other.sets, other.joint or [None] * len(other.sets), strict=True))
    own = zip(one.sets, one.joint or [None] * len(one.sets), strict=True)
    return all(known.get(attributes, J) == J for attributes, J in own)


def united_rows(group: Sequence[Noisy]) -> tuple[Residuals, list[tuple[Indices, Vector]]]:
    """Residuals of the same rows as one, with noise of variance one: of every measurement, which answers, and how much.

    An answer is w·Jx + noise of variance σ²; with w_all² = Σ w²/σ², Σ w/(σ²w_all)·answer is w_all·Jx + unit noise.
    """
    power: dict[tuple[int, ...], float] = {}
    joint: dict[tuple[int, ...], Operator | None] = {}
    for one in group:
        A = one.strategy
        assert isinstance(A, Residuals)
        for number, (own, weight) in enumerate(zip(A.sets, A.weights, strict=True)):
            power[own] = power.get(own, 0.0) + weight**2 / one.variance
            joint[own] = A.joint[number] if A.joint else None
    first = group[0].strategy
    assert isinstance(first, Residuals)
    weights = {own: sqrt(square) for own, square in power.items()}
    A = Residuals(first.sizes, tuple(power), tuple(weights.values()), first.contrasts, tuple(joint.values()))
    starts = dict(zip(A.sets, A.layout.offsets, strict=False))
    shares = []
    for one in group:
        B = one.strategy
        assert isinstance(B, Residuals)
        sizes = np.diff(B.layout.offsets)
        places = np.concatenate(
            [starts[own] + np.arange(n) for own, n in zip(B.sets, sizes.tolist(), strict=True)]
        )
        each = [
            w / (one.variance * weights[own]) if w else 0.0 for own, w in zip(B.sets, B.weights, strict=True)
        ]
        shares.append((places, np.repeat(each, sizes)))
    return A, shares


def energies(A: Operator, lattice: SubsetLattice) -> Vector:
    """tr(P_T AᵗA)/cells for the sets T of a lattice: how much A asks about what varies in exactly T, a cell's share.

    A matrix M has m = ‖M1‖²/n about the total and ‖M‖² − m about the rest; those of a table's attributes multiply.
    """
    strategy = Strategy.of(A).tables
    if strategy is None:
        raise InvalidInput("expected a strategy of weighted tables")
    known: dict[int, tuple[float, float]] = {}
    for M in strategy.matrices:
        if id(M) not in known:
            n = M.shape[1]
            level = float(np.sum((M @ np.ones(n)) ** 2)) / n
            known[id(M)] = (level / n, max(0.0, M.squared_frobenius() - level) / n)
    numbers = [known[id(M)] for M in strategy.matrices]
    own_matrices = strategy.joint if isinstance(strategy, Residuals) else ()
    joint = {number: J for number, J in enumerate(own_matrices) if J is not None}
    varying = strategy.axes.varying
    squares: dict[int, float] = {}
    found: dict[int, float] = {}
    for number, (own, weight) in enumerate(zip(strategy.sets, strategy.weights, strict=True)):
        mask = sum(1 << i for i in own) & varying
        if number in joint:
            for part, energy in _joint_energies(joint[number], own, strategy.sizes).items():
                found[part] = found.get(part, 0.0) + weight**2 * energy
        elif weight:
            squares[mask] = squares.get(mask, 0.0) + weight**2
    if squares:
        above = SubsetLattice.under(squares)
        out = above.vector(squares)
        for attribute, (with_it, without) in above.steps.items():
            out[without] += out[with_it] * numbers[attribute][0]
        out *= above.products([rest for _, rest in numbers])
        for mask, energy in zip(above.masks, out.tolist(), strict=True):
            found[mask] = found.get(mask, 0.0) + energy
    return np.array([found.get(mask, 0.0) for mask in lattice.masks])


def _joint_energies(J: Operator, own: Sequence[int], sizes: Sequence[int]) -> Mapping[int, float]:
    """The same for a matrix over joint cells: every axis split into its mean and the rest."""
    shape = [sizes[i] for i in own]
    parts: dict[int, Vector] = {0: J.to_dense().reshape(-1, *shape)}
    for axis, (i, n) in enumerate(zip(own, shape, strict=True), start=1):
        split: dict[int, Vector] = {}
        for mask, rows in parts.items():
            mean = rows.mean(axis=axis, keepdims=True)
            split[mask], split[mask | 1 << i] = mean * sqrt(n), rows - mean
        parts = split
    cells = int(np.prod(shape))
    return {mask: float(np.sum(rows**2)) / cells for mask, rows in parts.items()}


def _factors(a: TableOperator, b: TableOperator) -> list[float] | None:
    """c_i with K_i of b = c_i · K_i of a for every attribute; None unless the splits are alike in this way."""
    if a.splits is b.splits:
        return [1.0] * len(a.sizes)
    found = [_factor(one, other) for one, other in zip(a.splits, b.splits, strict=True)]
    return None if any(c is None for c in found) else [c for c in found if c is not None]


def _factor(a: Split, b: Split) -> float | None:
    if isinstance(a, CellSplit) and isinstance(b, CellSplit):
        return 1.0
    if not np.allclose(a.u, b.u, rtol=1e-9, atol=1e-12):
        return None
    size = float(np.trace(a.K))
    factor = float(np.trace(b.K)) / size if size > 0 else 1.0
    return factor if np.allclose(b.K, factor * a.K, rtol=1e-9, atol=1e-9 * factor * size) else None


def _contrasts(split: Split) -> Operator:
    """Contrasts that split an attribute so: those it was measured by, or a root of what K is the inverse of."""
    if isinstance(split, CellSplit):
        return CellContrasts(split.n)
    if isinstance(split, ContrastSplit):
        return split.S
    centre = np.eye(len(split.u)) - np.outer(np.ones(len(split.u)), split.u)
    values, vectors = scipy.linalg.eigh(centre @ np.linalg.pinv(split.K, hermitian=True) @ centre.T)
    return Dense(np.sqrt(np.clip(values[1:], 0.0, None))[:, None] * vectors[:, 1:].T)


def _scaled(strategy: Residuals, factor: float) -> Residuals:
    scaled = factor * strategy
    assert isinstance(scaled, Residuals)
    return scaled


def _product(factors: Sequence[float], mask: int) -> float:
    out = 1.0
    for i in members(mask):
        out *= factors[i]
    return out
