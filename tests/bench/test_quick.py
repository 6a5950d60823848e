"""The benchmarks run: every case and contender once at a small size, and the page made from it."""

from pathlib import Path

import benchmarks
import pytest
from benchmarks import peers
from benchmarks.__main__ import main
from benchmarks.catalogue import PROGRAMS
from benchmarks.records import load
from benchmarks.side_by_side import CASES

pytestmark = pytest.mark.long  # `make bench` does the same, and more


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """What a quick run leaves."""
    here = tmp_path_factory.mktemp("bench")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(here)
        main(["--quick", "--write"], here, here)
    return here / "quick"


def test_every_contender_has_a_record(folder):
    records, reached = load(folder)
    for case in CASES:
        for contender in case.contenders:
            (record,) = (
                r
                for r in records
                if (r.case, r.contender) == (case.name, contender.name) and r.topic == case.topic
            )
            assert (
                record.note == f"{contender.needs} is not installed"
                if record.cpu is None
                else record.cpu >= 0
            )
    assert [one.goal for one in reached] == ["tables, Laplace noise"]


def test_expected_errors_are_in_one_order(folder):
    """What nobody can beat by chance: planned error is below that of noise on every answer."""
    records, _ = load(folder)
    by_case = {(r.case, r.contender): r.error for r in records if r.error is not None}
    for (case, contender), error in by_case.items():
        if contender == "noise on every answer":
            assert by_case[case, "rowspace"] < error


def test_the_page_shows_all_of_it(folder):
    text = (folder / "benchmarks.md").read_text()
    for case in CASES:
        assert f"### {case.name[0].upper()}{case.name[1:]}" in text
    for name in PROGRAMS:
        assert f"`python -m benchmarks.{name}`" in text
    assert len(list((folder / "figures").glob("bench-*.svg"))) == len({case.topic for case in CASES})
    assert str(folder) not in text


def test_every_program_is_in_the_catalogue():
    """A program is a module of the folder with a command line in its docstring."""
    programs = set()
    for path in Path(benchmarks.__file__).parent.glob("[a-z]*.py"):
        if f"python -m benchmarks.{path.stem}" in path.read_text():
            programs.add(path.stem)
    assert programs - {"worker"} == set(PROGRAMS)


def test_unknown_topics_are_refused(capsys, tmp_path):
    with pytest.raises(SystemExit):
        main(["plannning"], tmp_path, tmp_path)
    assert "expected some of planning" in capsys.readouterr().err


def test_peers_are_those_of_the_project_file(capsys):
    peers.main()
    assert [line.split(">")[0] for line in capsys.readouterr().out.split()] == [
        "opendp",
        "jax-privacy",
        "mbi",
    ]
