"""What a plan may be made of: exactly the types whose sensitivity and noise are proved here.

A subclass can claim any sensitivity, draw any noise and answer differently each time it is asked, and so can an object
of a known type whose methods, or remembered arrays, somebody has replaced. So types are compared all the way down, and
what is released or charged for is a copy, built anew from what a plan file would hold, that nobody else has.

Guarantees
- Nothing set on a plan, on its parts or in their remembered arrays reaches the data or the charge
  (tests/test_tampering.py::test_what_was_tampered_with_changes_nothing).
"""

from __future__ import annotations

import json
import sys
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from rowspace.domain import Domain
from rowspace.exceptions import FileError, InvalidInput
from rowspace.operators import Operator, decode, encode
from rowspace.privacy import Neighbours, NoiseModel, Privacy, PrivacyUnit
from rowspace.workload import Workload

if TYPE_CHECKING:
    from .plan import Plan

OPERATOR_ROOMS = ("operators", "tables")
"""The rooms whose operators a strategy may be made of."""

_PLAIN = frozenset({int, float, bool, str, type(None), Fraction, Neighbours})
_NUMBERS = frozenset(np.dtype(code).type for code in "?bBhHiIlLqQefdg")

_Arrays = dict[str, np.ndarray[Any, Any]]

# The last plan that was checked: its copy, which is never handed out, and what that is encoded as.
_last: tuple[Plan, str, _Arrays] | None = None


def is_known(value: Any, *rooms: str) -> bool:
    """Whether the very class of a value is defined in one of these rooms of rowspace, whatever it calls itself."""
    kind = type(value)
    return kind.__module__.startswith(tuple(f"rowspace.{room}." for room in rooms)) and (
        getattr(sys.modules.get(kind.__module__), kind.__name__, None) is kind
    )


def is_known_operator(value: Any) -> bool:
    """Whether an operator and all it is made of are known, and none of it can still be written to."""
    if isinstance(value, Operator):
        # Asked of the class: an object may carry a `fields` of its own.
        return is_known(value, *OPERATOR_ROOMS) and all(
            map(is_known_operator, type(value).fields(value).values())
        )
    if isinstance(value, tuple):
        return type(value) is tuple and all(map(is_known_operator, value))
    if isinstance(value, np.ndarray):
        return type(value) is np.ndarray and not value.flags.writeable
    return type(value) in _PLAIN or type(value) in _NUMBERS


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


def private_copy(plan: Plan) -> Plan:
    """A plan of known types built anew from what its file would hold, whatever was set on the one that is given."""
    from .plan import Plan

    require_known(plan)
    return _built(*_written(Plan.encode(plan)))


def checked_plan(plan: Plan) -> Plan:
    """The same, and the last one is remembered with all it has computed: never hand out any part of it."""
    global _last
    from .plan import Plan

    require_known(plan)
    text, arrays = _written(Plan.encode(plan))
    kept = _last
    if kept is None or kept[1] != text or not _same_arrays(kept[2], arrays):
        copy = _built(text, arrays)
        # Its own arrays: those that were given can change.
        kept = _last = copy, text, Plan.encode(copy)[1]
    return kept[0]


def checked_strategy(strategy: Operator, noise: NoiseModel) -> Operator:
    """A strategy of known types built anew, for noise of a known type; the one of `checked_plan` is taken as it is."""
    if _last is not None and _last[0].strategy is strategy:
        return strategy
    require_known_noise(strategy, noise)
    tree, arrays = encode(strategy)
    copy = decode(json.loads(json.dumps(tree)), arrays)
    require_known_noise(copy, noise)
    return copy


def _written(encoded: tuple[dict[str, Any], _Arrays]) -> tuple[str, _Arrays]:
    """A body as text, which holds nothing but plain values, and arrays without classes of their own."""
    body, arrays = encoded
    try:
        return json.dumps(body), {str(name): np.asarray(array) for name, array in arrays.items()}
    except (TypeError, ValueError):
        raise InvalidInput("expected a plan that a plan file can hold, got values of other kinds") from None


def _built(text: str, arrays: _Arrays) -> Plan:
    from .plan import Plan
    from .plan_file import fields_of

    try:
        copy = Plan(**fields_of(json.loads(text), arrays))
    except FileError as error:
        raise InvalidInput(f"expected a plan that a plan file can hold, got a {error}") from None
    require_known(copy)
    return copy


def _same_arrays(ones: _Arrays, others: _Arrays) -> bool:
    return ones.keys() == others.keys() and all(
        one.dtype == others[name].dtype and np.array_equal(one, others[name]) for name, one in ones.items()
    )


def _is_plain(value: Any, room: str, but: tuple[str, ...] = ()) -> bool:
    """Whether a frozen value is of a known type and its fields are plain numbers and texts, exactly."""
    fields = (getattr(value, name) for name in value.__dataclass_fields__ if name not in but)
    return is_known(value, room) and all(type(field) in _PLAIN for field in fields)
