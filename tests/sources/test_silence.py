"""Engines say nothing while they are called: not by a logger, not by a stream of the process, not on disk."""

from __future__ import annotations

import logging
import os
import signal
import stat
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from rowspace.sources.databases import embedded_duckdb, private_folder
from rowspace.sources.silence import attempt, silence
from tests.sources.test_secrecy import MARK


class Listener(logging.Handler):
    def __init__(self) -> None:
        super().__init__(0)
        self.heard: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        self.heard.append(record.getMessage())


@pytest.fixture
def listener() -> Iterator[Listener]:
    made = Listener()
    root = logging.getLogger()
    root.addHandler(made)
    yield made
    root.removeHandler(made)


@pytest.mark.parametrize("name", ["pyspark.sql", "SQLQueryContextLogger", "a logger of nobody's", "root"])
def test_nothing_is_logged_by_an_engine(
    name: str, listener: Listener, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whatever its logger is called, made before or during the call, with a handler of its own or not."""
    own = Listener()
    # One of PySpark's own keeps to itself, where a test before this one made it.
    monkeypatch.setattr(logging.getLogger(name), "propagate", True)

    def fail() -> None:
        logger = logging.getLogger(name)
        logger.addHandler(own)
        logger.critical("failed on %s", MARK, extra={"value": MARK})
        raise ValueError(MARK)

    with pytest.raises(Exception, match="it failed"):
        attempt(fail, "it failed")
    logging.getLogger(name).removeHandler(own)
    assert listener.heard == own.heard == []
    logging.getLogger(name).critical("afterwards")
    assert listener.heard == ["afterwards"]


def test_other_threads_keep_their_logs_and_engines_none(listener: Listener) -> None:
    def log() -> None:
        logging.getLogger("py4j.java_gateway").critical(MARK)
        logging.getLogger("our.service").critical("served")

    with silence():
        thread = threading.Thread(target=log)
        thread.start()
        thread.join()
        with silence():
            pass
        logging.getLogger("our.service").critical(MARK)
    assert listener.heard == ["served"]


def test_a_factory_that_somebody_set_meanwhile_stays() -> None:
    before = logging.getLogRecordFactory()
    with silence():
        logging.setLogRecordFactory(logging.LogRecord)
    assert logging.getLogRecordFactory() is logging.LogRecord
    logging.setLogRecordFactory(before)
    with silence():
        assert logging.getLogRecordFactory() is not before
    assert logging.getLogRecordFactory() is before


CHILD = """
import logging, sys
logging.basicConfig(level=logging.DEBUG)
from pathlib import Path
from tests.sources import test_secrecy as sources
from rowspace.exceptions import RowspaceError
from rowspace.sources import count_cells
build = getattr(sources, sys.argv[1])
table = "people" if build in (sources.failing_view, sources.password_in_url) else None
source = build(Path(sys.argv[2]))
logging.getLogger().setLevel(logging.DEBUG)
print("BEGIN", file=sys.stderr, flush=True)
print("BEGIN", flush=True)
try:
    count_cells(source, sources.DOMAIN, table=table)
except RowspaceError:
    print("END", flush=True)
"""


@pytest.mark.parametrize("build", ["failing_view", "failing_polars_query", "ragged_csv", "mixed_pandas"])
def test_a_child_process_says_nothing(build: str, tmp_path: Path) -> None:
    """Both streams of a process of its own, with every logger turned up."""
    ended = subprocess.run(
        [sys.executable, "-W", "always", "-c", CHILD, build, str(tmp_path)],
        capture_output=True,
        text=True,
        timeout=300,
        check=True,
    )
    assert ended.stdout.split("BEGIN\n")[1] == "END\n"
    assert ended.stderr.split("BEGIN\n")[1] == ""


@pytest.fixture
def scratch(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "scratch").mkdir()
    (tmp_path / "work").mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "scratch"))
    monkeypatch.chdir(tmp_path / "work")
    return tmp_path / "scratch"


def test_what_is_spilled_is_private_and_removed(scratch: Path) -> None:
    """Seen before: identifiers of units in clear text, in .tmp of the current folder."""
    backend = embedded_duckdb()
    backend.raw_sql("SET memory_limit = '40MB'")
    backend.raw_sql("SET threads = 1")
    backend.raw_sql("CREATE TEMP TABLE units AS SELECT md5(i::VARCHAR) AS unit FROM range(2000000) t(i)")
    (folder,) = scratch.iterdir()
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    assert any(folder.iterdir()), "nothing was spilled: the test shows nothing"
    assert os.listdir() == []
    backend.disconnect()
    assert list(scratch.iterdir()) == []
    assert os.listdir() == []


def test_a_connection_that_fails_leaves_no_folder(scratch: Path, tmp_path: Path) -> None:
    (tmp_path / "no.duckdb").write_bytes(b"this is no database" * 1000)
    with pytest.raises(Exception):  # noqa: B017, PT011
        embedded_duckdb(tmp_path / "no.duckdb")
    assert list(scratch.iterdir()) == []


def test_what_a_killed_process_spilled_is_swept(scratch: Path) -> None:
    code = (
        "import sys, tempfile; tempfile.tempdir = sys.argv[1];"
        "from rowspace.sources.databases import private_folder;"
        "print(private_folder()[0], flush=True); sys.stdin.read()"
    )
    living, killed = (
        subprocess.Popen(
            [sys.executable, "-c", code, str(scratch)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        for _ in range(2)
    )
    assert living.stdout is not None
    assert killed.stdout is not None
    held, left = (Path(process.stdout.readline().strip()) for process in (living, killed))
    (left / "spilled").write_text(MARK)
    killed.send_signal(signal.SIGKILL)
    killed.communicate()
    (scratch / "rowspace-spill-link").symlink_to(scratch.parent / "work")
    folder, remove = private_folder()
    assert not left.exists()
    assert held.exists()
    assert (scratch.parent / "work").exists()
    remove()
    assert not folder.exists()
    living.communicate()
