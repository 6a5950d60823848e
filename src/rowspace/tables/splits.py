"""How one attribute's queries split into what the total tells and what is left: the algebra of tables without cells.

For a strategy of tables every attribute has a vector u with Σu = 1 and a positive semidefinite K with K·1 = 0. A query
q about the attribute is q = (q·u)·1ᵗ + (q − (q·u)·1ᵗ): its first part is answered by tables that sum the attribute out,
the second by tables that resolve it, at variance qKqᵗ per unit. A product of queries ⊗q_i then has the variance

    Σ_R ν_R Π_{i∈R} q_i K_i q_iᵗ Π_{j∉R} (q_j·u_j)²,      R over the sets of attributes,

with one number ν_R per set that the strategy decides (`TableOperator.component_variances`).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from rowspace.exceptions import InvalidInput
from rowspace.operators import (
    DECOMPOSITION_LIMIT,
    Array,
    Identity,
    Operator,
    Vector,
    check_decomposable,
    inverse_gram,
)

from .layout import along


class Split(ABC):
    """One attribute's u and K."""

    @property
    @abstractmethod
    def u(self) -> Vector:
        """What stands for a cell when only the total is known; sums to one."""

    @abstractmethod
    def trace(self, W: Operator) -> float:
        """tr(W K Wᵗ)."""

    @abstractmethod
    def quadratic(self, W: Operator) -> Vector:
        """q K qᵗ for every row q of W."""

    @property
    @abstractmethod
    def K(self) -> Vector:
        """K as a dense matrix."""

    @cached_property
    def unit(self) -> float:
        """What brings K to the size of a cell's, tr K = n − 1, whatever integers it was made from."""
        trace = float(np.trace(self.K))
        return (len(self.u) - 1) / trace if trace > 0 else 1.0

    def level(self, W: Operator) -> float:
        """‖W u‖², by the Gram matrix: W may have more rows than fit."""
        return float(self.u @ (W.gram() @ self.u))


class MarginalSplit(Split):
    """The split of an attribute that tables measure as a whole, by a matrix A with AᵗA = c·11ᵗ + V′, V′u = 0."""

    @property
    @abstractmethod
    def share(self) -> float:
        """c: how much of the total a table that resolves the attribute sees."""

    @property
    @abstractmethod
    def resolving(self) -> Vector:
        """K·Aᵗ: from a query to its coefficients on the answers, the total aside."""

    @property
    @abstractmethod
    def seen(self) -> Vector:
        """A·u: the coefficients of a query on the total."""

    @abstractmethod
    def taken_apart(self, answers: Array, axis: int) -> tuple[Array, Array]:
        """(uᵗAᵗ answers, KAᵗ answers) along an axis: the information on the total, and on the rest."""


@dataclass(frozen=True)
class CellSplit(MarginalSplit):
    """Every cell alike: u = 1/n and K = I − 11ᵗ/n."""

    n: int

    @cached_property
    def u(self) -> Vector:
        return np.full(self.n, 1 / self.n)

    @property
    def K(self) -> Vector:
        return np.eye(self.n) - 1 / self.n

    @property
    def share(self) -> float:
        return 1 / self.n

    @property
    def resolving(self) -> Vector:
        return self.K

    @property
    def seen(self) -> Vector:
        return self.u

    @property
    def unit(self) -> float:
        return 1.0

    def taken_apart(self, answers: Array, axis: int) -> tuple[Array, Array]:
        mean = answers.mean(axis=axis, keepdims=True)
        return mean, answers - mean

    def resolved(self, answers: Array, axis: int) -> Array:
        """Every cell less its share of the total, from answers to n·I − 11ᵗ, whose pseudo-inverse is (I − 11ᵗ/n)/n."""
        return np.asarray((answers - answers.mean(axis=axis, keepdims=True)) / self.n)

    def level(self, W: Operator) -> float:
        return 1 / self.n if isinstance(W, Identity) else super().level(W)

    def trace(self, W: Operator) -> float:
        if isinstance(W, Identity):
            return self.n - 1.0
        return max(0.0, W.squared_frobenius() - self.n * self.level(W))

    def quadratic(self, W: Operator) -> Vector:
        if isinstance(W, Identity):
            return np.full(self.n, 1 - 1 / self.n)
        if self.n <= DECOMPOSITION_LIMIT:
            return W.row_quadratic(self.K)
        sums = W @ np.ones(self.n)
        squares = np.concatenate([np.einsum("ij,ij->i", rows, rows) for _, rows in W.row_blocks(2**22)])
        return np.asarray(squares - sums**2 / self.n)


