"""The dual of planning beside evidence: bounds that rise to the least error, and the strategies they belong to.

*The bound.* Let 0 ⪯ G ⪯ Λ with Λ diagonal, and Y = P + X for any X that the budget buys. The singular values of
V^½G^½ = (V^½Y^(−½))(Y^½G^½) sum to at most (tr VY⁻¹ · tr GY)^½, by Cauchy and Schwarz, and
tr GY = tr GP + tr GX ≤ tr GP + tr ΛX ≤ tr GP + c·Σλ. So with G = KKᵗ and M = KᵗVK,
tr VY⁻¹ ≥ (tr M^½)² / (tr GP + c·Σλ). Instead of tr M^½ what is taken is tr M(M + E)^(−½) for a small E ⪰ 0, which is no
more and has digits where V has none.

*The ascent.* With slack S = Λ − G the logarithm of the bound is concave in (Λ, S). Its slope by G is X = Y − P where
YGY = V, and its curvature, in coordinates where Y is the identity and G is diag(m), is 1/(m_i + m_j): at most
1/(2(m_i m_j)^½), that of a norm which a change of coordinates makes Euclidean. There a step as long as this curvature
allows leads to T = S − X. Its positive part is the next S. The negative part is a strategy's X (Moreau), as
complementary to S as an optimal X has to be. Then λ grows where that X needs more than the budget: λ ← λ·diag X/c.
Where Y and P commute a step for S is exact. Two or three steps are mostly enough for a gap of 1e-3.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from rowspace.operators import Vector

from .reflection import cell_diagonal

SHARE = 3e-5
"""Share of the error that queries about every cell are given in the ascent, so that nothing is without curvature."""

RAISED = 1.05
"""By how much G of a strategy near the optimum is raised before it is cut at Λ: where it should equal Λ, being above
costs nothing and being below does."""

FIRST_FLOOR, FLOOR = 1e-2, 1e-4
"""Least eigenvalues of G relative to Λ, at first and later: from next to nothing a step does not find back."""

BELOW = 1 - 1e-12
"""Their largest, so that rounding leaves G ⪯ Λ."""

ALIKE = 1e-5
"""Share of a strategy that asks every cell alike, so that no direction is lost; the error grows by no more."""

LEAST_WEIGHT = 1e-9
"""Least λ over the largest."""

FASTEST = 10.0
"""By how much λ may change in a step."""


@dataclass(frozen=True, eq=False)
class Dual:
    """(Λ, G) for tr(V(P + X)⁻¹) over diag X ≤ c: Λ = diag(root²), G = root·Q diag(e) Qᵗ·root.

    V, P and all matrices may be `folded`: then λ is over half of the cells.
    ridge: E = KᵗK times it. most: what no integer strategy's diag X exceeds; the bound is for that.
    """

    V: Vector
    P: Vector
    c: float
    most: float
    ridge: float
    root: Vector
    Q: Vector
    e: Vector

    @classmethod
    def of(cls, V: Vector, P: Vector, c: float, most: float, X: Vector) -> Dual:
        """From a strategy that is not far from the optimum, whose diagonal is nowhere zero."""
        each = np.eye(V.shape[-1])
        inverse = np.linalg.inv(P + X + ALIKE * c * each)
        ridge = (
            SHARE
            * max(float(np.vdot(V, inverse)), 1e-300)
            / float(np.trace(inverse, axis1=-2, axis2=-1).sum())
        )
        G = inverse @ (V + ridge * each) @ inverse
        # By rounding it may be less than zero. Any weights give a bound.
        weights = np.sqrt(np.maximum(cell_diagonal(G @ X @ G), 0.0) / cell_diagonal(X))
        root = np.sqrt(np.maximum(weights, LEAST_WEIGHT * weights.max()))
        values, Q = np.linalg.eigh(G / np.multiply.outer(root, root))
        return cls(V, P, c, most, ridge, root, Q, _kept(RAISED * values, FIRST_FLOOR, root, Q, P, c))

    def step(self) -> tuple[float, Vector, Callable[[], Dual]]:
        """(the bound here, a strategy's X, what finds the next point)."""
        each = np.eye(self.V.shape[-1])
        half = self.Q * np.sqrt(self.e)[..., None, :]
        K = self.root[:, None] * half
        values, U = np.linalg.eigh(_turned(K) @ ((self.V + self.ridge * each) @ K))
        # Larger roots only lower the bound, and rounding adds no more than this.
        s = np.sqrt(
            np.maximum(values, 0.0) + values.size * np.finfo(float).eps * max(float(values.max()), 1e-300)
        )
        KU = K @ U
        top = float(np.sum(np.einsum("...ij,...ij->...j", self.V @ KU, KU) / s))
        known = _turned(KU) @ (self.P @ KU)
        diagonal = np.diagonal(known, axis1=-2, axis2=-1)
        weight, total = s.size * float(np.mean(self.root**2)), float(diagonal.sum())
        bound = top**2 / (total + self.most * weight)

        # G and Λ scaled so that the bound is the dual function itself, whose slope is Y − P.
        scale = float(s.sum()) / (total + self.c * weight)
        s, known = scale * s, scale**2 * known
        m = np.maximum(s, scale**2 * diagonal)
        quarter = (m / 2)[..., None] ** 0.25
        # In coordinates R = KU·diag(quarter)⁻¹: RᵗXR and R⁻¹SR⁻ᵗ.
        outer = quarter * _turned(quarter)
        X = (each * s[..., None] - known) / outer
        slack = (_turned(U) * ((1 - self.e) / self.e)[..., None, :]) @ U * outer
        t, Z = np.linalg.eigh(slack - X)
        bought, left = (int(np.max(np.sum(own, axis=-1))) for own in (t < 0, t > 0))
        taken = Z[..., :bought] * np.sqrt(np.maximum(-t[..., None, :bought], 0.0))
        F = (self.Q / np.sqrt(self.e)[..., None, :]) @ ((U * _turned(quarter)) @ taken)
        F /= (scale * self.root)[:, None]
        X = F @ _turned(F)
        norms = np.maximum(cell_diagonal(X), 1e-300)

        def onward() -> Dual:
            T = Z[..., Z.shape[-1] - left :] * np.sqrt(np.maximum(t[..., None, t.shape[-1] - left :], 0.0))
            N = half @ ((U / _turned(quarter)) @ T)
            e, Q = np.linalg.eigh(each - N @ _turned(N))
            root = scale * self.root * np.sqrt(np.clip(norms / self.c, 1 / FASTEST, FASTEST))
            return replace(self, root=root, Q=Q, e=_kept(e, FLOOR, root, Q, self.P, self.c))

        shrunk = np.sqrt((1 - ALIKE) * self.c / norms)
        return bound, X * np.multiply.outer(shrunk, shrunk) + ALIKE * self.c * each, onward


def _turned(M: Vector) -> Vector:
    return M.swapaxes(-1, -2)


def _kept(e: Vector, floor: float, root: Vector, Q: Vector, P: Vector, c: float) -> Vector:
    """Eigenvalues of G relative to Λ within their limits: a floor where what is known makes it cost no more than Λ."""
    R = root[:, None] * Q
    known = np.einsum("...ij,...ij->...j", P @ R, R) / (c * float(np.mean(root**2)))
    return np.asarray(np.clip(e, floor / np.maximum(1.0, known), BELOW))
