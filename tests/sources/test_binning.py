"""Bins in the engine are bit for bit those of numpy.searchsorted."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import ibis
import numpy as np
import pyarrow as pa
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from rowspace.domain import Domain, Numeric
from rowspace.exceptions import InvalidDomain
from rowspace.sources import count_cells
from rowspace.sources.binning import MAX_INLINE_BINS, _affine_edges, bin_recipe, follow, is_binned
from rowspace.sources.databases import embedded_duckdb
from rowspace.sources.silence import attempt
from tests.sources import oracle
from tests.sources.kinds import KINDS

finite = st.floats(min_value=-1e15, max_value=1e15, allow_nan=False)
outside = st.sampled_from(["drop", "clip"])


@st.composite
def equal_bins(draw: st.DrawFn) -> Numeric:
    low = draw(finite | st.integers(-1000, 1000))
    width = draw(st.floats(1e-3, 1e12) | st.integers(1, 10_000))
    bins = draw(st.integers(1, 50) | st.sampled_from([1000, 2**12, 2**16 + 1]))
    try:
        return Numeric(low, low + width, bins=bins, outside=draw(outside))
    except InvalidDomain:  # finer than float64 can tell apart
        return Numeric(0, 1, bins=bins, outside=draw(outside))


@st.composite
def unequal_bins(draw: st.DrawFn) -> Numeric:
    edges = draw(st.lists(finite, min_size=2, max_size=40, unique=True))
    return Numeric(edges=sorted(edges), outside=draw(outside))


@st.composite
def nearly_equal_bins(draw: st.DrawFn) -> Numeric:
    """Equal bins with one edge moved by one float64: arithmetic alone would get it wrong."""
    edges = np.linspace(draw(st.floats(-100, 100)), 200, draw(st.integers(3, 60)))
    moved = draw(st.integers(1, len(edges) - 2))
    edges[moved] = np.nextafter(edges[moved], draw(st.sampled_from([-np.inf, np.inf])))
    return Numeric(edges=edges, outside=draw(outside))


def values_around(attribute: Numeric, picks: list[int]) -> list[float]:
    """Some edges and their neighbours, the middle of some bins, and what lies beyond."""
    chosen = {0, 1, attribute.size - 1, attribute.size} | {pick % (attribute.size + 1) for pick in picks}
    edges = attribute.edges[sorted(chosen)]
    near = [edges, np.nextafter(edges, np.inf), np.nextafter(edges, -np.inf), (edges[1:] + edges[:-1]) / 2]
    return [*np.concatenate(near).tolist(), np.inf, -np.inf, np.nan, 1e300, -1e300, 0.0, -0.0, 5e-324]


@pytest.fixture(scope="module")
def engine() -> Iterator[Any]:
    backend = embedded_duckdb()
    yield backend
    backend.disconnect()


def engine_bins(engine: Any, values: list[float], attribute: Numeric) -> list[int | None]:
    """The bin of each value, and a check that the engine's other opinion agrees on who has one."""
    rows = ibis.memtable(pa.table({"row": np.arange(len(values)), "value": pa.array(values)}))
    coded = follow(rows, [bin_recipe(attribute, "value", "bin", "duckdb")]).order_by("row")
    coded = coded.mutate(inside=is_binned(coded["value"], attribute))
    found = attempt(lambda: engine.to_pyarrow(coded), "failed")
    bins: list[int | None] = found["bin"].to_pylist()
    assert found["inside"].to_pylist() == [bin is not None for bin in bins]
    return bins


@settings(max_examples=100, deadline=None, derandomize=True)
@given(
    attribute=equal_bins() | unequal_bins() | nearly_equal_bins(),
    picks=st.lists(st.integers(0, 2**20), max_size=12),
)
@example(attribute=Numeric(0, 1, bins=10), picks=list(range(11)))
@example(attribute=Numeric(-0.1, 0.2, bins=3), picks=[0, 1, 2, 3])
@example(attribute=Numeric(-100, 100, bins=200), picks=[99, 100, 101])
@example(attribute=Numeric(0.1, 1e6 + 0.1, bins=2**20), picks=list(range(0, 2**20, 2**17 - 1)))
@example(attribute=Numeric(-(2**40), 2**40, bins=2**20, outside="clip"), picks=[2**19, 2**19 + 1, 7])
@example(attribute=Numeric(edges=[-1e200, -5e-324, 0.0, 5e-324, 1e200]), picks=[1, 2, 3])
def test_bins_are_those_of_searchsorted(engine: Any, attribute: Numeric, picks: list[int]) -> None:
    values = values_around(attribute, picks)
    assert engine_bins(engine, values, attribute) == [oracle.bin_of(value, attribute) for value in values]


@pytest.mark.parametrize("bins", [MAX_INLINE_BINS, MAX_INLINE_BINS + 1, 2**20])
@pytest.mark.parametrize("policy", ["drop", "clip"])
def test_many_unequal_bins(engine: Any, bins: int, policy: str) -> None:
    edges = np.cumsum(np.random.default_rng(bins).exponential(size=bins + 1))
    attribute = Numeric(edges=edges, outside=policy)  # type: ignore[arg-type]
    values = values_around(attribute, [1, 2, 3, bins // 2, bins // 3])
    assert engine_bins(engine, values, attribute) == [oracle.bin_of(value, attribute) for value in values]


@pytest.mark.parametrize("policy", ["drop", "clip"])
@pytest.mark.parametrize(
    "edges", [np.linspace(-0.1, 0.2, 4), np.array([-1.5, 0.1, 0.1 + 2**-55, 0.7])], ids=str
)
def test_bins_on_another_engine(edges: np.ndarray, policy: str, tmp_path: Path) -> None:
    attribute = Numeric(edges=edges, outside=policy)  # type: ignore[arg-type]
    rows = {"value": values_around(attribute, [0, 1, 2, 3])}
    data, table = KINDS["sqlite url"](rows, tmp_path)
    domain = Domain(value=attribute)
    np.testing.assert_array_equal(count_cells(data, domain, table=table), oracle.counts(rows, domain))


@pytest.mark.parametrize(
    "attribute",
    [
        Numeric(0, 100, bins=100),
        Numeric(0, 1, bins=10),
        Numeric(-7.3, 11.9, bins=2**20),
        Numeric(1, 2, bins=3),
    ],
    ids=str,
)
def test_equal_bins_take_arithmetic(attribute: Numeric) -> None:
    assert _affine_edges(attribute.edges) is not None


def test_edges_off_by_one_float_do_not_take_arithmetic() -> None:
    edges = np.linspace(0, 1, 11)
    edges[4] = np.nextafter(edges[4], 2)
    assert _affine_edges(edges) is None


def test_a_million_bins_over_a_million_rows() -> None:
    values = np.random.default_rng(5).normal(size=1_000_000)
    attribute = Numeric(-3, 3, bins=2**20)
    bins = np.searchsorted(attribute.edges, values, side="right") - 1
    expected = np.bincount(bins[(bins >= 0) & (bins < attribute.size)], minlength=attribute.size)
    np.testing.assert_array_equal(count_cells(pa.table({"x": values}), Domain(x=attribute)), expected)
