"""What the README shows runs, and what it names exists."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
README = (ROOT / "README.md").read_text()
BLOCKS = re.findall(r"```python\n(.*?)```", README, re.DOTALL)


def test_python_blocks_run(capsys):
    namespace: dict[str, object] = {}
    for block in BLOCKS:
        exec(compile(block, "README.md", "exec"), namespace)
    printed = capsys.readouterr().out
    assert "no strategy can go below" in printed
    assert "1631.4 1.0\n" in printed


@pytest.mark.parametrize("target", sorted(set(re.findall(r"\]\(([^)#:]+)\)", README))))
def test_links_exist(target):
    assert (ROOT / target).exists()


def test_make_targets_exist():
    makefile = (ROOT / "Makefile").read_text()
    for target in set(re.findall(r"make (\w+)", README)) - {"and"}:
        if target in ("demo", "test", "bench", "audit", "docs"):
            assert re.search(rf"^{target}:", makefile, re.MULTILINE), target


def test_it_is_short():
    assert len(README.splitlines()) <= 120
