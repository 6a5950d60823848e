"""A hostile plan file costs little memory and time, and executes nothing.

The files are read in a process that may take 1 GiB of address space beyond what importing rowspace takes, and a few
seconds for each.
"""

from __future__ import annotations

import io
import json
import os
import struct
import subprocess
import sys
import zipfile
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import rowspace as rs
from rowspace import files
from rowspace.exceptions import FileError, RowspaceError

ROOM = 2**30
SECONDS = 10

READ = """
import json, resource, sys, time
from pathlib import Path
import rowspace as rs
from rowspace.exceptions import RowspaceError
with open("/proc/self/statm") as file:
    taken = int(file.read().split()[0]) * resource.getpagesize()
resource.setrlimit(resource.RLIMIT_AS, (taken + int(sys.argv[2]),) * 2)
told = {}
for path in sorted(Path(sys.argv[1]).glob("*.plan")):
    start = time.process_time()
    try:
        rs.Plan.load(path)
        what = "accepted"
    except RowspaceError as error:
        what = "refused"
    except BaseException as error:
        what = f"{type(error).__name__}: {error}"[:300]
    told[path.stem] = what, time.process_time() - start
print(json.dumps(told))
"""


def npy(header: str, data: bytes = b"") -> bytes:
    padded = header.encode() + b" " * (-(len(header) + 11) % 64) + b"\n"
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(padded)) + padded + data


def claimed(shape: str, descr: str = "'<f8'") -> bytes:
    return npy(f"{{'descr': {descr}, 'fortran_order': False, 'shape': {shape}, }}")


def small_plan(folder: Path) -> dict[str, bytes]:
    domain = rs.Domain(age=rs.Numeric(0, 8, bins=8))
    rs.plan(rs.workload.ranges(domain, "age"), rs.PureDP(1.0), effort="fast").save(folder / "small.plan")
    with zipfile.ZipFile(folder / "small.plan") as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def with_entries(extra: dict[str, bytes], method: int = zipfile.ZIP_DEFLATED) -> Callable[[Path], bytes]:
    def build(folder: Path) -> bytes:
        sink = io.BytesIO()
        with zipfile.ZipFile(sink, "w", method) as archive:
            for name, data in (small_plan(folder) | extra).items():
                archive.writestr(name, data)
        return sink.getvalue()

    return build


def with_body(change: Callable[[dict[str, Any]], None]) -> Callable[[Path], bytes]:
    def build(folder: Path) -> bytes:
        document = json.loads(small_plan(folder)["document.json"])
        change(document["body"])
        return with_entries({"document.json": json.dumps(document).encode()})(folder)

    return build


def with_strategy(tree: dict[str, Any], *sizes: int) -> Callable[[Path], bytes]:
    """A plan whose domain has attributes of these sizes and whose strategy is this tree."""

    def change(body: dict[str, Any]) -> None:
        attribute = body["workload"]["domain"]["attributes"][0]
        body["workload"]["domain"]["attributes"] = [
            attribute | {"name": f"a{at}", "low": 0, "high": size, "bins": size}
            for at, size in enumerate(sizes)
        ]
        body["workload"]["factors"] = [{"kind": "ranges", "attributes": ["a0"]}]
        body["strategy"] = tree

    return with_body(change)


def bomb(size: int) -> bytes:
    """A deflated stream of zeros, a few hundredths of its size."""
    packer = zlib.compressobj(1, zlib.DEFLATED, -15)
    chunk = bytes(2**20)
    return b"".join(packer.compress(chunk) for _ in range(size >> 20)) + packer.flush()


def zip_bomb(entries: int, size: int) -> Callable[[Path], bytes]:
    """Many table entries that all point at one stream of zeros."""

    def build(folder: Path) -> bytes:
        packed = bomb(size)
        name = b"x.npy"
        local = struct.pack("<4s5H3L2H", b"PK\3\4", 20, 0, 8, 0, 0, 0, len(packed), size, len(name), 0) + name
        table = b"".join(
            struct.pack(
                "<4s6H3L5H2L", b"PK\1\2", 20, 20, 0, 8, 0, 0, 0, len(packed), size, len(name), *(0,) * 6
            )
            + name
            for _ in range(entries)
        )
        start = len(local) + len(packed)
        end = struct.pack("<4s4H2LH", b"PK\5\6", 0, 0, entries, entries, len(table), start, 0)
        return local + packed + table + end

    return build


