"""The promise in plain words, for a person who may be in the table."""

from __future__ import annotations

import math
from dataclasses import dataclass

from rowspace.privacy import ApproxDP, ApproxDPTheorem3, Neighbours, OddsBound, Privacy, odds_bound

from ..views import PageTable
from ..words import one_in, plain_privacy

_BELIEFS = (0.01, 0.10, 0.50)


@dataclass(frozen=True)
class Promise:
    """What is promised and to whom, what that means for one person, and what anyone can conclude at most."""

    guarantee: str
    plain: str
    whom: str
    meaning: str
    beliefs: PageTable | None = None


def promise(privacy: Privacy, part_of: str = "") -> Promise:
    """A guarantee in words. part_of: what an instalment says of the promise."""
    bound = odds_bound(privacy)
    whom = (
        "It is made for one record: a person with several records is protected by as much less."
        if privacy.unit is None
        else f"It is made for one {privacy.unit.column} with all rows, of which at most {privacy.unit.rows} count"
        f"{privacy.unit.recurring}."
    )
    return Promise(
        str(privacy),
        plain_privacy(privacy),
        f"{whom} {part_of}".strip(),
        _power_words(privacy) if bound is None else _belief_words(bound),
        None if bound is None else _beliefs(privacy, bound),
    )


def _belief_words(bound: OddsBound) -> str:
    rarely = f", except with a chance of at most {one_in(bound.chance)}" if bound.chance else ""
    return (
        "In other words: even someone who knows every other record of the table learns from all of these numbers "
        f"no more than this about one person{rarely}."
    )


def _beliefs(privacy: Privacy, bound: OddsBound) -> PageTable:
    """Bayes' rule at the bound: the odds change by e^ε at most, either way."""
    added = privacy.neighbours is Neighbours.ADD_REMOVE
    claim = "is in the table" if added else "has one record rather than another"
    return PageTable(
        f"How sure they can be that the person {claim}",
        ("Sure before", "after: at least", "after: at most"),
        tuple(
            (
                f"{100 * before:g} %",
                _floor(_belief(before, -bound.epsilon)),
                _ceiling(_belief(before, bound.epsilon)),
            )
            for before in _BELIEFS
        ),
    )


def _power_words(privacy: Privacy) -> str:
    """The promise as a bound on tests, where there is none on odds."""
    match privacy:
        case ApproxDP(epsilon=epsilon, delta=delta) | ApproxDPTheorem3(epsilon=epsilon, delta=delta):
            added = privacy.neighbours is Neighbours.ADD_REMOVE
            absent = "who are not in the table" if added else "with the other record"
            present = "who are" if added else "with the one"
            return (
                "In other words: take any rule that points at a person on seeing these numbers. If it points "
                f"wrongly at 5 % of those {absent}, it points rightly at no more than "
                f"{_ceiling(_power(0.05, epsilon, delta))} of those {present}."
            )
    return "The smaller these parameters, the less anyone can tell about one person."


def _belief(before: float, shift: float) -> float:
    """The belief whose odds are those of `before` times e^shift."""
    odds = math.log(before / (1 - before)) + shift
    return 1 / (1 + math.exp(-odds)) if odds > -700 else 0.0


def _power(wrongly: float, epsilon: float, delta: float) -> float:
    """The best any test can do under (ε, δ) at a given rate of false alarms."""
    if epsilon > 700:
        return 1.0
    return min(1.0, math.exp(epsilon) * wrongly + delta, 1 - math.exp(-epsilon) * (1 - delta - wrongly))


def _ceiling(share: float) -> str:
    """A percentage, rounded up: never better than it is."""
    return f"{math.ceil(1000 * share) / 10:.1f} %"


def _floor(share: float) -> str:
    """A percentage, rounded down."""
    return f"{math.floor(1000 * share) / 10:.1f} %"
