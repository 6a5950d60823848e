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
from rowspace.strategy import Strategy, noisy_values

from .attributes import attribute_view
from .cells import cells_view
from .measured import measured_view
from .noise import noise_view
from .packing import MOST_NUMBERS, Packer
from .several import combined_view
from .strategies import estimate_view, strategy_view

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
        f"questions would take more than the {MOST_NUMBERS:,} numbers that a page may hold, or known facts: "
        "rowspace ask answers them."
    )


def _whole(release: Release | Combined, level: float) -> dict[str, Any]:
    """Attributes, estimate and errors; `TooLarge` where a page has no room for them."""
    domain, pack = release.plan.domain, Packer()
    if domain.measures:
        raise TooLarge("sums are asked for by the package only")
    if sum(domain.shape) > _LARGEST_NAMES:
        raise TooLarge("a page has no room for so many labels")
    releases = release.releases if isinstance(release, Combined) else (release,)
    found = (
        combined_view(release, level, pack)
        if isinstance(release, Combined)
        else _single(release, level, pack)
    )
    return {
        "kind": "asked",
        "level": level,
        "attributes": [attribute_view(domain, name, pack) for name in domain.names],
        "largest": max(1.0, *(one.largest_count for one in releases)),
        "bits": ROUNDING_BITS,
        **found,
    }


def _single(release: Release, level: float, pack: Packer) -> dict[str, Any]:
    """The estimate of one release, how noise is put together, and what noise it is."""
    plan, A = release.plan, release.plan.strategy
    if plan.given:
        raise TooLarge("a release that was planned beside others is asked together with them")
    if plan.known:
        raise TooLarge("answers that keep to known facts are asked for by the package only")
    found = Strategy.of(A).estimate(noisy_values(A, release.noisy_answers))
    estimate, errors = estimate_view(A, found, pack), _errors(A, release, pack)
    return {"estimate": estimate, "errors": errors, "noise": noise_view(plan.noise, level, pack)}


def _errors(A: Operator, release: Release, pack: Packer) -> dict[str, Any]:
    """How the noise of an answer is put together: by the strategy that `Plan` asks."""
    domain = release.plan.domain
    if not (isinstance(A, Extended) and is_over_box(A, domain)):
        return {"own": strategy_view(A, domain.shape, pack), "beside": None}
    own = own_cells(A, domain)
    inner = strategy_view(A.of, own.shape, pack)
    plain = inner["kind"] == "cells" and not inner["widest"]
    # Queries that see the cells beside are asked of the whole matrix, coefficient by coefficient.
    whole = None if plain else cells_view(A.of, own.shape, pack) | {"widest": False}
    beside = {"places": [name in own.places for name in domain.names], "weight": A.weight, "within": whole}
    return {"own": inner, "beside": beside | {"fine": A.largest_entry() > FINE_LATTICE}}


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
