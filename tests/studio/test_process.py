"""The command: it binds this machine alone, ends by Ctrl-C with all its processes, and says what is wrong in a line."""

from __future__ import annotations

import socket
import subprocess
import sys
import time
from pathlib import Path

import pytest

from .process import Studio


def refused(*words: str) -> str:
    found = subprocess.run(
        [sys.executable, "-m", "rowspace", "studio", *words, "--no-browser"],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert found.returncode in (1, 2)
    assert "Traceback" not in found.stderr
    return " ".join(found.stderr.split())


def test_it_ends_by_ctrl_c(study: Path):
    with Studio(study) as running:
        time.sleep(1.0)
        began = time.monotonic()
        assert running.interrupt() == 130
        assert time.monotonic() - began < 10
        assert running.said() == ""


def test_a_port_in_use_is_one_sentence(study: Path):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        said = refused(str(study), "--port", str(taken.getsockname()[1]))
    assert "cannot be bound" in said
    assert "--port" in said


@pytest.mark.parametrize(
    ("text", "words"), [("[study", "no TOML"), ("[study]\nname = 'x'\n", "[privacy] is missing")]
)
def test_what_is_no_study_is_one_sentence(tmp_path: Path, text: str, words: str):
    path = tmp_path / "bad.toml"
    path.write_text(text, encoding="utf-8")
    assert words in refused(str(path))


def test_there_is_no_other_address(study: Path):
    assert "--host" in refused(str(study), "--host", "0.0.0.0")
