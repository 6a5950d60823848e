"""How far the answers can move anyone's odds about one person: the same figure for ε and for ρ."""

from __future__ import annotations

import math
from dataclasses import dataclass

from .definitions import ZCDP, Privacy, PureDP

RARE = 1e-6
"""The chance with which a concentrated promise may be exceeded where its odds are stated."""


@dataclass(frozen=True)
class OddsBound:
    """The odds of any statement about one person change by a factor of e^epsilon at most, except with this chance."""

    epsilon: float
    chance: float


def odds_bound(privacy: Privacy) -> OddsBound | None:
    """The bound on odds that a guarantee gives; None for (ε, δ), which bounds tests and not odds.

    Let P and P′ be the laws of what is released for two neighbours, Z = ln(P(y)/P′(y)). By Bayes' rule the odds move
    by e^Z. Pure privacy has |Z| ≤ ε always. ρ-zCDP has E e^((α−1)Z) ≤ e^((α−1)αρ) under P, for all α > 1, so by Markov
    P(Z > ρ + t) ≤ e^(−t²/(4ρ)) (α − 1 = t/(2ρ)). With t = 2√(ρ ln(2/δ)) that is δ/2. The other way round,
    P(Z < −ε) ≤ e^(−ε) P′(Z < −ε) ≤ δ/2 by the same bound under P′. Together: at most δ.

    >>> odds_bound(PureDP(1.0))
    OddsBound(epsilon=1.0, chance=0.0)
    >>> odds_bound(ZCDP(0.1))
    OddsBound(epsilon=2.50..., chance=1e-06)
    """
    match privacy:
        case PureDP(epsilon=epsilon):
            return OddsBound(epsilon, 0.0)
        case ZCDP(rho=rho):
            # Rounded up by far more than the error of a few operations on floats.
            return OddsBound((rho + 2 * math.sqrt(rho * math.log(2 / RARE))) * (1 + 1e-12), RARE)
    return None