def grow_conditions(body: dict[str, Any]) -> None:
    attribute = body["workload"]["domain"]["attributes"][0]
    attribute |= {"low": 0, "high": 2**26, "bins": 2**26}
    texts = [" or ".join(["age < 5"] * 2000)] * 1000
    body["workload"]["factors"] = [{"kind": "conditions", "texts": texts, "attributes": ["age"]}]


def hold_everywhere(body: dict[str, Any]) -> None:
    attribute = body["workload"]["domain"]["attributes"][0]
    attribute |= {"low": 0, "high": 2**26, "bins": 2**26}
    body["workload"]["factors"] = [{"kind": "conditions", "texts": ["age >= 1"], "attributes": ["age"]}]


HUGE = 2**26
HOSTILE: dict[str, Callable[[Path], bytes]] = {
    "an array that claims terabytes": with_entries({"strategy.x.npy": claimed("(1000000000000,)")}),
    "an array that claims 2**63": with_entries(
        {"x.npy": claimed("(9223372036854775807, 9223372036854775807)")}
    ),
    "an array of negative length": with_entries({"x.npy": claimed("(-1,)")}),
    "an array of objects": with_entries({"x.npy": claimed("(1,)", "'|O'")}),
    "an array with a record type": with_entries({"x.npy": claimed("(1,)", "[('a', '<f8')]")}),
    "a header that nests": with_entries({"x.npy": npy("(" * 9000 + ")" * 9000)}),
    "a header that computes": with_entries({"x.npy": npy("{'descr': '<f8', 'shape': (9**9**9,), }")}),
    "zeros in an array": zip_bomb(1, 2**29),
    "zeros in the document": with_entries({"document.json": b" " * 2**27}),
    "brackets in the document": with_entries({"document.json": b"[" + b"[]," * 2**24 + b"0]"}),
    "a deep document": with_entries({"document.json": b"[" * 10**6}),
    "a long number": with_entries({"document.json": b"1" * 10**6}),
    "entries that overlap": zip_bomb(64, 2**26),
    "entries without number": zip_bomb(65_000, 0),
    "another compression": with_entries({"x.npy": bytes(2**20)}, zipfile.ZIP_LZMA),
    "many tests on many bins": with_body(grow_conditions),
    "a condition that holds everywhere": with_body(hold_everywhere),
    "a huge tree": with_strategy({"operator": "Hierarchy", "n": HUGE, "branching": 2, "weights": None}, HUGE),
    "a huge Haar": with_strategy({"operator": "Haar", "n": HUGE, "weights": None}, HUGE),
    "huge ranges": with_strategy({"operator": "Ranges", "n": HUGE}, HUGE),
    "all predicates": with_strategy({"operator": "AllPredicates", "n": HUGE}, HUGE),
    "a huge product": with_strategy(
        {
            "operator": "Composed",
            "left": {"operator": "Prefix", "n": HUGE},
            "right": {"operator": "Prefix", "n": HUGE},
        },
        HUGE,
    ),
    "a transposed tree": with_strategy(
        {
            "operator": "Transpose",
            "of": {"operator": "Transpose", "of": {"operator": "Ranges", "n": HUGE}},
        },
        HUGE,
    ),
    "2**52 cells": with_strategy(
        {"operator": "Kronecker", "factors": [{"operator": "Prefix", "n": HUGE}] * 2}, HUGE, HUGE
    ),
    "a union over 2**52 cells": with_strategy(
        {"operator": "Stack", "parts": [{"operator": "Prefix", "n": HUGE**2}] * 3}, HUGE, HUGE
    ),
    "a union of many": with_strategy(
        {"operator": "Stack", "parts": [{"operator": "Prefix", "n": HUGE}] * 5000}, HUGE
    ),
}


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc to know its own size")
def test_a_hostile_file_fails_fast_and_small(tmp_path: Path) -> None:
    (tmp_path / "hostile").mkdir()
    for name, build in HOSTILE.items():
        (tmp_path / "hostile" / f"{name}.plan").write_bytes(build(tmp_path))
    ended = subprocess.run(
        [sys.executable, "-c", READ, str(tmp_path / "hostile"), str(ROOM)],
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
        env={**os.environ, "OPENBLAS_NUM_THREADS": "1"},
    )
    assert ended.returncode == 0, ended.stderr[-2000:]
    told = json.loads(ended.stdout)
    assert told.keys() == HOSTILE.keys()
    assert {name: what for name, (what, _) in told.items() if what != "refused"} == {}
    assert {name: seconds for name, (_, seconds) in told.items() if seconds > SECONDS} == {}


