"""Everything that the page's script is given, as JSON; and what readers are told about it."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

from rowspace.domain import Categorical, Dates, Domain
from rowspace.error import FINE_LATTICE
from rowspace.exceptions import TooLarge
from rowspace.operators import Extended, Operator
from rowspace.planning.places import is_over_box, own_cells
from rowspace.releases import Combined, Release
from rowspace.releases.interval_ends import ROUNDING_BITS
from rowspace.strategy import Strategy, TableReconstruction, noisy_values
from rowspace.tables import TableOperator

from .attributes import attribute_view
from .cells import cells_view
from .measured import measured_view
from .noise import noise_view
from .packing import MOST_NUMBERS, Packer
from .tables import components_view, tables_view

_LARGEST_NAMES = 2**17
"""Most labels of cells, over all attributes."""


@dataclass(frozen=True)
class Exploration:
    """What the Ask panel works with. words: what can be asked, for readers. names: attributes and levels, in order."""

    data: str
    words: str
    names: tuple[str, ...]
    example: str
    conditions: bool


def exploration(release: Release | Combined, level: float) -> Exploration:
    """The contents of the page of a release. Cost: that of its estimate, and of the pseudo-inverse of its factors."""
    domain = release.plan.domain
    try:
        contents = _whole(release, level)
    except TooLarge:
        contents = measured_view(release, level, Packer())
        tables = contents["tables"]
        names = tuple(dict.fromkeys(by["name"] for table in tables for by in table["by"]))
        words = _few(len(tables), bool(domain.measures))
        return Exploration(_json(contents | {"level": level}), words, names, "", False)
    names = tuple(
        name
        for attribute in contents["attributes"]
        for name in (attribute["name"], *(level["name"] for level in attribute["levels"]))
    )
    words = "Any count of records by these attributes that was measured finely enough can be asked for."
    return Exploration(_json(contents), words, names, example(domain), True)


def _few(tables: int, sums: bool) -> str:
    """What is said where only tables can be asked for."""
    if sums:
        return (
            f"{tables:,} measured table{'s' * (tables != 1)} of counts by up to two attributes can be asked for here. "
            "Sums and means are among the answers of this page, and rowspace ask answers other questions about them."
        )
    if not tables:
        return (
            "This release has no tables of one or two attributes that are answered by itself, and is too large, or too "
            "much bound up with others, for other questions in a page: use rowspace ask."
        )
    return (
        f"Only the {tables:,} measured table{'s' * (tables != 1)} of up to two attributes can be asked for here. Other "
        f"questions would take more than the {MOST_NUMBERS:,} numbers that a page may hold, or several releases: "
        "rowspace ask answers them."
    )


def _whole(release: Release | Combined, level: float) -> dict[str, Any]:
    """Attributes, estimate and errors; `TooLarge` where a page has no room for them."""
    if isinstance(release, Combined) or release.plan.given:
        raise TooLarge("several releases are asked together by the package only")
    if release.plan.known:
        raise TooLarge("answers that keep to known facts are asked for by the package only")
    if release.plan.domain.measures:
        raise TooLarge("sums are asked for by the package only")
    plan, pack = release.plan, Packer()
    domain, A = plan.domain, plan.strategy
    if sum(domain.shape) > _LARGEST_NAMES:
        raise TooLarge("a page has no room for so many labels")
    return {
        "kind": "asked",
        "level": level,
        "attributes": [attribute_view(domain, name, pack) for name in domain.names],
        "noise": noise_view(plan.noise, level, pack),
        "largest": max(1.0, release.largest_count),
        "bits": ROUNDING_BITS,
        "estimate": _estimate(release, pack),
        "errors": _errors(A, release, pack),
    }


def _estimate(release: Release, pack: Packer) -> dict[str, Any]:
    """Cell by cell, or component by component."""
    A = release.plan.strategy
    if _plain_tables(A) is not None:
        found = Strategy.of(A).estimate(noisy_values(A, release.noisy_answers))
        assert isinstance(found, TableReconstruction)
        return components_view(found.tables, pack)
    if release.plan.domain.size > MOST_NUMBERS:
        raise TooLarge("a page has no room for so many cells")
    return {"kind": "cells", "cells": pack.array(release.estimate)}


def _errors(A: Operator, release: Release, pack: Packer) -> dict[str, Any]:
    """How the noise of an answer is put together: by the strategy that `Plan` asks."""
    domain = release.plan.domain
    if not (isinstance(A, Extended) and is_over_box(A, domain)):
        return {"own": _strategy(A, domain.shape, pack), "beside": None}
    own = own_cells(A, domain)
    inner = _strategy(A.of, own.shape, pack)
    plain = inner["kind"] == "cells" and not inner["widest"]
    # Queries that see the cells beside are asked of the whole matrix, coefficient by coefficient.
    whole = None if plain else cells_view(A.of, own.shape, pack) | {"widest": False}
    beside = {"places": [name in own.places for name in domain.names], "weight": A.weight, "within": whole}
    return {"own": inner, "beside": beside | {"fine": A.largest_entry() > FINE_LATTICE}}


def _strategy(A: Operator, sizes: tuple[int, ...], pack: Packer) -> dict[str, Any]:
    tables = _plain_tables(A)
    return cells_view(A, sizes, pack) if tables is None else tables_view(tables, pack)


def _plain_tables(A: Operator) -> TableOperator | None:
    """The tables whose components are independent, where the strategy is such tables."""
    tables = Strategy.of(A).tables
    return None if tables is None or tables.has_joint else tables


def example(domain: Domain) -> str:
    """A condition to begin with."""
    from rowspace.workload.predicate.syntax import name_text, value_text

    attribute, name = domain.dimension(domain.dimensions[0]), name_text(domain.dimensions[0])
    if isinstance(attribute, Categorical):
        return f"{name} = {value_text(attribute.cell_labels[0])}"
    middle = attribute.format(attribute.edges.tolist()[len(attribute.edges) // 2])
    return f"{name} >= {value_text(middle) if isinstance(attribute, Dates) else middle}"


def _json(contents: dict[str, Any]) -> str:
    return json.dumps(contents, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
