"""The bound on queries that tie attributes together, at any number of cells: weights that multiply.

As in `product_bounds`, E ≥ ‖W D^½‖₁² (the sum of singular values) for every D = diag(⊗λ_i), Σλ_i = 1. On functions that
are orthonormal under these weights (`joint_parts`) W D^½ has one column per function, and a part over T has entries in
the columns of the sets S ⊆ T only. Let P_T be the symmetric root of its Gram matrix there: parts may be replaced by
their P_T, whose rows are numbered as its columns are. For every S take an orthonormal basis of its functions and call
some of them its head, the others its tail. Keep of every P_T the rows and columns of all heads together, and for every
S those of its tail; what ties these to one another is cut off, on both sides at once, which never raises a sum of
singular values. So

    E ≥ (tr(Σ_T P_T[heads]²)^½ + Σ_S tr(Σ_{T⊇S} P_T[tail of S]²)^½)².

If all is head nothing is lost. Heads are what P_T ties to other sets the most. Parts whose tables are too large are
left out: fewer queries have no more error.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import scipy

from rowspace.exceptions import TooLarge
from rowspace.operators import Vector
from rowspace.tables import ProductWorkload

from .dual import symmetric_roots
from .joint_parts import Attributes, Frame, read_part

MOST_HEADS = 2000
"""Most functions in all heads: their matrix is decomposed as a whole."""

LARGEST_PART = 1024
"""Most functions that the queries of one part span."""

SAFETY = 1e-6
"""Share of the bound that is given away for rounding: roots of eigenvalues of zero come out as 1e-8 of the largest."""


def joint_bound(workload: ProductWorkload, weights: Mapping[int, Vector]) -> float:
    """In the unit of E, for weights of some attributes' cells; others have equal ones.

    Guarantees:
        - no strategy goes below it, whatever the weights (`test_no_strategy_goes_below_the_joint_bound`).
    """
    frames = {i: Frame(weights.get(i, np.full(n, 1 / n))) for i, n in enumerate(workload.sizes)}
    found: dict[Attributes, list[dict[Attributes, Vector]]] = {}
    for number in range(len(workload.parts)):
        try:
            part = read_part(workload, number)
        except TooLarge:
            continue
        found.setdefault(part.axes, []).append(part.coefficients(frames))
    parts = [{S: np.concatenate([c[S] for c in own]) for S in own[0]} for own in found.values()]
    roots = [_Root.of(own) for own in _reduced(parts)]
    return (1 - SAFETY) * _root_trace([own for own in roots if own is not None]) ** 2


def _reduced(parts: list[dict[Attributes, Vector]]) -> list[dict[Attributes, Vector]]:
    """The same coefficients on no more functions of each set than queries have any; nothing changes."""
    asked: dict[Attributes, list[Vector]] = {}
    for part in parts:
        for S, c in part.items():
            asked.setdefault(S, []).append(c)
    basis = {}
    for S, rows in asked.items():
        if sum(map(len, rows)) < rows[0].shape[1]:
            basis[S] = np.linalg.qr(np.concatenate(rows).T)[0]
    return [{S: c @ basis[S] if S in basis else c for S, c in part.items()} for part in parts]


@dataclass(frozen=True, eq=False)
class _Root:
    """P_T, and where the functions of every set are among its columns."""

    places: dict[Attributes, slice]
    P: Vector

    @classmethod
    def of(cls, part: dict[Attributes, Vector]) -> _Root | None:
        """None where it is too large."""
        c = np.concatenate(list(part.values()), axis=1)
        if c.shape[1] > LARGEST_PART:
            return None
        ends = np.cumsum([0, *(block.shape[1] for block in part.values())]).tolist()
        s, Q = symmetric_roots(c.T @ c)
        return cls({S: slice(a, b) for S, (a, b) in zip(part, pairwise(ends), strict=True)}, (Q * s) @ Q.T)


def _root_trace(roots: list[_Root]) -> float:
    """What is squared in the bound."""
    ties: dict[Attributes, Vector] = {}
    for root in roots:
        for S, at in root.places.items():
            rows = root.P[at]
            ties[S] = ties.get(S, 0.0) + rows @ rows.T - rows[:, at] @ rows[:, at]
    frames = {S: scipy.linalg.eigh(tie) for S, tie in ties.items()}
    strengths = np.sort(np.concatenate([np.zeros(1), *(values for values, _ in frames.values())]))[::-1]
    least = strengths[MOST_HEADS] if len(strengths) > MOST_HEADS + 1 else -np.inf
    tails = {S: U[:, values <= least] for S, (values, U) in frames.items()}
    heads = {S: U[:, values > least] for S, (values, U) in frames.items()}
    ends = np.cumsum([0, *(U.shape[1] for U in heads.values())]).tolist()
    where = {S: np.arange(a, b) for S, (a, b) in zip(heads, pairwise(ends), strict=True)}
    tied = np.zeros((ends[-1], ends[-1]))
    apart = {S: np.zeros((U.shape[1], U.shape[1])) for S, U in tails.items()}
    for root in roots:
        mixing = scipy.linalg.block_diag(*(heads[S] for S in root.places))
        P = mixing.T @ root.P @ mixing
        own = np.concatenate([where[S] for S in root.places])
        tied[np.ix_(own, own)] += P @ P
        for S, at in root.places.items():
            P = tails[S].T @ root.P[at, at] @ tails[S]
            apart[S] += P @ P
    return sum(_trace_of_root(V) for V in (tied, *apart.values()) if V.size)


def _trace_of_root(V: Vector) -> float:
    """tr V^½ without what rounding may have added."""
    values = scipy.linalg.eigvalsh(V)
    noise = len(V) * np.finfo(float).eps * max(float(values[-1]), 0.0)
    return float(np.sqrt(np.maximum(values - noise, 0.0)).sum())
