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

Any v_i will do. For v_i ∝ (I − h_ih_iᵗ)P_i^a h_i, what P_i ties to h_i, a = −½ is best: for prefixes about up to three
of ten attributes of ten cells the error is 1.030, 1.027, 1.041, 1.049, 1.060 times the bound for a = −1, −½, ½, 1, 2.
Matrices are as large as there are sets above T: workloads of many sets are left to `product_bounds`.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from itertools import product
from typing import TYPE_CHECKING

import numpy as np
import scipy

from rowspace.operators import Operator
from rowspace.operators.base import Indices, Vector
from rowspace.operators.product_workload import ProductWorkload

if TYPE_CHECKING:
    from .product_bounds import Attribute, Choice

MOST_ENTRIES = 2**16
"""Most terms of all Γ that are summed: tables of up to three of 14 attributes, pairs of 50."""

MOST_PATTERNS = 2**12
LARGEST_BLOCK = 640
"""Most sets above one of them; a tenth of a second."""

LOOSE = 1e-7
"""Length of what is tied to h_i below which nothing is."""

FAINT = 1e-3
"""Share of the largest eigenvalue that is added to all of them before they are inverted."""

_HH, _HV, _VH, _VV, _REST = range(5)


def coupled_root(choice: Choice) -> float:
    """Σ_T tr Γ_T^½ at the weights of a choice; 0 where there are too many sets."""
    workload = choice.workload
    frames = [_framed(choice, attribute) for attribute in choice.attributes]
    tied = np.array([frame.tied for frame in frames])
    if not tied.any():
        return 0.0
    layout = Layout.of(workload, tied)
    if layout is None:
        return 0.0
    numbers = np.zeros((len(workload.pieces), 5))
    for attribute, frame in zip(choice.attributes, frames, strict=True):
        numbers[list(attribute.pieces)] = frame.numbers
    return layout.root_trace(numbers, without_total=choice.replacing)


@dataclass(frozen=True, eq=False)
class Frame:
    """Whether anything is tied, and for each kind of queries C² (hh, hv, vh, vv) and ρ²."""

    tied: bool
    numbers: Vector


def _framed(choice: Choice, attribute: Attribute) -> Frame:
    if attribute.point is None:
        known = [choice.numbers[piece] for piece in attribute.pieces]
        return Frame(False, np.array([[level, 0.0, 0.0, 0.0, rest] for level, rest in known]).reshape(-1, 5))
    h = np.sqrt(attribute.point.weights)
    roots, v = [], np.zeros(len(h))
    for piece, W in zip(attribute.pieces, attribute.operators, strict=True):
        s, Q = _roots_of(W, h)
        roots.append((Q * s) @ Q.T)
        if s[-1] > 0:
            # What is nearly zero would drown the rest.
            image = Q @ ((Q.T @ h) / np.sqrt(s + FAINT * s[-1]))
            along = float(h @ image)
            v += float(choice.shares[piece].sum()) * (image / along - h)
    v -= h * (h @ v)
    tied = bool(np.linalg.norm(v) > LOOSE)
    H = np.stack((h, v / np.linalg.norm(v)), axis=1) if tied else h[:, None]
    rows = []
    for P in roots:
        C = H.T @ P @ H
        squared = C @ C
        rest = max(0.0, float(np.trace(P) - np.trace(C))) ** 2
        rows.append([*squared.ravel(), rest] if tied else [squared[0, 0], 0.0, 0.0, 0.0, rest])
    return Frame(tied, np.array(rows))


def _roots_of(W: Operator, h: Vector) -> tuple[Vector, Vector]:
    """(s, Q) with Q diag(s²) Qᵗ ⪯ D^½WᵗWD^½: equal, but for what rounding may have added."""
    values, Q = scipy.linalg.eigh(W.gram().to_dense() * np.multiply.outer(h, h))
    noise = len(h) * np.finfo(float).eps * max(values[-1], 0.0)
    return np.sqrt(np.maximum(values - noise, 0.0)), Q


