"""The bound on a union of products, with what ties every attribute's total to its cells kept.

As in `product_bounds`, E ≥ ‖W D^½‖₁² for weights that multiply. Only the Gram matrix of W D^½ matters, so let every
R_iD_i^½ be its symmetric root P_i = (D_i^½R_iᵗR_iD_i^½)^½. Let H_i = span(h_i, v_i) for some v_i ⊥ h_i and C_i = P_i on
H_i (2 × 2). What P_i ties to the complement of H_i is cut off, on both sides at once, which never raises a sum of
singular values. One block is left for every set T of attributes in the complements: a part that asks about S ⊇ T is

    √c ⊗_{i∈T} Q_i ⊗_{i∈S∖T} C_i ⊗_{i∉S} (1, 0),      Q_i = P_i on the complement, ‖Q_i‖₁ = tr P_i − tr C_i = ρ_i.

By Z = ⊗_{i∈T} (isometries) ⊗ (anything of norm 1) the block adds at least tr Γ_T^½, where Γ_T has a row for every set X
of attributes whose state is v_i, the others' being h_i:

    Γ_T[X, Y] = Σ over the parts with S ⊇ T∪X∪Y of  c Π_{i∈T} ρ_i² Π_{i∈S∖T} (C_i²)[i∈X, i∈Y].

E is at least the square of the sum over T. For neighbours that replace a record T = X = ∅ is left out.

Any v_i will do. Of v_i ∝ (I − h_ih_iᵗ)P_i^a h_i, which P_i ties to h_i, a = −½ was the best of −2, −1, … 3 on ranges
and prefixes.

Γ_T has as many rows as there are sets above T. One that is too large is cut apart: all its rows by themselves, with
unit vectors e_i ⊥ w_i for the two states as in `product_bounds`. Workloads of very many sets are left to that.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from itertools import product
from typing import TYPE_CHECKING

import numpy as np
import scipy

from rowspace.operators import Indices, Operator, Vector
from rowspace.tables import ProductWorkload

if TYPE_CHECKING:
    from .product_bounds import Attribute, Choice

MOST_TERMS = 2**20
"""Most terms of all Γ that are looked at: tables of up to three of 36 attributes, pairs of 280."""

MOST_PATTERNS = 2**12
"""Most patterns of states of a part's attributes: one pass over the parts each."""

LARGEST_BLOCK = 512
"""Most rows of a Γ that is decomposed."""

MOST_WORK = 2.0**28
"""Most of the cubes of their numbers of rows, added up: a tenth of a second."""

LOOSE = 1e-5
"""Length of what is tied to h_i below which nothing is."""

EIGENVALUE_FLOOR = 1e-3
"""Share of the largest eigenvalue that is added to all of them before they are inverted."""

_HH, _HV, _VH, _VV, _REST = range(5)


def coupled_root(choice: Choice) -> float:
    """Σ_T tr Γ_T^½ at the weights of a choice; 0 where there are too many sets, or nothing is tied."""
    workload = choice.workload
    known: dict[object, TiedNumbers] = {}
    frames = []
    for attribute in choice.attributes:
        # Attributes asked alike have one point, and may as well have one frame.
        key = (id(attribute.point), attribute.operators) if attribute.point else id(attribute)
        if key not in known:
            known[key] = _framed(choice, attribute)
        frames.append(known[key])
    tied = np.array([frame.tied for frame in frames])
    layout = BlockLayout.of(workload, tied) if tied.any() else None
    if layout is None:
        return 0.0
    numbers = np.zeros((2, len(workload.pieces), 5))
    for attribute, frame in zip(choice.attributes, frames, strict=True):
        numbers[:, list(attribute.pieces)] = frame.numbers
    return layout.root_trace(numbers, without_total=choice.replacing)


@dataclass(frozen=True, eq=False)
class TiedNumbers:
    """Whether anything is tied, and for each kind of queries C² (hh, hv, vh, vv) and ρ²; then the same cut apart."""

    tied: bool
    numbers: Vector


