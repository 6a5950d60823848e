"""A plan as a file holds it: a JSON-safe description and arrays. Nothing in one that is read is trusted."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from math import inf
from typing import TYPE_CHECKING, Any, TypeVar
from weakref import WeakValueDictionary

import numpy as np

from rowspace.domain import Domain
from rowspace.exceptions import FileError, InvalidInput, TooLarge
from rowspace.operators import Operator, decode, encode
from rowspace.privacy import noise_from_dict, privacy_from_dict
from rowspace.strategy import (
    Measured,
    Strategy,
    asked_of_parts,
    calibrated_noise,
    check_overflow,
    periods_of_rows,
)
from rowspace.workload import Workload

from .candidate import Candidate
from .facts import known_facts

if TYPE_CHECKING:
    from .plan import Plan

OBJECTIVES = ("total", "max")
"""What a plan can be made for: the sum of squared errors, or the worst answer's."""

_LONGEST_NAME = 200

_FOR_INTEGERS = "integers"
"""What a file says of its bounds when they hold for integer strategies with the noise that is drawn."""

# Checking the noise of a union takes its parts × cells, unless its structure saves it; past so many cells it must.
_MOST_CELLS_AT_ONCE = 2**27
_MOST_CHECKED = 2**35

Arrays = dict[str, np.ndarray[Any, Any]]

_Read = TypeVar("_Read", Workload, Operator)

_IN_USE: WeakValueDictionary[bytes, Any] = WeakValueDictionary()
"""Workloads and strategies that were read and are in use, by what their files hold: immutable, so that thousands of
releases by one plan share them, and what is computed of them."""


def encoded(plan: Plan) -> tuple[dict[str, Any], Arrays]:
    """A description and the arrays it refers to."""
    strategy, strategy_arrays = encode(plan.strategy)
    workload, workload_arrays = plan.workload.to_dict()
    arrays = {f"strategy.{k}": v for k, v in strategy_arrays.items()}
    arrays |= {f"workload.{k}": v for k, v in workload_arrays.items()}
    body: dict[str, Any] = {
        "workload": workload,
        "privacy": plan.privacy.to_dict(),
        "strategy": strategy,
        "noise": plan.noise.to_dict(),
        "lower_bound": plan.lower_bound,
        "bounds": _FOR_INTEGERS,
        "candidates": [vars(c) for c in plan.candidates],
        "objective": plan.objective,
        "max_lower_bound": plan.max_lower_bound,
        **({"places": sorted(plan.places)} if plan.places else {}),
        "title": plan.title,
        **({"over": plan.over} if plan.over else {}),
        **(
            {"known": dict(plan.known.counts), "impossible": list(plan.known.impossible)}
            if plan.known
            else {}
        ),
    }
    for number, measured in enumerate(plan.given):
        tree, own = encode(measured.strategy)
        shape = {"variance": measured.variance, "excess_kurtosis": measured.excess_kurtosis}
        body.setdefault("given", []).append({"strategy": tree, **shape, "step": measured.step})
        arrays |= {f"given.{number}.{k}": v for k, v in own.items()}
    return body, arrays


def require_own_noise(plan: Plan, body: dict[str, Any]) -> None:
    """Raise unless the noise of a plan that was read is what its guarantee needs for its strategy."""
    strategy, privacy, domain = plan.strategy, plan.privacy, plan.domain
    if strategy.shape[1] != domain.size or not strategy.integral:
        raise FileError("damaged plan: the strategy does not fit the domain")
    sizes = Strategy.of(strategy).sizes
    if sizes is not None:
        # It is asked of tables with the domain's sizes, but its sensitivity is that of its own. Checking its noise
        # goes attribute by attribute, whatever the cells.
        if sizes != domain.shape:
            raise FileError("damaged plan: the strategy's attributes are not those of the domain")
    elif _operators_in(body["strategy"]) * min(strategy.shape[1], _MOST_CELLS_AT_ONCE) > _MOST_CHECKED:
        raise TooLarge("this plan's strategy has too many parts over too many cells to check its noise")
    try:
        asked_of_parts(strategy, domain.parts)
    except InvalidInput as error:
        raise FileError(f"damaged plan: {error}") from None
    try:
        check_overflow(strategy, domain.parts)
        needed = calibrated_noise(strategy, privacy, plan.horizon)
    except (MemoryError, OverflowError):
        raise TooLarge("checking this plan's noise needs numbers or arrays larger than there are") from None
    if plan.noise != needed:
        raise FileError("damaged plan: its noise is not the noise its privacy guarantee needs")


