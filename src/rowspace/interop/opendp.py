"""A plan as an OpenDP measurement, usable wherever OpenDP composes measurements, its Context included.

    import opendp.prelude as dp
    from rowspace.interop.opendp import make_release, table_space

    dp.enable_features("contrib", "honest-but-curious")
    measurement = make_release(*table_space(plan), plan)      # a frame of records, symmetric distance
    measurement.map(1)                                        # exactly the plan's epsilon (or rho)
    release = measurement(frame)                              # a rowspace Release

"honest-but-curious" is OpenDP's name for trust in code that is not its own: here, in this library.

Guarantees
- The privacy map is never below what the plan promises: ε at distance 1 and kε at distance k, k²ρ for zCDP, and
  (kε, δ·(e^kε − 1)/(e^ε − 1)) for (ε, δ), each rounded up (tests/interop/test_opendp.py::test_privacy_maps).
- Other spaces than the two that the proof is for are refused
  (tests/interop/test_opendp.py::test_other_spaces_are_refused).
- No vector of the space of counts is refused (tests/interop/test_opendp.py::test_the_largest_vector_is_released).
- A plan for neighbours that replace a record, or for units of several records, is refused: these metrics count single
  records added or removed (tests/interop/test_opendp.py::test_other_promises_are_refused).
"""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np

from rowspace import mechanism
from rowspace.exceptions import InvalidInput, TooLarge
from rowspace.ledger import float_above
from rowspace.planning import Plan, private_copy
from rowspace.privacy import ZCDP, ApproxDP, ApproxDPTheorem3, Neighbours, PureDP
from rowspace.releases import Release
from rowspace.strategy import record_limit

try:
    import opendp.prelude as dp
    from opendp.context import register
except ModuleNotFoundError:
    raise InvalidInput("OpenDP is not installed; install it with: pip install 'rowspace[opendp]'") from None

_LEAST_BOUND = 2**16
_FRAMES = ("pandas", "polars", "pyarrow")


def counts_space(plan: Plan) -> tuple[Any, Any]:
    """Vectors of counts, one for each cell of the plan's domain, under the L1 distance: one record moves one by one.

    Counts go up to the plan's `record_limit` divided by the number of cells, so that no vector of the space can be
    refused: a refusal would tell something about it.
    """
    bound = record_limit(plan.strategy) // plan.domain.size
    if bound < _LEAST_BOUND:
        raise TooLarge(
            f"a vector of {plan.domain.size:,} counts is too long for a bound on each; use table_space instead"
        )
    atoms = dp.atom_domain(bounds=(0, bound), T="i64")
    return dp.vector_domain(atoms, size=plan.domain.size), dp.l1_distance(T="i64")


def table_space(plan: Plan) -> tuple[Any, Any]:
    """Frames of records (pandas, polars or Arrow) with the plan's attributes, under the symmetric distance."""
    described = json.dumps(plan.domain.to_dict(), sort_keys=True)
    digest = hashlib.sha256(described.encode()).hexdigest()[:16]
    return dp.user_domain(f"rowspace table {digest}", _is_frame), dp.symmetric_distance()


def make_release(input_domain: Any, input_metric: Any, plan: Plan) -> Any:
    """Measure the plan's strategy with its noise: an OpenDP measurement that returns a rowspace `Release`.

    The first two arguments are those of `counts_space` or `table_space`; through the Context they come by themselves:
    ``context.query().rowspace_release(plan=plan).release()``.
    """
    plan = private_copy(plan)  # the privacy map holds for this one, whatever becomes of the other
    if plan.privacy.neighbours is not Neighbours.ADD_REMOVE:
        raise InvalidInput(
            "expected a plan for neighbours that add or remove a record, as OpenDP's metric counts them; "
            "plan with neighbours='add-remove'"
        )
    if plan.privacy.unit is not None:
        raise InvalidInput(
            "expected a plan that protects single records, as OpenDP's distances count them; leave out unit="
        )
    measure, privacy_map = _promise(plan)
    return dp.m.make_user_measurement(
        input_domain=input_domain,
        input_metric=input_metric,
        output_measure=measure,
        function=_function(input_domain, input_metric, plan),
        privacy_map=privacy_map,
        TO="ExtrinsicObject",
    )


def _function(input_domain: Any, input_metric: Any, plan: Plan) -> Callable[[Any], Release]:
    """How to release from an element of the space, for the two spaces that the proof is for."""
    if (input_domain, input_metric) == table_space(plan):
        return lambda frame: mechanism.release(private_copy(plan), frame)
    if input_metric == dp.l1_distance(T="i64") and (input_domain, input_metric) == counts_space(plan):
        return lambda counts: mechanism.release(private_copy(plan), np.asarray(counts, dtype=np.int64))
    raise InvalidInput(
        "expected the space of counts_space(plan) or table_space(plan), got another domain or metric; "
        "for these alone the privacy map is proven"
    )


def _promise(plan: Plan) -> tuple[Any, Callable[[int], Any]]:
    """OpenDP's measure and the privacy map of a plan."""
    match plan.privacy:
        case PureDP(epsilon=epsilon):
            return dp.max_divergence(), lambda distance: _times(epsilon, distance)
        case ZCDP(rho=rho):
            return dp.zero_concentrated_divergence(), lambda distance: _times(rho, distance**2)
        case ApproxDP(epsilon=epsilon, delta=delta) | ApproxDPTheorem3(epsilon=epsilon, delta=delta):
            return dp.approximate(dp.max_divergence()), lambda distance: _group(epsilon, delta, distance)
    raise InvalidInput(f"expected PureDP, ApproxDP or ZCDP, got {type(plan.privacy).__name__}")


def _times(parameter: float, factor: int) -> float:
    """The product, rounded up."""
    product = Fraction(parameter) * factor
    return float_above(product) if product < Fraction(2) ** 1023 else math.inf


def _group(epsilon: float, delta: float, distance: int) -> tuple[float, float]:
    """(ε, δ) for a group: each step multiplies by e^ε and adds δ."""
    if distance <= 1:
        return epsilon * distance, delta * distance
    try:
        # A little up: each function here is right to a few units in the last place.
        grown = delta * (math.expm1(epsilon * distance) / math.expm1(epsilon)) * (1 + 2.0**-40)
    except OverflowError:
        grown = 1.0
    # And up once more: the least floats have no digits for a little.
    return _times(epsilon, distance), min(1.0, math.nextafter(grown, math.inf))


def _is_frame(value: object) -> bool:
    """Whether a value is a table in memory."""
    kind = type(value)
    return kind.__module__.split(".")[0] in _FRAMES and kind.__name__ in ("DataFrame", "Table")


register(make_release, "rowspace_release")
