"""A conjunction whose parts touch separate attributes is a product: finding the smallest such parts."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

import numpy as np
import numpy.typing as npt

from rowspace.domain import Domain
from rowspace.exceptions import PredicateError, TooLarge
from rowspace.workload.predicate.cells import bins_between
from rowspace.workload.predicate.meaning import holds, touched, with_places_for, work
from rowspace.workload.predicate.parser import parse
from rowspace.workload.predicate.syntax import And, Condition, Leaf, Test, conjuncts, with_leaves
from rowspace.workload.predicate.tokens import Source, with_quoting_advice

#: Most cells on which one condition may hold.
MAX_HELD = 2**24


@dataclass(frozen=True)
class JointCondition:
    """A condition on some attributes, and the joint cells (C order) where it holds."""

    domain: Domain
    condition: Condition
    cells: npt.NDArray[np.int64]

    @property
    def work(self) -> int:
        """How many cells were looked at to find these."""
        return work(self.condition, self.domain)


def split(text: str, domain: Domain) -> list[JointCondition]:
    """Read a predicate as a product of conditions on separate attributes, in the order of the domain.

    Cost: the number of joint cells of each component, never of the domain.

    >>> from rowspace.domain import Categorical, Numeric
    >>> domain = Domain(age=Numeric(0, 100, bins=100), sex=Categorical(["F", "M"]))
    >>> [str(part.condition) for part in split("age >= 18 and sex = 'F' and age < 65", domain)]
    ['age >= 18 and age < 65', "sex = 'F'"]

    Raises:
        PredicateError: It does not parse, names a stranger, does not fall on bin edges, or never holds.
        TooLarge: A condition couples attributes with too many joint cells.
    """
    condition = parsed(text, domain)
    source = Source(text)
    groups: list[tuple[set[str], list[Condition]]] = []
    for conjunct in conjuncts(condition):
        names = set(touched(conjunct, domain, source))
        joined = [group for group in groups if group[0] & names]
        merged = (set(names).union(*(g[0] for g in joined)), [c for g in joined for c in g[1]] + [conjunct])
        groups = [group for group in groups if not group[0] & names] + [merged]
    components = [
        read(found[0] if len(found) == 1 else And(tuple(found)), text, domain) for _, found in groups
    ]
    return sorted(components, key=lambda component: domain.position(component.domain.names[0]))


def parsed(text: str, domain: Domain) -> Condition:
    """Parse a predicate about a domain: its names may stand in double quotes, and errors say where one needs them."""
    levels = [level for _, attribute in domain.attributes for level in getattr(attribute, "levels", ())]
    known = frozenset([*domain.names, *levels])
    try:
        condition = parse(text, names=known)
        touched(condition, domain, Source(text))
    except PredicateError as error:
        raise with_quoting_advice(error, text, known) from None
    return with_leaves(condition, partial(_bins_named, domain))


def _bins_named(domain: Domain, leaf: Leaf) -> Condition:
    """A test of one attribute as the bins it names; other conditions as they are."""
    if not isinstance(leaf, Test) or leaf.part is not None:
        return leaf
    return bins_between(leaf, domain[domain.resolve(leaf.name)[0]])


def read(condition: Condition, text: str, domain: Domain) -> JointCondition:
    """Evaluate one condition on the attributes it touches; `text` is what errors point into."""
    source = Source(text)
    own = with_places_for(condition, domain.subset(touched(condition, domain, source)))
    mask = holds(condition, own, source)
    if np.count_nonzero(mask) > MAX_HELD:
        # Counted first: a list of cells takes eight times the memory of the mask.
        raise TooLarge(
            f"{_shortened(condition)} holds on more than {MAX_HELD:,} cells; use ranges or prefixes, or coarser bins"
        )
    cells = np.flatnonzero(mask)
    if not cells.size:
        raise source.error(f"no cell of the domain satisfies {condition}: the answer would always be 0", 0)
    return JointCondition(own, condition, cells)


def _shortened(condition: Condition) -> str:
    """A condition for a message."""
    text = str(condition)
    return text if len(text) <= 100 else text[:100] + " …"