def test_reading_a_file_executes_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """No pickle, no eval, no import by name: the audit hooks that Python has for these stay silent."""
    seen: list[str] = []
    watched = (
        "pickle.find_class",
        "exec",
        "os.system",
        "subprocess.Popen",
        "socket.connect",
        "ctypes.dlopen",
    )
    listening = [True]

    def hook(event: str, _: object) -> None:
        if listening[0] and event in watched:
            seen.append(event)

    good = with_entries({})(tmp_path)
    (tmp_path / "x.plan").write_bytes(good)
    rs.Plan.load(tmp_path / "x.plan")  # whatever is imported late is imported now
    sys.addaudithook(hook)
    try:
        for name in ("an array of objects", "a header that computes", "a header that nests"):
            (tmp_path / "x.plan").write_bytes(HOSTILE[name](tmp_path))
            seen.clear()
            with pytest.raises(FileError):
                rs.Plan.load(tmp_path / "x.plan")
            assert seen == []
    finally:
        listening[0] = False  # audit hooks cannot be taken out


def test_what_could_not_be_read_is_not_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(files, "MAX_ITEMS", 10)
    with pytest.raises(FileError, match="nothing was written"):
        files.write_archive(tmp_path / "x", "kind", 1, {"list": list(range(20))}, {})
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    "array",
    [
        np.arange(6).reshape(2, 3),
        np.zeros((0, 3)),
        np.asfortranarray(np.eye(3)),
        np.arange(3, dtype=">i4"),
        np.arange(3, dtype=np.uint8),
        np.zeros(2, dtype=np.float32),
    ],
    ids=lambda array: f"{array.dtype} {array.shape}",
)
def test_arrays_read_back(array: np.ndarray[Any, Any], tmp_path: Path) -> None:
    files.write_archive(tmp_path / "x", "kind", 1, {}, {"a": array})
    _, arrays = files.read_archive(tmp_path / "x", "kind", 1)
    assert arrays["a"].dtype == array.dtype
    assert np.array_equal(arrays["a"], array)
    assert not arrays["a"].flags.writeable


def test_zeros_may_compress_within_reason(tmp_path: Path) -> None:
    """An honest strategy full of zeros is no bomb: 64 MiB of them are read."""
    files.write_archive(tmp_path / "x", "kind", 1, {}, {"a": np.zeros(2**23)})
    assert files.read_archive(tmp_path / "x", "kind", 1)[1]["a"].shape == (2**23,)


def test_what_compresses_too_well_to_be_believed_is_stored_as_it_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A release of hardly any noise over hardly any records was written, and could not be read."""
    monkeypatch.setattr(files, "_FREE_BYTES", 2**10)
    files.write_archive(tmp_path / "x", "kind", 1, {}, {"a": np.zeros(2**20), "b": np.arange(9)})
    arrays = files.read_archive(tmp_path / "x", "kind", 1)[1]
    assert arrays["a"].shape == (2**20,)
    assert (arrays["b"] == np.arange(9)).all()


@pytest.mark.parametrize("name", ["lower_bound", "candidates", "noise"])
@pytest.mark.parametrize("value", [10**400, float("nan"), -1, float("inf"), [{"name": "x"}]])
def test_figures_that_cannot_be(name: str, value: object, tmp_path: Path) -> None:
    """10⁴⁰⁰ in the place of a float was an OverflowError; NaN made a plan with no comparison true."""
    (tmp_path / "x.plan").write_bytes(with_body(lambda body: body.__setitem__(name, value))(tmp_path))
    with pytest.raises(RowspaceError):
        rs.Plan.load(tmp_path / "x.plan")


def test_a_plan_without_candidates_prints(tmp_path: Path) -> None:
    """It was a ValueError: the longest of no names."""
    (tmp_path / "x.plan").write_bytes(with_body(lambda body: body.__setitem__("candidates", []))(tmp_path))
    assert "candidates" in str(rs.Plan.load(tmp_path / "x.plan"))
