"""Targets as people write them: ``ranges: ±50 @95%``."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from rowspace.domain import did_you_mean
from rowspace.exceptions import InvalidInput

_EXAMPLE = 'write for example "ranges of age: ±50 @95%", or "±50 @95%" for every group'
_LONGEST = 400
_TARGET = re.compile(
    r"""
    (?:(?P<group>.*?)\s*:)? \s*                       # the group, up to the last colon
    (?:±|\+-|\+/-)? \s* (?P<width>[0-9][0-9_,]*\.?[0-9]*(?:[eE][+-]?[0-9]+)?) \s*
    (?:@ \s* (?P<level>[0-9]*\.?[0-9]+) \s* (?P<percent>%?))? \s*
    """,
    re.VERBOSE,
)


@dataclass(frozen=True)
class Target:
    """Every answer of a group is to be within ±half_width of the truth with probability `level`.

    half_width: half of the interval.
    level: its confidence level.

    >>> import rowspace as rs
    >>> print(rs.Target(50, level=0.9))
    ±50 @90%
    """

    half_width: float
    level: float = 0.95

    def __post_init__(self) -> None:
        for name, value, most in (("half_width", self.half_width, math.inf), ("level", self.level, 1.0)):
            if isinstance(value, bool) or not isinstance(value, int | float) or not 0 < value < most:
                bound = "positive and finite" if most == math.inf else "strictly between 0 and 1"
                raise InvalidInput(f"expected the {name} of a target to be {bound}, got {value!r}")

    def __str__(self) -> str:
        return f"±{self.half_width:g} @{100 * self.level:g}%"


def parse_target(text: str) -> tuple[str | None, Target]:
    """The group (None: every group) and the target that a text states.

    >>> parse_target("ranges: ±50 @95%")
    ('ranges', Target(half_width=50.0, level=0.95))
    >>> parse_target("±2.5")
    (None, Target(half_width=2.5, level=0.95))
    """
    if not isinstance(text, str):
        raise InvalidInput(f"expected a target as text, got {type(text).__name__}; {_EXAMPLE}")
    match = _TARGET.fullmatch(text.strip()) if len(text) <= _LONGEST else None
    if match is None:
        raise InvalidInput(f"expected a target, got {text[:60]!r}; {_EXAMPLE}")
    level = 0.95
    if match["level"] is not None:
        level = float(match["level"]) / (100 if match["percent"] else 1)
    width = float(match["width"].replace(",", "").replace("_", ""))
    return (match["group"] or "").strip() or None, Target(width, level)


def targets_of_groups(
    targets: Mapping[str, Target] | str | Sequence[str], groups: Sequence[str]
) -> dict[str, list[Target]]:
    """What is demanded of each group: by its name, by the beginning of names, or of all groups."""
    demands = list(_demands(targets))
    if not demands:
        raise InvalidInput(f"expected at least one target; {_EXAMPLE}")
    found: dict[str, list[Target]] = {}
    stated: dict[tuple[str | None, float], Target] = {}
    for name, target in demands:
        first = stated.setdefault((name, target.level), target)
        if first != target:
            raise InvalidInput(
                f"the targets of {'all groups' if name is None else repr(name[:60])} contradict each other: "
                f"{first} and {target}; state one of them"
            )
        for group in _matching(name, groups):
            if target not in found.setdefault(group, []):
                found[group].append(target)
    return found


def _demands(targets: object) -> Iterable[tuple[str | None, Target]]:
    """All targets with the groups they name."""
    if isinstance(targets, str):
        yield parse_target(targets)
    elif isinstance(targets, Target):
        yield None, targets
    elif isinstance(targets, Mapping):
        for name, target in targets.items():
            if not isinstance(name, str):
                raise InvalidInput(f"expected groups by their names, got {type(name).__name__}")
            if isinstance(target, str):
                target = parse_target(target)[1]
            if not isinstance(target, Target):
                raise InvalidInput(f"expected a Target for {name!r}, got {type(target).__name__}; {_EXAMPLE}")
            yield name, target
    elif isinstance(targets, Iterable):
        for text in targets:
            yield parse_target(text)
    else:
        raise InvalidInput(f"expected targets by group, got {type(targets).__name__}; {_EXAMPLE}")


def _matching(name: str | None, groups: Sequence[str]) -> list[str]:
    """The groups a target names: exactly, else those that begin so."""
    if name is None:
        return list(groups)
    if name in groups:
        return [name]
    beginning = [group for group in groups if group.casefold().startswith(name.casefold())]
    if not beginning:
        raise InvalidInput(f"no group of queries is called {name[:60]!r}; {did_you_mean(name, groups)}")
    return beginning
