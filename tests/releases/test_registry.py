"""The entry for the Deployments Registry against its schema, as transcribed from opendp/deployments-registry-data.

The structure is that of `schemas/deployments-schema.yaml` of July 2026: which keys there may be and which there must
be, their types and the values of those that are enumerated.
"""

from __future__ import annotations

from typing import Any

import pytest

import rowspace as rs
from rowspace.releases.registry import registry_entry, registry_yaml

TEXT, TEXTS, NUMBER = "text", "texts", "number"
STATUS = ("Converted", "Draft", "Pending", "Changes Required", "Approved")

# name: (whether it must be there, what it is: a type, a list of values, or what is below it)
SCHEMA: dict[str, Any] = {
    "url_slug": (True, TEXT),
    "status": (True, STATUS),
    "tier": (True, (1, 2, 3)),
    "deployment": (
        True,
        {
            "basic": (
                True,
                {
                    "name": (True, TEXT),
                    "data_curators": (True, TEXTS),
                    "intended_use": (True, TEXT),
                    "data_product_type": (
                        True,
                        ("Summary statistics", "Machine learning model", "Dataset", "Synthetic data"),
                    ),
                    "data_product_region": (True, TEXT),
                    "description": (True, TEXT),
                    "publication_date": (True, TEXT),
                    "data_product_sector": (
                        False,
                        ("Technology", "Healthcare", "Education", "Government", "Energy", "Finance"),
                    ),
                },
            ),
            "dp_variant": (
                False,
                {
                    "variant_name": (
                        False,
                        ("Pure DP", "Approximate DP", "Zero-concentrated DP", "Renyi DP", "Custom"),
                    ),
                    "data_domain": (False, TEXT),
                    "unprotected_quantities": (False, TEXT),
                },
            ),
            "privacy_loss": (
                False,
                {
                    "privacy_unit": (False, TEXT),
                    "privacy_unit_details": (False, TEXT),
                    "privacy_parameters": (
                        False,
                        {"epsilon": (False, NUMBER), "delta": (False, NUMBER), "rho": (False, NUMBER)},
                    ),
                    "privacy_parameters_details": (False, TEXT),
                },
            ),
            "deployment_model": (
                False,
                {
                    "model_name": (False, ("Local", "Central", "Shuffle", "Federated", "Varies")),
                    "model_name_details": (False, TEXT),
                    "actors": (False, TEXT),
                    "release_type": (False, ("One release", "Many releases")),
                    "release_type_details": (False, TEXT),
                    "data_source_type": (False, ("Static", "Dynamic")),
                    "data_source_type_details": (False, TEXT),
                    "access_type": (False, ("Interactive", "Non-interactive")),
                    "access_type_details": (False, TEXT),
                },
            ),
            "accounting": (False, {"post_processing": (False, TEXT), "composition": (False, TEXT)}),
            "implementation": (
                False,
                {
                    "preprocessing_and_hyperparameter_tuning": (False, TEXT),
                    "mechanisms": (False, TEXT),
                    "justification": (False, TEXT),
                },
            ),
            "administrative": (
                False,
                {"sources": (False, TEXT), "notes": (False, TEXT), "registry_authors": (True, TEXTS)},
            ),
        },
    ),
}


def check(value: Any, wanted: Any) -> None:
    """Whether a value is as the schema wants it."""
    if isinstance(wanted, dict):
        assert set(value) <= set(wanted)
        assert {name for name, (needed, _) in wanted.items() if needed} <= set(value)
        for name, below in value.items():
            check(below, wanted[name][1])
    elif isinstance(wanted, tuple):
        assert value in wanted
    elif wanted == TEXTS:
        assert isinstance(value, list)
        assert value
        assert all(isinstance(one, str) for one in value)
    else:
        assert isinstance(value, str if wanted == TEXT else int | float)


DOMAIN = rs.Domain(age=rs.Numeric(0, 4, bins=4, outside="drop"), sex=rs.Categorical(["F: a", '"M"\n# é😀']))
PROMISES = [
    (rs.PureDP(1.0), "Pure DP", {"epsilon": 1.0}),
    (rs.ApproxDP(1.0, 1e-6), "Approximate DP", {"epsilon": 1.0, "delta": 1e-6}),
    (rs.ZCDP(0.5, "replace-one"), "Zero-concentrated DP", {"rho": 0.5}),
    (rs.PureDP(1.0, unit=rs.PrivacyUnit("id", 3)), "Pure DP", {"epsilon": 1.0}),
]


def entry_of(privacy: Any, **given: Any) -> dict[str, Any]:
    plan = rs.plan(rs.workload.marginal(DOMAIN, "age", "sex"), privacy)
    release = rs.Release(plan, [0] * plan.strategy.shape[0])  # type: ignore[arg-type]
    return registry_entry(release, name="Visits: a # table", date="2024-05-31", **given)


@pytest.mark.parametrize(("privacy", "variant", "parameters"), PROMISES)
def test_an_entry_is_as_the_schema_wants_it(privacy: Any, variant: str, parameters: dict[str, float]) -> None:
    entry = entry_of(privacy, curators=("Our Office",), sector="Government")
    check(entry, SCHEMA)
    assert entry["deployment"]["dp_variant"]["variant_name"] == variant
    assert entry["deployment"]["privacy_loss"]["privacy_parameters"] == parameters
    assert entry["url_slug"] == "visits-a-table-our-office-2024"
    details = entry["deployment"]["privacy_loss"]["privacy_unit_details"]
    assert ("replacement" in details) == (variant == "Zero-concentrated DP")
    assert ("at most 3 records" in details) == (privacy.unit is not None)


@pytest.mark.parametrize(("privacy", "variant", "parameters"), PROMISES)
def test_the_file_says_the_same(privacy: Any, variant: str, parameters: dict[str, float]) -> None:
    yaml = pytest.importorskip("yaml")
    entry = entry_of(
        privacy, curators=("Büro: 'a'", "- b", "yes"), use="line\n  two\n\n#three", region="é😀\x07"
    )
    text = registry_yaml(entry)
    assert yaml.safe_load(text) == entry
    assert text.startswith(f"url_slug: {entry['url_slug']}\n")
