"""Parts to and from JSON and arrays.

Families are saved by name and conditions as text, so that what a saved query is called is what it asks.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from rowspace import operators as op
from rowspace.domain import Domain
from rowspace.exceptions import InvalidWorkload
from rowspace.workload.conditions import Conditions
from rowspace.workload.factors import AllRanges, Cells, Factor, LevelCells, Matrix, Prefixes, Widths
from rowspace.workload.part import Part
from rowspace.workload.sums import MeasureSum, Squares, Valued

Arrays = dict[str, Any]

_PLAIN: dict[str, Callable[[Domain], Factor]] = {"ranges": AllRanges, "prefixes": Prefixes}


def encode_parts(parts: Sequence[Part]) -> tuple[dict[str, Any], Arrays]:
    """Return the tree of parts, with each factor that several parts share written once, and the arrays."""
    numbers: dict[int, int] = {}
    factors: list[dict[str, Any]] = []
    arrays: Arrays = {}
    for part in parts:
        for factor in part.factors:
            if id(factor) not in numbers:
                numbers[id(factor)] = len(factors)
                tree, own = _encode_factor(factor)
                factors.append({**tree, "attributes": list(factor.attributes)})
                arrays |= {f"factor{numbers[id(factor)]}.{name}": array for name, array in own.items()}
    trees = [
        {
            "factors": [numbers[id(factor)] for factor in part.factors],
            "weight": part.weight,
            "name": part.name,
            **({} if part.mean is None else {"mean": part.mean}),
            **({} if part.people is None else {"people": part.people}),
        }
        for part in parts
    ]
    return {"factors": factors, "parts": trees}, arrays


def decode_parts(tree: Mapping[str, Any], arrays: Arrays, domain: Domain, most: int) -> list[Part]:
    """Rebuild parts over a domain; `Workload` checks that they fit it."""
    saved_factors, saved_parts = tree.get("factors"), tree.get("parts")
    if not isinstance(saved_factors, list) or not isinstance(saved_parts, list):
        raise InvalidWorkload("a saved workload needs a list of factors and a list of parts")
    if max(len(saved_factors), len(saved_parts)) > most:
        raise InvalidWorkload(f"a saved workload has more than {most:,} parts")
    arrays_of: dict[str, Arrays] = {}
    for full_name, array in arrays.items():
        owner, _, own_name = full_name.partition(".")
        arrays_of.setdefault(owner, {})[own_name] = array
    factors = [
        _decode_factor(saved, arrays_of.get(f"factor{number}", {}), domain)
        for number, saved in enumerate(saved_factors)
    ]
    parts = []
    for saved in saved_parts:
        match saved:
            case {
                "factors": list(numbers),
                "weight": float() | int() as weight,
                "name": None | str() as name,
            } if (
                _is_name(name)
                and _is_name(saved.get("mean"))
                and _is_name(saved.get("people"))
                and all(type(n) is int and 0 <= n < len(factors) for n in numbers)
            ):
                own = tuple(factors[number] for number in numbers)
                parts.append(Part(own, weight, name, saved.get("mean"), saved.get("people")))
            case _:
                raise InvalidWorkload("a saved part needs factors, a weight and a name")
    return parts


def _is_name(name: object) -> bool:
    """Whether a part may be called so in a table."""
    return name is None or (isinstance(name, str) and name.isprintable())


def _encode_factor(factor: Factor) -> tuple[dict[str, Any], Arrays]:
    """Return the tree of one factor without its attributes, and its arrays."""
    match factor:
        case LevelCells():
            return {"kind": "level", "level": factor.level_name, **_missing(factor)}, {}
        case Widths():
            return {"kind": "widths", "width": factor.width}, {}
        case Conditions():
            return {"kind": "conditions", "texts": factor.texts}, {}
        case Matrix():
            tree, arrays = op.encode(factor.given)
            return {"kind": "matrix", "matrix": tree}, arrays
        case MeasureSum():
            return {"kind": "sum"}, {}
        case Valued():
            return {"kind": "valued"}, {}
        case Squares():
            return {"kind": "squares", "figure": factor.figure}, {}
        case Cells():
            return {"kind": "cells", **_missing(factor)}, {}
    kind = next(name for name, family in _PLAIN.items() if type(factor) is family)
    return {"kind": kind}, {}


def _missing(factor: Cells | LevelCells) -> dict[str, bool]:
    return {"missing": True} if factor.missing else {}


def _decode_factor(saved: object, arrays: Arrays, domain: Domain) -> Factor:
    """Rebuild one factor."""
    match saved:
        case {"attributes": [*names]} if names and all(isinstance(name, str) for name in names):
            own = domain.subset(names)
        case _:
            raise InvalidWorkload("a saved factor needs a list of attributes")
    match saved:
        case {"kind": "conditions", "texts": [*texts]}:
            return Conditions.from_texts(own, texts)
        case {"kind": "matrix", "matrix": matrix}:
            return Matrix(own, op.decode(matrix, arrays))
    if len(own) != 1:
        raise InvalidWorkload("a saved family of queries must be about one attribute")
    match saved:
        case {"kind": "sum" | "valued" as kind}:
            own.measure(own.names[0])
            return MeasureSum(own) if kind == "sum" else Valued(own)
        case {"kind": "squares", "figure": str(figure)}:
            own.measure(own.names[0])
            return Squares(own, figure)
    own.dimension(own.names[0])
    missing = isinstance(saved, Mapping) and saved.get("missing") is True
    match saved:
        case {"kind": "level", "level": str(level)}:
            own.level(level)
            return LevelCells(own, level, missing)
        case {"kind": "cells"}:
            return Cells(own, missing)
        case {"kind": "widths", "width": int(width)}:
            return Widths(own, width)
        case {"kind": str(kind)} if kind in _PLAIN:
            return _PLAIN[kind](own)
    raise InvalidWorkload("a saved factor is of an unknown kind")