def _framed(choice: Choice, attribute: Attribute) -> TiedNumbers:
    if attribute.point is None:
        known = [choice.numbers[piece] for piece in attribute.pieces]
        rows = np.array([[level, 0.0, 0.0, 0.0, rest] for level, rest in known]).reshape(-1, 5)
        return TiedNumbers(False, np.stack((rows, rows)))
    h = np.sqrt(attribute.point.weights)
    roots, v = [], np.zeros(len(h))
    for piece, W in zip(attribute.pieces, attribute.operators, strict=True):
        s, Q = _roots_of(W, h)
        roots.append((Q * s) @ Q.T)
        if s[-1] > 0:
            # What is nearly zero would drown the rest.
            image = Q @ ((Q.T @ h) / np.sqrt(s + EIGENVALUE_FLOOR * s[-1]))
            v += float(choice.shares[piece].sum()) * (image / float(h @ image) - h)
    tied = bool(np.linalg.norm(v) > LOOSE)
    H = _orthonormal(h, v) if tied else h[:, None]
    whole, apart = [], []
    for piece, P in zip(attribute.pieces, roots, strict=True):
        C = H.T @ P @ H
        rest = max(0.0, float(np.trace(P) - np.trace(C)))
        whole.append([*(C @ C).ravel(), rest**2] if tied else [C[0, 0] ** 2, 0.0, 0.0, 0.0, rest**2])
        apart.append(_cut(C, rest, *choice.shares[piece]) if tied else whole[-1])
    return TiedNumbers(tied, np.array([whole, apart]))


def _orthonormal(h: Vector, v: Vector) -> Vector:
    """(h, v) with v made orthogonal to h, twice for the last digits, and of length 1."""
    for _ in range(2):
        v = v - h * (h @ v)
        v = v / np.linalg.norm(v)
    return np.stack((h, v), axis=1)


def _cut(C: Vector, rest: float, level_share: float, rest_share: float) -> list[float]:
    """The squares of eᵗC(1, 0) and wᵗC(0, 1) for orthogonal e and w: at the angle that suits both shares."""
    angles = np.linspace(-0.8, 0.8, 81)
    level = np.cos(angles) * C[0, 0] + np.sin(angles) * C[1, 0]
    own = np.cos(angles) * C[1, 1] - np.sin(angles) * C[0, 1]
    gain = level_share * np.log(np.maximum(level, 1e-300)) + rest_share * np.log(
        np.maximum(own + rest, 1e-300)
    )
    best = int(np.argmax(np.where(own >= 0, gain, -np.inf)))
    return [float(level[best]) ** 2, 0.0, 0.0, float(max(own[best], 0.0)) ** 2, rest**2]


def _roots_of(W: Operator, h: Vector) -> tuple[Vector, Vector]:
    """(s, Q) with Q diag(s²) Qᵗ ⪯ D^½WᵗWD^½: equal, but for what rounding may have added."""
    values, Q = scipy.linalg.eigh(W.gram().to_dense() * np.multiply.outer(h, h))
    noise = len(h) * np.finfo(float).eps * max(values[-1], 0.0)
    return np.sqrt(np.maximum(values - noise, 0.0)), Q


@dataclass(frozen=True, eq=False)
class Entries:
    """One pattern of states for parts of equally many attributes: which numbers multiply, and where they go."""

    apart: bool
    powers: Vector
    pieces: Indices
    states: tuple[int, ...]
    rows: Indices
    columns: Indices


