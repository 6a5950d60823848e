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

from dataclasses import dataclass, replace

import numpy as np
import scipy

from rowspace.operators import Vector

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
    def of(cls, V: Vector, P: Vector, c: float, most: float, A: Vector) -> Dual:
        """From a strategy that is not far from the optimum, none of whose columns is zero."""
        inverse = np.linalg.inv(P + A.T @ A + ALIKE * c * np.eye(len(P)))
        ridge = SHARE * max(float(np.einsum("ij,ij->", V, inverse)), 1e-300) / float(np.trace(inverse))
        G = inverse @ V @ inverse + ridge * inverse @ inverse
        weights = np.linalg.norm(A @ G, axis=0) / np.linalg.norm(A, axis=0)
        root = np.sqrt(np.maximum(weights, LEAST_WEIGHT * weights.max()))
        values, Q = scipy.linalg.eigh(G / np.multiply.outer(root, root), driver="evd", check_finite=False)
        e = _kept(RAISED * values, FIRST_FLOOR, root, Q, P, c)
        return cls(V, P, c, most, ridge, root, Q, e)

    def step(self) -> tuple[float, Vector, Dual]:
        """(the bound here, a strategy, the next point)."""
        n = len(self.V)
        half = self.Q * np.sqrt(self.e)
        K = self.root[:, None] * half
        VK = self.V @ K
        M = K.T @ VK + self.ridge * (K.T @ K)
        values, U = scipy.linalg.eigh(M, driver="evd", overwrite_a=True, check_finite=False)
        # Larger roots only lower the bound, and rounding adds no more than this.
        s = np.sqrt(np.maximum(values, 0.0) + n * np.finfo(float).eps * max(float(values[-1]), 1e-300))
        KU = K @ U
        top = float(np.sum(np.einsum("ij,ij->j", VK @ U, KU) / s))
        known = KU.T @ (self.P @ KU)
        weight, total = float(np.sum(self.root**2)), float(np.trace(known))
        bound = top**2 / (total + self.most * weight)

        # G and Λ scaled so that the bound is the dual function itself, whose slope is Y − P.
        scale = float(s.sum()) / (total + self.c * weight)
        s, known = scale * s, scale**2 * known
        m = np.maximum(s, np.diagonal(known))
        quarter = (m / 2) ** 0.25
        # In coordinates R = KU·diag(quarter)⁻¹: RᵗXR and R⁻¹SR⁻ᵗ.
        X = (np.diag(s) - known) / np.multiply.outer(quarter, quarter)
        slack = (U.T * ((1 - self.e) / self.e)) @ U * np.multiply.outer(quarter, quarter)
        t, Z = scipy.linalg.eigh(slack - X, driver="evd", overwrite_a=True, check_finite=False)
        bought, left = t < 0, t > 0
        F = (self.Q / np.sqrt(self.e)) @ ((U * quarter) @ (Z[:, bought] * np.sqrt(-t[bought])))
        F /= (scale * self.root)[:, None]
        norms = np.maximum(np.einsum("ij,ij->i", F, F), 1e-300)
        N = half @ ((U / quarter) @ (Z[:, left] * np.sqrt(t[left])))
        e, Q = scipy.linalg.eigh(np.eye(n) - N @ N.T, driver="evd", overwrite_a=True, check_finite=False)
        grown = np.sqrt(np.clip(norms / self.c, 1 / FASTEST, FASTEST))
        root = scale * self.root * grown
        moved = replace(self, root=root, Q=Q, e=_kept(e, FLOOR, root, Q, self.P, self.c))
        F *= np.sqrt((1 - ALIKE) * self.c / norms)[:, None]
        return bound, scipy.linalg.cholesky(F @ F.T + ALIKE * self.c * np.eye(n), check_finite=False), moved


def _kept(e: Vector, floor: float, root: Vector, Q: Vector, P: Vector, c: float) -> Vector:
    """Eigenvalues of G relative to Λ within their limits: a floor where what is known makes it cost no more than Λ."""
    R = root[:, None] * Q
    known = np.einsum("ij,ij->j", P @ R, R) / (c * float(np.mean(root**2)))
    return np.asarray(np.clip(e, floor / np.maximum(1.0, known), BELOW))
