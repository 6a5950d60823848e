"""What the site is made with: docstrings as reStructuredText, and the command line page."""

from __future__ import annotations

import importlib.util
import inspect
import sys
from pathlib import Path
from types import ModuleType

import pytest

FOLDER = Path(__file__).parent.parent / "docs" / "_extensions"


def extension(name: str) -> ModuleType:
    """One of the site's own extensions; they need nothing of Sphinx until they are registered."""
    spec = importlib.util.spec_from_file_location(name, FOLDER / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


docstrings = extension("plain_docstrings")


def converted(text: str, *parameters: str) -> str:
    return "\n".join(docstrings.to_rst(inspect.cleandoc(text), frozenset(parameters))).strip()


def test_bare_sections_become_headings_with_lists():
    made = converted("""Does it.

    Guarantees
    - one thing,
      with a second line
    - another
    """)
    assert made == "Does it.\n\n\n.. rubric:: Guarantees\n\n\n- one thing,\n  with a second line\n\n- another"


@pytest.mark.parametrize(
    "section",
    [
        "Args:\n    size: How many.\n        At least one.",
        "Parameters\n----------\nsize : int\n    How many.\n    At least one.",
    ],
)
def test_entries_become_definitions(section):
    made = converted("Draw.\n\n" + section)
    assert ".. rubric:: Parameters\n\n``size``\n    " in made
    assert "    At least one." in made


def test_entries_without_a_heading_are_those_of_the_signature():
    assert "``effort``\n    how hard" in converted("Plan.\n\neffort: how hard to look.", "effort")
    assert "effort: how hard" in converted("Plan.\n\neffort: how hard to look.")


def test_lists_in_entries_stay_in_them():
    made = converted("""Count.

    Args:
        source: One of

            - a file;
            - a frame.

        table: Its name.
    """)
    assert "    One of\n\n    - a file;\n    - a frame.\n\n``table``" in made


def test_signs_mean_nothing_in_prose():
    assert converted("q^|k| and A* and x_ are text.") == r"q^\|k\| and A\* and x\_ are text."


def test_names_in_backticks_are_links_where_they_are_public():
    assert ":py:obj:`~rowspace.operators.Hierarchy`" in converted("See `Hierarchy`, not `lost`.")
    assert "``lost``" in converted("See `Hierarchy`, not `lost`.")


def test_formulas_and_examples_stand_as_they_are():
    assert "::\n\n    a  |  b" in converted("As in\n\n    a  |  b\n\nit is.")
    assert ">>> f(*x)" in converted("Do.\n\n>>> f(*x)\n")


def test_every_command_is_on_the_page():
    page = extension("command_pages").page()
    for words in ("plan", "release", "ask", "report", "budget create", "budget resume"):
        assert f"# rowspace {words}\n" in page
    assert "| `--level P` |" in page
    assert "[dim]" not in page
    assert "[bold]" not in page


def test_public_names_are_found():
    places = docstrings.public_names()
    assert places["Domain"] == "rowspace.domain.Domain"
    assert "PIdentity" not in places  # an operator and a strategy: no link rather than a wrong one
