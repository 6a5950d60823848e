"""The page of audits: a section for each, renewed alone; the one in the repository has them all and nothing failed."""

from __future__ import annotations

from pathlib import Path

import pytest
from audits import Row, audit_modules, page

WELL, ILL = Row("a | b", "3 of\n3", "all", True), Row("c", "1", "0", False)


def test_a_section_is_renewed_alone(tmp_path: Path) -> None:
    path = tmp_path / "audits.md"
    first, second = audit_modules()[:2]
    page.renew(path, second, [WELL], 90.0)
    page.renew(path, first, [WELL, ILL], 90.0)
    text = path.read_text()
    assert "| a \\| b | 3 of 3 | all | ok |" in text
    assert "2 checks, **1 failed**" in text
    page.renew(path, first, [WELL], 30.0)
    renewed = path.read_text()
    assert "failed**" not in renewed
    assert page.sections(renewed).keys() == page.sections(text).keys()
    assert len(page.sections(renewed)) == 2
    page.renew(path, first, [WELL], 30.0)
    assert path.read_text() == renewed


def test_some_rows_are_renewed_alone(tmp_path: Path) -> None:
    path = tmp_path / "audits.md"
    module = audit_modules()[0]
    page.renew(path, module, [WELL, ILL], 60.0)
    page.renew_rows(path, module.__name__.rpartition(".")[2], [Row("c", "0", "0", True)])
    text = path.read_text()
    assert "2 checks, none failed" in text
    assert "| c | 0 | 0 | ok |" in text
    assert "FAILED" not in text


@pytest.mark.parametrize("name", [module.__name__.rpartition(".")[2] for module in audit_modules()])
def test_the_page_in_the_repository(name: str) -> None:
    section = page.sections(page.PAGE.read_text(encoding="utf-8"))[name]
    assert "none failed" in section
    assert "FAILED" not in section
