"""LIKE: the categories that match a pattern, listed."""

from __future__ import annotations

from rowspace.domain import Categorical, Domain
from rowspace.workload.predicate.syntax import Condition, Not, Test


def matching(
    name: str, pattern: str, domain: Domain, position: int, *, ignore_case: bool
) -> Condition | None:
    """Where the text of an attribute or level matches, or None where some of its values are not listed."""
    owner, level = domain.resolve(name)
    attribute = domain[owner]
    if not isinstance(attribute, Categorical) or attribute.other is not None:
        return None
    labels = attribute.values if level is None else attribute.level(level).labels
    texts = tuple(label for label in labels if isinstance(label, str))
    if len(texts) < len(labels):
        return None
    wanted = pattern.casefold() if ignore_case else pattern
    found = tuple(text for text in texts if like(text.casefold() if ignore_case else text, wanted))
    # What matches nothing is false where the value is known, and open where it is missing.
    return Test(name, "in", found, position) if found else Not(Test(name, "in", texts, position))


def like(text: str, pattern: str) -> bool:
    """Whether a text matches a pattern of LIKE, in time of the product of their lengths.

    >>> like("Harbour", "H%b_ur"), like("Harbour", "H%x%")
    (True, False)
    """
    at = place = 0
    star, resume = -1, 0
    while at < len(text):
        if place < len(pattern) and pattern[place] == "%":
            star, resume = place, at
            place += 1
        elif place < len(pattern) and pattern[place] in ("_", text[at]):
            at, place = at + 1, place + 1
        elif star >= 0:  # let the last % take one more character
            resume += 1
            at, place = resume, star + 1
        else:
            return False
    return pattern[place:].strip("%") == ""
