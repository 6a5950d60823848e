"""What the optimizers for strategies of tables share: reading the workload, its bound, and the judged result."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import scipy

from rowspace.error import noise_level
from rowspace.exceptions import InvalidWorkload
from rowspace.operators import DECOMPOSITION_LIMIT, Identity, Operator, TableOperator, Total
from rowspace.operators.base import Vector
from rowspace.operators.marginal_workload import MarginalWorkload
from rowspace.operators.product_workload import Piece, ProductWorkload, gather
from rowspace.operators.splits import CellSplit, MarginalSplit, MatrixSplit
from rowspace.operators.subset_lattice import SubsetLattice, mask_of, members
from rowspace.privacy import Neighbours, Privacy

from .bounds import unit_lower_bound
from .result import Result
from .terms import Terms


@dataclass(frozen=True, eq=False)
class TableDemand:
    """What tables must tell: the products asked, and how much of every residual they need."""

    products: ProductWorkload
    bases: tuple[Operator, ...] | None = None

    def based_on(self, base: Operator, attributes: set[int]) -> TableDemand:
        """The same, some attributes measured by another matrix (of unit sensitivity) than the identity."""
        bases = self.bases or tuple(Identity(n) for n in self.sizes)
        return replace(self, bases=tuple(base if i in attributes else own for i, own in enumerate(bases)))

    @cached_property
    def splits(self) -> tuple[MarginalSplit, ...]:
        """The split of every attribute."""
        if self.bases is None:
            return self.products.cells
        known = {
            id(A): CellSplit(n) if isinstance(A, Identity) else MatrixSplit(A)
            for A, n in zip(self.bases, self.sizes, strict=True)
        }
        return tuple(known[id(A)] for A in self.bases)

    @cached_property
    def shares(self) -> list[float]:
        """What a table sees of the total of every attribute it resolves; 1/n for the identity."""
        return [split.share for split in self.splits]

    @property
    def sizes(self) -> tuple[int, ...]:
        """Cells of every attribute."""
        return self.products.sizes

    @property
    def lattice(self) -> SubsetLattice:
        """The sets of attributes asked together, and all below them."""
        return self.products.lattice

    @cached_property
    def wanted(self) -> tuple[int, ...]:
        """The sets of attributes asked together; attributes of one cell are left out."""
        varying = mask_of(i for i, n in enumerate(self.sizes) if n > 1)
        axes = map(self.products.axes_of, self.products.parts)
        return tuple(dict.fromkeys(mask_of(own) & varying for own in axes))

    @cached_property
    def needs(self) -> Vector:
        """What one unit of ν_R costs the workload times Π_{i∈R} share, for every set R of the lattice."""
        return self.products.costs(self.splits) * self.lattice.products(self.shares)


def read_products(W: Operator | ProductWorkload) -> ProductWorkload:
    """A workload as products that name their attributes, or `InvalidWorkload`."""
    if isinstance(W, ProductWorkload):
        return W
    marginals = MarginalWorkload.of(W)
    if marginals is not None:
        if not marginals.powers:
            raise InvalidWorkload("expected a workload with at least one non-zero query")
        cells = [Piece((i,), Identity(n)) for i, n in enumerate(marginals.sizes)]
        asked = marginals.powers.items()
        return gather(
            marginals.sizes, ((power**0.5, tuple(cells[i] for i in members(m))) for m, power in asked)
        )
    terms = Terms.of(W)
    if terms is None:
        raise InvalidWorkload(
            "expected a union of products over the same two or more attributes; for other queries use select"
        )
    known: dict[tuple[int, int], Piece] = {}
    for factors in terms.factors:
        for i, factor in enumerate(factors):
            known.setdefault((i, id(factor)), Piece((i,), factor))
    return gather(
        terms.sizes,
        (
            (
                weight,
                tuple(known[i, id(f)] for i, f in enumerate(factors) if not isinstance(f, Total)),
            )
            for weight, factors in zip(terms.weights, terms.factors, strict=True)
        ),
    )


def products_bound(workload: ProductWorkload, privacy: Privacy) -> float:
    """A bound in the unit of E that no strategy goes below; for marginals it is the optimum under Gaussian noise.

    Proof. By the singular value bound, E ≥ (tr √V)²/n for V = WᵗW, and tr √ grows with V in the Loewner order. Every
    attribute's Gram matrix is at least α·(11ᵗ/n) + R with R·1 = 0 (`_lowered`), and products of positive
    semidefinite matrices grow with their factors. The lowered V splits into the residual spaces B of the attributes,
    where it is Σ_A c_A ⊗R, and (tr √(X + Y))² ≥ (tr √X)² + (tr √Y)². Queries that tie attributes together are left out.

    For neighbours that replace a record the same holds on the vectors that sum to zero, twice (see `bounds`). For
    others the sum of the parts' own bounds is one as well, since one strategy serves them all: the better is taken.
    """
    best = 0.0
    if privacy.neighbours is Neighbours.ADD_REMOVE and not workload.only_cells:
        each = np.array([unit_lower_bound(piece.operator, privacy) for piece in workload.pieces] or [1.0])
        by_part = [float(np.prod(each[list(part)])) for part in workload.parts]
        best = float(workload.powers @ by_part)
    for share in (0.0,) if workload.only_cells else (0.0, 0.03, 0.1, 0.3, 0.6):
        numbers = [
            np.zeros(2 ** len(piece.axes)) if len(piece.axes) > 1 else _lowered(piece.operator, share)
            for piece in workload.pieces
        ]
        roots = np.sqrt(workload.summed(numbers))
        if privacy.neighbours is Neighbours.REPLACE_ONE:
            best = max(best, float(2.0 * roots[1:].sum() ** 2))
        else:
            best = max(best, float(roots.sum() ** 2))
    return best


def _lowered(W: Operator, share: float) -> Vector:
    """(α/n, (tr √R)²/n) with α·11ᵗ/n + R ⪯ WᵗW and R·1 = 0.

    In the basis of 1/√n and its complement WᵗW is [g bᵗ; b G]; for t > 0 it is at least diag(g − t, G − bbᵗ/t). The
    least t that leaves the second block positive is bᵗG⁺b; `share` says how much of the rest goes there as well.
    """
    n = W.shape[1]
    if isinstance(W, Identity):
        return np.array([1.0, (n - 1.0) ** 2]) / n
    if n == 1 or n > DECOMPOSITION_LIMIT // 2:
        ones = np.ones(n)
        return np.array([float(ones @ (W.gram() @ ones)) / n / n if n == 1 else 0.0, 0.0])
    V = W.gram().to_dense()
    complement = scipy.linalg.null_space(np.ones((1, n)))
    g, b = float(V.sum()) / n, complement.T @ V.sum(axis=1) / np.sqrt(n)
    G = complement.T @ V @ complement
    least = float(b @ np.linalg.lstsq(G, b, rcond=1e-10)[0]) * (1 + 1e-9)
    t = least + share * (g - least)
    if t <= 1e-12 * g:
        return np.array([g, np.sqrt(np.clip(scipy.linalg.eigvalsh(G), 0, None)).sum() ** 2]) / n
    if t >= g:
        return np.zeros(2)
    lowered = np.clip(scipy.linalg.eigvalsh(G - np.outer(b, b) / t), 0.0, None)
    # Rounding may have made a zero eigenvalue positive: what is below it is not counted.
    lowered[lowered < 1e-9 * lowered.max(initial=0.0)] = 0.0
    return np.array([g - t, float(np.sqrt(lowered).sum()) ** 2]) / n


def judged_on_tables(
    name: str,
    A: TableOperator,
    workload: ProductWorkload,
    privacy: Privacy,
    *,
    status: str,
    steps: int,
    seconds: float,
) -> Result:
    """A result whose error is computed from the strategy itself; works for astronomically many cells."""
    error = noise_level(A, privacy) * A.trace_of_products(workload)
    bound = privacy.unit_variance * products_bound(workload, privacy)
    return Result(name, A, error, bound, status, steps, seconds)
