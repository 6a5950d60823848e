"""Changes of a study's text: only what is meant changes, and nobody else's work is lost."""

from __future__ import annotations

from pathlib import Path

import pytest

from rowspace.exceptions import FileError, InvalidInput, RowspaceError
from rowspace.studio.document import Document, cards, with_budget, with_entry, with_weight, without_entry
from rowspace.study import Study

from .conftest import STUDY

INLINE = STUDY.split("# Every range.")[0].replace(
    "[study]", 'workload = [{ ranges = "age" }, { marginal = ["sex"], weight = 3 }]\n[study]', 1
)
MIDDLE = STUDY + '\n[data]\ntable = "pupils"      # in the database\n'


def lines_changed(before: str, after: str) -> set[str]:
    return set(before.splitlines()) ^ set(after.splitlines())


def test_a_change_leaves_the_rest():
    assert lines_changed(STUDY, with_budget(STUDY, 0.25)) == {
        "epsilon = 1.0      # agreed with the board",
        "epsilon = 0.25      # agreed with the board",
    }
    assert lines_changed(STUDY, with_weight(STUDY, 1, 3.0)) == {"weight = 2.0", "weight = 3.0"}
    assert lines_changed(STUDY, with_weight(STUDY, 0, 4.0)) == {"weight = 4.0"}
    assert lines_changed(STUDY, with_weight(STUDY, 1, 1.0)) == {"weight = 2.0"}
    assert with_budget(STUDY, 1.0) == with_weight(STUDY, 1, 2) == STUDY


@pytest.mark.parametrize("text", [STUDY, INLINE, MIDDLE])
def test_entries_come_and_go(text: str):
    before = Study.parse(text)
    more = with_entry(text, {"mean": "marks", "by": ["sex"], "weight": 2.0})
    assert [part.group for part in Study.parse(more).workload.parts][: len(before.workload.parts)] == [
        part.group for part in before.workload.parts
    ]
    assert Study.parse(more).workload.size > before.workload.size
    assert Study.parse(without_entry(more, 2)).workload.size == before.workload.size
    assert "mean" not in without_entry(more, 2)
    for line in text.splitlines():
        assert "#" not in line or line in more
    twice = with_entry(with_entry(more, {"total": True}), {"predicates": ["age < 3", "sex = 'F'"]})
    assert len(cards(twice, Study.parse(twice), Path())) == 5


def test_cards_say_what_is_asked():
    found = cards(STUDY, Study.parse(STUDY), Path())
    assert [(card.title, card.written, card.weight, card.queries) for card in found] == [
        ("ranges of age", 'ranges = "age"', 1.0, 36),
        ("age × sex", 'marginal = ["age", "sex"]', 2.0, 16),
    ]


def test_what_is_no_study_changes_nothing(study: Path):
    document = Document(study)
    with pytest.raises(RowspaceError, match="nobody"):
        document.change(with_entry(document.text, {"ranges": "nobody"}))
    with pytest.raises(InvalidInput, match="at least one question"):
        without_entry(without_entry(document.text, 0), 0)
    assert (document.text, document.is_saved) == (STUDY, True)


def test_undo_takes_back(study: Path):
    document = Document(study)
    document.change(with_weight(document.text, 0, 5.0))
    document.undo()
    assert document.text == STUDY
    with pytest.raises(InvalidInput, match="nothing to undo"):
        document.undo()


def test_others_changes_stay(study: Path):
    document = Document(study)
    document.change(with_budget(document.text, 0.5))
    study.write_text(STUDY + "# mine\n", encoding="utf-8")
    with pytest.raises(FileError, match="changed by another program"):
        document.save()
    assert study.read_text(encoding="utf-8") == STUDY + "# mine\n"
    document.reload()
    document.change(with_budget(document.text, 0.5))
    document.save()
    assert study.read_text(encoding="utf-8").endswith("# mine\n")
    assert document.is_saved
    assert [path.name for path in study.parent.iterdir()] == ["pupils.toml"]


def test_line_ends_and_the_mark_stay(study: Path):
    study.write_bytes(b"\xef\xbb\xbf" + STUDY.replace("\n", "\r\n").encode())
    document = Document(study)
    document.change(with_entry(document.text, {"total": True}))
    document.save()
    written = study.read_bytes()
    assert written.startswith(b"\xef\xbb\xbf#")
    assert written.count(b"\n") == written.count(b"\r\n")
    assert Study.load(study).workload.size == 53
