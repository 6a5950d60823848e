"""Everything that the page's script is given, as JSON; and what readers are told about it."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

from rowspace.domain import Categorical, Dates, Domain, Measure
from rowspace.error import FINE_LATTICE
from rowspace.exceptions import TooLarge
from rowspace.operators import Extended, Operator
from rowspace.planning import is_over_box, own_cells
from rowspace.releases import ROUNDING_BITS, STEADY_DENOMINATOR, Combined, Release, is_normal
from rowspace.strategy import Strategy, noisy_values
from rowspace.workload import SPREADS

from .attributes import attribute_view
from .cells import cells_view
from .informed import informed_views
from .measured import measured_view
from .noise import noise_view
from .packing import MOST_NUMBERS, Packer
from .several import combined_view
from .strategies import estimate_view, strategy_view

_LARGEST_NAMES = 2**17
"""Most labels of cells, over all attributes."""


@dataclass(frozen=True)
class Exploration:
    """What the Ask panel works with. words: what can be asked, for readers. names: attributes and levels, in order.

    figures: what can be asked of measures, such as "mean of income".
    """

    data: str
    words: str
    names: tuple[str, ...]
    example: str
    conditions: bool
    figures: tuple[str, ...] = ()


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
        if attribute["kind"] != "measure"
        for name in (attribute["name"], *(level["name"] for level in attribute["levels"]))
    )
    figures = tuple(f"{figure} of {own.name}" for own in domain.measures for figure in figures_of(own))
    added = ", ".join(own.name for own in domain.measures)
    sums = f", and any sum or mean of {added}," if figures else ""
    words = (
        f"Ask for any count of records{sums} by these attributes. What was not measured finely enough has no "
        "answer."
    )
    return Exploration(_json(contents), words, names, example(domain), True, figures)


def figures_of(measure: Measure) -> tuple[str, ...]:
    """What a page answers about a measure, in the words of `Release.mean`."""
    return ("sum", "mean", "records", *(SPREADS if measure.squares else ()))


def _few(tables: int, sums: bool) -> str:
    """What is said where only tables can be asked for."""
    if sums and tables:
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
        "steady": STEADY_DENOMINATOR,
        **found,
    }


def _single(release: Release, level: float, pack: Packer) -> dict[str, Any]:
    """The estimate of one release, how noise is put together, and what noise it is."""
    plan, A = release.plan, release.plan.strategy
    if plan.given:
        raise TooLarge("a release that was planned beside others is asked together with them")
    values = noisy_values(A, release.noisy_answers)
    if plan.known:
        estimate, own = informed_views(plan.informed, values, pack)
        errors = {"own": own, "beside": None}
    else:
        estimate, errors = estimate_view(A, Strategy.of(A).estimate(values), pack), _errors(A, release, pack)
    return {
        "estimate": estimate,
        "errors": errors,
        "noise": noise_view(plan.noise, level, pack),
        "normal": is_normal(release),
    }


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
    from rowspace.workload.predicate import name_text, value_text

    if not domain.dimensions:
        return "all records"
    attribute, name = domain.dimension(domain.dimensions[0]), name_text(domain.dimensions[0])
    if isinstance(attribute, Categorical):
        return f"{name} = {value_text(attribute.cell_labels[0])}"
    middle = attribute.format(attribute.edges.tolist()[len(attribute.edges) // 2])
    return f"{name} >= {value_text(middle) if isinstance(attribute, Dates) else middle}"


def _json(contents: dict[str, Any]) -> str:
    return json.dumps(contents, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