def fields_of(body: dict[str, Any], arrays: Arrays) -> dict[str, Any]:
    """What a file says a plan is made of, before its noise is compared with what its guarantee needs."""
    try:
        workload = _shared(Workload.from_dict, body["workload"], _under("workload.", arrays))
        privacy = privacy_from_dict(body["privacy"])
        strategy = _shared(decode, body["strategy"], _under("strategy.", arrays))
        noise = noise_from_dict(body["noise"])
        candidates = tuple(
            Candidate(
                str(c["name"])[:_LONGEST_NAME],
                _figure(c["total_error"]),
                None if c["ratio"] is None else _figure(c["ratio"]),
                _figure(c["seconds"]),
                None if c.get("max_error") is None else _figure(c["max_error"]),
            )
            for c in body["candidates"]
        )
        # Bounds of the first versions were for continuous noise; nor did their plans say what they were made for.
        drawn = body.get("bounds") == _FOR_INTEGERS
        factor = 1.0 if drawn else privacy.least_variance / privacy.unit_variance
        lower_bound = factor * _figure(body["lower_bound"])
        objective, worst = (
            body.get("objective", "total"),
            factor * _figure(body.get("max_lower_bound", 0.0)),
        )
        places = _places(body.get("places", []), workload.domain)
        title, over = body.get("title", ""), body.get("over", "")
        given = tuple(
            Measured(
                decode(own["strategy"], _under(f"given.{number}.", arrays)),
                _figure(own["variance"]),
                # Of a light-tailed law it is negative.
                float(np.copysign(_figure(abs(own["excess_kurtosis"])), own["excess_kurtosis"])),
                _figure(own["step"]),
            )
            for number, own in enumerate(body.get("given", []))
        )
        known = known_facts(body.get("known", {}), body.get("impossible", ()))
        known.over(workload.domain.with_places(places))
        if any(own.strategy.shape[1] != strategy.shape[1] for own in given):
            raise ValueError("expected evidence over the same cells")
        if objective not in OBJECTIVES or not isinstance(title, str):
            raise ValueError("expected an objective and a title")
        if over:
            cells = workload.domain.with_places(places)
            periods_of_rows(strategy, cells.shape, cells.position(over))
    except (KeyError, TypeError, ValueError, AttributeError, OverflowError, InvalidInput) as error:
        detail = f": {error}" if isinstance(error, InvalidInput) else ""
        raise FileError(f"damaged plan{detail}") from None
    return {
        "workload": workload,
        "privacy": privacy,
        "strategy": strategy,
        "noise": noise,
        "lower_bound": lower_bound,
        "candidates": candidates,
        "objective": objective,
        "max_lower_bound": worst,
        "places": places,
        "title": title,
        "given": given,
        "over": over,
        "known": known,
    }


def _shared(read: Callable[[Any, Arrays], _Read], tree: Any, arrays: Arrays) -> _Read:
    """What `read` makes of these, or what it made of the same before."""
    digest = hashlib.sha256(json.dumps([read.__qualname__, tree]).encode())
    for name in sorted(arrays):
        digest.update(f"{name} {arrays[name].dtype.str} {arrays[name].shape}".encode())
        digest.update(arrays[name].tobytes())
    found: _Read | None = _IN_USE.get(digest.digest())
    if found is None:
        found = read(tree, arrays)
        _IN_USE[digest.digest()] = found
    return found


def _operators_in(tree: Any) -> int:
    """How many operators a saved strategy is made of; `decode` has bounded its depth."""
    if isinstance(tree, dict):
        return ("operator" in tree) + sum(map(_operators_in, tree.values()))
    return sum(map(_operators_in, tree)) if isinstance(tree, list) else 0


def _places(names: Any, domain: Domain) -> frozenset[str]:
    """Attributes of the domain that keep missing values."""
    if not isinstance(names, list) or not all(
        isinstance(name, str) and name in domain and domain[name].keeps_missing for name in names
    ):
        raise ValueError("expected attributes that keep missing values")
    return frozenset(names)


def _figure(value: Any) -> float:
    """A number that a plan can state: finite, not negative."""
    number = float(value)
    if not 0.0 <= number < inf:
        raise ValueError("expected a finite number, not negative")
    return number


def _under(prefix: str, arrays: dict[str, np.ndarray[Any, Any]]) -> dict[str, np.ndarray[Any, Any]]:
    return {name.removeprefix(prefix): array for name, array in arrays.items() if name.startswith(prefix)}
