"""The promise in plain words, for a person who may be in the table."""

from __future__ import annotations

import math

from rowspace.markup import Markup, element, fragment
from rowspace.privacy import ApproxDP, ApproxDPTheorem3, Neighbours, OddsBound, Privacy, odds_bound

from ..words import plain_privacy

_BELIEFS = (0.01, 0.10, 0.50)


def privacy_words(privacy: Privacy) -> Markup:
    """What is promised, what that means for one person, and what it does not mean."""
    promise = element(
        "p",
        "These numbers were released under ",
        element("strong", str(privacy)),
        ". ",
        plain_privacy(privacy),
    )
    limits = element(
        "p",
        "The promise holds whatever else someone knows or computes, now or later. ",
        _whom(privacy),
        " It does not hide facts about groups: that is what the answers are for.",
    )
    return element(
        "div",
        element("div", promise, limits),
        element("div", _meaning(privacy), class_="card"),
        class_="cards",
    )


def _meaning(privacy: Privacy) -> Markup:
    """The promise as a bound on what anyone can conclude."""
    bound = odds_bound(privacy)
    if bound is not None:
        return _beliefs(privacy, bound)
    match privacy:
        case ApproxDP(epsilon=epsilon, delta=delta) | ApproxDPTheorem3(epsilon=epsilon, delta=delta):
            return element(
                "p",
                "In other words: take any rule that points at a person on seeing these numbers. If it points "
                f"wrongly at 5 % of those {_absent(privacy)}, it points rightly at no more than "
                f"{_ceiling(_power(0.05, epsilon, delta))} of those {_present(privacy)}.",
            )
    return element("p", "The smaller these parameters, the less anyone can tell about one person.")


def _beliefs(privacy: Privacy, bound: OddsBound) -> Markup:
    """Bayes' rule at the bound: the odds change by e^ε at most, either way."""
    epsilon = bound.epsilon
    rarely = f", except with a chance of at most {bound.chance:g}" if bound.chance else ""
    rows = [
        element(
            "tr",
            element("th", f"{100 * before:g} %", scope="row"),
            element("td", _floor(_belief(before, -epsilon))),
            element("td", _ceiling(_belief(before, epsilon))),
        )
        for before in _BELIEFS
    ]
    table = element(
        "table",
        element("caption", f"How sure they can be that the person {_claim(privacy)}"),
        element(
            "thead",
            element(
                "tr",
                element("th", "Sure before", scope="col"),
                element("th", "after: at least", scope="col"),
                element("th", "after: at most", scope="col"),
            ),
        ),
        element("tbody", *rows),
        class_="odds",
    )
    return fragment(
        element(
            "p",
            "In other words: even someone who knows every other record of the table learns from all of these numbers "
            f"no more than this about one person{rarely}.",
        ),
        element(
            "div", table, class_="scroll", tabindex="0", role="region", aria_label="What can be concluded"
        ),
    )


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


def _whom(privacy: Privacy) -> str:
    """Whom the promise protects."""
    if privacy.unit is None:
        return "It is made for one record: a person with several records is protected by as much less."
    return (
        f"It is made for one {privacy.unit.column} with all rows, of which at most {privacy.unit.rows} count."
    )


def _claim(privacy: Privacy) -> str:
    if privacy.neighbours is Neighbours.ADD_REMOVE:
        return "is in the table"
    return "has one record rather than another"


def _absent(privacy: Privacy) -> str:
    return (
        "who are not in the table" if privacy.neighbours is Neighbours.ADD_REMOVE else "with the other record"
    )


def _present(privacy: Privacy) -> str:
    return "who are" if privacy.neighbours is Neighbours.ADD_REMOVE else "with the one"
