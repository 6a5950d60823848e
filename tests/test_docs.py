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
RUNNING = ["start.md", "tutorial.md", "howto/ledger.md", "howto/pipeline.md", "howto/periods.md"]

SHOWING = [
    name
    for name, page in zip(IDS, PAGES, strict=True)
    if name not in RUNNING and ">>>" in page.read_text(encoding="utf-8")
]

_BLOCK = re.compile(r"^```(\w+)\n(.*?)^```", re.MULTILINE | re.DOTALL)

# Noise differs from run to run: with this flag an example's numbers may too.
NUMBERS = doctest.register_optionflag("NUMBERS")
FLAGS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE


class NumbersAside(doctest.OutputChecker):
    """Compares outputs; under NUMBERS by their words."""

    def check_output(self, want, got, optionflags):
        if optionflags & NUMBERS:
            want, got = (text if text == "..." else without_numbers(text) for text in (want, got))
        return super().check_output(want, got, optionflags)


def without_numbers(text: str) -> str:
    """The words of an output: any number is 0, any space and any line is as long as any other."""
    return " ".join(re.sub(r"─+", "─", re.sub(r"-?\d[\d,.]*(e[+-]?\d+)?", "0", text)).split())


def run_commands(block: str) -> None:
    """Type every command of a block; what is shown below it is what it prints. A line of three dots is any lines."""
    for command, shown in re.findall(r"^\$ (.+)\n((?:(?!\$ ).*\n)*)", block, re.MULTILINE):
        # The demo has tests of its own, and others type commands of other programs.
        if not command.startswith("rowspace ") or command.startswith("rowspace demo"):
            continue
        done = CliRunner().invoke(app, shlex.split(command.removeprefix("rowspace ")))
        assert done.exit_code == 0, (command, done.output)
        if shown.strip():
            pieces = [
                re.escape(without_numbers(piece)) for piece in re.split(r"^ *…\n", shown, flags=re.MULTILINE)
            ]
            assert re.fullmatch(" ?.*".join(pieces), without_numbers(done.output)), (command, done.output)


def show_and_run(page: Path) -> None:
    """Do what a page does, block by block: examples, files it writes, commands it types."""
    names: dict[str, object] = {}
    for kind, body in _BLOCK.findall(page.read_text(encoding="utf-8")):
        if kind == "toml" and body.startswith("# "):
            Path(body.split()[1]).write_text(body, encoding="utf-8")
        elif kind == "console":
            run_commands(body)
        elif ">>>" in body:
            test = doctest.DocTestParser().get_doctest(body, names, page.name, str(page), 0)
            runner = doctest.DocTestRunner(NumbersAside(), optionflags=FLAGS)
            runner.run(test, clear_globs=False)
            names = test.globs
            assert runner.summarize(verbose=False).failed == 0


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=[pytest.mark.long] * (name == "tutorial.md")) for name in RUNNING]
)
def test_pages_run_as_they_stand(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    show_and_run(DOCS / name)


@pytest.mark.parametrize("name", ["start.md", "tutorial.md"])
def test_commands_are_shown_with_their_output(name):
    typed = [
        body for kind, body in _BLOCK.findall((DOCS / name).read_text(encoding="utf-8")) if kind == "console"
    ]
    for block in typed:
        for command in re.findall(r"^\$ rowspace .+\n(?=\$|\Z)", block, re.MULTILINE):
            pytest.fail(f"{command.strip()} shows no output")


def test_an_output_that_is_not_printed_is_found(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    run_commands(
        "$ rowspace budget create b.db people --epsilon 7\n created people: 3-differential privacy\n…\n"
    )
    with pytest.raises(AssertionError):
        run_commands("$ rowspace budget show b.db\n another table\n")


@pytest.mark.parametrize("name", SHOWING)
def test_examples_run(name, tmp_path, monkeypatch):
    page = DOCS / name
    monkeypatch.chdir(tmp_path)
    assert doctest.testfile(str(page), module_relative=False, optionflags=FLAGS).failed == 0


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
    inner = {"cli", "reconstruct", "report", "sample"}
    for module in pkgutil.iter_modules(rowspace.__path__):
        if module.ispkg and module.name not in inner:
            assert f"rowspace.{module.name}\n" in page, module.name
    for name in rowspace.__all__:
        assert name == "__version__" or f"`rs.{name}`" in page, name
