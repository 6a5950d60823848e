"""Plans survive a round trip bit for bit; damaged or hostile files are refused."""

import contextlib
import json
import os
import zipfile

import numpy as np
import pytest

import rowspace as rs
from rowspace.exceptions import FileError, RowspaceError

DOMAIN = rs.Domain(age=rs.Numeric(0, 20, bins=20), sex=rs.Categorical(["F", "M"]))
W = rs.workload.ranges(DOMAIN, "age") + 2 * rs.workload.predicates(DOMAIN, ["age < 5 or sex = 'M'"])


@pytest.fixture
def saved(tmp_path):
    path = tmp_path / "people.plan"
    rs.plan(W, rs.PureDP(0.8)).save(path)
    return path


def rewrite(path, change):
    """Apply `change` to the JSON document of an archive."""
    with zipfile.ZipFile(path) as archive:
        entries = {name: archive.read(name) for name in archive.namelist()}
    document = json.loads(entries["document.json"])
    change(document)
    entries["document.json"] = json.dumps(document).encode()
    with zipfile.ZipFile(path, "w") as archive:
        for name, data in entries.items():
            archive.writestr(name, data)


@pytest.mark.parametrize(
    "privacy", [rs.PureDP(0.1), rs.ZCDP(0.3, "replace-one"), rs.ApproxDP(1.0, 1e-9)], ids=str
)
def test_round_trip(tmp_path, privacy):
    plan = rs.plan(W, privacy)
    plan.save(tmp_path / "p.plan")
    again = rs.Plan.load(tmp_path / "p.plan")
    assert again.strategy == plan.strategy
    assert (again.workload, again.privacy, again.noise) == (plan.workload, plan.privacy, plan.noise)
    assert again.candidates == plan.candidates
    assert (again.total_error, again.lower_bound) == (plan.total_error, plan.lower_bound)


def test_weakened_noise_is_refused(saved):
    def weaken(document):
        document["body"]["noise"]["scale"] /= 2

    rewrite(saved, weaken)
    with pytest.raises(FileError, match="not the noise its privacy guarantee needs"):
        rs.Plan.load(saved)


@pytest.mark.parametrize("field", ["workload", "privacy", "strategy", "noise", "candidates", "lower_bound"])
@pytest.mark.parametrize(
    "junk", [None, 7, "x", [], {}, {"operator": "Identity", "n": 10**12}, float("1e400")]
)
def test_any_damaged_field_is_one_clear_error(saved, field, junk):
    rewrite(saved, lambda document: document["body"].__setitem__(field, junk))
    if field == "candidates" and junk in ([], {}):
        rs.Plan.load(saved)  # an empty list of candidates is harmless
        return
    if field == "lower_bound" and junk in (7, float("inf")):
        return
    with pytest.raises(RowspaceError):
        rs.Plan.load(saved)


def test_damaged_bytes(saved):
    whole = saved.read_bytes()
    rng = np.random.default_rng(0)
    for _ in range(150):
        damaged = bytearray(whole)
        for position in rng.integers(0, len(whole), rng.integers(1, 20)):
            damaged[position] = rng.integers(0, 256)
        saved.write_bytes(damaged[: rng.integers(1, len(whole) + 1)])
        with contextlib.suppress(RowspaceError):
            rs.Plan.load(saved)


def test_missing_wrong_kind_and_future_version(tmp_path, saved):
    with pytest.raises(FileError, match="does not exist"):
        rs.Plan.load(tmp_path / "nowhere.plan")
    with pytest.raises(FileError, match="no rowspace release file"):
        rs.Release.load(saved)
    (tmp_path / "text.plan").write_text("hello")
    with pytest.raises(FileError, match="damaged or is no"):
        rs.Plan.load(tmp_path / "text.plan")
    with pytest.raises(FileError, match="cannot read"):
        rs.Plan.load(tmp_path)
    rewrite(saved, lambda document: document.update(version=99))
    with pytest.raises(FileError, match="version 99"):
        rs.Plan.load(saved)


def test_a_failed_write_leaves_nothing_behind(tmp_path, saved, monkeypatch):
    before = saved.read_bytes()

    def full(_descriptor):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(FileError, match="No space left"):
        rs.plan(W, rs.PureDP(2.0)).save(saved)
    assert saved.read_bytes() == before
    assert [p.name for p in tmp_path.iterdir()] == ["people.plan"]
    with pytest.raises(FileError, match="nothing was written"):
        rs.plan(W, rs.PureDP(2.0)).save(tmp_path / "no" / "such" / "folder.plan")
