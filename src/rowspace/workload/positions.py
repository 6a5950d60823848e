"""Where the attributes of a part stand in a domain."""

from __future__ import annotations

from itertools import pairwise

from rowspace.domain import Domain
from rowspace.exceptions import InvalidWorkload
from rowspace.workload.factors import Factor
from rowspace.workload.part import Part


class Positions:
    """Checks that parts are about attributes of a domain, each once, in order; shared factors only once."""

    def __init__(self, domain: Domain) -> None:
        self._domain = domain
        self._known: dict[int, list[int]] = {}

    def check(self, part: Part) -> None:
        """Raise unless a part fits."""
        positions = [self._of(factor) for factor in part.factors]
        if any(earlier > later for earlier, later in pairwise(positions)):
            raise InvalidWorkload("the factors of a part must come in the order of the domain's attributes")
        flat = [position for own in positions for position in own]
        if len(set(flat)) < len(flat):
            raise InvalidWorkload("two factors of a part are about the same attribute")

    def _of(self, factor: Factor) -> list[int]:
        """Return the positions of a factor's attributes."""
        if id(factor) not in self._known:
            for name, attribute in factor.domain.attributes:
                if self._domain[name] is not attribute and self._domain[name] != attribute:
                    raise InvalidWorkload(f"attribute {name!r} of a part differs from that of the domain")
            own = [self._domain.position(name) for name in factor.attributes]
            if own != sorted(own):
                raise InvalidWorkload("a factor names attributes in another order than the domain")
            self._known[id(factor)] = own
        return self._known[id(factor)]
