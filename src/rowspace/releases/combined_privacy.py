"""What several releases of one table have cost together."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from math import inf, nextafter
from typing import Any

from rowspace.privacy import ZCDP, ApproxDP, Privacy, PureDP


@dataclass(frozen=True)
class Guarantees:
    """Guarantees of releases that all hold: basic composition adds up those of one kind.

    Kinds that differ (or protect different units) are stated side by side; a ledger adds them up in one currency.

    >>> print(Guarantees((PureDP(0.5), ZCDP(0.1), PureDP(0.25))))
    0.75-differential privacy (add or remove one record) together with 0.1-zero-concentrated differential privacy (add \
or remove one record)
    """

    each: tuple[Privacy, ...]

    @property
    def sums(self) -> tuple[Privacy, ...]:
        """One guarantee for each kind, in the order of the first ones."""
        kinds: dict[tuple[object, ...], list[Privacy]] = {}
        for privacy in self.each:
            kind = type(privacy) if isinstance(privacy, PureDP | ZCDP) else ApproxDP
            kinds.setdefault((kind, privacy.neighbours, privacy.unit), []).append(privacy)
        return tuple(_sum(group) for group in kinds.values())

    def to_dict(self) -> list[dict[str, Any]]:
        """The sums, JSON-safe."""
        return [privacy.to_dict() for privacy in self.sums]

    def __str__(self) -> str:
        return " together with ".join(map(str, self.sums))


def _sum(group: Sequence[Privacy]) -> Privacy:
    """Basic composition of guarantees of one kind: their parameters add up."""
    first = group[0]
    match first:
        case PureDP():
            return replace(first, epsilon=_added(group, "epsilon"))
        case ZCDP():
            return replace(first, rho=_added(group, "rho"))
    # By whichever calibration each was reached, (ε, δ) is what it promises.
    return ApproxDP(_added(group, "epsilon"), _added(group, "delta"), first.neighbours, first.unit)


def _added(group: Sequence[Privacy], parameter: str) -> float:
    """The sum of the parameters as they are written: 0.1 and 0.2 are 0.3; no less, where no float is it."""
    total = sum(Fraction(repr(getattr(privacy, parameter))) for privacy in group)
    nearest = float(total)
    return nearest if Fraction(repr(nearest)) >= total else nextafter(nearest, inf)
