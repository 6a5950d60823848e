from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.running import rowspace
from tests.study.examples import SMALL

PEOPLE = "age,sex\n" + "".join(f"{i % 20},{'FM'[i % 2]}\n" for i in range(400))


@pytest.fixture(scope="session")
def released(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A release of the small study, made once."""
    folder = tmp_path_factory.mktemp("released")
    (folder / "study.toml").write_text(SMALL)
    (folder / "people.csv").write_text(PEOPLE)
    path = folder / "people.release"
    assert (
        rowspace("release", "--no-ledger", folder / "study.toml", folder / "people.csv", "-o", path).code == 0
    )
    return path


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with a study and its data."""
    (tmp_path / "study.toml").write_text(SMALL)
    (tmp_path / "people.csv").write_text(PEOPLE)
    return tmp_path
