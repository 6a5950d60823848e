"""A release as an entry of the Differential Privacy Deployments Registry (opendp/deployments-registry-data).

What follows from the release is filled in: the promise, its unit, the mechanism, how accurate it is. What only its
curator knows is asked for, and stands as "FILL IN: …" where it was not said. Checked against the registry's schema
(tests/releases/test_registry.py).
"""

from __future__ import annotations

import re
from contextlib import suppress
from typing import Any

from rowspace._version import __version__
from rowspace.exceptions import TooLarge
from rowspace.privacy import ZCDP, Neighbours, Privacy, PureDP

from .instalment import Instalment
from .release import Release

FILL_IN = "FILL IN: "
"""What stands before a question that only the curator can answer."""

SECTORS = ("Technology", "Healthcare", "Education", "Government", "Energy", "Finance")
"""The sectors that the registry knows."""


def registry_entry(
    release: Release,
    *,
    name: str,
    date: str,
    curators: tuple[str, ...] = (),
    authors: tuple[str, ...] = (),
    use: str | None = None,
    region: str | None = None,
    sector: str | None = None,
) -> dict[str, Any]:
    """The entry, in the registry's order.

    name: of the data product. date: of its publication, YYYY-MM-DD. curators: who publishes it. authors: who fills in
    the entry. use: what it is meant for. region: whom it describes. sector: one of `SECTORS`.
    """
    basic = {
        "name": name,
        "data_curators": list(curators) or [f"{FILL_IN}who publishes it"],
        "intended_use": use or f"{FILL_IN}what it is meant for",
        "data_product_type": "Summary statistics",
        "data_product_region": region or f"{FILL_IN}whom or which region it describes",
        "description": _description(release),
        "publication_date": date,
    }
    if sector is not None:
        basic["data_product_sector"] = sector
    deployment = {
        "basic": basic,
        "dp_variant": _variant(release),
        "privacy_loss": _privacy_loss(release.plan.privacy),
        "deployment_model": _model(release),
        "accounting": _accounting(release),
        "implementation": _implementation(release),
        "administrative": {"registry_authors": list(authors) or [f"{FILL_IN}who fills in this entry"]},
    }
    return {"url_slug": _slug(basic), "status": "Draft", "tier": 3, "deployment": deployment}


def registry_yaml(entry: dict[str, Any]) -> str:
    """The entry as YAML: texts in double quotes, whatever is in them, and those of several lines as blocks."""
    return "\n".join(_lines(entry, "")) + "\n"


def _description(release: Release) -> str:
    workload = release.plan.workload
    groups = ", ".join(part.group for part in workload.parts[:12]) + (
        ", …" if len(workload.parts) > 12 else ""
    )
    return f"{workload.size:,} counts with error bars about {', '.join(workload.domain.names)}: {groups}."


def _variant(release: Release) -> dict[str, Any]:
    privacy, domain = release.plan.privacy, release.plan.domain
    names = {PureDP: "Pure DP", ZCDP: "Zero-concentrated DP"}
    attributes = "\n".join(f"- {name}: {attribute}" for name, attribute in domain.attributes)
    return {
        "variant_name": names.get(type(privacy), "Approximate DP"),
        "data_domain": f"All tables of records with these attributes, as they were declared:\n{attributes}",
        "unprotected_quantities": "None in this release: every number is computed from noisy measurements.",
    }


def _privacy_loss(privacy: Privacy) -> dict[str, Any]:
    unit = privacy.unit
    tree = privacy.to_dict()
    replaces = privacy.neighbours is Neighbours.REPLACE_ONE
    who = "one record" if unit is None else f"all records of one value of {unit.column!r}"
    cap = (
        ""
        if unit is None
        else f" Of each value at most {unit.rows} records are counted{unit.recurring}, chosen at random."
    )
    change = f"the replacement of {who} by another" if replaces else f"the presence of {who}"
    return {
        "privacy_unit": "Record" if unit is None else f"All records of one {unit.column}",
        "privacy_unit_details": f"Adjacent datasets differ in {change}.{cap}",
        "privacy_parameters": {key: tree[key] for key in ("epsilon", "delta", "rho") if key in tree},
        "privacy_parameters_details": f"{privacy}, for everything in this release together.",
    }


