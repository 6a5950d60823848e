"""The page about the study file: its example is one, and every key that a study may have is on it."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from rowspace.exceptions import InvalidStudy
from rowspace.study import Study
from tests.test_docs_extensions import extension

SOURCE = (Path(__file__).parents[2] / "docs" / "reference" / "study.md").read_text(encoding="utf-8")
PAGE = extension("study_keys").fill(SOURCE)


def example() -> str:
    found = re.search(r"```toml\n(.*?)```", PAGE, re.DOTALL)
    assert found is not None
    return found[1]


def test_the_example_is_a_study() -> None:
    study = Study.parse(example())
    assert study.workload.size == 1 + 100 + 4 + 2 + 400 + 200 + 8 + 5050


def known_keys(text: str) -> set[str]:
    """What the message for an unknown key says is known."""
    with pytest.raises(InvalidStudy, match="known: ") as caught:
        Study.parse(text)
    return set(re.findall(r"'(\w+)'", str(caught.value).partition("known: ")[2]))


@pytest.mark.parametrize(
    ("place", "least"),
    [
        ("[privacy]\n", 9),
        ("[domain.age]\n", 7),
        ("[domain.sex]\n", 5),
        ("[[workload]]\n", 23),
        ("[study]\n", 4),
        ("[data]\n", 10),
    ],
)
def test_every_key_is_on_the_page(place: str, least: int) -> None:
    text = example() if place in example() else example() + place
    keys = known_keys(text.replace(place, place + "zzzzzzzz = 1\n", 1))
    assert len(keys) == least
    assert [key for key in keys if f"| `{key} = " not in PAGE] == []


def test_every_key_is_explained_once() -> None:
    assert "<!--" not in PAGE
    rows = re.findall(r"^\| `.*", PAGE, re.MULTILINE)
    assert len(rows) == len(set(rows)) > 50
    assert [row for row in rows if re.search(r"\| +\|$|None", row)] == []
