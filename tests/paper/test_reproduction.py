"""What `rowspace paper` finds, by its JSON: every claim confirmed, the errata demonstrated, the floors reached."""

from __future__ import annotations

import importlib
import json
import re
from html.parser import HTMLParser
from pathlib import Path

import pytest

from rowspace_paper import Reproduction, Verdict
from rowspace_paper.document import paper_document
from rowspace_paper.page import paper_page

pytestmark = pytest.mark.long  # `make paper` does the same

ROOT = Path(__file__).parent.parent.parent

ERRATA = {
    "proposition-1",
    "theorem-3-inverse",
    "program-2-basis",
    "theorem-5-ellipsoid",
    "gaussian-scale",
    "section-6-distinct",
    "section-6-smallest",
    "section-6-h-sensitivity",
    "section-6-y-sensitivity",
    "appendix-f-f",
    "theorem-11-range",
    "theorem-11-total",
    "proposition-5",
}
REFUTED = {"l2-uncorrelated", "relaxing-helps", "completing-strictly"}


@pytest.fixture(scope="module")
def tree(quick: Reproduction) -> dict:
    return json.loads(json.dumps(quick.to_dict(), allow_nan=False))


@pytest.fixture(scope="module")
def claims(tree: dict) -> dict[str, dict]:
    return {claim["key"]: claim for chapter in tree["chapters"] for claim in chapter["claims"]}


def test_every_claim_is_confirmed_corrected_or_refuted(claims: dict[str, dict]) -> None:
    assert [key for key, claim in claims.items() if claim["verdict"] == "not confirmed"] == []
    assert {key for key, claim in claims.items() if claim["verdict"] == "corrected"} == ERRATA
    assert {key for key, claim in claims.items() if claim["verdict"] == str(Verdict.FAILS)} == REFUTED
    assert sum(claim["verdict"] == "answered" for claim in claims.values()) == 3
    assert len(claims) >= 60


def test_keys_are_unique(quick: Reproduction, claims: dict[str, dict]) -> None:
    assert len(claims) == len(quick.claims)


@pytest.mark.parametrize(
    ("key", "name", "value"),
    [
        ("figure-4", "hierarchy", 2.8960),
        ("figure-4", "wavelet", 2.2103),
        ("theorem-3", "ranges_of_4", 20.0),
        ("program-2", "ranges_64", 11024.4),
        ("program-2", "prefixes_64", 282.20),
        ("program-2-basis", "corrected", 6.8741),
        ("section-6-h-sensitivity", "offset_8", 0.8779),
        ("section-6-h-sensitivity", "limit", 0.8596),
        ("section-6-y-sensitivity", "reached", 3.4142),
        ("appendix-f-f", "corrected", 0.06815),
        ("theorem-10-ends", "pair", 2.0),
        ("theorem-10-ends", "total", 0.500061),
        ("example-8", "stretch", 7**0.5),
        ("theorem-11-max-ranges", "hierarchy", 3.0),
        ("theorem-11-total-ranges", "wavelet", 3.0),
        ("theorem-11-max-predicates", "hierarchy", 2.0),
        ("theorem-11-total-predicates", "wavelet", 2.0),
        ("theorem-11-total-ranges", "identity", 3.0),
    ],
)
def test_figures(claims: dict[str, dict], key: str, name: str, value: float) -> None:
    tolerance = 0.05 if key.startswith("theorem-11") else 2e-4
    assert claims[key]["numbers"][name] == pytest.approx(value, rel=tolerance)


@pytest.mark.parametrize(
    ("strategy", "most"), [("H4", 2.6458), ("Y4", 2.0001), ("H8", 3.3793), ("Y8", 2.8285)]
)
def test_rotations_reach_the_floors(claims: dict[str, dict], strategy: str, most: float) -> None:
    assert claims["open-rotations"]["numbers"][f"rotated_{strategy}"] <= most


def test_approximations_are_within_the_factor_n(tree: dict) -> None:
    for row in _table(tree, "approximation-ratios"):
        n, least, by_l2, by_values = row[1], row[2], row[3], row[5]
        assert least * (1 - 1e-6) <= min(by_l2, by_values)
        assert max(by_l2, by_values) <= n * least


def test_best_strategies_are_certified(tree: dict) -> None:
    rows = _table(tree, "best-strategies")
    assert {row[2] for row in rows} == {"Laplace", "Gaussian"}
    for row in rows:
        assert row[6] >= 1 - 1e-9
        assert row[2] == "Laplace" or row[6] < 1.005
        assert row[7] == "–" or row[7] > 1


def test_the_eigenvalue_table(tree: dict) -> None:
    rows = _table(tree, "table-1")
    assert [row[2] for row in rows] == [1, 3, 7, 15, 31, 63, 127]
    assert [row[3] for row in rows] == [2, 4, 8, 16, 32, 64, 64]
    assert sum(row[1] for row in rows) == 64


def _table(tree: dict, key: str) -> list[list]:
    (found,) = (table for chapter in tree["chapters"] for table in chapter["tables"] if table["key"] == key)
    return found["rows"]


def test_functions_and_tests_exist(claims: dict[str, dict]) -> None:
    for claim in claims.values():
        own = claim["function"].startswith("rowspace_paper.")
        target = importlib.import_module("rowspace_paper" if own else "rowspace")
        for name in claim["function"].removeprefix("rowspace_paper.").split("."):
            if not hasattr(target, name):
                importlib.import_module(f"{target.__name__}.{name}")
            target = getattr(target, name)
        file, _, test = claim["test"].partition("::")
        assert re.search(rf"def {test}\b", (ROOT / file).read_text()), claim["test"]


def test_the_documentation_is_this_table(quick: Reproduction) -> None:
    """`rowspace paper --quick -o …` writes it; copy paper.md to docs/."""
    assert (ROOT / "docs" / "paper.md").read_text() == paper_document(quick)


class _Page(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.links: list[str] = []
        self.anchors: set[str] = set()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        found = dict(attrs)
        assert tag != "script"
        assert not {"src", "onload", "onclick"} & set(found)
        self.links += [found["href"] or ""] if "href" in found else []
        self.anchors |= {found["id"] or ""} if "id" in found else set()
        if tag not in {"meta", "col"}:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


def test_the_page_is_whole_and_loads_nothing(quick: Reproduction) -> None:
    text = paper_page(quick)
    page = _Page()
    page.feed(text)
    assert page.open == []
    assert all(link.startswith("#") and link[1:] in page.anchors for link in page.links)
    assert "url(" not in text
    for claim in quick.claims:
        assert claim.source.function in text
