"""What to ask along one attribute of a product: the cells alike, or contrasts made for its ranges and prefixes.

An attribute with Gram matrix G gets the Gaussian optimum X (unit diagonal) for G + ω·11ᵗ. X = c·11ᵗ + X_res with
c = 1/(1ᵗX⁻¹1): the first part is what the total tells, X_res = SᵗS are the contrasts. One number ω per attribute says
how much the total of this attribute is asked by way of the others; it is tuned on the error of the whole.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import scipy

from rowspace.operators import CellContrasts, Dense, Operator
from rowspace.privacy import ZCDP
from rowspace.tables import CellSplit, ContrastSplit, Split

from .attribute_classes import Kinds, effective
from .gaussian_optimal import GaussianOptimal

_GAP = 1e-4
_RIDGE = 1e-3
_UNIT = ZCDP(0.5)


@dataclass(frozen=True, eq=False)
class Contrasts:
    """The contrasts S of one attribute, their split and their largest squared column norm."""

    S: Operator
    split: Split

    @cached_property
    def cost(self) -> float:
        """Privacy cost of S at unit noise."""
        return self.S.max_column_norm(2) ** 2

    @cached_property
    def scale(self) -> float:
        """What K is to be multiplied with: a cell's split leaves the factor n of n·I − 11ᵗ out."""
        return 1 / self.S.shape[1] ** 2 if isinstance(self.split, CellSplit) else 1.0


def cells_alike(n: int) -> Contrasts:
    """n·I − 11ᵗ; for an attribute of one cell it stands for nothing."""
    return Contrasts(CellContrasts(n), CellSplit(n))


def fitted(kinds: Kinds, omega: float) -> Contrasts:
    """Contrasts for weighted queries about one attribute; ω in units of their mean squared norm per cell."""
    n = kinds[0][1].shape[1]
    A = GaussianOptimal(gap=_GAP).optimize(effective(kinds, omega, _RIDGE), _UNIT).strategy
    X = A.gram().to_dense()
    X /= X.diagonal().max()
    c = 1 / np.linalg.solve(X, np.ones(n)).sum()
    values, vectors = scipy.linalg.eigh(X - c)
    # The smallest eigenvalue is zero: its vector is u, which the contrasts do not see.
    S = Dense(np.sqrt(np.clip(values[1:], 0.0, None))[:, None] * vectors[:, 1:].T)
    return Contrasts(S, ContrastSplit(S))