@dataclass(frozen=True, eq=False)
class Terms:
    """One pattern of states for parts of equally many attributes: which numbers multiply, and where they go."""

    powers: Vector
    pieces: Indices
    states: tuple[int, ...]
    rows: Indices
    columns: Indices


@dataclass(frozen=True, eq=False)
class Layout:
    """The rows of all Γ_T one after the other: `keys` are T·(number of sets) + (T∪X), ascending."""

    keys: Indices
    sets: int
    terms: tuple[Terms, ...]

    @classmethod
    def of(cls, workload: ProductWorkload, tied: np.ndarray) -> Layout | None:
        """Where every term goes, or None when there are too many."""
        blocks = [(n, axes, pieces) for n, axes, pieces in workload.blocks() if len(pieces) == axes.shape[1]]
        if (
            sum(len(n) * 5 ** len(pieces) for n, _, pieces in blocks) > MOST_ENTRIES
            or sum(5 ** len(pieces) for _, _, pieces in blocks) > MOST_PATTERNS
        ):
            return None
        sets, terms = workload.lattice.size, []
        for numbers, axes, pieces in blocks:
            find = _Finder(workload, axes)
            loose = np.stack([~tied[axes[:, j]] for j in range(len(pieces))], axis=1) if pieces else axes > 0
            for states in product(range(5), repeat=len(pieces)):
                rest = sum(1 << j for j, state in enumerate(states) if state == _REST)
                row = sum(1 << j for j, state in enumerate(states) if state in (_VH, _VV))
                column = sum(1 << j for j, state in enumerate(states) if state in (_HV, _VV))
                crossed = [j for j in range(len(pieces)) if (row | column) >> j & 1]
                seen = (find[rest | row] >= 0) & (find[rest | column] >= 0) & ~loose[:, crossed].any(axis=1)
                if seen.any():
                    base = find[rest][seen] * sets
                    chosen = np.stack([column[seen] for column in pieces], axis=1) if pieces else axes[seen]
                    terms.append(
                        Terms(
                            workload.powers[numbers[seen]],
                            chosen,
                            states,
                            base + find[rest | row][seen],
                            base + find[rest | column][seen],
                        )
                    )
        keys = np.unique(np.concatenate([t.rows for t in terms]))
        layout = cls(keys, sets, tuple(terms))
        return layout if layout.largest <= LARGEST_BLOCK else None

    @cached_property
    def _starts(self) -> Indices:
        """Where every block starts, and where the last ends."""
        own = self.keys // self.sets
        return np.append(np.flatnonzero(np.append(True, own[1:] != own[:-1])), len(own))

    @property
    def largest(self) -> int:
        """Rows of the largest block."""
        return int(np.diff(self._starts).max())

    def root_trace(self, numbers: Vector, *, without_total: bool) -> float:
        """Σ_T tr Γ_T^½ for C² and ρ² of every piece."""
        sizes = np.diff(self._starts)
        block = np.repeat(np.arange(len(sizes)), sizes)
        within = np.arange(len(self.keys)) - self._starts[block]
        offsets = np.append(0, np.cumsum(sizes**2))
        entries = np.zeros(offsets[-1])
        for term in self.terms:
            values = term.powers.copy()
            for j, state in enumerate(term.states):
                values = values * numbers[term.pieces[:, j], state]
            rows, columns = (np.searchsorted(self.keys, own) for own in (term.rows, term.columns))
            place = offsets[block[rows]] + within[rows] * sizes[block[rows]] + within[columns]
            entries += np.bincount(place, values, minlength=len(entries))
        total = 0.0
        for size in np.unique(sizes).tolist():
            own = offsets[np.flatnonzero(sizes == size)]
            matrices = entries[own[:, None] + np.arange(size**2)].reshape(-1, size, size)
            if without_total and own[0] == 0:
                matrices[0, 0, :] = matrices[0, :, 0] = 0.0
            eigenvalues = np.linalg.eigvalsh(matrices)
            # Sums of products are known to about 1e-15; what they may have added must not count.
            noise = 1e-14 * size * np.maximum(eigenvalues[:, -1:], 0.0)
            total += float(np.sqrt(np.maximum(eigenvalues - noise, 0.0)).sum())
        return total


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
