"""Where a condition holds: from a tree to the cells of the attributes it touches."""

from __future__ import annotations

import math
from functools import reduce
from operator import and_, or_

import numpy as np
import numpy.typing as npt

from rowspace.domain import Categorical, Domain, Numeric
from rowspace.exceptions import InvalidDomain, TooLarge
from rowspace.workload.predicate.categories import category_cells
from rowspace.workload.predicate.numbers import number_cells
from rowspace.workload.predicate.source import Source
from rowspace.workload.predicate.syntax import And, Condition, Not, Or, Test, tests

Mask = npt.NDArray[np.bool_]

#: Most joint cells of one condition that couples several attributes.
MAX_JOINT_CELLS = 10**7
#: Most cells looked at, summed over the tests of a list of conditions: some seconds.
MAX_WORK = 2**33


def touched(condition: Condition, domain: Domain, source: Source) -> tuple[str, ...]:
    """Return the attributes a condition speaks of, in the order of the domain."""
    found = {_resolve(test, domain, source)[0] for test in tests(condition)}
    return tuple(sorted(found, key=domain.position))


def work(condition: Condition, domain: Domain) -> int:
    """How many cells `holds` looks at."""
    return domain.size * sum(1 for _ in tests(condition))


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


def holds(condition: Condition, domain: Domain, source: Source) -> Mask:
    """Return where a condition holds on the cells of a domain, of shape ``domain.shape``.

    Call it with the domain of the touched attributes only: the cost is the number of its cells.
    """
    check_joint_cells(domain)
    check_work(work(condition, domain))
    return np.broadcast_to(_evaluate(condition, domain, source)[0], domain.shape)


def _evaluate(condition: Condition, domain: Domain, source: Source) -> tuple[Mask, Mask]:
    """Where a condition is true and where it is false; neither where a missing value leaves it open, as in SQL.

    By broadcasting: axes that a subtree does not touch have length 1.
    """
    match condition:
        case Test():
            cells = _test_cells(condition, domain, source)
            name, _ = _resolve(condition, domain, source)
            if name not in domain.places:
                return cells, ~cells
            axis = domain.position(name)
            return _with_place(cells, axis), _with_place(~cells, axis)
        case Not(inner):
            true, false = _evaluate(inner, domain, source)
            return false, true
        case And(parts):
            pairs = [_evaluate(part, domain, source) for part in parts]
            return reduce(and_, (true for true, _ in pairs)), reduce(or_, (false for _, false in pairs))
        case Or(parts):
            pairs = [_evaluate(part, domain, source) for part in parts]
            return reduce(or_, (true for true, _ in pairs)), reduce(and_, (false for _, false in pairs))


def _with_place(cells: Mask, axis: int) -> Mask:
    """The cells of known values, and one more where nothing holds."""
    widths = [(0, int(i == axis)) for i in range(cells.ndim)]
    return np.pad(cells, widths)


def _test_cells(test: Test, domain: Domain, source: Source) -> Mask:
    """Return the cells of one test along its attribute's axis."""
    name, level = _resolve(test, domain, source)
    attribute = domain[name]
    match attribute:
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


def _resolve(test: Test, domain: Domain, source: Source) -> tuple[str, str | None]:
    """Resolve the name in a test, pointing at it when it is a stranger."""
    try:
        return domain.resolve(test.name)
    except InvalidDomain as error:
        raise source.error(str(error), test.position) from None
