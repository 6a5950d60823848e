"""What a plan may be made of: exactly the types whose sensitivity and noise are proved here.

A subclass can claim any sensitivity, draw any noise and answer differently each time it is asked. So what is released
or charged for is compared by type, all the way down, and holds no array that anybody can still write to.
"""

from __future__ import annotations

import sys
from fractions import Fraction
from typing import Any

import numpy as np

from rowspace.domain import Domain
from rowspace.exceptions import InvalidInput
from rowspace.operators import Operator
from rowspace.privacy import Neighbours, NoiseModel, Privacy, PrivacyUnit
from rowspace.workload import Workload

_PLAIN = (int, float, bool, str, type(None), Fraction, Neighbours)


def is_known(value: Any, room: str) -> bool:
    """Whether the very class of a value is defined in a room of rowspace, whatever it calls itself."""
    kind = type(value)
    return kind.__module__.startswith(f"rowspace.{room}.") and (
        getattr(sys.modules.get(kind.__module__), kind.__name__, None) is kind
    )


def is_known_operator(value: Any) -> bool:
    """Whether an operator and all it is made of are known, and none of it can still be written to."""
    if isinstance(value, Operator):
        known = is_known(value, "operators") or is_known(value, "tables")
        return known and all(map(is_known_operator, value.fields().values()))
    if isinstance(value, tuple):
        return type(value) is tuple and all(map(is_known_operator, value))
    if isinstance(value, np.ndarray):
        return type(value) is np.ndarray and not value.flags.writeable
    return type(value) in _PLAIN or isinstance(value, np.generic)


def require_known_noise(strategy: Any, noise: Any) -> None:
    """Raise unless a strategy and its noise are of known types."""
    if not isinstance(strategy, Operator) or not is_known_operator(strategy):
        raise InvalidInput(
            "expected a strategy made of rowspace's own operators, whose sensitivity is proved, got "
            f"{type(strategy).__name__} or a part of a type of its own; give the matrix to rs.plan(strategy=…) as an "
            "array"
        )
    if not (isinstance(noise, NoiseModel) and _is_plain(noise, "privacy")):
        raise InvalidInput(
            f"expected one of rowspace's own noise models, got {type(noise).__name__}; take the noise from "
            "Privacy.noise"
        )


def require_known_privacy(privacy: Any) -> None:
    """Raise unless a guarantee is one of those defined here."""
    unit = getattr(privacy, "unit", None)
    if not isinstance(privacy, Privacy) or not _is_plain(privacy, "privacy", but=("unit",)):
        raise InvalidInput(f"expected PureDP, ZCDP or ApproxDP, got {type(privacy).__name__}")
    if unit is not None and not (type(unit) is PrivacyUnit and _is_plain(unit, "privacy")):
        raise InvalidInput(f"expected a PrivacyUnit, got {type(unit).__name__}")


def require_known(plan: Any) -> None:
    """Raise unless a plan, and all that decides its noise and what it costs, is of known types."""
    from .plan import Plan

    if type(plan) is not Plan:
        raise InvalidInput(f"expected a plan made by rs.plan, got {type(plan).__name__}")
    require_known_privacy(plan.privacy)
    require_known_noise(plan.strategy, plan.noise)
    workload = plan.workload
    if type(workload) is not Workload or type(workload.domain) is not Domain:
        raise InvalidInput(f"expected a plan for a Workload over a Domain, got {type(workload).__name__}")
    for name, attribute in workload.domain.attributes:
        if not is_known(attribute, "domain"):
            raise InvalidInput(
                f"expected attribute {name!r} to be of one of rowspace's own kinds, got {type(attribute).__name__}"
            )


def _is_plain(value: Any, room: str, but: tuple[str, ...] = ()) -> bool:
    """Whether a frozen value is of a known type and its fields are plain numbers and texts, exactly."""
    fields = (getattr(value, name) for name in value.__dataclass_fields__ if name not in but)
    return is_known(value, room) and all(type(field) in _PLAIN for field in fields)
