"""What is asked of a session, checked: questions with the accuracy they need, and what is expected."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence

import numpy as np

from rowspace.domain import Categorical, Domain, Measure, Numeric
from rowspace.exceptions import InvalidInput
from rowspace.releases import as_queries, checked_quantiles
from rowspace.workload import Workload, marginal, mean, prefixes, ranges, total, variance

from .buying import Goal
from .knowledge import Knowledge

Question = Workload | str | Sequence[str]
"""A workload; a condition or SQL, or several of them."""

LEAST = 1e-100
"""The shortest half-width that can be asked for: floats hold the squares of what others are in units of it."""


def goal_of(known: Knowledge, question: Question, within: float | Sequence[float], level: float) -> Goal:
    """Questions over the cells that are counted, each with its half-width."""
    queries = as_queries(known.domain, question, [known.unit])
    given = np.asarray(within, dtype=float)
    if given.shape not in ((), (queries.size,)):
        raise InvalidInput(
            f"expected within= to be one half-width for each of {queries.size} questions, or one for all, got "
            f"{given.size}"
        )
    each = np.broadcast_to(given, (queries.size,))
    if not (each >= LEAST).all():
        raise InvalidInput(
            f"expected within= above zero (and not below {LEAST:g}): the half-width of an interval, in counts or the "
            "unit of a sum"
        )
    if not isinstance(level, float) or not 0 < level < 1:
        raise InvalidInput(f"expected a level strictly between 0 and 1 such as 0.95, got {level!r}")
    return Goal(queries, each, level)


def ranks_of(domain: Domain, attribute: str, q: Sequence[float]) -> Workload:
    """The counts that quantiles of an attribute follow from: those below every edge, and of all records."""
    checked_quantiles(domain, attribute, q)
    return prefixes(domain, attribute) + total(domain)


def digest(goal: Goal, versions: Sequence[str | None], *kind: str) -> str:
    """What a request asks, and of which table, so that a key is not used for two things.

    kind: unless it is a question.
    """
    tree, arrays = goal.queries.to_dict()
    found = hashlib.sha256(json.dumps([tree, goal.level, list(versions), *kind], sort_keys=True).encode())
    for name in sorted(arrays):
        found.update(name.encode() + np.ascontiguousarray(arrays[name]).tobytes())
    found.update(np.ascontiguousarray(goal.within).tobytes())
    return found.hexdigest()


def spending(queries: Workload, amount: float, versions: Sequence[str | None], kind: str) -> str:
    """The digest of a request that says what is to be spent."""
    return digest(Goal(queries, np.array([amount], dtype=float), 0.0), versions, kind)


def expected_of(given: object, domain: Domain) -> Workload:
    """What is expected, over the session's domain."""
    found = _usual(domain) if given is None else given
    if not isinstance(found, Workload):
        raise InvalidInput(f"expected expecting= to be a workload, got {type(found).__name__}")
    for name in found.attributes:
        if name not in domain or found.domain[name] != domain[name]:
            raise InvalidInput(
                f"expected a workload over the session's domain, got one about another {name!r}; build both from the "
                "same Domain object"
            )
    return found.about(domain)


def _usual(domain: Domain) -> Workload:
    """What is expected where nobody says: the total, counts or ranges of every attribute by itself, and every mean or
    variance."""
    found = total(domain)
    for name, attribute in domain.attributes:
        match attribute:
            case Numeric():
                found += ranges(domain, name)
            case Categorical():
                found += marginal(domain, name)
            case Measure():
                found += variance(domain, name) if attribute.squares else mean(domain, name)
    return found