def _model(release: Release) -> dict[str, Any]:
    many = isinstance(release, Instalment)
    return {
        "model_name": "Central",
        "actors": f"{FILL_IN}who sees the data, who sees the release, and why they are trusted",
        "release_type": "Many releases" if many else "One release",
        "release_type_details": "One promise covers all periods together; the last of them ends it."
        if many
        else f"{FILL_IN}whether the same data will be used again, and which budget covers that",
        "data_source_type": "Dynamic" if many else "Static",
        "access_type": "Non-interactive",
    }


def _accounting(release: Release) -> dict[str, Any]:
    population = release.plan.population
    return {
        "post_processing": "Least squares: noisy measurements become unbiased answers that agree with one another, "
        "each with its standard error and interval. Negative and fractional counts are left as they are."
        + (f"\n{population}" if population else ""),
        "composition": "One joint measurement: all queries are answered from one noisy vector, and the parameters "
        "are those of the whole vector. Releases of the same data add up in the curator's ledger.",
    }


def _implementation(release: Release) -> dict[str, Any]:
    plan = release.plan
    return {
        "preprocessing_and_hyperparameter_tuning": "Strategy and noise were chosen without the data, from the "
        f"declared attributes and queries. {FILL_IN}whether the data was cleaned or looked at before those were "
        "declared, and how the parameters were set",
        "mechanisms": "\n".join(
            (
                f"- The matrix mechanism with {plan.noise} on an integer strategy, by rowspace {__version__}.",
                "- Noise is sampled exactly, in whole numbers, from a cryptographic generator; no floating-point "
                "number is computed from the data before the noise is added.",
                "- Where a ledger is used, the charge to the budget and the release are kept in one transaction.",
                f"- {FILL_IN}how the data and the ledger are protected",
            )
        ),
        "justification": f"{_error(release)}{FILL_IN}why these parameters were chosen",
    }


def _error(release: Release) -> str:
    """How accurate the answers are, where that is not too much to compute."""
    with suppress(TooLarge):
        error = f"{release.plan.rmse:.4g}, {release.plan.error_unit}"
        return f"The typical error of an answer was known beforehand: {error} (root mean square). "
    return ""


def _slug(basic: dict[str, Any]) -> str:
    """As the registry computes it from name, curators and year."""
    parts = (basic["name"], "-".join(basic["data_curators"]), basic["publication_date"].split("-")[0])
    return "_".join(re.sub(r"\W+", "_", part.lower()) for part in parts).replace("_", "-")


def _lines(tree: dict[str, Any], margin: str) -> list[str]:
    lines = []
    for key, value in tree.items():
        if isinstance(value, dict):
            lines += [f"{margin}{key}:", *_lines(value, margin + "  ")]
        elif isinstance(value, list):
            lines += [f"{margin}{key}:", *(f"{margin}  - {_quoted(item)}" for item in value)]
        elif key == "url_slug":  # the registry's own script looks for it without quotes
            lines.append(f"{margin}{key}: {value}")
        elif isinstance(value, str) and "\n" in value and _is_block(value):
            lines += [f"{margin}{key}: |-", *(f"{margin}  {line}" for line in value.split("\n"))]
        else:
            lines.append(f"{margin}{key}: {_quoted(value)}")
    return lines


def _is_block(text: str) -> bool:
    """Whether a text means the same in a block of lines: nothing but printable lines, the first one at the margin."""
    lines = text.split("\n")
    return all(line.isprintable() and line == line.strip() and line for line in lines)


def _quoted(value: Any) -> str:
    if not isinstance(value, str):
        # A float without a point before its exponent is a text to some readers of YAML.
        return re.sub(r"^(-?\d+)e", r"\1.0e", repr(value))
    plain = value.replace("\\", "\\\\").replace('"', '\\"')
    return '"' + "".join(c if c.isprintable() else f"\\U{ord(c):08x}" for c in plain) + '"'
