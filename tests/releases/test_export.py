"""Exports are written in portions and read back as one table."""

import json

import pandas as pd
import pyarrow.parquet as pq
import pytest

import rowspace as rs
from rowspace.exceptions import InvalidInput
from rowspace.releases import Release

DOMAIN = rs.Domain(
    age=rs.Numeric(0, 5, bins=5),
    home=rs.Categorical(['flat "A"', "house, small", "plot #3"]),
)


@pytest.fixture(scope="module")
def in_portions():
    """A release whose every stream comes in portions of three answers or one group."""
    workload = rs.workload.marginals(DOMAIN, up_to=2)
    made = rs.release(rs.plan(workload, rs.ZCDP(0.5)), [3] * 15)

    class InPortions(Release):
        def stream(self, rows=3, level=0.95):
            return super().stream(rows, level)

    return InPortions(made.plan, made.noisy_answers)


def test_there_is_more_than_one_portion(in_portions):
    assert len(list(in_portions.stream())) > 2


def test_a_file_says_that_intervals_hold_one_by_one(in_portions, tmp_path):
    rs.export(in_portions, tmp_path / "a.csv", level=0.9)
    assert (
        "Each interval by itself covers the true answer with probability 0.9."
        in (tmp_path / "a.csv").read_text()
    )


def read(path):
    if path.suffix == ".csv":
        return pd.read_csv(path, comment="#")
    if path.suffix == ".parquet":
        return pq.read_table(path).to_pandas()
    return pd.DataFrame(json.loads(path.read_text())["answers"])


@pytest.mark.parametrize("suffix", [".csv", ".parquet", ".json"])
def test_what_is_written_is_the_table_of_answers(in_portions, tmp_path, suffix):
    rs.export(in_portions, tmp_path / f"a{suffix}")
    pd.testing.assert_frame_equal(
        read(tmp_path / f"a{suffix}"), in_portions.answers(), check_dtype=False, rtol=1e-15
    )


@pytest.mark.parametrize("suffix", [".csv", ".parquet", ".json"])
def test_consistent_counts_say_that_they_are_biased(suffix, tmp_path):
    domain = rs.Domain(age=rs.Numeric(0, 4, bins=4), sex=rs.Categorical(["M", "F"]))
    made = rs.release(rs.plan(rs.workload.marginal(domain, "age", "sex"), rs.PureDP(1.0)), [7] * 8)
    whole = made.consistent(integral=True)
    path = tmp_path / f"whole{suffix}"
    rs.export(whole, path)
    assert b"Biased post-processing" in path.read_bytes()
    assert b"Intervals" not in path.read_bytes()
    if suffix == ".csv":
        read = pd.read_csv(path, comment="#")
        assert read["answer"].tolist() == whole.answers()["answer"].tolist()
    rs.export(made.combine(made_again(made)).consistent(), tmp_path / f"both{suffix}")
    with pytest.raises(InvalidInput, match="expected a release"):
        rs.export(whole.answers(), path)


def made_again(made):
    """Another release of the same plan."""
    return rs.release(made.plan, [7] * 8)
