"""What finding the values of a column will promise and need, before any data is touched."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from rowspace.domain import Categorical, Domain
from rowspace.exceptions import InvalidDomain, InvalidInput, InvalidPrivacy
from rowspace.privacy import (
    ApproxDP,
    GaussianThreshold,
    PrivacyUnit,
    TruncatedLaplace,
    privacy_from_dict,
    threshold,
)

_LARGEST = 2**60


@dataclass(frozen=True)
class DiscoveryPlan:
    """Which columns are looked at, under which promise, and from which noisy count on a value is shown.

    columns: one or several; a key is one value of each.
    privacy: an `ApproxDP`; its unit, if it has one, counts once in a key and in at most `unit.rows` keys.
    at_least: show no value whose noisy count is below this, should the promise allow less.
    other: what everything that is not found is called.

    Noise and threshold follow from these, and are stored nowhere.

    >>> from rowspace.privacy import ApproxDP
    >>> print(DiscoveryPlan(("diagnosis",), ApproxDP(1.0, 1e-8)))
    values of diagnosis that at least 19 records seem to have, under (1, 1e-08)-differential privacy (add or remove \
one record)
    """

    columns: tuple[str, ...]
    privacy: ApproxDP
    at_least: int | None = None
    other: str = "other"

    def __post_init__(self) -> None:
        names = [self.columns] if isinstance(self.columns, str) else self.columns
        if not isinstance(names, Iterable) or not (columns := tuple(names)):
            raise InvalidInput("expected the name of a column, or several of them, such as 'diagnosis'")
        # Also refuses what is no name of an attribute, and a label that is no text.
        Domain([(name, Categorical(["value"], other=self.other)) for name in columns])
        object.__setattr__(self, "columns", columns)
        least = self.at_least
        if least is not None and (
            isinstance(least, bool) or not isinstance(least, int) or not 1 <= least <= _LARGEST
        ):
            raise InvalidInput(
                "expected at_least to be a whole number of records or units, 1 or more, or None"
            )
        threshold(self.privacy, self.keys)

    @property
    def keys(self) -> int:
        """In how many keys a unit, or a record, counts at most."""
        unit = getattr(self.privacy, "unit", None)
        return 1 if unit is None else int(unit.rows)

    @property
    def threshold(self) -> TruncatedLaplace | GaussianThreshold:
        """The noise, and the least noisy count that the promise lets be shown."""
        return threshold(self.privacy, self.keys)

    @property
    def least(self) -> int:
        """The least noisy count of what is shown."""
        return max(self.threshold.least, self.at_least or 1)

    @property
    def counted(self) -> str:
        """What is counted, in the plural."""
        unit = self.privacy.unit
        return "records" if unit is None else f"values of {unit.column}"

    @property
    def population(self) -> str:
        """Which records count, where not all of them do."""
        unit = self.privacy.unit
        missing = f"Records without {' or '.join(self.columns)} have no key."
        if unit is None:
            return missing
        keys = "1 key" if unit.rows == 1 else f"{unit.rows:,} keys"
        return f"{missing} Each {unit.column} is counted once in a key and in at most {keys}; no row without one is."

    def __str__(self) -> str:
        what = " and ".join(self.columns)
        return (
            f"values of {what} that at least {self.least:,} {self.counted} seem to have, under {self.privacy}"
        )

    def to_dict(self) -> dict[str, Any]:
        """A JSON table, read back by `from_dict`.

        >>> from rowspace.privacy import ApproxDP
        >>> plan = DiscoveryPlan(("diagnosis",), ApproxDP(1.0, 1e-8))
        >>> DiscoveryPlan.from_dict(plan.to_dict()) == plan
        True
        """
        return {
            "columns": list(self.columns),
            "privacy": self.privacy.to_dict(),
            "at_least": self.at_least,
            "other": self.other,
        }

    @classmethod
    def from_dict(cls, tree: object) -> DiscoveryPlan:
        """The plan of `to_dict`, checked like a new one; `InvalidInput` for anything else.

        tree: what `to_dict` returned.

        >>> DiscoveryPlan.from_dict({})
        Traceback (most recent call last):
        ...
        rowspace.exceptions.InvalidInput: expected a table of columns, privacy, at_least and other
        """
        match tree:
            case {
                "columns": list(columns),
                "privacy": privacy,
                "at_least": at_least,
                "other": str(other),
            } if all(isinstance(name, str) for name in columns):
                found = privacy_from_dict(privacy)
                if not isinstance(found, ApproxDP):
                    raise InvalidPrivacy("expected a promise in epsilon and delta")
                return cls(tuple(columns), found, at_least, other)
        raise InvalidInput("expected a table of columns, privacy, at_least and other")

    @property
    def digest(self) -> str:
        """SHA-256 over what is asked and promised."""
        text = json.dumps(self.to_dict(), sort_keys=True, allow_nan=False, separators=(",", ":"))
        return hashlib.sha256(text.encode()).hexdigest()


def checked_discovery(plan: DiscoveryPlan) -> DiscoveryPlan:
    """A copy that nobody else has, built anew from plain values, whatever was set on the one that is given."""
    if type(plan) is not DiscoveryPlan or type(plan.privacy) is not ApproxDP:
        raise InvalidInput(f"expected a DiscoveryPlan under ApproxDP, got {type(plan).__name__}")
    try:
        return DiscoveryPlan.from_dict(json.loads(json.dumps(DiscoveryPlan.to_dict(plan))))
    except (TypeError, ValueError, InvalidDomain):
        raise InvalidInput("expected a DiscoveryPlan of plain values, got other kinds") from None


def discovery_plan(
    columns: Any, privacy: Any, at_least: int | None, unit: PrivacyUnit | str | None, other: str
) -> DiscoveryPlan:
    """The plan that arguments state. unit: a column means one key of each of its values."""
    if unit is not None and getattr(privacy, "unit", None) is not None:
        raise InvalidInput("expected unit= or a promise that has one, got both; leave unit= out")
    if type(privacy) is ApproxDP:
        own = PrivacyUnit(unit, 1) if isinstance(unit, str) else PrivacyUnit.of(unit) or privacy.unit
        if own is not None and own.periods is not None:
            raise InvalidInput(
                "expected a privacy unit without periods=: values are found in all records at once"
            )
        # Anew: what was set on a promise after it was made is checked like any other.
        privacy = ApproxDP(privacy.epsilon, privacy.delta, privacy.neighbours, own)
    return DiscoveryPlan(columns, privacy, at_least, other)