@dataclass(frozen=True, eq=False)
class MatrixSplit(MarginalSplit):
    """The split that measuring A leads to, A of full column rank: with M = (AᵗA)⁻¹, u = M1/(1ᵗM1), K = M − uuᵗ·1ᵗM1."""

    A: Operator

    @cached_property
    def _inverse(self) -> Vector:
        if self.A.full_column_rank is not True and np.linalg.matrix_rank(self.A.to_dense()) < self.A.shape[1]:
            raise InvalidInput("expected a matrix of full column rank: it cannot tell some cells apart")
        return inverse_gram(self.A)

    @cached_property
    def share(self) -> float:
        return 1 / float(self._inverse.sum())

    @cached_property
    def u(self) -> Vector:
        return np.asarray(self._inverse.sum(axis=1) * self.share)

    @cached_property
    def K(self) -> Vector:
        return np.asarray(self._inverse - np.outer(self.u, self.u) / self.share)

    @cached_property
    def resolving(self) -> Vector:
        return np.asarray((self.A @ self.K).T)

    @cached_property
    def seen(self) -> Vector:
        return np.asarray(self.A @ self.u)

    def taken_apart(self, answers: Array, axis: int) -> tuple[Array, Array]:
        cells = along(answers, axis, self.A.to_dense().T)
        return along(cells, axis, self.u[None, :]), along(cells, axis, self.K)

    def trace(self, W: Operator) -> float:
        return float(np.sum(self.K * W.gram().to_dense()))

    def quadratic(self, W: Operator) -> Vector:
        return W.row_quadratic(self.K)


@dataclass(frozen=True, eq=False)
class ContrastSplit(Split):
    """The split that measuring S leads to, S of n − 1 independent rows: u spans what S does not see.

    With L = (I − u1ᵗ)S⁺, L·S = I − u1ᵗ: applied to answers of S it gives every cell less its share of the total, and
    K = L·Lᵗ is what that costs at unit noise.
    """

    S: Operator

    @cached_property
    def _dense(self) -> Vector:
        check_decomposable(self.S.gram(), "split an attribute")
        return self.S.to_dense()

    @cached_property
    def u(self) -> Vector:
        # The row space of S is the complement of u.
        _, values, directions = np.linalg.svd(self._dense, full_matrices=True)
        unseen = directions[-1]
        if values.min(initial=1.0) <= 1e-9 * values.max(initial=1.0) or abs(unseen.sum()) < 1e-9:
            raise InvalidInput(
                "expected independent contrasts that miss one direction, whose sum is not zero"
            )
        return np.asarray(unseen / unseen.sum())

    @cached_property
    def L(self) -> Vector:
        """From answers to S back to cells."""
        inverse = np.linalg.pinv(self._dense)
        return np.asarray(inverse - np.outer(self.u, inverse.sum(axis=0)))

    def resolved(self, answers: Array, axis: int) -> Array:
        """Every cell less its share of the total, from answers to S."""
        return along(answers, axis, self.L)

    @cached_property
    def K(self) -> Vector:
        return np.asarray(self.L @ self.L.T)

    def trace(self, W: Operator) -> float:
        return float(np.sum(self.K * W.gram().to_dense()))

    def quadratic(self, W: Operator) -> Vector:
        return W.row_quadratic(self.K)


def root(split: Split) -> Vector:
    """A matrix with K = root·rootᵗ."""
    if isinstance(split, ContrastSplit):
        return split.L
    if isinstance(split, CellSplit):
        return split.K
    values, vectors = np.linalg.eigh(split.K)
    return np.asarray(vectors * np.sqrt(np.clip(values, 0.0, None)))
