from __future__ import annotations

import json
import re
from pathlib import Path

from rowspace.releases.registry import FILL_IN
from tests.cli.running import rowspace
from tests.releases.test_registry import SCHEMA, check


def test_the_command(released: Path, tmp_path: Path) -> None:
    out = tmp_path / "entry.yaml"
    said = rowspace("registry", released, "-o", out, "--curator", "Us", "--published", "2024-05-31")
    assert said.code == 0, said.err
    assert "questions are left to you" in said.err
    printed = rowspace("registry", released, "--curator", "Us", "--published", "2024-05-31")
    assert printed.out == out.read_text()
    document = json.loads(rowspace("registry", released, "--json").out)
    check(document, SCHEMA)
    assert document["deployment"]["basic"]["data_curators"][0].startswith(FILL_IN)
    assert re.fullmatch(r"\d{4}-\d\d-\d\d", document["deployment"]["basic"]["publication_date"])
    assert rowspace("registry", released, "-o", out).code == 1
    for wrong in (("--sector", "Farming"), ("--published", "May")):
        assert rowspace("registry", released, *wrong).code == 2
    assert rowspace("registry", released, "-o", tmp_path / "entry.txt").code == 1
