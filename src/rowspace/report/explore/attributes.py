"""Attributes as the page's condition language knows them."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from rowspace.domain import DATE_PARTS, Categorical, Dates, Domain, Numeric, readable
from rowspace.exceptions import PredicateError
from rowspace.workload import missing_label
from rowspace.workload.predicate import cell_values

from .packing import Packer

_MOST_PERIODS = 2**16
"""Most periods of a part of a date, over all cells, that are looked at."""


def attribute_view(domain: Domain, name: str, pack: Packer) -> dict[str, Any]:
    """One attribute: its cells and their labels, its levels, whether missing values have a place and are counted."""
    if name in domain.measured:
        return _measure(domain, name)
    attribute = domain.dimension(name)
    view: dict[str, Any] = {
        "name": name,
        "labels": attribute.labels(),
        "keeps": attribute.keeps_missing,
        "place": name in domain.places,
        "missing": missing_label(attribute),
        "value": _values(domain, name, pack),
    }
    if isinstance(attribute, Categorical):
        return view | _categories(attribute, pack)
    return view | _numbers(attribute, pack)


def _measure(domain: Domain, name: str) -> dict[str, Any]:
    """A number that is added up: what a record in each of its cells adds, and its bounds."""
    own = domain.measure(name)
    return {
        "name": name,
        "kind": "measure",
        "labels": [own.label(cell) for cell in range(own.size)],
        "levels": [],
        "keeps": own.keeps_missing,
        "place": name in domain.places,
        "values": list(own.values),
        "bounds": [own.low, own.high],
        "reach": own.reach,
        "squares": own.squares,
    }


def _categories(attribute: Categorical, pack: Packer) -> dict[str, Any]:
    levels = [attribute.level(name) for name in attribute.levels]
    return {
        "kind": "category",
        "type": attribute.type.__name__,
        "values": list(attribute.cell_labels),
        "other": attribute.other,
        "levels": [
            {
                "name": level.name,
                "values": list(level.labels),
                "labels": [readable(label) for label in level.labels],
                "groups": pack.array(level.groups),
                "missing": missing_label(level),
            }
            for level in levels
        ],
    }


def _numbers(attribute: Numeric, pack: Packer) -> dict[str, Any]:
    edges = attribute.edges
    view: dict[str, Any] = {
        "kind": "number",
        "integer": attribute.integer,
        "edges": pack.array(edges),
        "texts": [attribute.format(edge) for edge in edges.tolist()],
        # How far from an edge a number may be to be on it: edges of equal bins are rounded (`predicate.cells`).
        "slack": 0.0 if attribute.integer else 4 * math.ulp(max(abs(attribute.low), abs(attribute.high))),
        "levels": [],
    }
    if isinstance(attribute, Dates):
        view |= {"kind": "date", "times": attribute.times}
        view["parts"] = {part: found for part in DATE_PARTS if (found := _part(attribute, part, pack))}
    return view


def _part(attribute: Dates, name: str, pack: Packer) -> dict[str, Any] | None:
    """All values that a part of a date takes in each cell: distinct sets of them, and which set each cell has."""
    part = DATE_PARTS[name]
    first, last = part.spans(attribute)
    lengths = np.minimum(last - first, part.cycle - 1) + 1
    if int(lengths.sum()) > _MOST_PERIODS:
        return None
    spans = zip(first.tolist(), lengths.tolist(), strict=True)
    taken = [tuple(np.unique(part.value(np.arange(at, at + length))).tolist()) for at, length in spans]
    sets = list(dict.fromkeys(taken))
    return {"sets": sets, "cells": pack.array([sets.index(own) for own in taken])}


def _values(domain: Domain, name: str, pack: Packer) -> dict[str, Any]:
    """The one value of every cell, for comparisons with other attributes; or why there is none."""
    try:
        kind, values = cell_values(name, domain)
    except PredicateError as error:
        return {"why": error.reason}
    return {"kind": kind, "values": values.tolist() if kind == "text" else pack.array(values)}
