"""The documentation: what it shows runs, the tests it names exist, its links lead somewhere."""

from __future__ import annotations

import doctest
import re
import shlex
from pathlib import Path

import pytest
from typer.testing import CliRunner

from rowspace.cli.program import app

from .test_guarantees import missing

ROOT = Path(__file__).parent.parent
DOCS = ROOT / "docs"
PAGES = sorted(
    page for page in DOCS.rglob("*.md") if "reference/api" not in str(page) and "_build" not in page.parts
)
IDS = [str(page.relative_to(DOCS)) for page in PAGES]

# Pages whose commands run as they stand, one after the other, in an empty folder.
RUNNING = ["start.md", "tutorial.md", "howto/ledger.md", "howto/pipeline.md"]

SHOWING = [
    name
    for name, page in zip(IDS, PAGES, strict=True)
    if name not in RUNNING and ">>>" in page.read_text(encoding="utf-8")
]

_BLOCK = re.compile(r"^```(\w+)\n(.*?)^```", re.MULTILINE | re.DOTALL)


def show_and_run(page: Path) -> None:
    """Do what a page does, block by block: examples, files it writes, commands it types."""
    names: dict[str, object] = {}
    for kind, body in _BLOCK.findall(page.read_text(encoding="utf-8")):
        if kind == "toml" and body.startswith("# "):
            Path(body.split()[1]).write_text(body, encoding="utf-8")
        elif kind == "console":
            # The demo has tests of its own.
            for line in re.findall(r"^\$ rowspace (?!demo$)(.+)$", body, re.MULTILINE):
                done = CliRunner().invoke(app, shlex.split(line))
                assert done.exit_code == 0, (line, done.output)
        elif ">>>" in body:
            test = doctest.DocTestParser().get_doctest(body, names, page.name, str(page), 0)
            runner = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE)
            runner.run(test, clear_globs=False)
            names = test.globs
            assert runner.summarize(verbose=False).failed == 0


@pytest.mark.parametrize("name", RUNNING)
def test_pages_run_as_they_stand(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    show_and_run(DOCS / name)


@pytest.mark.parametrize("name", SHOWING)
def test_examples_run(name, tmp_path, monkeypatch):
    page = DOCS / name
    monkeypatch.chdir(tmp_path)
    flags = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
    assert doctest.testfile(str(page), module_relative=False, optionflags=flags).failed == 0


@pytest.mark.parametrize("page", PAGES, ids=IDS)
def test_examples_are_in_fences(page):
    """Outside of one, Markdown reads >>> as a quotation within a quotation within a quotation."""
    outside = re.sub(r"^```.*?^```", "", page.read_text(encoding="utf-8"), flags=re.MULTILINE | re.DOTALL)
    assert not re.search(r"^>>>", outside, re.MULTILINE)


@pytest.mark.parametrize("page", PAGES, ids=IDS)
def test_named_tests_exist(page):
    text = page.read_text(encoding="utf-8").replace("tests/test_guarantees.py", "")
    assert missing(text) == []


@pytest.mark.parametrize("page", PAGES, ids=IDS)
def test_links_lead_somewhere(page):
    generated = {"commands.md"}
    for target in re.findall(r"\]\(([^)#:]+?)(?:#[^)]*)?\)", page.read_text(encoding="utf-8")):
        if not target.startswith("http") and Path(target).name not in generated:
            assert (page.parent / target).exists(), target


def test_design_notes_have_numbers_of_their_own():
    notes = sorted(page.name for page in (DOCS / "design").glob("0*.md"))
    assert [int(name[:3]) for name in notes] == list(range(1, len(notes) + 1))
    for name in notes:
        first = (DOCS / "design" / name).read_text(encoding="utf-8").splitlines()[0]
        assert first.startswith(f"# {name[:3]}"), name


def test_every_public_name_has_a_place_in_the_reference():
    """Rooms with a public list are on the reference page, but for those that are means to an end."""
    import pkgutil

    import rowspace

    page = (DOCS / "reference" / "index.md").read_text(encoding="utf-8")
    inner = {"cli", "drawing", "paper", "reconstruct", "report", "sample"}
    for module in pkgutil.iter_modules(rowspace.__path__):
        if module.ispkg and module.name not in inner:
            assert f"rowspace.{module.name}\n" in page, module.name
    for name in rowspace.__all__:
        assert name == "__version__" or f"`rs.{name}`" in page, name
