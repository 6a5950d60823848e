"""Guarantees in plain words: what one person's record can change, at most."""

from __future__ import annotations

from decimal import ROUND_CEILING, Decimal, localcontext
from fractions import Fraction

from rowspace.privacy import (
    ZCDP,
    ApproxDP,
    ApproxDPTheorem3,
    Neighbours,
    Privacy,
    PureDP,
    odds_bound,
)

LARGE = 10.0
"""An ε above which the promise protects little by itself: even odds may become 22,000 to 1."""

_BEYOND_MEASURE = 20.0
_SMALLEST = 1e-12
_MANY = 10**15


def plain_privacy(privacy: Privacy) -> str:
    """One sentence for people who do not know the symbols, with a warning where the promise is weak.

    >>> print(plain_privacy(PureDP(1.0)))
    Adding or removing any one record changes the probability of any result by at most a factor of 2.72.
    >>> plain_privacy(ZCDP(0.1)).partition("result ")[2]
    'by at most a factor of 12.3, plus 1 in 1,000,000.'
    """
    what = "record" if privacy.unit is None else f"{privacy.unit.column} with all its rows"
    change = (
        f"Adding or removing any one {what}"
        if privacy.neighbours is Neighbours.ADD_REMOVE
        else f"Replacing any one {what} by another"
    )
    found = epsilon_delta(privacy)
    if found is None:
        return f"{change} changes results no more than {privacy} allows."
    epsilon, delta = found
    rest = f", plus {one_in(delta)}" if delta else ""
    promise = (
        f"{change} changes the probability of any result by at most a factor of {factor(epsilon)}{rest}."
    )
    return f"{promise} {_weak(privacy, epsilon)}".rstrip()


def epsilon_delta(privacy: Privacy) -> tuple[float, float] | None:
    """The ε and δ that a guarantee promises, or implies: for ρ those of its odds; None where nobody knows."""
    match privacy:
        case PureDP(epsilon=epsilon):
            return epsilon, 0.0
        case ApproxDP(epsilon=epsilon, delta=delta) | ApproxDPTheorem3(epsilon=epsilon, delta=delta):
            return epsilon, delta
    bound = odds_bound(privacy)
    return None if bound is None else (bound.epsilon, bound.chance)


def parameters(privacy: Privacy) -> str:
    """The numbers of a guarantee, all of them: what people ask for first.

    >>> parameters(ApproxDP(1.0, 1e-6)), parameters(ZCDP(0.5))
    ('ε = 1, δ = 1e-06', 'ρ = 0.5')
    """
    named = (("ε", "epsilon"), ("δ", "delta"), ("ρ", "rho"))
    found = [f"{letter} = {getattr(privacy, name):g}" for letter, name in named if hasattr(privacy, name)]
    return ", ".join(found) or str(privacy)


def one_in(chance: float) -> str:
    """A chance above 0, never rounded down.

    >>> one_in(1e-6), one_in(0.3), one_in(1e-30)
    ('1 in 1,000,000', '1 in 3', '1 in 10^30')
    """
    number = int(1 / Fraction(repr(chance)))
    return f"1 in {number:,}" if number < _MANY else f"1 in 10^{len(str(number)) - 1}"


def factor(epsilon: float) -> str:
    """e^ε, never rounded down: three digits of it, or of what it has above 1.

    >>> factor(0.001), factor(1.0), factor(8.0), factor(50.0)
    ('1.00101', '2.72', '2,990', 'e^50')
    """
    if epsilon >= _BEYOND_MEASURE:
        return f"e^{repr(epsilon).removesuffix('.0')}"
    with localcontext() as context:
        context.prec = 60
        value = Decimal(max(epsilon, _SMALLEST)).exp()
        telling = value - 1 if value < 2 else value
        rounded = value.quantize(Decimal(1).scaleb(telling.adjusted() - 2), rounding=ROUND_CEILING)
        return f"{rounded:,f}"


def _weak(privacy: Privacy, epsilon: float) -> str:
    """A warning where ε is large; nothing otherwise."""
    if epsilon <= LARGE:
        return ""
    seen_as = f", as ε = {epsilon:.3g} would be" if isinstance(privacy, ZCDP) else ""
    return (
        f"This is a weak promise{seen_as}: someone who finds two cases of a person equally likely may end up more than "
        "99.99 % sure of one. Up to ε = 1 a promise is strong; above 10 it protects little by itself."
    )
