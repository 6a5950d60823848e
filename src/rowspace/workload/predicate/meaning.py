"""Where a condition holds: from a tree to the cells of the attributes it touches.

As in SQL, a missing value leaves a comparison open: it is neither true nor false at an attribute's place for missing
values, and so is its negation (Kleene's logic). Conditions hold where they are true. A conjunction whose parts touch
separate attributes is a product: `split` finds the smallest such parts.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import partial, reduce
from operator import and_, or_

import numpy as np
import numpy.typing as npt

from rowspace.domain import Categorical, Dates, Domain, Numeric
from rowspace.exceptions import InvalidDomain, PredicateError, TooLarge
from rowspace.workload.predicate.cells import (
    bins_between,
    category_cells,
    date_cells,
    number_cells,
    part_cells,
)
from rowspace.workload.predicate.parser import parse
from rowspace.workload.predicate.relations import relation_cells
from rowspace.workload.predicate.syntax import (
    And,
    Condition,
    Is,
    Leaf,
    Missing,
    Not,
    Or,
    Relation,
    Source,
    Test,
    conjuncts,
    leaves,
    name_text,
    names,
    with_leaves,
    with_quoting_advice,
)

Mask = npt.NDArray[np.bool_]

#: Most joint cells of one condition that couples several attributes.
MAX_JOINT_CELLS = 10**7
#: Most cells looked at, summed over the tests of a list of conditions: some seconds.
MAX_WORK = 2**31


def touched(condition: Condition, domain: Domain, source: Source) -> tuple[str, ...]:
    """Return the attributes a condition speaks of, in the order of the domain."""
    related = {
        term.position for leaf in leaves(condition) if isinstance(leaf, Relation) for term in leaf.terms
    }
    found = {
        _resolve(name, position, domain, source, compared=position in related)[0]
        for name, position in names(condition)
    }
    return tuple(sorted(found, key=domain.position))


def work(condition: Condition, domain: Domain) -> int:
    """How many cells `holds` looks at."""
    return domain.size * sum(1 for _ in names(condition))


def check_work(cells: int) -> None:
    """Refuse conditions that would take minutes: a text from anyone may repeat a test on 2²⁶ bins."""
    if cells > MAX_WORK:
        raise TooLarge(
            f"these conditions look at more than {MAX_WORK:,} cells, test by test; "
            "use fewer conditions, ranges or prefixes, or coarser bins"
        )


def check_joint_cells(domain: Domain) -> None:
    """Refuse a condition that couples attributes with too many cells."""
    if len(domain) > 1 and domain.size > MAX_JOINT_CELLS:
        raise TooLarge(
            f"a condition couples {', '.join(domain.names)}: {domain.size:,} joint cells, "
            f"the limit is {MAX_JOINT_CELLS:,}; ask for coarser attributes, or split it with 'and'"
        )


def with_places_for(condition: Condition, domain: Domain) -> Domain:
    """The domain with the places for missing values that a condition asks about by name."""
    asked = {domain.resolve(leaf.name)[0] for leaf in leaves(condition) if isinstance(leaf, Missing)}
    return domain.with_places(domain.places | asked)


def holds(condition: Condition, domain: Domain, source: Source) -> Mask:
    """Return where a condition is true on the cells of a domain, of shape ``domain.shape``.

    Call it with the domain of the touched attributes only: the cost is the number of its cells.
    """
    check_joint_cells(domain)
    check_work(work(condition, domain))
    return np.broadcast_to(_evaluate(condition, domain, source)[0], domain.shape)


def _evaluate(condition: Condition, domain: Domain, source: Source) -> tuple[Mask, Mask]:
    """Where a condition is true and where it is false; neither where a missing value leaves it open.

    By broadcasting: axes that a subtree does not touch have length 1.
    """
    match condition:
        case Test():
            return _decided(_test_cells(condition, domain, source), domain)
        case Relation():
            return _decided(relation_cells(condition, domain, source), domain)
        case Missing():
            return _missing_cells(condition, domain, source)
        case Is(inner, value, negated):
            true, false = _evaluate(inner, domain, source)
            found = true if value else false
            return (~found, found) if negated else (found, ~found)
        case Not(inner):
            true, false = _evaluate(inner, domain, source)
            return false, true
        case And(parts):
            pairs = [_evaluate(part, domain, source) for part in parts]
            return reduce(and_, (true for true, _ in pairs)), reduce(or_, (false for _, false in pairs))
        case Or(parts):
            pairs = [_evaluate(part, domain, source) for part in parts]
            return reduce(or_, (true for true, _ in pairs)), reduce(and_, (false for _, false in pairs))


def _decided(cells: Mask, domain: Domain) -> tuple[Mask, Mask]:
    """True and false among the cells of known values; neither at the places of the attributes looked at."""
    # An axis of length 1 was not looked at, unless its attribute has just one cell: then padding says the same.
    widths = [
        (0, int(name in domain.places and size == domain[name].size and size + 1 == whole))
        for name, size, whole in zip(domain.names, cells.shape, domain.shape, strict=True)
    ]
    if not any(after for _, after in widths):
        return cells, ~cells
    return np.pad(cells, widths), np.pad(~cells, widths)


def _missing_cells(missing: Missing, domain: Domain, source: Source) -> tuple[Mask, Mask]:
    """The place of an attribute; a record is there or it is not, so nothing is left open."""
    name, _ = _resolve(missing.name, missing.position, domain, source)
    attribute = domain[name]
    if name not in domain.places:
        if isinstance(attribute, Categorical) and attribute.other is not None:
            raise source.error(
                f"missing values of {name_text(name)} share the bucket {attribute.other!r} with other values; "
                "compare with it instead",
                missing.position,
            )
        if not missing.negated:
            raise _no_place(name, missing, source)
    known, place = attribute.size, int(name in domain.places)
    cells = np.pad(np.zeros(known, dtype=np.bool_), (0, place), constant_values=True)
    shape = [1] * len(domain)
    shape[domain.position(name)] = known + place
    cells = cells.reshape(shape)
    return (~cells, cells) if missing.negated else (cells, ~cells)


def _no_place(name: str, missing: Missing, source: Source) -> PredicateError:
    """The error where records with a missing value are not counted at all."""
    return source.error(
        f"{name_text(name)} has no place for missing values: records without a known value are left out of every count",
        missing.position,
    )


def _test_cells(test: Test, domain: Domain, source: Source) -> Mask:
    """Return the cells of one test along its attribute's axis."""
    name, level = _resolve(test.name, test.position, domain, source)
    attribute = domain.dimension(name)
    if test.part is not None:
        cells = part_cells(test, attribute, source)
    else:
        match attribute:
            case Dates():
                cells = date_cells(test, attribute, source)
            case Numeric():
                cells = number_cells(test, attribute, source)
            case Categorical() if level is None:
                cells = category_cells(test, attribute.cell_labels, attribute.type, source)
            case Categorical():
                found = attribute.level(level)
                kinds = {type(label) for label in found.labels}
                kind = next(iter(kinds)) if len(kinds) == 1 else str
                cells = category_cells(test, found.labels, kind, source)[found.groups]
    shape = [1] * len(domain)
    shape[domain.position(name)] = math.prod(cells.shape)
    return cells.reshape(shape)


def _resolve(
    name: str, position: int, domain: Domain, source: Source, *, compared: bool = False
) -> tuple[str, str | None]:
    """Resolve a name, pointing at it when it is a stranger."""
    try:
        found = domain.resolve(name)
    except InvalidDomain as error:
        advice = f"; for a text write '{name}'" if compared else ""
        raise source.error(f"{error}{advice}", position) from None
    if compared and found[1] is not None:
        message = f"{name!r} is a level of {found[0]!r}; only attributes are compared with each other"
        raise source.error(message, position)
    return found


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
