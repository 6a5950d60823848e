"""Guarantees in plain words: what one person's record can change, at most."""

from __future__ import annotations

import math

from rowspace.privacy import ZCDP, ApproxDP, ApproxDPTheorem3, Neighbours, Privacy, PureDP


def plain_privacy(privacy: Privacy) -> str:
    """One sentence for people who do not know the symbols.

    >>> print(plain_privacy(PureDP(1.0)))
    Adding or removing any one record changes the probability of any result by at most a factor of 2.72.
    """
    what = "record" if privacy.unit is None else f"{privacy.unit.column!r} with all its rows"
    change = (
        f"Adding or removing any one {what}"
        if privacy.neighbours is Neighbours.ADD_REMOVE
        else f"Replacing any one {what} by another"
    )
    match privacy:
        case PureDP(epsilon=epsilon):
            return (
                f"{change} changes the probability of any result by at most a factor of {_factor(epsilon)}."
            )
        case ApproxDP(epsilon=epsilon, delta=delta) | ApproxDPTheorem3(epsilon=epsilon, delta=delta):
            return (
                f"{change} changes the probability of any result by at most a factor of {_factor(epsilon)}, "
                f"plus {delta:g}."
            )
        case ZCDP(rho=rho):
            return (
                f"{change} moves results, in Rényi divergence, no further than a shift by "
                f"{math.sqrt(2 * rho):.3g} standard deviations moves a normal variable."
            )
    return f"{change} changes results no more than {privacy} allows."


def _factor(epsilon: float) -> str:
    """e^ε, also when it is beyond all measure."""
    return f"{math.exp(epsilon):.3g}" if epsilon < 20 else f"e^{epsilon:g}"