@dataclass(frozen=True, eq=False)
class BlockLayout:
    """The rows of all Γ_T one after the other: `keys` are T·(number of sets) + (T∪X), ascending.

    Γ_T that are too large are cut apart into single rows, by unit vectors e_i and w_i for the two states.
    """

    keys: Indices
    sets: int
    whole: np.ndarray
    terms: tuple[Entries, ...]

    @classmethod
    def of(cls, workload: ProductWorkload, tied: np.ndarray) -> BlockLayout | None:
        """Where every term goes, or None when there are too many."""
        blocks = [(n, axes, pieces) for n, axes, pieces in workload.blocks() if len(pieces) == axes.shape[1]]
        if (
            sum(len(n) * 5 ** len(pieces) for n, _, pieces in blocks) > MOST_TERMS
            or sum(5 ** len(pieces) for _, _, pieces in blocks) > MOST_PATTERNS
        ):
            return None
        whole = _decomposed(workload)
        terms: list[Entries] = []
        for numbers, axes, pieces in blocks:
            find = _Finder(workload, axes)
            own = np.stack(pieces, axis=1) if pieces else axes
            for states in product(range(5), repeat=len(pieces)):
                rest, row, column = (
                    sum(1 << j for j, state in enumerate(states) if state in some)
                    for some in ((_REST,), (_VH, _VV), (_HV, _VV))
                )
                crossed = [j for j in range(len(pieces)) if (row | column) >> j & 1]
                seen = (
                    (find[rest | row] >= 0) & (find[rest | column] >= 0) & tied[axes[:, crossed]].all(axis=1)
                )
                base = find[rest]
                # A set that is cut apart has no terms off its diagonal.
                for apart in (False, True) if row == column else (False,):
                    at = np.flatnonzero(seen & (whole[base] != apart))
                    if len(at):
                        rows, columns = (
                            base[at] * workload.lattice.size + find[rest | x][at] for x in (row, column)
                        )
                        terms.append(
                            Entries(apart, workload.powers[numbers[at]], own[at], states, rows, columns)
                        )
        keys = np.unique(np.concatenate([term.rows for term in terms]))
        return cls(keys, workload.lattice.size, whole, tuple(terms))

    @cached_property
    def _starts(self) -> Indices:
        """Where every block starts, and where the last ends."""
        base = self.keys // self.sets
        first = np.append(True, base[1:] != base[:-1]) | ~self.whole[base]
        return np.append(np.flatnonzero(first), len(base))

    def root_trace(self, numbers: Vector, *, without_total: bool) -> float:
        """Σ_T tr Γ_T^½ for C² and ρ² of every piece, whole and cut apart."""
        sizes = np.diff(self._starts)
        block = np.repeat(np.arange(len(sizes)), sizes)
        within = np.arange(len(self.keys)) - self._starts[block]
        offsets = np.append(0, np.cumsum(sizes**2))
        entries = np.zeros(offsets[-1])
        for term in self.terms:
            values = term.powers
            for j, state in enumerate(term.states):
                values = values * numbers[int(term.apart), term.pieces[:, j], state]
            rows, columns = (np.searchsorted(self.keys, own) for own in (term.rows, term.columns))
            place = offsets[block[rows]] + within[rows] * sizes[block[rows]] + within[columns]
            np.add.at(entries, place, values)
        total = 0.0
        for size in np.unique(sizes).tolist():
            own = offsets[:-1][sizes == size]
            matrices = entries[own[:, None] + np.arange(size**2)].reshape(-1, size, size)
            if without_total and own[0] == 0:
                matrices[0, 0, :] = matrices[0, :, 0] = 0.0
            total += _root_traces(matrices)
        return total


def _decomposed(workload: ProductWorkload) -> np.ndarray:
    """For every set T whether Γ_T is decomposed: the smallest first, as far as the work is little."""
    above = workload.lattice.sums_above(np.ones(workload.lattice.size))
    order = np.argsort(above, kind="stable")
    within = np.cumsum(above[order] ** 3) <= MOST_WORK
    whole = np.zeros(len(above), dtype=bool)
    whole[order[within]] = True
    return whole & (above <= LARGEST_BLOCK)


def _root_traces(matrices: Vector) -> float:
    """The sum of tr Γ^½; matrices that are equal to the last digits are decomposed once."""
    count, size, _ = matrices.shape
    if size == 1:
        return float(np.sqrt(matrices).sum())
    scale = np.abs(matrices).max(axis=(1, 2))
    probe = np.cos(np.arange(size**2))
    seen = matrices.reshape(count, -1) @ probe
    digits = np.round(seen / max(float(np.abs(seen).max()), np.finfo(float).tiny), 11)
    _, first, group = np.unique(digits, return_index=True, return_inverse=True)
    model = first[group.ravel()]
    equal = np.abs(matrices - matrices[model]).max(axis=(1, 2)) <= 1e-13 * scale
    model = np.where(equal, model, np.arange(count))
    needed, times = np.unique(model, return_counts=True)
    eigenvalues = np.linalg.eigvalsh(matrices[needed])
    # Neither the last digits nor what rounding has added to sums of products may count.
    noise = 2e-13 * size * np.maximum(eigenvalues[:, -1:], 0.0)
    return float(times @ np.sqrt(np.maximum(eigenvalues - noise, 0.0)).sum(axis=1))


class _Finder:
    """The set that some columns of rows of attributes make up; −1 where it has an attribute of one cell."""

    def __init__(self, workload: ProductWorkload, axes: Indices) -> None:
        varying = np.array(workload.sizes) > 1
        self._found: dict[int, Indices] = {}
        for mask in range(1 << axes.shape[1]):
            own = axes[:, [j for j in range(axes.shape[1]) if mask >> j & 1]]
            seen = varying[own].all(axis=1)
            self._found[mask] = np.full(len(axes), -1, dtype=np.int64)
            self._found[mask][seen] = workload.lattice.find(np.sort(own[seen], axis=1))

    def __getitem__(self, mask: int) -> Indices:
        return self._found[mask]
