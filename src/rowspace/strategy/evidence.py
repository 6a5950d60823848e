"""The best strategy beside what is known already: planning against evidence.

Everything measured so far is an information matrix P = Σ AᵢᵗAᵢ/σᵢ². A strategy A bought now, with noise of variance σ²,
adds X = AᵗA/σ², and the queries, V = WᵗW, then err by tr(V(P + X)⁻¹) in all. A budget buys diag X ≤ c, where 1/c is
the variance of the noise at unit sensitivity (under Laplace noise also, whose L1 norms are no smaller than L2 norms).

*The search.* Under Gaussian noise the dual of `evidence_dual` is raised, whose steps bring strategies with them. Where
these do not come near enough, as where many cells are not asked about, one goes on from the best of them: raising a
column to norm c only helps, so A is any matrix with its columns scaled, a smooth function without constraints, which
L-BFGS minimizes. So it is under Laplace noise, where A is the identity over p non-negative rows, as in `p_identity`,
with columns scaled to L1 norm √c, and the dual only bounds.

*The bound* is that of `evidence_dual`, also beside facts, where G sees none of them. The noise that is drawn may buy a
little more than the continuous law, so the bound has another c than the search. At the optimum G = Y⁻¹VY⁻¹,
λ = diag(GX)/diag(X) attains it: those of the strategy at hand are taken, and what of G is above Λ is cut off.

*Doubt.* Where part of the evidence may be of no use, a mean of the errors with it and without is minimized: it is
convex, too, and little more than half of the gain is lost that way, while next to nothing is where it is of no use. The
bound is that with all evidence, which holds for less.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, field, replace

import numpy as np
import scipy

from rowspace.error import noise_level, profile_trace
from rowspace.exceptions import InvalidInput, UnsupportedWorkload
from rowspace.operators import Dense, Identity, Operator, Stack, Vector, check_number, check_size
from rowspace.operators import PIdentity as PIdentityOperator
from rowspace.privacy import Neighbours, Privacy

from .evidence_search import FLOOR, Search
from .p_identity import PIdentity
from .reflection import can_be_folded, is_mirrored
from .result import Result
from .row_space import workload_gram

LOST = 1e-3
"""Share of the identity that brings back directions which rounding has lost: its square is added to the noise."""

NEARLY = 1e-4
"""Up to which share of its largest entry P may differ from its mirror image where V is its own: integer strategies are
rounded. Both have the same bound, by a G that is its own mirror image, and errors that differ by the square of that."""

START_L1_STEPS = 60
"""Most steps under Laplace noise for the strategy that is best without evidence, where the search begins."""

HEDGED_STEPS = 60
"""Most steps for a mean of errors, of which nothing is proved."""

CHANCE = 0.25
"""How likely doubtful evidence is taken to be of no use."""


@dataclass(frozen=True, eq=False)
class AgainstEvidence:
    """The strategy of least error together with evidence, to a factor 1 + gap under Gaussian noise.

    evidence: what has been measured, each strategy divided by the standard deviation of its noise.
    chance: how likely only `sure` of it (nothing, unless given) is of any use; then the mean error is the least.

    Guarantees:
        - the lower bound holds for every strategy (`test_no_strategy_beats_the_bound`);
        - the error is that of the evidence and the strategy together (`test_error_by_brute_force`).

    >>> from rowspace import ZCDP, operators as op
    >>> result = AgainstEvidence(op.Identity(64)).optimize(op.Prefix(64), ZCDP(0.5))
    >>> result.total_error < 282.2 / 1.5, result.ratio < 1.001
    (True, True)
    """

    evidence: Operator
    gap: float = 1e-3
    max_steps: int = 300
    sure: Operator | None = None
    chance: float = 0.0
    _information: Vector = field(init=False, repr=False)

    def __post_init__(self) -> None:
        if check_number("gap", self.gap) <= 0:
            raise InvalidInput(f"expected a gap above zero, got {self.gap}; 1e-3 is the default")
        check_size("max_steps", self.max_steps)
        object.__setattr__(self, "_information", _information(self.evidence))

    def optimize(self, W: Operator, privacy: Privacy, rng: np.random.Generator | None = None) -> Result:
        """The strategy, judged together with the evidence; nothing is random."""
        started = time.perf_counter()
        V, c = workload_gram(W), 1 / privacy.unit_variance
        if len(V) != len(self._information):
            raise InvalidInput(f"expected evidence over {len(V)} cells, got {len(self._information)}")
        P = self._information
        if can_be_folded(V) and is_mirrored(P, NEARLY):
            P = 0.5 * (P + P[::-1, ::-1])
        search = Search(V, P, c, 1 / max(privacy.least_variance, 1e-200), privacy.norm)
        if privacy.norm == 2:
            found, bound, steps = search.folded().certified(search.relaxed(), self.gap, self.max_steps)
        else:
            begun, bound = starts(W, len(V), privacy), search.bound(self.gap)
            found, steps = min(
                (search.descend(start, self.max_steps) for start in begun),
                key=lambda run: search.error(run[0]),
            )
        ending = ended(search.error(found), bound, self.gap, steps, self.max_steps)
        if self.chance:
            found, ending = self._hedged(search, found, W, privacy), "no step improves the mean error"
        A: Operator = Dense(found)
        try:
            error = together(A, self.evidence, W, privacy)
        except UnsupportedWorkload:  # where next to nothing is asked of some direction, rounding loses it
            A = Stack(Dense(found), LOST * np.sqrt(c) * Identity(len(V)))
            error = together(A, self.evidence, W, privacy)
        if privacy.neighbours is not Neighbours.ADD_REMOVE:
            bound = 0.0  # the columns may be shifted there, which this bound does not know
        return Result(
            "beside the evidence", A, error, min(bound, error), ending, steps, time.perf_counter() - started
        )

    def _hedged(self, search: Search, found: Vector, W: Operator, privacy: Privacy) -> Vector:
        """The strategy of least mean error; search: the one beside all evidence, which has found a strategy."""
        sure = np.zeros_like(search.P) if self.sure is None else _information(self.sure)
        hedged = replace(search, sure=sure, chance=self.chance)
        if search.norm == 2:
            values, Q = scipy.linalg.eigh(found.T @ found + replace(search, P=sure).relaxed())
            begun = [np.asarray((Q * np.sqrt(np.maximum(values, FLOOR * values[-1]))).T)]
        else:
            begun = starts(W, len(found.T), privacy)
        runs = [hedged.descend(start, min(self.max_steps, HEDGED_STEPS)) for start in begun]
        return min((run[0] for run in runs), key=hedged.error)


def _information(evidence: Operator) -> Vector:
    P = evidence.gram().to_dense()
    return np.asarray(0.5 * (P + P.T))


def together(A: Operator, evidence: Operator, W: Operator, privacy: Privacy) -> float:
    """The total error of W from a strategy and the evidence, whose noise is one."""
    scale = 1 / np.sqrt(noise_level(A, privacy))
    return profile_trace(Stack(scale * A, evidence), W)


def starts(W: Operator, n: int, privacy: Privacy) -> list[Vector]:
    """Where the search begins under Laplace noise: anywhere, and at the strategy that is best without evidence."""
    found = PIdentity(max_steps=START_L1_STEPS).optimize(W, privacy).strategy
    anywhere = np.random.default_rng(0).random((max(1, n // 16), n))
    return [anywhere, *([found.theta.to_dense() + FLOOR] if isinstance(found, PIdentityOperator) else [])]


def ended(error: float, bound: float, gap: float, steps: int, max_steps: int) -> str:
    """How a search ended."""
    if error <= (1 + gap) * bound:
        return f"certified: within {max(error / bound - 1, 0.0):.1e} of the best possible"
    return (
        f"stopped after {steps} steps; raise max_steps"
        if steps >= max_steps
        else "no step improves it any more"
    )
