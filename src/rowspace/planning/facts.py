"""Public facts in the user's words: counts that are known, and conditions that no record satisfies. Data-blind.

Facts are what everybody may know already: a census total, that no child is married. They are taken as true, and the
data is never compared with them.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from math import inf, isfinite, prod
from numbers import Real
from typing import Any

import numpy as np
import scipy

from rowspace.domain import Domain
from rowspace.exceptions import InvalidInput, TooLarge
from rowspace.operators import Vector
from rowspace.strategy import MAX_RECORDS, Fact, Facts
from rowspace.tables import row_tables
from rowspace.workload import Workload, asked, total

TOTAL = "total"
"""How the number of all records is named among known facts."""

_SHOWN = 6

MOST_STATED = 4096
"""Most facts that can be stated."""

MOST_CELLS = 2**20
"""Most joint cells of attributes that facts tie together."""


@dataclass(frozen=True)
class Known:
    """Facts as they were stated.

    counts: conditions, or SQL of one query, and what they count. impossible: conditions that no record satisfies.
    """

    counts: tuple[tuple[str, float], ...] = ()
    impossible: tuple[str, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.counts or self.impossible)

    @property
    def words(self) -> str:
        """What is taken as known, in a sentence; empty where nothing is."""
        if not self:
            return ""
        counts = [f"{text}: {value:,.12g}" for text, value in self.counts]
        nobody = [f"nobody with {text}" for text in self.impossible]
        shown = [*counts[:_SHOWN], *nobody[:_SHOWN]]
        more = len(counts) + len(nobody) - len(shown)
        listed = "; ".join(shown) + (f"; and {more:,} more" if more else "")
        return f"Taken as public and true, and never compared with the data: {listed}."

    def about(self, whole: Domain, domain: Domain) -> Known:
        """Those whose attributes, among all of `whole`, are in a domain: the others say nothing about its counts."""

        def stays(text: str) -> bool:
            return set(_query(whole, text).attributes) <= set(domain.names)

        return Known(
            tuple((text, value) for text, value in self.counts if stays(text)),
            tuple(filter(stays, self.impossible)),
        )

    def queries(self, domain: Domain) -> list[Workload]:
        """All of them as queries."""
        return [_query(domain, text) for text in (*(text for text, _ in self.counts), *self.impossible)]

    def over(self, domain: Domain) -> Facts:
        """As tables over the attributes that are counted.

        Raises:
            InvalidInput: A count is negative, or not whole.
        """
        counts = [_fact(domain, text, value) for text, value in self.counts]
        nobody = [fact for fact in counts if fact.value == 0 and is_count(fact)]
        return Facts(
            domain.shape,
            tuple(fact for fact in counts if fact not in nobody),
            (*nobody, *(_fact(domain, text, 0.0) for text in self.impossible)),
        )


NOTHING = Known()


def known_facts(known: Any, impossible: Any) -> Known:
    """What a user says is public, checked for its form.

    Raises:
        InvalidInput: It is not a mapping of texts to numbers, or not a list of texts.
    """
    if not isinstance(known, Mapping) or not all(isinstance(text, str) for text in known):
        raise InvalidInput(
            f'expected known= to map conditions to counts, such as {{"total": 1_000}}, got {type(known).__name__}'
        )
    if isinstance(impossible, str) or not isinstance(impossible, Iterable):
        raise InvalidInput(
            f"expected impossible= to be a list of conditions, got {type(impossible).__name__}"
        )
    texts = tuple(impossible)
    if len(known) + len(texts) > MOST_STATED:
        raise InvalidInput(f"at most {MOST_STATED:,} facts can be stated, got {len(known) + len(texts):,}")
    if not all(isinstance(text, str) for text in texts):
        raise InvalidInput("expected impossible= to be a list of conditions as texts")
    return Known(tuple((text, _count(text, value)) for text, value in known.items()), texts)


def _count(text: str, value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, Real):
        raise InvalidInput(f"known {text!r}: expected a number, got {type(value).__name__}")
    if not isfinite(value):
        raise InvalidInput(f"known {text!r}: expected a finite number, got {value}")
    return float(value)


def _query(domain: Domain, text: str) -> Workload:
    found = total(domain) if text.strip().lower() == TOTAL else asked(domain, text)
    if found.size != 1:
        raise InvalidInput(f"known {text!r}: expected one query, got {found.size:,}; state a fact for each")
    return found


def _fact(domain: Domain, text: str, value: float) -> Fact:
    query = _query(domain.without_places(), text).over(domain)
    if prod(domain[name].size for name in query.attributes) > MOST_CELLS:
        raise TooLarge(f"known {text!r} is about attributes of more than {MOST_CELLS:,} joint cells")
    ((axes, table),) = row_tables(query.products())
    fact = Fact(axes, table, value)
    if is_count(fact) and (value < 0 or value != int(value)):
        raise InvalidInput(f"known {text!r}: expected a count, a whole number of 0 or more, got {value:g}")
    if is_count(fact) and value > MAX_RECORDS:
        raise InvalidInput(f"known {text!r}: expected at most {MAX_RECORDS:,} records, got {value:g}")
    return fact


def is_count(fact: Fact) -> bool:
    """Whether it counts records, and sums no values."""
    return bool(np.isin(fact.table, (0.0, 1.0)).all())


def check_consistent(facts: Facts) -> None:
    """Raise unless some table satisfies all facts, with no negative count.

    Facts that share attributes are looked at together; groups of them that share none agree if their totals can.
    """
    least, most = 0.0, inf
    for group in _tied(facts):
        low, high = _totals(facts, group)
        least, most = max(least, low), min(most, high)
    if least > most * (1 + 1e-9) + 1e-6:
        raise InvalidInput(_CONTRADICT)


def _tied(facts: Facts) -> list[set[int]]:
    """Attributes that facts are about, in groups that no fact ties to another."""
    groups: list[set[int]] = []
    for own in facts.touched:
        meeting = [group for group in groups if group & set(own)]
        groups = [group for group in groups if not group & set(own)] + [set(own).union(*meeting)]
    return [group for group in groups if group] or [set()]


def _totals(facts: Facts, group: set[int]) -> tuple[float, float]:
    """The least and the largest total of counts that satisfy the facts of a group, and those about the total."""
    axes = sorted(group)
    shape = [facts.sizes[i] for i in axes]
    if prod(shape) > MOST_CELLS:
        raise TooLarge(
            f"known facts tie attributes of {prod(shape):,} joint cells together, the limit is {MOST_CELLS:,}; state "
            "facts about fewer attributes at once"
        )

    def flat(fact: Fact) -> Vector:
        own = fact.table.reshape([facts.sizes[i] if i in fact.axes else 1 for i in axes])
        return np.broadcast_to(own, shape).ravel()

    own = [fact for fact in facts.known if set(fact.axes) <= group]
    nobody = np.zeros(prod(shape), dtype=bool)
    for fact in facts.empty:
        if set(fact.axes) <= group:
            nobody |= flat(fact) != 0
    if nobody.all():
        raise InvalidInput("the impossible conditions cover every cell of what is asked; leave some out")
    if not own:
        return 0.0, inf
    columns = np.unique(np.array([flat(fact) for fact in own])[:, ~nobody], axis=1)
    found = []
    for sign in (1.0, -1.0):
        solved = scipy.optimize.linprog(
            np.full(columns.shape[1], sign),
            A_eq=columns,
            b_eq=[fact.value for fact in own],
            bounds=(0, None),
        )
        if solved.status == 2:
            raise InvalidInput(_CONTRADICT)
        found.append(sign * float(solved.fun or 0.0) if solved.status == 0 else sign * -inf)
    return found[0], found[1]


_CONTRADICT = (
    "the known facts contradict one another: no table has all of these counts, none of them negative; check their "
    "numbers, or leave some out"
)
