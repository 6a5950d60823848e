"""A matrix over some attributes for every residual of the others: the shape of X where cells of the others are alike.

Let the cells of the attributes L be alike, and those of J, the joint ones, not. A matrix X that no renaming of the
cells of L changes is Σ_S P_S ⊗ X_S over the subsets S of L, P_S = ⊗_{i∈S}(I − 11ᵗ/n_i) ⊗_{i∈L∖S} 11ᵗ/n_i. The rows for
S are ⊗_{i∈S}(n_i I − 11ᵗ) ⊗_{i∈L∖S} 1ᵗ ⊗ C_S with any matrix C_S over the joint cells. Different S are orthogonal, so
that inverses, variances and traces are those of every S by itself.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, reduce
from itertools import combinations
from math import prod

import numpy as np
import scipy

from rowspace.exceptions import InvalidInput

from .base import Array, Indices, Operator, Vector, check_operators
from .dense import Dense
from .kronecker import Kronecker
from .permuted import Permuted
from .scaled import Scaled, Transpose
from .stack import Stack
from .total import CellContrasts, Total

MOST_LAYER_SETS = 2**10
"""Most subsets of the attributes whose cells are alike."""


@dataclass(frozen=True, eq=False)
class Layers(Operator):
    """⊗_{i∈S}(n_i I − 11ᵗ) ⊗_{i∉S} 1ᵗ ⊗ C_S for every subset S of the attributes that are not `joint`, one by one.

    joint: the attributes of the matrices C_S, in the order of their cells. factors: the C_S, as `subsets` has the S.

    >>> from rowspace import operators as op
    >>> Layers((2, 2), (1,), (op.Dense([[1, 0], [1, 1]]), op.Dense([[3, 0], [0, 3]]))).to_dense().astype(int)
    array([[ 1,  0,  1,  0],
           [ 1,  1,  1,  1],
           [ 3,  0, -3,  0],
           [ 0,  3,  0, -3],
           [-3,  0,  3,  0],
           [ 0, -3,  0,  3]])
    """

    sizes: tuple[int, ...]
    joint: tuple[int, ...]
    factors: tuple[Operator, ...]

    def __post_init__(self) -> None:
        sizes, joint = self.sizes, self.joint
        known = isinstance(sizes, tuple) and isinstance(joint, tuple) and isinstance(self.factors, tuple)
        if not known or not all(type(n) is int and n >= 1 for n in sizes):
            raise InvalidInput("expected sizes of attributes, joint attributes and a matrix for every subset")
        if not joint or len(set(joint)) < len(joint) or not set(joint) <= set(range(len(sizes))):
            raise InvalidInput(f"expected some of the {len(sizes)} attributes as joint ones, each once")
        check_operators(*self.factors)
        if len(sizes) - len(joint) > MOST_LAYER_SETS.bit_length() or len(self.factors) != len(self.subsets):
            raise InvalidInput("expected a matrix for every subset of the attributes that are not joint")
        cells, rows = prod(sizes[i] for i in joint), self.factors[0].shape[0]
        if not all(isinstance(C, Dense) and C.shape == (rows, cells) for C in self.factors):
            raise InvalidInput(f"expected Dense matrices over {cells} joint cells, of as many rows each")

    @cached_property
    def alike(self) -> tuple[int, ...]:
        """The attributes that are not joint."""
        return tuple(i for i in range(len(self.sizes)) if i not in self.joint)

    @cached_property
    def subsets(self) -> tuple[tuple[int, ...], ...]:
        """The subsets of those, the empty one first."""
        return self.subsets_of(self.alike)

    @staticmethod
    def subsets_of(alike: tuple[int, ...]) -> tuple[tuple[int, ...], ...]:
        """All subsets, the empty one first."""
        return tuple(S for k in range(len(alike) + 1) for S in combinations(alike, k))

    @cached_property
    def _of(self) -> Operator:
        """The same rows as a stack of products over the cells in another order."""
        rows = [Kronecker(*self._contrasts(S), C) for S, C in zip(self.subsets, self.factors, strict=True)]
        return Permuted(Stack(*rows), self.order)

    @cached_property
    def order(self) -> Indices:
        """The cells in the order of the attributes that are alike and then the joint ones."""
        cells = np.arange(prod(self.sizes)).reshape(self.sizes)
        return cells.transpose(self.alike + self.joint).ravel()

    def _contrasts(self, S: Sequence[int]) -> list[Operator]:
        return [CellContrasts(n) if i in S else Total(n) for i, n in self._alike_sizes]

    @property
    def _alike_sizes(self) -> list[tuple[int, int]]:
        return [(i, self.sizes[i]) for i in self.alike]

    @property
    def shape(self) -> tuple[int, int]:
        of = sum(prod(self.sizes[i] for i in S) for S in self.subsets)
        return of * self.factors[0].shape[0], prod(self.sizes)

    @property
    def integral(self) -> bool:
        return all(C.integral for C in self.factors)

    @cached_property
    def full_column_rank(self) -> bool | None:
        """Where all C_S are invertible triangles, which can be seen."""
        n = self.factors[0].shape[1]
        triangles = all(
            C.shape == (n, n) and not np.triu(C.array, 1).any() and np.diagonal(C.array).all()
            for C in self.factors
            if isinstance(C, Dense)
        )
        return True if triangles else None

    def _apply(self, x: Array) -> Array:
        return self._of._apply(x)

    def _adjoint(self, y: Array) -> Array:
        return self._of._adjoint(y)

    def _column_sums(self, p: int) -> Vector:
        return self._of._column_sums(p)

    def _integer_norm(self, p: int) -> int:
        """All cells of the attributes alike have the same columns: those of the first one tell, exactly."""
        total = [0] * self.factors[0].shape[1]
        for S, C in zip(self.subsets, self.factors, strict=True):
            scale = prod(CellContrasts(self.sizes[i]).integer_norm(p) for i in S)
            total = [own + scale * more for own, more in zip(total, C._exact_column_sums(p), strict=True)]
        return max(total)

    def largest_entry(self) -> float:
        return max(
            prod(max(self.sizes[i] - 1, 1) for i in S) * C.largest_entry()
            for S, C in zip(self.subsets, self.factors, strict=True)
        )

    def pinv(self) -> Operator:
        rows: list[Operator] = []
        for S, inverse in zip(self.subsets, self._inverses, strict=True):
            # (n I − 11ᵗ)⁺ = (n I − 11ᵗ)/n² and (1ᵗ)⁺ = 1/n.
            scale = 1 / prod(n**2 if i in S else n for i, n in self._alike_sizes)
            rows.append(Kronecker(*self._contrasts(S), Dense(scale * inverse.T)))
        return Transpose(Permuted(Stack(*rows), self.order))

    @cached_property
    def _inverses(self) -> list[Vector]:
        """C_S⁺."""
        if self.full_column_rank:
            unit = np.eye(self.factors[0].shape[1])
            return [scipy.linalg.solve_triangular(C.to_dense(), unit, lower=True) for C in self.factors]
        return [np.asarray(C.pinv().to_dense()) for C in self.factors]

    @cached_property
    def _covariances(self) -> list[Vector]:
        """(C_Sᵗ C_S)⁻¹."""
        return [inverse @ inverse.T for inverse in self._inverses]

    def row_variances(self, W: Operator) -> Vector | None:
        """Of products: Σ_S of the products of every attribute's own; None for others."""
        if not self.full_column_rank or (found := self._by_attribute(W)) is None:
            return None
        total: Vector = np.zeros(())
        for S, M in zip(self.subsets, self._covariances, strict=True):
            own: list[Vector] = []
            for (i, n), factor in zip(self._alike_sizes, (found[i] for i in self.alike), strict=True):
                sums = np.asarray(factor @ np.ones(n))
                squares = _squares(factor) - sums**2 / n if i in S else sums**2 / n
                own.append(np.maximum(squares, 0.0) / (n**2 if i in S else n))
            joint = _joint_quadratic([found[i] for i in self.joint], M)
            total = total + reduce(lambda a, b: np.multiply.outer(a, b), [*own, joint])
        # Rows come in the order of the attributes that are alike and the joint ones; queries in that of the domain.
        return np.asarray(total).transpose(np.argsort(self.alike + self.joint)).ravel()

    def _by_attribute(self, W: Operator) -> list[Operator] | None:
        """The factors of a product, one for every attribute."""
        factors = W.factors if isinstance(W, Kronecker) else (W,)
        return list(factors) if tuple(f.shape[1] for f in factors) == self.sizes else None

    def _profile_trace(self, W: Operator) -> float:
        if isinstance(W, Stack):
            return sum(self._profile_trace(part) for part in W.parts)
        if isinstance(W, Scaled):
            return W.factor**2 * self._profile_trace(W.of)
        found = self._by_attribute(W) if self.full_column_rank else None
        if found is None:
            inverse = self.pinv()
            return float(sum(np.square(inverse._adjoint(rows)).sum() for _, rows in W.row_blocks()))
        total = 0.0
        V = reduce(
            lambda a, b: np.asarray(np.kron(a, b), dtype=np.float64),
            [found[i].gram().to_dense() for i in self.joint],
        )
        for S, M in zip(self.subsets, self._covariances, strict=True):
            share = 1.0
            for i, n in self._alike_sizes:
                whole, mean = found[i].squared_frobenius(), float(np.square(found[i] @ np.ones(n)).sum()) / n
                share *= max(whole - mean, 0.0) / n**2 if i in S else mean / n
            total += share * float(np.einsum("ij,ij->", V, M)) if share else 0.0
        return total


def _squares(W: Operator) -> Vector:
    """Σ_j w_j² of every row."""
    return np.concatenate([np.einsum("ij,ij->i", rows, rows) for _, rows in W.row_blocks()])


def _joint_quadratic(factors: Sequence[Operator], M: Vector) -> Vector:
    """wMwᵗ for every row w of ⊗ factors, as an array with an axis for each; M is symmetric."""
    if len(factors) == 1:
        return factors[0].row_quadratic(M)
    first, n = factors[0], factors[0].shape[1]
    blocks = M.reshape(n, len(M) // n, n, -1)
    rest = np.empty((n, n), dtype=object)
    for t in range(n):
        for u in range(t + 1):
            # Only the symmetric part of a block counts in wBwᵗ.
            block = np.ascontiguousarray((blocks[t, :, u] + blocks[t, :, u].T) / 2)
            rest[t, u] = rest[u, t] = _joint_quadratic(factors[1:], block)
    shape = rest[0, 0].shape
    table = np.stack([np.stack([own.ravel() for own in line]) for line in rest])
    out = np.stack(
        [first.row_quadratic(np.ascontiguousarray(table[:, :, k])) for k in range(table.shape[2])], -1
    )
    return np.asarray(out.reshape(-1, *shape))
